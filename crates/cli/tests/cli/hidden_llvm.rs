//! Without libLLVM everything runs on the evaluator, correctly, and a message names the package to install.

use std::process::Command;

use super::ferrofuse;

const DEMO: [&str; 8] = [
    "run",
    "examples/modulated_layer_norm_backward.py",
    "--size",
    "i0=3",
    "--size",
    "i1=17",
    "--size",
    "i2=33",
];

#[test]
fn the_demo_ends_correctly_and_names_the_package() {
    let ended = ferrofuse(DEMO.into_iter().chain(["--check", "--time", "--libllvm", "none"]));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("matches the evaluator"), "{}", ended.stdout);
    assert!(ended.stdout.contains("evaluator: libLLVM is missing"), "{}", ended.stdout);
    assert!(ended.stdout.contains("weight, bias, scale"), "the table says what is read: {}", ended.stdout);
    assert!(ended.stderr.contains("apt-get install libllvm19"), "{}", ended.stderr);
}

#[test]
fn doctor_and_emit_say_so_too() {
    let ended = ferrofuse(["doctor", "--libllvm", "none"]);
    assert_eq!(ended.code, 0);
    assert!(ended.stdout.contains("apt-get install libllvm19"), "{}", ended.stdout);
    let ended = ferrofuse(["emit", "examples/softmax.py", "--stage", "asm", "--libllvm", "none"]);
    assert_eq!(ended.code, 3);
    assert!(ended.stderr.contains("apt-get install libllvm19"), "{}", ended.stderr);
    for stage in ["kernel", "cuda"] {
        let ended = ferrofuse(["emit", "examples/softmax.py", "--stage", stage, "--libllvm", "none"]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
    }
}

#[test]
fn explain_says_that_the_evaluator_runs() {
    let ended = ferrofuse(["explain", "examples/batch_norm.py", "--libllvm", "none", "--json"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let explained: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let segments = explained["segments"].as_array().unwrap();
    assert_eq!(segments.len(), 1, "{segments:?}");
    assert_eq!(segments[0]["evaluator_reason"], "libLLVM is missing");
    assert_eq!(segments[0].get("schedule"), None);
    // Of another machine nothing is known.
    let ended = ferrofuse(["explain", "examples/softmax.py", "--libllvm", "none", "--target", "sm_90"]);
    assert!(ended.code == 0 && ended.stdout.contains("kernel"), "{}", ended.stderr);
}

#[test]
fn the_environment_can_say_where_it_is() {
    let doctor = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ferrofuse"));
        command.arg("doctor").env("FERROFUSE_LIBLLVM", "nowhere/libLLVM.so");
        command
    };
    let text = |mut command: Command| String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(text(doctor()).contains("tried nowhere/libLLVM.so"));
    let mut overruled = doctor();
    overruled.args(["--libllvm", "elsewhere.so"]);
    assert!(text(overruled).contains("tried elsewhere.so"), "the option has the last word");
}
