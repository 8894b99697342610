//! Machine code is kept between processes, and no damage to the cache changes a result.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use super::root;

const RUN: [&str; 8] =
    ["run", "examples/softmax.py", "--size", "i0=5", "--size", "i1=33", "--check", "--json"];

fn command(cache: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrofuse"));
    command.current_dir(root()).env("FERROFUSE_CACHE", cache);
    command
}

fn cached_kernels(output: &Output) -> u64 {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["matches"], true);
    report["cached_kernels"].as_u64().expect("a number")
}

fn run(cache: &Path) -> u64 {
    cached_kernels(&command(cache).args(RUN).output().expect("the binary was built"))
}

fn entries(cache: &Path) -> Vec<std::path::PathBuf> {
    let files = fs::read_dir(cache).expect("the cache's folder").flatten().map(|file| file.path());
    files.filter(|path| path.extension().is_some_and(|ending| ending == "o")).collect()
}

#[test]
fn the_second_process_compiles_nothing_and_never_opens_libllvm() {
    let home = tempfile::tempdir().unwrap();
    let cache = home.path().join("cache");
    assert_eq!(run(&cache), 0);
    assert_eq!(run(&cache), 1);
    assert_eq!(entries(&cache).len(), 1);
    let mut traced = command(&cache);
    // The dynamic loader names each file that it opens.
    let output = traced.args(RUN).env("LD_DEBUG", "files").output().unwrap();
    assert_eq!(cached_kernels(&output), 1);
    let opened = String::from_utf8_lossy(&output.stderr);
    assert!(opened.contains("libc.so") && !opened.contains("libLLVM"), "{opened}");
}

#[test]
fn a_damaged_entry_is_made_anew() {
    let home = tempfile::tempdir().unwrap();
    run(home.path());
    let [entry] = <[_; 1]>::try_from(entries(home.path())).expect("one entry");
    let whole = fs::read(&entry).unwrap();
    let mut damaged = whole.clone();
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    fs::write(&entry, &damaged).unwrap();
    assert_eq!(run(home.path()), 0, "it is compiled again");
    assert_eq!(fs::read(&entry).unwrap(), whole, "and written again");
    assert_eq!(run(home.path()), 1);
    fs::write(home.path().join("libllvm.json"), "{").unwrap();
    assert_eq!(run(home.path()), 1, "what libLLVM was is found out again");
}

/// A cubin is kept after the driver has loaded it; one that it fails to load is compiled again.
#[test]
fn machine_code_of_a_gpu_is_kept() {
    let home = tempfile::tempdir().unwrap();
    let stand_in = std::env::current_exe().expect("a test runs").with_file_name("libferrofuse_emulator.so");
    let run = || {
        let mut on_gpu = command(home.path());
        on_gpu.args(RUN).args(["--device", "cuda"]);
        on_gpu.env("FERROFUSE_LIBCUDA", &stand_in).env("FERROFUSE_LIBNVRTC", &stand_in);
        cached_kernels(&on_gpu.output().expect("the binary was built"))
    };
    assert_eq!([run(), run()], [0, 1]);
    let [entry] = <[_; 1]>::try_from(entries(home.path())).expect("one entry");
    let whole = fs::read(&entry).unwrap();
    fs::write(&entry, &whole[..whole.len() / 2]).unwrap();
    assert_eq!([run(), run()], [0, 1]);
    assert_eq!(entries(home.path()).len(), 1);
}

#[test]
fn a_full_disk_costs_the_cache_and_nothing_else() {
    let home = tempfile::tempdir().unwrap();
    // No file may grow, as with a full disk.
    let script =
        format!("ulimit -f 0; trap '' XFSZ; exec {} {}", env!("CARGO_BIN_EXE_ferrofuse"), RUN.join(" "));
    let mut shell = Command::new("bash");
    shell.args(["-c", &script]).current_dir(root()).env("FERROFUSE_CACHE", home.path());
    assert_eq!(cached_kernels(&shell.output().unwrap()), 0);
    assert_eq!(super::files(home.path()), [] as [&str; 0], "nothing half-written");
}

#[test]
fn processes_share_a_cache() {
    let home = tempfile::tempdir().unwrap();
    let start = || command(home.path()).args(RUN).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let processes: Vec<_> = (0..4).map(|_| start()).collect();
    for process in processes {
        cached_kernels(&process.wait_with_output().unwrap());
    }
    assert_eq!(run(home.path()), 1);
    assert_eq!(entries(home.path()).len(), 1);
}

#[test]
fn it_is_looked_at_and_cleared() {
    let home = tempfile::tempdir().unwrap();
    run(home.path());
    let told = |words: &[&str]| {
        let output = command(home.path()).args(words).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(told(&["cache", "info"]).contains("1 kernels"));
    assert!(told(&["doctor"]).contains(&format!("{}, 1 kernels", home.path().display())));
    assert!(told(&["cache", "clear"]).starts_with("removed 1 kernels"));
    assert!(told(&["cache", "info"]).contains("0 kernels"));
}

#[test]
fn without_a_usable_folder_it_says_so_and_goes_on() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    fs::write(&file, "").unwrap();
    let output = command(&file).args(RUN).output().unwrap();
    assert_eq!(cached_kernels(&output), 0);
    assert!(String::from_utf8_lossy(&output.stderr).contains("compiled kernels are not kept"));
    let rejected = command(&file).args(["cache", "info"]).output().unwrap();
    assert_eq!(rejected.status.code(), Some(3));
}
