//! A folder of one's own with files that appear whole: what the cache asks of the file system.
//!
//! Knows names and bytes, not what they mean.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use super::entry::SUFFIX;

/// Begins the names of files that are being written.
const ASIDE: &str = ".writing-";
/// A file that has been written for so long has lost its writer.
const ABANDONED: Duration = Duration::from_secs(600);

/// A private folder.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Makes the names of this process's files aside different.
    serial: AtomicU64,
}

/// A file of the folder.
pub(super) struct Entry {
    pub name: String,
    pub bytes: u64,
    /// When it was written or last touched.
    pub used: SystemTime,
}

impl Folder {
    /// Opens a folder, or makes it, for this user alone.
    pub fn open(path: PathBuf) -> io::Result<Folder> {
        DirBuilder::new().recursive(true).mode(0o700).create(&path)?;
        let found = fs::metadata(&path)?;
        // SAFETY: asks for a number.
        let user = unsafe { libc::geteuid() };
        if found.uid() != user {
            return Err(io::Error::new(ErrorKind::PermissionDenied, "the folder is another user's"));
        }
        if found.mode() & 0o022 != 0 {
            let reason = "others may write to the folder; `chmod 700` it";
            return Err(io::Error::new(ErrorKind::PermissionDenied, reason));
        }
        Ok(Folder { path, serial: AtomicU64::new(0) })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The bytes of a file, if it is there and can be read.
    pub fn read(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.path.join(name)).ok()
    }

    /// Writes a file: whole under its name, or not at all.
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let serial = self.serial.fetch_add(1, Ordering::Relaxed);
        let aside = self.path.join(format!("{ASIDE}{}-{serial}", process::id()));
        let written = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&aside)
            .and_then(|mut file| file.write_all(bytes))
            .and_then(|()| fs::rename(&aside, self.path.join(name)));
        if written.is_err() {
            // What cannot be removed now is swept later.
            let _ = fs::remove_file(&aside);
        }
        written
    }

    /// Marks a file as used now.
    pub fn touch(&self, name: &str) {
        // Without the mark the entry goes earlier than it should; no harm is done.
        let _ = File::open(self.path.join(name)).and_then(|file| file.set_modified(SystemTime::now()));
    }

    /// Removes a file, if it is there.
    pub fn remove(&self, name: &str) {
        // Another process may have been faster.
        let _ = fs::remove_file(self.path.join(name));
    }

    /// The entries, in no order.
    pub fn entries(&self) -> Vec<Entry> {
        self.files().filter(|file| file.name.ends_with(SUFFIX) && !file.name.starts_with('.')).collect()
    }

    /// Removes what writers that were killed left behind.
    pub fn sweep(&self) {
        let now = SystemTime::now();
        let abandoned = |file: &Entry| now.duration_since(file.used).is_ok_and(|age| age > ABANDONED);
        let aside = self.files().filter(|file| file.name.starts_with(ASIDE));
        aside.filter(abandoned).for_each(|file| self.remove(&file.name));
    }

    /// Removes every file that this cache wrote, and no other.
    pub fn clear(&self) -> io::Result<()> {
        let ours =
            |name: &str| name.ends_with(SUFFIX) || name.starts_with(ASIDE) || name == super::remembered::NAME;
        for file in self.files().filter(|file| ours(&file.name)) {
            match fs::remove_file(self.path.join(&file.name)) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    fn files(&self) -> impl Iterator<Item = Entry> {
        let found = fs::read_dir(&self.path).into_iter().flatten().flatten();
        found.filter_map(|file| {
            let facts = file.metadata().ok().filter(fs::Metadata::is_file)?;
            Some(Entry {
                name: file.file_name().into_string().ok()?,
                bytes: facts.len(),
                used: facts.modified().ok()?,
            })
        })
    }
}
