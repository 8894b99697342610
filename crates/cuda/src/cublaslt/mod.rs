//! cuBLASLt, NVIDIA's library for products of matrices, opened. `functions` are those that we call.

pub(crate) mod functions;

use std::ffi::{CStr, c_int};
use std::fmt;
use std::path::PathBuf;

use crate::error::{Error, INSTALL_CUBLAS};
use crate::library::{Library, LibraryPaths};
use functions::Functions;

/// The names of cuBLASLt, newest first.
const NAMES: [&str; 4] = ["libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11", "libcublasLt.so"];

/// `CUBLAS_STATUS_ALLOC_FAILED`, `CUBLAS_STATUS_NOT_SUPPORTED` and kin, as the header has them.
const NAMED: [(c_int, &str); 9] = [
    (1, "CUBLAS_STATUS_NOT_INITIALIZED"),
    (3, "CUBLAS_STATUS_ALLOC_FAILED"),
    (7, "CUBLAS_STATUS_INVALID_VALUE"),
    (8, "CUBLAS_STATUS_ARCH_MISMATCH"),
    (11, "CUBLAS_STATUS_MAPPING_ERROR"),
    (13, "CUBLAS_STATUS_EXECUTION_FAILED"),
    (14, "CUBLAS_STATUS_INTERNAL_ERROR"),
    (NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED"),
    (16, "CUBLAS_STATUS_LICENSE_ERROR"),
];

/// `CUBLAS_STATUS_NOT_SUPPORTED`.
pub(crate) const NOT_SUPPORTED: c_int = 15;

/// cuBLASLt, opened.
#[derive(Debug)]
pub struct CublasLt {
    pub(crate) functions: Functions,
    path: PathBuf,
    version: usize,
}

impl CublasLt {
    /// Opens the library at the path, or the first of its names in the folders and where the loader looks.
    ///
    /// # Errors
    /// The paths that were tried, or why it was rejected.
    pub fn open(paths: &LibraryPaths) -> Result<CublasLt, Error> {
        let candidates = paths.candidates(paths.cublaslt.as_ref(), &NAMES);
        let library = Library::open("libcublasLt", &candidates, INSTALL_CUBLAS)?;
        let functions = Functions::find(&library)?;
        // SAFETY: the function has this type.
        let version = unsafe { (functions.cublasLtGetVersion)() };
        Ok(CublasLt { functions, path: library.path, version })
    }

    /// The result of a call as an error in the library's words.
    pub(crate) fn check(&self, call: &'static str, code: c_int) -> Result<(), Error> {
        if code == 0 {
            return Ok(());
        }
        let name = NAMED.iter().find(|named| named.0 == code);
        let name = name.map_or_else(|| format!("status {code}"), |named| named.1.to_owned());
        // SAFETY: the function has this type, and gives a constant of the library's or null.
        let text = unsafe {
            let text = (self.functions.cublasLtGetStatusString)(code);
            if text.is_null() { String::new() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
        };
        Err(Error::Cublas { call, name, text })
    }
}

impl fmt::Display for CublasLt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Major, minor and patch, as encoded in the header.
        let (major, minor, patch) = (self.version / 10_000, self.version / 100 % 100, self.version % 100);
        write!(f, "{major}.{minor}.{patch}, {}", self.path.display())
    }
}
