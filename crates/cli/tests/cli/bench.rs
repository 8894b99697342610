//! `ferrofuse bench`: a row has every field, and an unknown workload is named. Nothing here asserts a speed.

use std::path::Path;
use std::process::Command;

use super::{ferrofuse, fine, root};

/// One run for both checks, at few tokens: without optimization a workload at its own sizes takes long. Sizes that are not
/// asked for are the file's.
#[test]
fn a_row_has_every_field_and_a_bar_in_the_picture() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bench.svg");
    let text = fine(&format!("bench rope_bf16 --size i2=16 --json --svg {}", path.display()));
    let row: serde_json::Value = serde_json::from_str(text.trim()).expect("one object a line");
    for field in [
        "ms",
        "gbps",
        "fraction",
        "copy_gbps",
        "read_gbps",
        "kernels",
        "traffic_ratio",
        "compile_ms",
        "first_call_ms",
        "call_us",
    ] {
        assert!(row[field].as_f64().is_some_and(|number| number > 0.0), "{field}: {row}");
    }
    assert_eq!((&row["workload"], &row["device"]), (&"rope_bf16".into(), &"cpu".into()));
    assert_eq!((row["rows"].as_i64(), row["columns"].as_i64()), (Some(32 * 16), Some(128)));
    let svg = std::fs::read_to_string(path).expect("the picture");
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    assert_eq!((svg.matches("<rect").count(), svg.matches("rope_bf16 512x128").count()), (1, 1));
}

#[test]
fn what_fits_in_a_cache_is_measured_there() {
    for (workload, peer) in [("softmax_f32", "copy"), ("sum_inner_f32", "read")] {
        let text = fine(&format!("bench {workload} --json --warm --threads 1 --size i0=3 --size i1=70"));
        let row: serde_json::Value = serde_json::from_str(text.trim()).expect("one object a line");
        assert_eq!((row["rows"].as_i64(), row["columns"].as_i64()), (Some(3), Some(70)));
        assert_eq!(row["peer"], peer);
        let number = |field: &str| row[field].as_f64().expect("a number");
        let of_peer = number("gbps") / number(&format!("{peer}_gbps"));
        assert!((number("fraction") - of_peer).abs() < 1e-9 * of_peer, "{row}");
    }
}

/// A machine that is not this one can be planned for, as nothing is run.
#[test]
fn workloads_are_cut_for_any_machine() {
    let cut = |target: &str| -> serde_json::Value {
        let text = fine(&format!("bench softmax_f32 --segments --json --size i0=64 --target {target}"));
        serde_json::from_str(text.trim()).expect("one object a line")
    };
    let (host, gpu) = (cut("host"), cut("h200"));
    assert!(host["cost_us"].as_f64() != gpu["cost_us"].as_f64(), "{host} {gpu}");
    let ended = ferrofuse("bench softmax_f32 --segments --device cuda".split(' '));
    assert!(ended.code == 2 && ended.stderr.contains("--target NAME"), "{}", ended.stderr);
    let ended = ferrofuse("bench softmax_f32 --target h200".split(' '));
    assert!(ended.code == 2 && ended.stderr.contains("does not run on this machine"), "{}", ended.stderr);
}

#[test]
fn a_gpu_is_measured_by_its_clock() {
    for workload in ["softmax_bf16", "sum_inner_f32"] {
        let text = fine(&format!("bench {workload} --json --warm --device cuda --size i0=3 --size i1=64"));
        let row: serde_json::Value = serde_json::from_str(text.trim()).expect("one object a line");
        assert_eq!((&row["device"], row["kernels"].as_u64()), (&"cuda".into(), Some(1)));
        let beside = ["copy_gbps", "read_gbps", "fraction"];
        for field in
            ["ms", "gbps", "compile_ms", "first_call_ms", "call_us", "model_us"].iter().chain(&beside)
        {
            assert!(row[field].as_f64().is_some_and(|number| number > 0.0), "{field}: {row}");
        }
    }
}

#[test]
fn kernels_of_a_gpu_tell_what_they_take() {
    let text = fine("run examples/softmax.py --device cuda --time --size i0=33 --size i1=512");
    // 256 threads a block: 8 blocks fill the 2048 threads of a multiprocessor.
    assert!(
        text.contains("registers  local bytes  blocks/SM") && text.contains("  32         0            8\n"),
        "{text}"
    );
}

/// Predictions for a GPU that is not present are in `bench/RESULTS-GPU.md`, which needs known registers.
#[test]
fn the_page_has_what_is_predicted() {
    let nvrtc = root().join(".cuda-tools/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
    let output = Command::new("python3")
        .args(["bench/gpu_predicted.py", "--ferrofuse", env!("CARGO_BIN_EXE_ferrofuse")])
        .current_dir(root())
        .env("FERROFUSE_LIBNVRTC", &nvrtc)
        .output()
        .expect("Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(
        table.lines().filter(|line| line.contains("0.") || line.contains("1.00")).count() >= 20,
        "{table}"
    );
    let page = std::fs::read_to_string(root().join("bench/RESULTS-GPU.md")).expect("the page");
    assert!(!nvrtc.exists() || page.contains(table.trim()), "{table}");
}

/// The script for machines with a GPU, run from a bundle in an empty folder.
#[test]
fn a_bundle_checks_and_measures() {
    let folder = tempfile::tempdir().expect("a folder");
    let bundle = folder.path().join("bundle");
    let stand_in = std::env::current_exe().expect("a test runs").with_file_name("libferrofuse_emulator.so");
    let made = Command::new(root().join("scripts/gpu-bundle"))
        .args([Path::new(env!("CARGO_BIN_EXE_ferrofuse")), &bundle])
        .status();
    assert!(made.expect("the script runs").success());
    let run = || {
        let output = Command::new(bundle.join("gpu.sh"))
            .arg("--quick")
            .env("FERROFUSE_LIBCUDA", &stand_in)
            .env("FERROFUSE_LIBNVRTC", &stand_in)
            .env("FERROFUSE_LIBCUBLASLT", &stand_in)
            .output()
            .expect("the script runs");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{stderr}");
        (String::from_utf8_lossy(&output.stdout).into_owned(), stderr)
    };
    let (table, said) = run();
    assert!(table.contains("| add_mul_f32 | 3x64 |") && table.contains("| softmax_bf16 | 3x64 |"), "{table}");
    assert!(said.contains("gpu.sh: check"), "{said}");
    let checked = std::fs::read_to_string(bundle.join("results/check")).expect("the part's lines");
    assert!(checked.contains("examples/softmax.py i0=17 i1=130: matches"), "{checked}");
    let results = std::fs::read_to_string(bundle.join("results/RESULTS-GPU.md")).expect("the table's page");
    assert!(results.contains("NVRTC        12.9") && results.contains(table.trim()), "{results}");
    let told =
        |part: &str| std::fs::read_to_string(bundle.join("results").join(part)).expect("the part's lines");
    for (part, script) in
        [("checks", "gpu_checks.py"), ("measured", "gpu_measured.py"), ("peers", "gpu_peers.py")]
    {
        assert!(told(part).starts_with(&format!("{script}: not run: ")), "{}", told(part));
    }
    assert!(told("fuzz").contains("programs"), "{}", told("fuzz"));
    for part in ["sweep", "counters", "sanitize"] {
        assert!(!told(part).is_empty(), "{part}");
    }
    assert_eq!(run(), (table, String::new()), "parts that are done are not done again");
}

/// A binary that rejects every command: the script allows that at its own sizes, and reports a failure at an example's
/// sizes.
#[test]
fn a_bundle_checks_examples_at_their_own_sizes() {
    let folder = tempfile::tempdir().expect("a folder");
    let (binary, bundle) = (folder.path().join("rejects"), folder.path().join("bundle"));
    std::fs::write(&binary, "#!/bin/sh\necho \"$@\" >> calls\nexit 2\n").expect("a script");
    let executable = Command::new("chmod").arg("+x").arg(&binary).status();
    let made = Command::new(root().join("scripts/gpu-bundle")).args([&binary, &bundle]).status();
    assert!(executable.expect("chmod runs").success() && made.expect("the script runs").success());
    let output = Command::new(bundle.join("gpu.sh")).arg("check").output().expect("the script runs");
    assert_eq!(output.status.code(), Some(1));
    let calls = std::fs::read_to_string(bundle.join("calls")).expect("what was asked");
    assert!(calls.contains("run examples/rope.py --device cuda --check\n"), "{calls}");
    assert!(
        calls.contains("run examples/rope.py --device cuda --check --size i0=17 --size i1=130\n"),
        "{calls}"
    );
    let checked = std::fs::read_to_string(bundle.join("results/check")).expect("the part's lines");
    assert!(checked.contains("examples/rope.py i0=17 i1=130: does not have these sizes\n"), "{checked}");
    assert!(checked.contains("examples/rope.py its own sizes: FAILED (2)"), "{checked}");
}

#[test]
fn an_unknown_workload_is_the_users_mistake() {
    let ended = ferrofuse(["bench", "sum_sideways"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("there is no workload `sum_sideways`"), "{}", ended.stderr);
    assert!(ended.stderr.contains("sum_inner_f32"), "{}", ended.stderr);
}

#[test]
fn segments_are_priced_without_a_run() {
    let text = fine("bench silu_mul_bf16 layer_norm_backward_bf16 --segments --json");
    for line in text.lines() {
        let row: serde_json::Value = serde_json::from_str(line).expect("one object a line");
        let number = |field: &str| row[field].as_f64().unwrap_or_else(|| panic!("{field}: {row}"));
        assert!(number("ops") > 4.0 && number("segments") == 1.0 && number("traffic_ratio") < 1.1, "{row}");
        assert!(
            number("cost_us") <= number("greedy_cost_us")
                && number("unfused_cost_us") > 2.0 * number("cost_us")
        );
    }
}

#[test]
fn what_cannot_be_measured_is_rejected() {
    for (line, reason) in [
        ("bench rope_bf16 --sweep", "no rows and columns to sweep over"),
        ("bench rope_bf16 --sweep --size i0=2", "cannot be used with"),
        ("bench add_mul_f32 --size i7=2", "`add_mul_f32` has no size `i7`"),
        ("bench add_mul_f32 --size i0=2 --size i0=2", "--size: `i0` is given twice"),
        ("bench cross_entropy_bf16 --warm --size i0=8 --size i1=64", "is out of range for axis 1 of size 64"),
        ("bench add_mul_f32 --threads 2000", "there are at most 1024 threads"),
        ("run examples/silu_mul.py --size i0=2 --size i0=3", "--size: `i0` is given twice"),
        ("run examples/silu_mul.py --threads 2000", "there are at most 1024 threads"),
        ("bench --device cuba", "`cuba` is no device; known are cpu, cuda, cuda:0, cuda:1"),
        ("bench --target aarch64", "does not run on this machine"),
        ("run examples/silu_mul.py --target sm_90", "does not run on this machine"),
    ] {
        let ended = ferrofuse(line.split(' '));
        assert_eq!(ended.code, 2, "{line}");
        assert!(ended.stderr.contains(reason), "{line}: {}", ended.stderr);
    }
}

#[test]
fn runs_for_every_instruction_set_that_is_here() {
    for target in ["host", "x86-64", "avx2", "avx512"] {
        let line = format!("run examples/gelu_bias.py --size i0=5 --size i1=301 --check --target {target}");
        let ended = ferrofuse(line.split(' '));
        let absent = ended.stderr.contains("does not run on this machine") && target.starts_with("avx");
        assert!(absent || ended.stdout.contains("matches the evaluator"), "{target}: {}", ended.stderr);
    }
}
