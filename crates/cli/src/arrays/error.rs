//! Errors about a file of arrays, and whose fault they are.

use std::io;
use std::path::{Path, PathBuf};

use files::Failed;
use thiserror::Error;

/// A file that could not be read or written.
#[derive(Debug, Error)]
#[error("{}: {problem}", .path.display())]
pub struct FileError {
    pub path: PathBuf,
    /// The error.
    pub problem: Problem,
}

/// An error about a file.
#[derive(Debug, Error)]
pub enum Problem {
    /// The system gave an error.
    #[error("{0}")]
    System(#[from] io::Error),
    /// The bytes are not in the expected format.
    #[error("{0}")]
    Malformed(String),
    /// An unsupported kind of element.
    #[error("elements of type {found} are not supported; supported are {supported}")]
    Dtype {
        /// The type in the file's notation.
        found: String,
        /// The supported ones.
        supported: &'static str,
    },
    /// An unknown extension.
    #[error("the name must end in .npy, .npz or .safetensors")]
    Ending,
    /// Several arrays, none of which has the requested name.
    #[error("there is no array `{name}` in it; there are {there}")]
    Name {
        /// The requested name.
        name: String,
        /// The names in the file.
        there: String,
    },
    /// Not enough memory.
    #[error("its {bytes} bytes do not fit into memory")]
    Memory {
        /// The bytes that it needs.
        bytes: usize,
    },
}

impl<E: Into<Problem>> From<Failed<E>> for FileError {
    fn from(failed: Failed<E>) -> FileError {
        failed.error.into().of(&failed.path)
    }
}

impl Problem {
    /// The error about this file.
    pub fn of(self, path: &Path) -> FileError {
        FileError { path: path.to_owned(), problem: self }
    }

    /// Whether the cause is the machine, rather than the file or its name.
    pub fn is_of_machine(&self) -> bool {
        use io::ErrorKind::*;
        match self {
            Problem::Memory { .. } => true,
            Problem::System(error) => !matches!(
                error.kind(),
                NotFound
                    | PermissionDenied
                    | ReadOnlyFilesystem
                    | IsADirectory
                    | NotADirectory
                    | InvalidInput
                    | UnexpectedEof
            ),
            _ => false,
        }
    }

    /// An error that lists the names of the arrays of a file.
    pub fn no_such_name(name: &str, there: &[&str]) -> Problem {
        Problem::Name { name: name.to_owned(), there: listed(there) }
    }
}

/// The first names of a file in alphabetical order, and how many more there are.
pub fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 8;
    let mut names = names.to_vec();
    names.sort_unstable();
    let more = names.len().saturating_sub(SHOWN);
    names.truncate(SHOWN);
    let mut text = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    if more > 0 {
        text += &format!(" and {more} more");
    }
    text
}
