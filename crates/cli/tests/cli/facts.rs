//! Measured facts about the machine are kept where `doctor` says, and the cost model uses them.

use std::path::Path;
use std::process::{Command, Output};

use super::root;

fn call(facts: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrofuse"));
    command.args(arguments).current_dir(root()).env("FERROFUSE_FACTS", facts);
    command.env("FERROFUSE_CACHE", "none").output().expect("the binary was built")
}

fn told(facts: &Path, arguments: &[&str]) -> String {
    let output = call(facts, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Microseconds that the cost model expects for the memory traffic of an example.
fn memory_us(facts: &Path) -> f64 {
    let text = told(facts, &["explain", "--json", "examples/softmax.py"]);
    let explained: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    explained["segments"][0]["cost_us"]["memory"].as_f64().expect("a number")
}

#[test]
fn the_cost_model_takes_what_was_measured() {
    let folder = tempfile::tempdir().expect("a folder");
    let facts = folder.path().join("made/facts.json");
    assert!(told(&facts, &["doctor"]).contains("what is usual of CPUs; `ferrofuse bench --calibrate`"));
    let usual = memory_us(&facts);
    let table = told(&facts, &["bench", "--calibrate"]);
    assert!(table.contains("memory, GB/s") && table.contains("made/facts.json"), "{table}");
    let text = std::fs::read_to_string(&facts).expect("kept");
    let measured: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let bandwidth = measured["bandwidth"].as_f64().expect("a number");
    assert!(told(&facts, &["doctor"]).contains(&format!(
        "{:.1} GB/s, in {}",
        bandwidth / 1e9,
        facts.display()
    )));
    let expected = usual * 30e9 / bandwidth;
    assert!((memory_us(&facts) - expected).abs() < 0.01 * expected, "{} {expected}", memory_us(&facts));
    // Facts about another machine are ignored.
    let threads = format!("\"threads\": {}", measured["threads"]);
    std::fs::write(&facts, text.replace(&threads, "\"threads\": 4096")).expect("written");
    assert!(told(&facts, &["doctor"]).contains("with 4096 threads"));
    assert!((memory_us(&facts) - usual).abs() < 1e-9);
}

#[test]
fn a_file_of_something_else_is_rejected() {
    let folder = tempfile::tempdir().expect("a folder");
    let facts = folder.path().join("facts.json");
    std::fs::write(&facts, "{\"cpu\": 3}").expect("written");
    let output = call(&facts, &["explain", "examples/softmax.py"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("holds no facts of a machine") && stderr.contains("bench --calibrate"),
        "{stderr}"
    );
    assert!(told(&facts, &["doctor"]).contains("holds no facts of a machine"));
    let nowhere = call(Path::new("none"), &["bench", "--calibrate"]);
    assert!(String::from_utf8_lossy(&nowhere.stderr).contains("no place for what is measured"));
}
