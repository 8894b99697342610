//! What can be wrong with a file of arrays, and who can mend it.

use std::io;
use std::path::{Path, PathBuf};

use files::Failed;
use thiserror::Error;

/// A file that could not be read or written.
#[derive(Debug, Error)]
#[error("{}: {problem}", .path.display())]
pub struct FileError {
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a file.
#[derive(Debug, Error)]
pub enum Problem {
    /// The system gave an error.
    #[error("{0}")]
    System(#[from] io::Error),
    /// The bytes do not hold what they should.
    #[error("{0}")]
    Malformed(String),
    /// A kind of element that we do not have.
    #[error("elements of type {found} are not supported; supported are {supported}")]
    Dtype {
        /// The type as the file calls it.
        found: String,
        /// Those that would do.
        supported: &'static str,
    },
    /// An ending that is none of ours.
    #[error("the name must end in .npy, .npz or .safetensors")]
    Ending,
    /// Several arrays, and none has the name that is looked for.
    #[error("there is no array `{name}` in it; there are {there}")]
    Name {
        /// What is looked for.
        name: String,
        /// What there is.
        there: String,
    },
    /// Not enough memory.
    #[error("its {bytes} bytes do not fit into memory")]
    Memory {
        /// What it would take.
        bytes: usize,
    },
}

impl<E: Into<Problem>> From<Failed<E>> for FileError {
    fn from(failed: Failed<E>) -> FileError {
        failed.error.into().of(&failed.path)
    }
}

impl Problem {
    /// The problem of this file.
    pub fn of(self, path: &Path) -> FileError {
        FileError { path: path.to_owned(), problem: self }
    }

    /// Whether the machine is at fault, rather than the file or its name.
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

    /// The names of the arrays of a file, for a message.
    pub fn no_such_name(name: &str, there: &[&str]) -> Problem {
        const SHOWN: usize = 8;
        let mut there = there.to_vec();
        there.sort_unstable();
        let more = there.len().saturating_sub(SHOWN);
        there.truncate(SHOWN);
        let mut text = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
        if more > 0 {
            text += &format!(" and {more} more");
        }
        Problem::Name { name: name.to_owned(), there: text }
    }
}
