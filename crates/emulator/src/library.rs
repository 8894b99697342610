//! Where this crate's library is: the one that is opened as libcuda and libnvrtc.

use std::path::PathBuf;

const NAME: &str = "libferrofuse_emulator.so";

/// The library beside the test or binary of the workspace that asks, which depends on this crate. `None` elsewhere.
pub fn library() -> Option<PathBuf> {
    let executable = std::env::current_exe().ok()?;
    // `target/debug/deps/TEST`, `target/debug/BINARY`, `target/debug/examples/EXAMPLE`: what `deps` has is always new.
    let folders = executable.ancestors().skip(1).take(2);
    let candidates = folders.flat_map(|folder| [folder.join("deps").join(NAME), folder.join(NAME)]);
    candidates.into_iter().find(|path| path.exists())
}
