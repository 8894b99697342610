//! `explain` for GPUs that are not present: the resources that kernels take of a multiprocessor, and what bounds them.

use std::process::Command;

use serde_json::Value;

use super::{definition, fine, root};

/// Explains a file with the NVRTC at a path, relative to the root; returns stdout and stderr.
fn explained(arguments: &str, nvrtc: &str) -> (String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_ferrofuse"))
        .arg("explain")
        .args(arguments.split_whitespace())
        .current_dir(root())
        .env("FERROFUSE_CACHE", "none")
        .env("FERROFUSE_LIBNVRTC", root().join(nvrtc))
        .output()
        .expect("the binary was built");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

fn kernels(arguments: &str, nvrtc: &str) -> Vec<Value> {
    let (object, _) = explained(&format!("{arguments} --json"), nvrtc);
    let object: Value = serde_json::from_str(&object).expect("JSON on stdout");
    let segments = object["segments"].as_array().expect("a list").iter();
    segments.flat_map(|segment| segment["kernels"].as_array().cloned().unwrap_or_default()).collect()
}

#[test]
fn without_nvrtc_registers_are_unknown_and_it_is_told() {
    let (text, told) = explained("examples/softmax.py --target h200", "nowhere/libnvrtc.so");
    assert!(text.contains("seg0: 8192 blocks of 256 threads, registers unknown, "), "{text}");
    assert!(text.contains("a multiprocessor: at most 8 blocks, "), "{text}");
    assert!(told.starts_with("registers are unknown: libnvrtc was not found"), "{told}");
}

#[test]
fn a_cpu_has_no_such_kernels() {
    assert_eq!(kernels("examples/softmax.py --target avx2", "nowhere"), Vec::<Value>::new());
}

#[test]
fn registers_are_those_of_the_machine_code() {
    let nvrtc = ".cuda-tools/nvidia/cuda_nvrtc/lib/libnvrtc.so.12";
    if !root().join(nvrtc).exists() {
        return eprintln!("not checked: NVRTC is not in .cuda-tools: `make setup` fetches it");
    }
    let found = kernels("examples/layer_norm_backward.py --target h200", nvrtc);
    let [main, combine] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((&main["name"], &main["bound"]), (&"seg0".into(), &"bandwidth".into()));
    let time = |term: &str| main["times_us"][term].as_f64().unwrap_or_else(|| panic!("{term} of {main}"));
    assert!(
        ["latency", "instructions", "launch"].iter().all(|term| time(term) <= time("bandwidth")),
        "{main}"
    );
    for kernel in [main, combine] {
        let number = |key: &str| kernel[key].as_u64().unwrap_or_else(|| panic!("{key} of {kernel}"));
        assert!((16..=255).contains(&number("registers")), "{kernel}");
        // At least as many blocks as registers allow, or as many as other resources of a multiprocessor allow.
        let threads = number("blocks_per_multiprocessor") * number("threads");
        assert!(threads <= 2048 && threads * number("registers") <= 1 << 16, "{kernel}");
        assert!(threads >= number("threads"), "{kernel}");
    }
    assert!(combine.get("bound").is_none(), "{combine}");
}

#[test]
fn a_segmentation_with_a_bias_reads_back() {
    let tensor =
        |axes: &str| format!("fd.define_tensor(shape=[{axes}], contiguity=True, dtype=DataType.BFloat16)");
    let (folder, path) = definition(&format!(
        "def f(fd):\n    x = {}\n    w = {}\n    b = {}\n    fd.add_output(fd.ops.exp(fd.ops.linear(x, w, b)))\n",
        tensor("64, 32"),
        tensor("128, 32"),
        tensor("128")
    ));
    let text = fine(&format!("emit {path} --stage segments --target h200"));
    let chosen = folder.path().join("segments.txt");
    std::fs::write(&chosen, text).expect("a file");
    let explained = |more: &str| fine(&format!("explain {path} --target avx2{more}"));
    assert!(explained("").contains("library matmul"));
    let chosen = fine(&format!("explain {path} --target h200 --segmentation {}", chosen.display()));
    assert!(chosen.contains("library linear") && !chosen.contains("evaluator"), "{chosen}");
    assert!(chosen.contains("pattern linear"), "{chosen}");
}
