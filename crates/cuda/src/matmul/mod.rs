//! Products of matrices on a device, by cuBLASLt: this file opens it there, `shape` has the shapes of products, `prepared` a
//! product with its algorithm.

mod prepared;
mod shape;

use std::ptr;
use std::sync::Arc;

use crate::cublaslt::CublasLt;
use crate::driver::Handle;
use crate::error::Error;
use crate::gpu::Gpu;
pub use prepared::Matmul;
pub use shape::{Batch, MatmulShape, MatrixLayout, MatrixType};

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
    /// Creates a cuBLASLt handle on a device.
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
