//! Ctrl-C: the signal ends the binary at any point, and no file is half written.

use std::fs;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use super::{definition, files, root};

/// Means along different axes alternately: many kernels, which take long to compile.
fn normalizations(count: usize) -> String {
    let step = |k: usize| {
        format!(
            "    x{} = fd.ops.exp(fd.ops.sub(x{k}, fd.ops.mean(x{k}, dims=[{}], keepdim=True)))\n",
            k + 1,
            k % 2
        )
    };
    let steps: String = (0..count).map(step).collect();
    format!(
        "def f(fd):\n    x0 = fd.define_tensor(shape=[-1, -1], contiguity=True)\n{steps}    fd.add_output(x{count})\n"
    )
}

/// Whether a process has a thread of this name.
fn has_thread(process: &Child, name: &str) -> bool {
    let threads = fs::read_dir(format!("/proc/{}/task", process.id())).into_iter().flatten().flatten();
    let names = threads.filter_map(|thread| fs::read_to_string(thread.path().join("comm")).ok());
    names.into_iter().any(|found| found.starts_with(name))
}

/// Restores the default action of the interrupt signal, which shells make background processes ignore.
fn heeds_interrupts() -> io::Result<()> {
    // SAFETY: it installs no handler.
    match unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) } {
        libc::SIG_ERR => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Runs a definition and interrupts it as soon as a thread of this name exists; returns the exit status.
fn interrupted(path: &str, words: &[&str], thread: &str) -> ExitStatus {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrofuse"));
    command.args(["run", path, "--threads", "2"]).args(words).current_dir(root());
    command.env("FERROFUSE_CACHE", "none").stdout(Stdio::null());
    // SAFETY: `signal` may be called between fork and exec.
    unsafe { command.pre_exec(heeds_interrupts) };
    let mut process = command.spawn().unwrap();
    while !has_thread(&process, thread) {
        assert!(process.try_wait().unwrap().is_none(), "it has ended before it could be interrupted");
        std::thread::sleep(Duration::from_millis(1));
    }
    // SAFETY: sends a signal to a child that nobody has waited for yet.
    assert_eq!(unsafe { libc::kill(process.id().cast_signed(), libc::SIGINT) }, 0);
    process.wait().unwrap()
}

#[test]
fn an_interrupt_ends_compiling_calls_and_checks() {
    let (folder, path) = definition(&normalizations(150));
    let outputs = folder.path().join("outputs");
    let written = ["--output", outputs.to_str().unwrap()];
    let small = ["--size", "i0=20", "--size", "i1=30"];
    let large = ["--size", "i0=3000", "--size", "i1=4000", "--libllvm", "none"];
    for (sizes, thread) in [(&small[..], "ferrofuse-comp"), (&large[..], "ferrofuse-1")] {
        let ended = interrupted(&path, &[sizes, &written].concat(), thread);
        assert_eq!(ended.signal(), Some(libc::SIGINT), "{ended}");
        assert!(!Path::new(&outputs).exists(), "{:?}", files(&outputs));
    }
    fs::write(&path, normalizations(1)).unwrap();
    super::fine(&format!("run {path} --size i0=20 --size i1=30 --output {}", outputs.display()));
    assert_eq!(files(&outputs), ["x1.npy"]);
}
