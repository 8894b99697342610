//! Buffers whose neighbours cannot be touched: takes bytes, gives memory between two guard pages, so that a kernel that
//! leaves its buffer faults instead of corrupting other memory.

use std::io;
use std::ptr;
use std::slice;

/// Device allocations are aligned to 256 bytes; kernels rely on 16 of them for vector accesses.
const ALIGNMENT: usize = 16;

/// Which end of guarded bytes touches a page that faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuardedEnd {
    /// The first byte.
    First,
    /// The last byte.
    Last,
}

/// Bytes that end (up to their rounding to 16) at a page that faults; the page before them faults too.
#[derive(Debug)]
pub struct GuardedBuffer {
    mapping: *mut u8,
    mapped: usize,
    data: *mut u8,
    length: usize,
    /// Bytes between them and the page after them.
    rest: usize,
}

// SAFETY: the memory is the buffer's alone.
unsafe impl Send for GuardedBuffer {}
// SAFETY: through a shared reference its bytes are only read.
unsafe impl Sync for GuardedBuffer {}

impl GuardedBuffer {
    /// A copy of `bytes` that ends at a page that faults, aligned to 16.
    pub fn new(bytes: &[u8]) -> io::Result<GuardedBuffer> {
        GuardedBuffer::at_end(bytes, GuardedEnd::Last, ALIGNMENT)
    }

    /// A copy of `bytes` that touches a page that faults with this end, but for a rounding to `alignment`; with 1 it is
    /// aligned as what divides its length.
    pub fn at_end(bytes: &[u8], end: GuardedEnd, alignment: usize) -> io::Result<GuardedBuffer> {
        let buffer = GuardedBuffer::unwritten(bytes.len(), end, alignment)?;
        // SAFETY: the bytes from `data` are writable and new, so they do not overlap `bytes`.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), buffer.data, bytes.len()) };
        Ok(buffer)
    }

    /// `length` bytes of this value, placed as those of [`GuardedBuffer::at_end`]. The rest after them has this value too.
    pub(crate) fn filled(
        byte: u8,
        length: usize,
        end: GuardedEnd,
        alignment: usize,
    ) -> io::Result<GuardedBuffer> {
        let buffer = GuardedBuffer::unwritten(length, end, alignment)?;
        // SAFETY: the bytes from `data` to the page that faults are writable and new.
        unsafe { ptr::write_bytes(buffer.data, byte, length + buffer.rest) };
        Ok(buffer)
    }

    /// New bytes, which are zero.
    fn unwritten(length: usize, end: GuardedEnd, alignment: usize) -> io::Result<GuardedBuffer> {
        let page = page_size();
        let room = length.next_multiple_of(alignment);
        let body = room.next_multiple_of(page);
        let mapped = body + 2 * page;
        let mapping = map_unreachable(mapped)?;
        // SAFETY: the range from the second page to the one before the last lies within the mapping.
        let data = unsafe {
            if body > 0
                && libc::mprotect(mapping.add(page).cast(), body, libc::PROT_READ | libc::PROT_WRITE) != 0
            {
                let error = io::Error::last_os_error();
                libc::munmap(mapping.cast(), mapped);
                return Err(error);
            }
            match end {
                GuardedEnd::First => mapping.add(page),
                GuardedEnd::Last => mapping.add(page + body - room),
            }
        };
        // SAFETY: both are within the mapping.
        let rest = unsafe { mapping.add(page + body).offset_from(data) } as usize - length;
        Ok(GuardedBuffer { mapping, mapped, data, length, rest })
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `length` initialised bytes from `data` belong to this buffer.
        unsafe { slice::from_raw_parts(self.data, self.length) }
    }

    /// What lies between the bytes and the page after them.
    pub(crate) fn rest(&self) -> &[u8] {
        // SAFETY: `rest` initialised bytes after the others belong to this buffer.
        unsafe { slice::from_raw_parts(self.data.add(self.length), self.rest) }
    }

    /// Where the bytes begin, for a kernel to write through.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.data
    }
}

impl Drop for GuardedBuffer {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and nothing borrowed from it is left.
        unsafe { libc::munmap(self.mapping.cast(), self.mapped) };
    }
}

fn page_size() -> usize {
    // SAFETY: asks for a constant of the system.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

fn map_unreachable(length: usize) -> io::Result<*mut u8> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new private mapping touches no memory that exists.
    let mapping = unsafe { libc::mmap(ptr::null_mut(), length, libc::PROT_NONE, flags, -1, 0) };
    if mapping == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(mapping.cast()) }
}
