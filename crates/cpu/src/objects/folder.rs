//! A private folder of files that are written atomically: the cache's view of the file system.
//!
//! Opens regular files only, so neither a FIFO nor a symlink in the folder is ever followed. Knows names and bytes, not
//! their meaning.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::SystemTime;

use files::Temporary;
use rustix::fs::OFlags;

/// The mark of a folder of caches, which programs that make backups know as well: <https://bford.info/cachedir/>.
const TAG: &str = "CACHEDIR.TAG";
const TAG_TEXT: &str = "Signature: 8a477f597d28d172789f06886806bc55
# In this folder ferrofuse keeps compiled kernels. It may be removed at any time.
";

/// A private folder.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Whether this process has removed temporary files of killed writers: the first write does.
    swept: Once,
}

/// A regular file of the folder.
pub(super) struct Entry {
    pub name: String,
    pub bytes: u64,
    /// When it was written or last touched.
    pub used: SystemTime,
}

impl Folder {
    /// Opens a folder, or makes it, for this user alone. Of a folder without the mark all files must be `ours`.
    pub fn open(path: PathBuf, ours: impl Fn(&str) -> bool) -> io::Result<Folder> {
        // The process may go to another folder.
        let path = std::path::absolute(path)?;
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
        let folder = Folder { path, swept: Once::new() };
        folder.mark(ours)?;
        Ok(folder)
    }

    /// Marks the folder as this cache's.
    fn mark(&self, ours: impl Fn(&str) -> bool) -> io::Result<()> {
        if self.read(TAG).is_some_and(|text| text == TAG_TEXT.as_bytes()) {
            return Ok(());
        }
        let mut there = fs::read_dir(&self.path)?.flatten().map(|entry| entry.file_name());
        let known = |name: &str| ours(name) || name == TAG || files::is_temporary(name);
        if let Some(foreign) = there.find(|name| !name.to_str().is_some_and(known)) {
            let reason =
                format!("the folder holds other files, such as {}; name an empty one", foreign.display());
            return Err(io::Error::new(ErrorKind::AlreadyExists, reason));
        }
        // A folder that is only to be read stays as it is.
        let _ = self.write(TAG, TAG_TEXT.as_bytes());
        Ok(())
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The bytes of a file, if it is there and can be read.
    pub fn read(&self, name: &str) -> Option<Vec<u8>> {
        self.read_first(name, u64::MAX)
    }

    /// The bytes of a file, which is marked as used now.
    pub fn use_now(&self, name: &str) -> Option<Vec<u8>> {
        let mut file = self.open_file(name).ok()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        // Without the mark the entry is evicted too early, which is harmless.
        let _ = file.set_modified(SystemTime::now());
        Some(bytes)
    }

    /// The first bytes of a file.
    pub fn read_first(&self, name: &str, most: u64) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open_file(name).ok()?.take(most).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    fn open_file(&self, name: &str) -> io::Result<File> {
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits();
        let file = OpenOptions::new().read(true).custom_flags(flags as i32).open(self.path.join(name))?;
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(ErrorKind::InvalidInput.into()),
        }
    }

    /// Writes a file atomically: whole under its name, or not at all. Replaces nothing but a regular file.
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.path.join(name);
        if fs::symlink_metadata(&path).is_ok_and(|there| !there.is_file()) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        self.swept.call_once(|| self.sweep());
        let temporary = Temporary::create(&self.path, 0o600)?;
        temporary.file().write_all(bytes)?;
        temporary.place(&path)
    }

    /// Removes a regular file, if it exists.
    ///
    /// # Errors
    /// When it stays.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        let path = self.path.join(name);
        let removed = match fs::symlink_metadata(&path) {
            Ok(there) if !there.is_file() => return Ok(()),
            _ => fs::remove_file(path),
        };
        // Another process may have been faster.
        removed.or_else(|error| if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) })
    }

    /// The regular files, in no order.
    pub fn files(&self) -> impl Iterator<Item = Entry> {
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

    /// Removes temporary files of killed writers.
    pub fn sweep(&self) {
        files::sweep(&self.path);
    }
}
