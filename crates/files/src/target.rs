//! A place to write to: a file that is replaced once the new one is whole, or a stream written in place.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, CWD, OFlags, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::identity::{Identity, folder_of, resolved};
use crate::temporary::Temporary;

/// Where an output goes.
#[derive(Debug)]
pub(crate) enum Destination {
    /// A regular file, there or yet to be made: its own path with all symlinks followed.
    File { path: PathBuf, existing: Option<Existing> },
    /// A device, a FIFO, or a file that has no name any more: written through, since nothing can take its place.
    Stream(PathBuf),
}

/// A file that is there, open for writing: so it is known that the user may write to it.
#[derive(Debug)]
pub(crate) struct Existing {
    file: File,
    facts: Metadata,
}

/// A file that has been put in its place; this can be undone.
pub(crate) struct Placed {
    path: PathBuf,
    /// Its name holds what was replaced.
    temporary: Temporary,
    before: Before,
}

/// What had the name before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    /// A file that now has the temporary name.
    Exchanged,
    /// A file that is gone, where the file system cannot exchange names.
    Gone,
}

impl Destination {
    /// Looks at a path; makes nothing.
    ///
    /// # Errors
    /// When it is a folder, or may not be written to.
    pub fn at(path: &Path) -> io::Result<Destination> {
        // The standard library drops a slash at the end, which says that a folder is meant.
        if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        match fs::metadata(path) {
            Ok(facts) if facts.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(facts) if facts.is_file() => Destination::of_file(path, facts),
            Ok(_) => Ok(Destination::Stream(path.to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let path = resolved(path)?;
                writable(folder_of(&path))?;
                Ok(Destination::File { path, existing: None })
            }
            Err(error) => Err(error),
        }
    }

    fn of_file(path: &Path, facts: Metadata) -> io::Result<Destination> {
        let own = resolved(path)?;
        // A link into /proc leads to a file that may have lost its name.
        let named =
            fs::symlink_metadata(&own).is_ok_and(|named| Identity::of(&named).is(&Identity::of(&facts)));
        if !named {
            return Ok(Destination::Stream(path.to_owned()));
        }
        let flags = OFlags::NONBLOCK.bits() as i32;
        let file = OpenOptions::new().write(true).custom_flags(flags).open(&own)?;
        writable(folder_of(&own))?;
        let facts = file.metadata()?;
        Ok(Destination::File { path: own, existing: Some(Existing { file, facts }) })
    }

    /// The identity of the file that is written to; `None` where that cannot be told.
    pub fn identity(&self) -> Option<Identity> {
        match self {
            Destination::File { existing: Some(existing), .. } => Some(Identity::of(&existing.facts)),
            Destination::File { path, existing: None } => Some(Identity::Absent(path.clone())),
            Destination::Stream(path) => Identity::of_path(path),
        }
    }

    /// The new file beside the place, which has the permissions of the old one from [`Destination::place`] on.
    pub fn start(path: &Path, existing: Option<&Existing>) -> io::Result<Temporary> {
        // Until then it is private, since the file that it replaces may be.
        let mode = if existing.is_some() { 0o600 } else { 0o666 };
        Temporary::create(folder_of(path), mode)
    }

    /// Puts a whole file in its place and keeps what was there.
    pub fn place(path: PathBuf, existing: Option<&Existing>, temporary: Temporary) -> io::Result<Placed> {
        let exchange = |temporary| exchanged(&path, temporary);
        if existing.is_some() {
            return exchange(temporary);
        }
        match renameat_with(CWD, temporary.path(), CWD, &path, RenameFlags::NOREPLACE) {
            Err(Errno::EXIST) => exchange(temporary),
            Err(error) if is_unknown(error) => renamed(&path, temporary, Before::Nothing),
            Err(error) => Err(error.into()),
            Ok(()) => {
                let mut temporary = temporary;
                temporary.forget();
                Ok(Placed { path, temporary, before: Before::Nothing })
            }
        }
    }
}

impl Existing {
    /// Gives the new file the owner and the permissions of this one.
    pub fn lend(&self, file: &File) -> io::Result<()> {
        // Without the right to give files away the new one is the user's own.
        let _ = fchown(file, Some(self.facts.uid()), Some(self.facts.gid()))
            .or_else(|_| fchown(file, None, Some(self.facts.gid())));
        file.set_permissions(Permissions::from_mode(self.facts.mode() & 0o777))
    }

    /// Keeps the file from being swept while it has a temporary name.
    pub fn guard(&self) {
        // A lock held by somebody else protects the file as well.
        let _ = self.file.try_lock();
    }
}

impl Placed {
    /// Puts back what was there before.
    pub fn undo(self) {
        let Placed { path, temporary, before } = self;
        // Errors are dropped here: the failure that led here is the one reported.
        let _ = match before {
            Before::Nothing => fs::remove_file(&path),
            Before::Exchanged => renameat_with(CWD, temporary.path(), CWD, &path, RenameFlags::EXCHANGE)
                .map_err(io::Error::from),
            Before::Gone => Ok(()),
        };
    }
}

fn exchanged(path: &Path, temporary: Temporary) -> io::Result<Placed> {
    match renameat_with(CWD, temporary.path(), CWD, path, RenameFlags::EXCHANGE) {
        // Somebody has removed it, or the file system cannot exchange names.
        Err(Errno::NOENT) => renamed(path, temporary, Before::Nothing),
        Err(error) if is_unknown(error) => renamed(path, temporary, Before::Gone),
        Err(error) => Err(error.into()),
        Ok(()) => Ok(Placed { path: path.to_owned(), temporary, before: Before::Exchanged }),
    }
}

fn renamed(path: &Path, mut temporary: Temporary, before: Before) -> io::Result<Placed> {
    fs::rename(temporary.path(), path)?;
    temporary.forget();
    Ok(Placed { path: path.to_owned(), temporary, before })
}

/// Whether a file system does not know the flags of a rename.
fn is_unknown(error: Errno) -> bool {
    [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP].contains(&error)
}

/// Whether files can be made in a folder, if it is there.
fn writable(folder: &Path) -> io::Result<()> {
    match rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK) {
        Err(Errno::NOENT) | Ok(()) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
