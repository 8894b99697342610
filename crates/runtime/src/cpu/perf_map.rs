//! Names of kernels for `perf`: a line per function in `/tmp/perf-PID.map`, where it looks for code made at run time.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

use codegen::cpu::CompiledKernel;

/// Adds a kernel. That the file cannot be written is no reason to fail: only names are lost.
pub(crate) fn list(name: &str, code: &CompiledKernel) {
    let line = format!("{:x} {:x} ferrofuse::{name}\n", code.address(), code.code_bytes());
    let path = format!("/tmp/perf-{}.map", std::process::id());
    // One write of one line: several threads may do so at once.
    let _ = File::options()
        .create(true)
        .append(true)
        // The name can be foreseen, and in a folder that all may write to a link may wait there.
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)
        .and_then(|mut file| file.write_all(line.as_bytes()));
}
