//! What the functions give: `cublasStatus_t` and its sentences. A failure has a text of ours besides.

use std::ffi::{CStr, c_int};

/// A `cublasStatus_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub c_int);

/// Why a call failed.
#[derive(Clone, Debug)]
pub struct Failure {
    code: Status,
    text: String,
}

/// What a call gives, or why it failed.
pub type CublasResult<T = ()> = Result<T, Failure>;

impl Status {
    /// No context is current.
    pub const NOT_INITIALIZED: Status = Status(1);
    /// An argument is wrong.
    pub const INVALID_VALUE: Status = Status(7);
    /// The driver rejects the work.
    pub const EXECUTION_FAILED: Status = Status(13);
    /// There is no such product here.
    pub const NOT_SUPPORTED: Status = Status(15);

    /// A failure with this code.
    pub fn because(self, text: impl Into<String>) -> Failure {
        Failure { code: self, text: text.into() }
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

/// The code of a result, whose text is the thread's message from then on.
pub fn finish(outcome: CublasResult) -> c_int {
    outcome.map_or_else(|Failure { code, text }| crate::driver::failed(code.0, text), |()| 0)
}
