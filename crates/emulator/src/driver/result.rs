//! What the driver's functions return: `CUresult`, its names and its messages. A failure also has our own text.

use std::ffi::{CStr, c_int};

/// A `CUresult`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub c_int);

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub code: Status,
    /// Details that a real driver does not report.
    pub text: String,
}

/// The result of a call, or why it failed.
pub type DriverResult<T = ()> = Result<T, Failure>;

impl Status {
    /// A failure with this code.
    pub fn because(self, text: impl Into<String>) -> Failure {
        Failure { code: self, text: text.into() }
    }

    /// `CUDA_ERROR_…`, if there is such a code.
    pub fn name(self) -> Option<&'static CStr> {
        TABLE.iter().find(|row| row.0 == self).map(|row| row.1)
    }

    /// The driver's message for this code.
    pub fn sentence(self) -> Option<&'static CStr> {
        TABLE.iter().find(|row| row.0 == self).map(|row| row.2)
    }
}

/// A constant of the header, as `CUDA_NAME = CODE` and the driver's sentence.
macro_rules! codes {
    ($($name:ident = $code:literal: $sentence:literal;)*) => {
        impl Status {
            $(pub const $name: Status = Status($code);)*
        }

        const TABLE: &[(Status, &CStr, &CStr)] =
            &[$((Status::$name, c_string(concat!("CUDA_", stringify!($name), "\0")), c_string(concat!($sentence, "\0")))),*];
    };
}

const fn c_string(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("a zero at the end and no other"),
    }
}

codes! {
    SUCCESS = 0: "no error";
    ERROR_INVALID_VALUE = 1: "invalid argument";
    ERROR_OUT_OF_MEMORY = 2: "out of memory";
    ERROR_NOT_INITIALIZED = 3: "initialization error";
    ERROR_NO_DEVICE = 100: "no CUDA-capable device is detected";
    ERROR_INVALID_DEVICE = 101: "invalid device ordinal";
    ERROR_INVALID_IMAGE = 200: "device kernel image is invalid";
    ERROR_INVALID_CONTEXT = 201: "invalid device context";
    ERROR_NO_BINARY_FOR_GPU = 209: "no kernel image is available for execution on the device";
    ERROR_INVALID_HANDLE = 400: "invalid resource handle";
    ERROR_ILLEGAL_STATE = 401: "the operation cannot be performed in the present state";
    ERROR_NOT_FOUND = 500: "named symbol not found";
    ERROR_NOT_READY = 600: "device not ready";
    ERROR_ILLEGAL_ADDRESS = 700: "an illegal memory access was encountered";
    ERROR_LAUNCH_OUT_OF_RESOURCES = 701: "too many resources requested for launch";
    ERROR_LAUNCH_TIMEOUT = 702: "the launch timed out and was terminated";
    ERROR_CONTEXT_IS_DESTROYED = 709: "context is destroyed";
    ERROR_ILLEGAL_INSTRUCTION = 715: "an illegal instruction was encountered";
    ERROR_MISALIGNED_ADDRESS = 716: "misaligned address";
    ERROR_LAUNCH_FAILED = 719: "unspecified launch failure";
    ERROR_NOT_SUPPORTED = 801: "operation not supported";
    ERROR_STREAM_CAPTURE_UNSUPPORTED = 900: "operation not permitted when stream is capturing";
    ERROR_STREAM_CAPTURE_INVALIDATED = 901: "operation failed due to a previous error during capture";
    ERROR_STREAM_CAPTURE_MERGE = 902: "operation would result in a merge of separate capture sequences";
    ERROR_STREAM_CAPTURE_UNMATCHED = 903: "capture was not ended in the same stream as it began";
    ERROR_STREAM_CAPTURE_UNJOINED = 904: "capturing stream has unjoined work";
    ERROR_STREAM_CAPTURE_ISOLATION = 905: "dependency created on uncaptured work in another stream";
    ERROR_STREAM_CAPTURE_IMPLICIT = 906: "operation would make the legacy stream depend on a capturing blocking stream";
    ERROR_CAPTURED_EVENT = 907: "operation not permitted on an event last recorded in a capturing stream";
    ERROR_STREAM_CAPTURE_WRONG_THREAD = 908: "attempt to terminate a thread-local capture sequence from another thread";
    ERROR_UNKNOWN = 999: "unknown error";
}
