//! Names of kernels for `perf`: a line per function in `/tmp/perf-PID.map`, where it looks for code made at run time.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use codegen::cpu::CompiledKernel;

/// Adds a kernel. An unwritable file is no reason to fail: only names are lost.
pub fn list(name: &str, code: &CompiledKernel) {
    let line = format!("{:x} {:x} ferrofuse::{name}\n", code.address(), code.code_bytes());
    let path = format!("/tmp/perf-{}.map", std::process::id());
    let _ = append(Path::new(&path), &line);
}

/// Adds a line in one write: several threads may do so at once.
fn append(path: &Path, line: &str) -> io::Result<()> {
    // The name is predictable, so in a folder that all may write to somebody may have placed a link or a pipe there.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let mut file = File::options().create(true).append(true).custom_flags(flags).open(path)?;
    file.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::append;

    #[test]
    fn lines_come_after_each_other_and_never_through_a_link() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let [map, link, precious] = ["perf.map", "link.map", "precious"].map(|name| folder.path().join(name));
        ["a\n", "b\n"].iter().for_each(|line| append(&map, line).expect("a file of ours"));
        assert_eq!(fs::read_to_string(&map).expect("written"), "a\nb\n");
        fs::write(&precious, "kept").expect("a file");
        for target in [&precious, &folder.path().join("nowhere")] {
            symlink(target, &link).expect("a link");
            append(&link, "c\n").expect_err("a link of somebody");
            fs::remove_file(&link).expect("still a link");
        }
        assert_eq!(fs::read_to_string(&precious).expect("there"), "kept");
        assert!(!folder.path().join("nowhere").exists());
    }
}
