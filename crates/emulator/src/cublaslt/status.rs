//! What the functions return: `cublasStatus_t` and its messages. A failure also has our own text.

use std::ffi::{CStr, c_int};

use crate::driver;

/// A `cublasStatus_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CublasStatus(pub c_int);

/// Why a call failed.
#[derive(Clone, Debug)]
pub struct CublasFailure {
    code: CublasStatus,
    text: String,
}

/// The result of a call, or why it failed.
pub type CublasResult<T = ()> = Result<T, CublasFailure>;

impl CublasStatus {
    /// No context is current.
    pub const NOT_INITIALIZED: CublasStatus = CublasStatus(1);
    /// An argument is wrong.
    pub const INVALID_VALUE: CublasStatus = CublasStatus(7);
    /// The driver rejects the work.
    pub const EXECUTION_FAILED: CublasStatus = CublasStatus(13);
    /// The stand-in does not support the product.
    pub const NOT_SUPPORTED: CublasStatus = CublasStatus(15);

    /// A failure with this code.
    pub fn because(self, text: impl Into<String>) -> CublasFailure {
        CublasFailure { code: self, text: text.into() }
    }

    /// The library's message for this status.
    pub fn sentence(self) -> &'static CStr {
        match self.0 {
            0 => c"success",
            1 => c"the library was not initialized",
            7 => c"an unsupported value or parameter was passed to the function",
            13 => c"the GPU program failed to execute",
            15 => c"the functionality requested is not supported",
            _ => c"unknown status",
        }
    }
}

impl From<driver::Failure> for CublasFailure {
    /// A handle that the registries do not know, or no context.
    fn from(failure: driver::Failure) -> CublasFailure {
        CublasStatus::INVALID_VALUE.because(failure.text)
    }
}

/// The status code of a result; a failure's text becomes the thread's message.
pub fn finish(outcome: CublasResult) -> c_int {
    outcome.map_or_else(|CublasFailure { code, text }| driver::failed(code.0, text), |()| 0)
}
