//! Values of attributes, with their number and their bytes.

use std::ffi::{c_int, c_void};
use std::slice;

use super::status::{CublasResult, CublasStatus};

/// A value that a caller sets.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// The number of the attribute.
    pub number: c_int,
    bytes: Vec<u8>,
}

impl Attribute {
    /// Copies it from the caller.
    pub fn read(number: c_int, value: *const c_void, bytes: usize) -> CublasResult<Attribute> {
        if value.is_null() || bytes > 16 {
            return Err(CublasStatus::INVALID_VALUE
                .because(format!("attribute {number} is null or of {bytes} bytes")));
        }
        // SAFETY: whoever calls cuBLASLt passes a value of `bytes` bytes.
        let bytes = unsafe { slice::from_raw_parts(value.cast::<u8>(), bytes) }.to_vec();
        Ok(Attribute { number, bytes })
    }

    /// The value as a 32-bit number; fails for another size.
    pub fn word(&self) -> CublasResult<i32> {
        self.exactly().map(i32::from_ne_bytes)
    }

    /// The value as a 64-bit number; fails for another size.
    pub fn long(&self) -> CublasResult<i64> {
        self.exactly().map(i64::from_ne_bytes)
    }

    fn exactly<const N: usize>(&self) -> CublasResult<[u8; N]> {
        let text = || format!("attribute {} has {N} bytes, not {}", self.number, self.bytes.len());
        self.bytes.as_slice().try_into().map_err(|_| CublasStatus::INVALID_VALUE.because(text()))
    }

    /// An error: the stand-in has no such attribute.
    pub fn unknown(&self, of: &str) -> CublasResult {
        let text = format!("the stand-in knows no attribute {} of {of}", self.number);
        Err(CublasStatus::NOT_SUPPORTED.because(text))
    }
}
