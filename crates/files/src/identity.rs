//! When two paths name one file: compares what they resolve to, or would resolve to once made.

use std::fs::{self, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// A file that is there, or the place of one that is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    Inode {
        device: u64,
        inode: u64,
    },
    Absent(PathBuf),
    /// A device takes what any number of writers give it.
    Device,
}

impl Identity {
    /// The file that this metadata describes: a device, or an inode on its device.
    pub fn of(facts: &Metadata) -> Identity {
        let kind = facts.file_type();
        match kind.is_char_device() || kind.is_block_device() {
            true => Identity::Device,
            false => Identity::Inode { device: facts.dev(), inode: facts.ino() },
        }
    }

    /// What a path resolves to; `None` where that cannot be told, as in a folder without access.
    pub fn of_path(path: &Path) -> Option<Identity> {
        match fs::metadata(path) {
            Ok(facts) => Some(Identity::of(&facts)),
            Err(_) => resolved(path).ok().map(Identity::Absent),
        }
    }

    /// The file that standard output is, if it is one.
    pub fn of_stdout() -> Option<Identity> {
        let stdout = fs::File::from(io::stdout().as_fd().try_clone_to_owned().ok()?);
        let facts = stdout.metadata().ok().filter(Metadata::is_file)?;
        Some(Identity::of(&facts))
    }

    /// Whether both are one file. Devices are never equal.
    pub fn is(&self, other: &Identity) -> bool {
        *self != Identity::Device && self == other
    }
}

/// The path of the file itself, with all symlinks followed; it need not exist.
pub(crate) fn resolved(path: &Path) -> io::Result<PathBuf> {
    /// The number of symlinks that Linux follows.
    const MOST_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
        let full = real_folder(folder_of(&path))?.join(name);
        match fs::read_link(&full) {
            Ok(link) => path = folder_of(&full).join(link),
            Err(_) => return Ok(full),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

/// The folder that a path lies in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The real path of a folder, which need not exist yet.
fn real_folder(folder: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let name = folder.file_name().ok_or(error)?;
            Ok(real_folder(folder_of(folder))?.join(name))
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_of_every_kind_are_seen_through() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "").unwrap();
        fs::create_dir(at("sub")).unwrap();
        fs::hard_link(at("file"), at("hard")).unwrap();
        symlink("file", at("soft")).unwrap();
        symlink("soft", at("softer")).unwrap();
        symlink("sub/none", at("dangling")).unwrap();
        symlink("loop", at("loop")).unwrap();
        let is = |one: &str, other: &str| {
            Identity::of_path(&at(one)).unwrap().is(&Identity::of_path(&at(other)).unwrap())
        };
        for name in ["file", "hard", "soft", "softer", "sub/../file"] {
            assert!(is("file", name), "{name}");
        }
        assert!(is("dangling", "sub/none") && is("sub/none", "sub/../sub/none"));
        assert!(is("made/later/x", "sub/../made/later/x"));
        assert!(!is("file", "sub") && !is("sub/none", "none"));
        assert!(resolved(&at("loop")).is_err());
        let device = Identity::of_path(Path::new("/dev/null")).unwrap();
        assert!(!device.is(&device));
    }
}
