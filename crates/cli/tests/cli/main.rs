//! The binary as users run it: every verb and option, every kind of bad input, exit codes, files left on disk.

mod bench;
mod cache;
mod documents;
mod explain_gpu;
mod facts;
mod faults;
mod file_tests;
mod hidden_llvm;
mod interrupts;
mod outputs;
mod rejections;
mod same_bits;
mod saved;
mod segments;
mod streams;
mod verbs;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// The result of a call of the binary.
struct Ended {
    code: i32,
    stdout: String,
    stderr: String,
}

fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("the crate lies two folders below the root").to_path_buf()
}

/// The folder of the tests' machine code: equal kernels of several tests are compiled once.
fn objects() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("objects")
}

/// Calls the binary in the workspace's root, with the stand-in as NVIDIA's libraries; it must exit by itself, without a
/// signal or a panic.
fn ferrofuse<S: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = S>) -> Ended {
    let stand_in = std::env::current_exe().expect("a test runs").with_file_name("libferrofuse_emulator.so");
    let output = Command::new(env!("CARGO_BIN_EXE_ferrofuse"))
        .args(arguments)
        .current_dir(root())
        .env("FERROFUSE_CACHE", objects())
        .env("FERROFUSE_FACTS", "none")
        .env("FERROFUSE_LIBCUDA", &stand_in)
        .env("FERROFUSE_LIBNVRTC", &stand_in)
        .env("FERROFUSE_LIBCUBLASLT", &stand_in)
        .output()
        .expect("the binary was built");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    let code = output.status.code().unwrap_or_else(|| panic!("ended by a signal: {stderr}"));
    assert!(!stderr.contains("panicked"), "{stderr}");
    Ended { code, stdout, stderr }
}

/// Calls the binary with the words of a line, which must succeed; returns stdout.
fn fine(line: &str) -> String {
    let ended = ferrofuse(line.split_whitespace());
    assert_eq!(ended.code, 0, "`ferrofuse {line}`\n{}\n{}", ended.stdout, ended.stderr);
    ended.stdout
}

/// A folder with one definition file in it.
fn definition(text: &str) -> (TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = folder.path().join("definition.py");
    fs::write(&path, text).expect("a file in it");
    let path = path.to_str().expect("a path in ASCII").to_owned();
    (folder, path)
}

/// The names of the files in a folder, in order; none if there is no folder.
fn files(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("a readable folder").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
