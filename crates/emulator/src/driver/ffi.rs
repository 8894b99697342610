//! The arguments of C functions as types: a handle, a place for a result, a string. States once what a caller of the driver
//! promises about its pointers.

use std::ffi::{CStr, c_char};

use super::result::{DriverResult, Status};

/// A handle that the caller holds: context, stream, event, module, function, graph, pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Handle(pub usize);

/// An address in a device's memory: `CUdeviceptr`.
pub type Address = u64;

/// The caller's pointer for a result.
#[derive(Debug)]
#[repr(transparent)]
pub struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Writes the result, if there is a place for it.
    pub fn set(&self, value: T) -> DriverResult {
        self.set_made(|| Ok(value))
    }

    /// Makes the result and writes it, if there is a place for it.
    pub fn set_made(&self, make: impl FnOnce() -> DriverResult<T>) -> DriverResult {
        if self.0.is_null() {
            return Err(Status::ERROR_INVALID_VALUE.because("the pointer to a result is null"));
        }
        let value = make()?;
        self.set_if_wanted(value);
        Ok(())
    }

    /// Writes the result unless the caller passed null.
    pub fn set_if_wanted(&self, value: T) -> bool {
        if self.0.is_null() {
            return false;
        }
        // SAFETY: whoever calls the driver passes null or a place for the result, which nobody else uses meanwhile.
        unsafe { self.0.write(value) };
        true
    }

    /// The address.
    pub fn as_ptr(&self) -> *mut T {
        self.0
    }
}

/// A string of the caller's.
#[derive(Debug)]
#[repr(transparent)]
pub struct Text(*const c_char);

impl Text {
    /// A copy of the string.
    pub fn read(&self) -> DriverResult<String> {
        if self.0.is_null() {
            return Err(Status::ERROR_INVALID_VALUE.because("a string is null"));
        }
        // SAFETY: whoever calls the driver passes null or a string that ends with a zero.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_string_lossy().into_owned())
    }
}
