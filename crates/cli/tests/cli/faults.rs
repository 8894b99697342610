//! Faults during writing: the process is killed at each call that changes files, or the call fails as with a full disk, a
//! broken one, or a folder without permission.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::OnceLock;

use tempfile::TempDir;

use super::{definition, root};

/// The library that makes calls fail, built once.
fn shim() -> &'static Path {
    static BUILT: OnceLock<TempDir> = OnceLock::new();
    let folder = BUILT.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/fault_shim.cpp");
        let mut compiler = Command::new("g++");
        compiler
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(folder.path().join("shim.so"))
            .arg(source)
            .arg("-ldl");
        assert!(compiler.status().expect("g++, which `make setup` installs").success());
        folder
    });
    Box::leak(folder.path().join("shim.so").into_boxed_path())
}

/// A fault at one call of a process.
struct Fault<'a> {
    /// Calls on this folder are counted.
    folder: &'a Path,
    at: usize,
    /// An errno, or `kill`.
    error: String,
}

impl Fault<'_> {
    /// Runs the binary; `None` if it made fewer calls.
    fn run(&self, words: &[&str], cache: &Path) -> Option<Output> {
        let hit = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        fs::remove_file(&hit).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_ferrofuse"));
        command.args(words).current_dir(root()).env("FERROFUSE_CACHE", cache);
        command.env("LD_PRELOAD", shim()).env("FAULT_FOLDER", self.folder).env("FAULT_COUNT", &hit);
        let output =
            command.env("FAULT_AT", self.at.to_string()).env("FAULT_ERROR", &self.error).output().unwrap();
        hit.exists().then_some(output)
    }
}

const KILL: &str = "kill";
const MOST_CALLS: usize = 200;

fn errors() -> Vec<String> {
    let errors = [libc::ENOSPC, libc::EIO, libc::EACCES, libc::EDQUOT];
    errors.iter().map(i32::to_string).chain([KILL.to_owned()]).collect()
}

fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())).collect()
}

fn is_hidden(name: &str) -> bool {
    name.starts_with(".ferrofuse-")
}

const TWO: &str = "def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    y = fd.ops.neg(x)
    z = fd.ops.exp(x)
    fd.add_output(y)
    fd.add_output(z)
inputs = [torch.randn(300)]
";

#[test]
fn outputs_are_all_there_or_none_whatever_fails() {
    let (_folder, path) = definition(TWO);
    let none = Path::new("none");
    for error in errors() {
        let mut calls = 0;
        for at in 1..MOST_CALLS {
            let home = tempfile::tempdir().unwrap();
            let home_path = home.path().canonicalize().unwrap();
            let output = home_path.join("out");
            fs::create_dir(&output).unwrap();
            // One of the files exists, with private permissions; the other does not.
            let old = output.join("y.npy");
            fs::write(&old, "old").unwrap();
            fs::set_permissions(&old, fs::Permissions::from_mode(0o600)).unwrap();
            let words = ["run", &path, "--output", output.to_str().unwrap()];
            let fault = Fault { folder: &output, at, error: error.clone() };
            let Some(ended) = fault.run(&words, none) else { break };
            calls = at;
            let after = contents(&output);
            let visible: Vec<&String> = after.keys().filter(|name| !is_hidden(name)).collect();
            let replaced = after["y.npy"] != b"old";
            if error == KILL {
                assert_eq!(ended.status.code(), Some(137));
                assert!(!replaced || after["y.npy"].len() == 128 + 1200, "call {at}: half a file");
                assert!(after.get("z.npy").is_none_or(|z| z.len() == 128 + 1200), "call {at}: half a file");
            } else if ended.status.success() {
                // Failures of these calls do not matter: a lock, the removal of replaced files.
                assert!(replaced && visible.len() == 2, "{error} at {at}");
            } else {
                assert!(!replaced && visible.len() == 1, "{error} at {at}: {visible:?}");
                let code = ended.status.code();
                let told = String::from_utf8_lossy(&ended.stderr).into_owned();
                assert!(
                    matches!(code, Some(2 | 3)) && told.contains(".npy"),
                    "{error} at {at}: {code:?} {told}"
                );
            }
            // Nothing hinders the next run, and it leaves no files of this one.
            let next = super::ferrofuse(words);
            assert_eq!(next.code, 0, "{}", next.stderr);
            assert_eq!(super::files(&output), ["y.npy", "z.npy"], "{error} at {at}");
            assert_eq!(fs::metadata(&old).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert!((10..MOST_CALLS - 1).contains(&calls), "{error}: {calls} calls");
    }
}

#[test]
fn a_folder_that_was_made_for_outputs_goes_where_they_fail() {
    let (_folder, path) = definition(TWO);
    for at in 1..MOST_CALLS {
        let home = tempfile::tempdir().unwrap();
        let home_path = home.path().canonicalize().unwrap();
        let output = home_path.join("deep/out");
        let words = ["run", &path, "--output", output.to_str().unwrap()];
        let fault = Fault { folder: &home_path, at, error: libc::ENOSPC.to_string() };
        let Some(ended) = fault.run(&words, Path::new("none")) else { break };
        assert!(ended.status.success() || super::files(&home_path).is_empty(), "call {at}");
    }
}

#[test]
fn the_cache_costs_no_result_whatever_fails() {
    let run = ["run", "examples/silu_mul.py", "--size", "i0=3", "--size", "i1=70", "--check"];
    for error in errors() {
        let mut calls = 0;
        for at in 1..MOST_CALLS {
            let home = tempfile::tempdir().unwrap();
            let home_path = home.path().canonicalize().unwrap();
            let cache = home_path.join("cache");
            let fault = Fault { folder: &home_path, at, error: error.clone() };
            let Some(ended) = fault.run(&run, &cache) else { break };
            calls = at;
            let told = String::from_utf8_lossy(&ended.stderr).into_owned();
            assert!(error == KILL || ended.status.success(), "{error} at {at}: {told}");
            // A second process gives the right results, a third finds what the second cached, and no hidden file remains.
            for _ in 0..2 {
                let mut again = Command::new(env!("CARGO_BIN_EXE_ferrofuse"));
                let again =
                    again.args(run).current_dir(root()).env("FERROFUSE_CACHE", &cache).output().unwrap();
                assert!(
                    again.status.success(),
                    "{error} at {at}: {}",
                    String::from_utf8_lossy(&again.stderr)
                );
            }
            let names = super::files(&cache);
            assert!(!names.iter().any(|name| is_hidden(name)), "{error} at {at}: {names:?}");
            assert_eq!(
                names.iter().filter(|name| name.ends_with(".o")).count(),
                1,
                "{error} at {at}: {names:?}"
            );
        }
        assert!((5..MOST_CALLS - 1).contains(&calls), "{error}: {calls} calls");
    }
}
