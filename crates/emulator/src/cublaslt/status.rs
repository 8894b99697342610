//! What the functions give: `cublasStatus_t` and its sentences. A failure has a text of ours besides.

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

/// What a call gives, or why it failed.
pub type CublasResult<T = ()> = Result<T, CublasFailure>;

impl CublasStatus {
    /// No context is current.
    pub const NOT_INITIALIZED: CublasStatus = CublasStatus(1);
    /// An argument is wrong.
    pub const INVALID_VALUE: CublasStatus = CublasStatus(7);
    /// The driver rejects the work.
    pub const EXECUTION_FAILED: CublasStatus = CublasStatus(13);
    /// There is no such product here.
    pub const NOT_SUPPORTED: CublasStatus = CublasStatus(15);

    /// A failure with this code.
    pub fn because(self, text: impl Into<String>) -> CublasFailure {
        CublasFailure { code: self, text: text.into() }
    }

    /// The sentence of the library.
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

/// The code of a result, whose text is the thread's message from then on.
pub fn finish(outcome: CublasResult) -> c_int {
    outcome.map_or_else(|CublasFailure { code, text }| driver::failed(code.0, text), |()| 0)
}
