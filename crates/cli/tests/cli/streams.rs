//! Streams that cannot be written to: exit codes are unchanged, and nothing panics.

use std::fs::{File, OpenOptions};
use std::process::{Command, Stdio};

use super::root;

const WRONG: &[&str] = &["run", "examples/softmax.py", "--size", "i9=4"];
const RESULTS: [&[&str]; 5] =
    [&["ops"], &["--help"], &["--version"], &["run", "--help"], &["explain", "examples/softmax.py"]];

fn full() -> File {
    OpenOptions::new().write(true).open("/dev/full").unwrap()
}

fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrofuse"));
    command
        .args(words)
        .current_dir(root())
        .env("FERROFUSE_CACHE", "/dev/null")
        .env("FERROFUSE_LIBLLVM", "none");
    command
}

#[test]
fn an_exit_code_does_not_need_stderr() {
    let run = &["run", "examples/silu_mul.py", "--size", "i0=2", "--size", "i1=3"];
    for (words, code) in [(WRONG, 2), (&["runn"][..], 2), (&["cache", "info"][..], 3), (&run[..], 0)] {
        let ended = command(words).stdout(Stdio::null()).stderr(full()).status().unwrap();
        assert_eq!(ended.code(), Some(code), "{words:?} with a full disk behind stderr");
        let mut closed = Command::new("sh");
        closed.args(["-c", "exec \"$0\" \"$@\" 2>&-", env!("CARGO_BIN_EXE_ferrofuse")]).args(words);
        closed.current_dir(root()).env("FERROFUSE_CACHE", "/dev/null").env("FERROFUSE_LIBLLVM", "none");
        assert_eq!(
            closed.stdout(Stdio::null()).status().unwrap().code(),
            Some(code),
            "{words:?} with stderr closed"
        );
    }
}

#[test]
fn results_that_cannot_be_written_are_the_machines_fault() {
    for words in RESULTS {
        let output = command(words).stdout(full()).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{words:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("cannot be written"), "{words:?}");
        let both = command(words).stdout(full()).stderr(full()).status().unwrap();
        assert_eq!(both.code(), Some(3), "{words:?}");
    }
}

#[test]
fn results_that_nobody_reads_any_more_are_no_failure() {
    for words in RESULTS {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = command(words).stdout(writer).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{words:?}");
        assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
    }
}
