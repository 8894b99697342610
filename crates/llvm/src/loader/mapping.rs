//! Executable memory: mapped writable, filled once, then read-and-execute until it is dropped.
//!
//! Never writable and executable at the same time. Knows nothing of objects.

use super::ObjectError;
use std::io;
use std::ptr::{self, NonNull};

/// A private mapping, finished and executable.
#[derive(Debug)]
pub(super) struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: once made, the memory is never written, so any thread may read and run it.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `len` zero bytes, lets `fill(address, memory)` write them, and makes them executable.
    pub fn filled(
        len: usize,
        fill: impl FnOnce(usize, &mut [u8]) -> Result<(), ObjectError>,
    ) -> Result<Mapping, ObjectError> {
        let mapping = Mapping::writable(len.max(1))?;
        let address = mapping.start.as_ptr() as usize;
        // SAFETY: the mapping is writable, initialised with zeros, and nobody else knows it yet.
        fill(address, unsafe { std::slice::from_raw_parts_mut(mapping.start.as_ptr(), mapping.len) })?;
        let protection = libc::PROT_READ | libc::PROT_EXEC;
        // SAFETY: the range is exactly our mapping.
        match unsafe { libc::mprotect(mapping.start.as_ptr().cast(), mapping.len, protection) } {
            0 => Ok(mapping),
            _ => Err(memory_error()),
        }
    }

    fn writable(len: usize) -> Result<Mapping, ObjectError> {
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new anonymous mapping touches no existing memory.
        let start = unsafe { libc::mmap(ptr::null_mut(), len, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(memory_error());
        }
        let start = NonNull::new(start.cast()).ok_or_else(memory_error)?;
        Ok(Mapping { start, len })
    }

    /// Where the mapping begins; aligned to a page.
    pub fn start(&self) -> *const u8 {
        self.start.as_ptr()
    }

    /// Its length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is exactly our mapping, and whoever runs code in it must keep it alive.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
    }
}

fn memory_error() -> ObjectError {
    ObjectError::Memory(io::Error::last_os_error().to_string())
}
