//! cuBLASLt: products of matrices by NVIDIA's library, which has the fastest kernels for them.
//!
//! This file opens it; `functions` is its table; `matmul` is a product: what is multiplied, and by which algorithm.

mod functions;
mod matmul;

use std::ffi::{CStr, c_int};
use std::fmt;
use std::path::PathBuf;
use std::ptr;
use std::sync::Arc;

use crate::driver::Handle;
use crate::error::{Error, INSTALL_CUBLAS};
use crate::gpu::Gpu;
use crate::library::{Library, LibraryPaths};
use functions::Functions;
pub use matmul::{Batch, Matmul, MatmulShape, MatrixLayout, MatrixType};

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
const NOT_SUPPORTED: c_int = 15;

/// cuBLASLt, opened.
#[derive(Debug)]
pub struct CublasLt {
    functions: Functions,
    path: PathBuf,
    version: usize,
}

impl CublasLt {
    /// Opens the library at the path, or the first of its names in the folders and where the loader looks.
    ///
    /// # Errors
    /// Where it was looked for, or why it was rejected.
    pub fn open(paths: &LibraryPaths) -> Result<CublasLt, Error> {
        let candidates = paths.candidates(paths.cublaslt.as_ref(), &NAMES);
        let library = Library::open("libcublasLt", &candidates, INSTALL_CUBLAS)?;
        let functions = Functions::find(&library)?;
        // SAFETY: the function has this type.
        let version = unsafe { (functions.cublasLtGetVersion)() };
        Ok(CublasLt { functions, path: library.path, version })
    }

    fn check(&self, call: &'static str, code: c_int) -> Result<(), Error> {
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
        // Major, minor and patch, as the header makes one number of them.
        let (major, minor, patch) = (self.version / 10_000, self.version / 100 % 100, self.version % 100);
        write!(f, "{major}.{minor}.{patch}, {}", self.path.display())
    }
}

/// cuBLASLt on a device.
#[derive(Debug)]
pub struct CublasLtHandle {
    device: Arc<Gpu>,
    library: Arc<CublasLt>,
    raw: Handle,
}

// SAFETY: a handle is what the library lets any thread use.
unsafe impl Send for CublasLtHandle {}
// SAFETY: as above; the library locks what it must.
unsafe impl Sync for CublasLtHandle {}

impl CublasLtHandle {
    /// Makes cuBLASLt ready on a device.
    ///
    /// # Errors
    /// What the library says.
    pub fn new(device: &Arc<Gpu>, library: &Arc<CublasLt>) -> Result<CublasLtHandle, Error> {
        let _entered = device.enter()?;
        let mut raw = ptr::null_mut();
        // SAFETY: the function has this type; the handle outlives the call.
        let code = unsafe { (library.functions.cublasLtCreate)(&mut raw) };
        library.check("cublasLtCreate", code)?;
        Ok(CublasLtHandle { device: Arc::clone(device), library: Arc::clone(library), raw })
    }
}

impl Drop for CublasLtHandle {
    fn drop(&mut self) {
        if let Ok(_entered) = self.device.enter() {
            // SAFETY: the handle is ours, and what was made with it holds it.
            unsafe { (self.library.functions.cublasLtDestroy)(self.raw) };
        }
    }
}
