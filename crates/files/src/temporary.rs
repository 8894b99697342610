//! Files under temporary names, renamed when they are whole; and the removal of those whose writer was killed.
//!
//! A name carries a checksum of itself, so no other program's file is taken for one of ours. The writer holds a lock on
//! its file: one that can be locked has no writer any more, in whichever container or on whichever host that ran.

use std::fs::{self, DirEntry, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::OFlags;

const PREFIX: &str = ".ferrofuse-";

/// Makes the names of one process differ.
static SERIAL: AtomicU64 = AtomicU64::new(0);

/// A file under a temporary name. Dropped before it is placed, it is removed.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
    file: File,
    placed: bool,
}

impl Temporary {
    /// Makes an empty file with these permissions, less those that the process's mask forbids.
    ///
    /// # Errors
    /// When the folder cannot be written to.
    pub fn create(folder: &Path, mode: u32) -> io::Result<Temporary> {
        loop {
            let path = folder.join(name(process::id(), SERIAL.fetch_add(1, Ordering::Relaxed)));
            let file = match OpenOptions::new().write(true).create_new(true).mode(mode).open(&path) {
                // Left by a killed process with the same process ID.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                other => other?,
            };
            let temporary = Temporary { path, file, placed: false };
            // A file system without locks has no sweep either. Where the lock is taken, or the file already gone, a
            // sweep found the file in the instant before it was locked.
            let swept = matches!(temporary.file.try_lock(), Err(fs::TryLockError::WouldBlock))
                || temporary.file.metadata()?.nlink() == 0;
            if !swept {
                return Ok(temporary);
            }
        }
    }

    /// Its temporary name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file, to be written.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Renames the file, replacing what has the name.
    ///
    /// # Errors
    /// When the name cannot be taken; the file is removed.
    pub fn place(mut self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)?;
        self.placed = true;
        Ok(())
    }

    /// Records that the temporary name is gone.
    pub(crate) fn forget(&mut self) {
        self.placed = true;
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.placed {
            // What cannot be removed now is swept by a later process.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Removes from a folder what killed writers left there. What cannot be listed or removed stays.
pub fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(is_temporary) {
            let _ = remove_abandoned(&entry);
        }
    }
}

fn remove_abandoned(entry: &DirEntry) -> io::Result<()> {
    let path = entry.path();
    if !entry.file_type()?.is_file() {
        return Ok(());
    }
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let file = OpenOptions::new().read(true).custom_flags(flags as i32).open(&path)?;
    file.try_lock()?;
    // Between the listing and the lock the writer may have renamed it.
    let (locked, named) = (file.metadata()?, fs::symlink_metadata(&path)?);
    if (locked.dev(), locked.ino()) == (named.dev(), named.ino()) {
        fs::remove_file(&path)?;
    }
    Ok(())
}

fn name(process: u32, serial: u64) -> String {
    let stem = format!("{process:x}-{serial:x}");
    format!("{PREFIX}{stem}-{:016x}", checksum(&stem))
}

/// Whether a name is that of a temporary file of ours.
pub fn is_temporary(name: &str) -> bool {
    let parts = name.strip_prefix(PREFIX).and_then(|rest| rest.rsplit_once('-'));
    parts.is_some_and(|(stem, sum)| sum == format!("{:016x}", checksum(stem)))
}

/// FNV-1a.
fn checksum(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn what_is_not_placed_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        drop(Temporary::create(folder.path(), 0o600).unwrap());
        assert_eq!(names(folder.path()), 0);
        Temporary::create(folder.path(), 0o600).unwrap().place(&folder.path().join("a")).unwrap();
        assert!(folder.path().join("a").exists() && names(folder.path()) == 1);
    }

    #[test]
    fn a_sweep_removes_what_has_no_writer_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let abandoned = at(&name(1, 7));
        let foreign = [".ferrofuse-1-7-0", ".ferrofuse-notes", "x", ".ferrofuse-"];
        foreign.iter().for_each(|name| fs::write(at(name), "the user's").unwrap());
        fs::write(&abandoned, "half").unwrap();
        fs::create_dir(at(&name(1, 8))).unwrap();
        std::os::unix::fs::symlink(at("x"), at(&name(1, 9))).unwrap();
        let live = Temporary::create(folder.path(), 0o600).unwrap();
        sweep(folder.path());
        assert!(!abandoned.exists() && live.path().exists());
        assert!(foreign.iter().all(|name| at(name).exists()));
        assert_eq!(names(folder.path()), foreign.len() + 3);
    }

    #[test]
    fn the_number_of_a_killed_process_comes_again() {
        let folder = tempfile::tempdir().unwrap();
        let next = SERIAL.load(Ordering::Relaxed);
        for serial in next..next + 64 {
            fs::write(folder.path().join(name(process::id(), serial)), "half").unwrap();
        }
        Temporary::create(folder.path(), 0o600).unwrap().place(&folder.path().join("a")).unwrap();
        assert_eq!(names(folder.path()), 65);
        sweep(folder.path());
        assert_eq!(names(folder.path()), 1);
    }
}
