//! Where this crate's library is: the one that is opened as libcuda and libnvrtc.

use std::path::PathBuf;

const NAME: &str = "libferrofuse_emulator.so";

/// The library that Cargo has made for the test or binary of the workspace that asks, which depends on this crate. `None`
/// elsewhere.
pub fn library() -> Option<PathBuf> {
    let executable = std::env::current_exe().ok()?;
    // `target/debug/deps/TEST`, `target/debug/BINARY`, `target/debug/examples/EXAMPLE`: what `deps` has is always new.
    let folders = executable.ancestors().skip(1).take(2);
    let mut candidates = folders.map(|folder| match folder.ends_with("deps") {
        true => folder.join(NAME),
        false => folder.join("deps").join(NAME),
    });
    candidates.find(|path| path.exists())
}
