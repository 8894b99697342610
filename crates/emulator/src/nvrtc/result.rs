//! What NVRTC's functions give: `nvrtcResult`.

use std::ffi::{CStr, c_int};

/// An `nvrtcResult`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code(pub c_int);

/// Constants of the header, and what it calls them.
macro_rules! codes {
    ($($name:ident = $code:literal: $text:literal;)*) => {
        impl Code {
            $(pub const $name: Code = Code($code);)*

            /// Its name in the header.
            pub fn name(self) -> &'static CStr {
                match self {
                    $(Code::$name => $text,)*
                    _ => c"NVRTC_ERROR unknown",
                }
            }
        }
    };
}

codes! {
    SUCCESS = 0: c"NVRTC_SUCCESS";
    INVALID_INPUT = 3: c"NVRTC_ERROR_INVALID_INPUT";
    INVALID_PROGRAM = 4: c"NVRTC_ERROR_INVALID_PROGRAM";
    INVALID_OPTION = 5: c"NVRTC_ERROR_INVALID_OPTION";
    COMPILATION = 6: c"NVRTC_ERROR_COMPILATION";
    INTERNAL_ERROR = 11: c"NVRTC_ERROR_INTERNAL_ERROR";
}
