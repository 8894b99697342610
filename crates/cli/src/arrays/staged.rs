//! Files that appear whole or not at all: written beside their place under another name, then renamed.

use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use super::error::{FileError, Problem};

/// A file in the making. Dropped before [`Staged::publish`], it leaves nothing behind.
pub struct Staged {
    path: PathBuf,
    file: BufWriter<NamedTempFile>,
}

impl Staged {
    /// Starts a file that shall be at `path`, in a folder that exists.
    ///
    /// # Errors
    /// When the folder cannot be written to.
    pub fn new(path: &Path) -> Result<Staged, FileError> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // A temporary file is private by default, but what takes its place is an ordinary file.
        let ordinary = std::fs::Permissions::from_mode(0o666);
        let file = Builder::new().prefix(".ferrofuse-").permissions(ordinary).tempfile_in(folder);
        let file = file.map_err(|error| Problem::from(error).of(path))?;
        Ok(Staged { path: path.to_owned(), file: BufWriter::with_capacity(1 << 20, file) })
    }

    /// Where it shall be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the file in its place, over what is there.
    ///
    /// # Errors
    /// When what is left cannot be written, or the place cannot be taken.
    pub fn publish(self) -> Result<(), FileError> {
        let Staged { path, file } = self;
        let placed = match file.into_inner() {
            Ok(file) => file.persist(&path).map(drop).map_err(|refused| refused.error),
            Err(unwritten) => Err(unwritten.into_error()),
        };
        placed.map_err(|error| Problem::from(error).of(&path))
    }
}

impl Write for Staged {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
