//! Memory from the system: zeroed, aligned, in huge pages if it is large.
//!
//! Small blocks come from the process's allocator, large ones are mappings of their own, and guarded ones lie between two
//! pages that nobody may touch. Keeps nothing: a block goes back to the system when dropped.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::{self, NonNull};

/// A cache line, and the widest vector.
pub(super) const ALIGNMENT: usize = 64;
/// A huge page of x86-64 and of most Arm systems.
pub(super) const HUGE_PAGE: usize = 2 << 20;

/// The initial bytes of a guarded block.
const LEFT_OVER: u8 = 0xa5;

/// Owned memory whose bytes are initialised: zero when new, left-overs when recycled.
#[derive(Debug)]
pub(super) struct Block {
    start: NonNull<u8>,
    /// A size class: a multiple of [`ALIGNMENT`], and of [`HUGE_PAGE`] from that size on; any number if guarded.
    bytes: usize,
    /// The whole mapping of a guarded block, in bytes from its address.
    guarded: Option<(NonNull<u8>, usize)>,
}

// SAFETY: a block is plain memory with one owner.
unsafe impl Send for Block {}
// SAFETY: a shared block gives out only its address and size.
unsafe impl Sync for Block {}

/// An end of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Where it begins.
    Before,
    /// Where it ends.
    After,
}

impl Block {
    /// `None` if the system has no such memory. `bytes` is a size class, not zero.
    pub fn new(bytes: usize) -> Option<Block> {
        let start = if bytes < HUGE_PAGE { small(bytes)? } else { map_huge(bytes)? };
        Some(Block { start, bytes, guarded: None })
    }

    /// A block that touches a guard page on this side and has another on the other side; `None` if the system has no such
    /// memory. `bytes` is not zero.
    pub fn guarded(bytes: usize, side: Side) -> Option<Block> {
        // SAFETY: asks for a constant of the system.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
        let body = bytes.checked_next_multiple_of(page)?;
        let mapped = body.checked_add(2 * page)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new anonymous mapping touches no existing memory.
        let base = unsafe { libc::mmap(ptr::null_mut(), mapped, libc::PROT_NONE, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return None;
        }
        let first = base.wrapping_byte_add(page);
        // SAFETY: `body` bytes from the second page on lie within the mapping just made, and so does its end.
        unsafe {
            if libc::mprotect(first, body, libc::PROT_READ | libc::PROT_WRITE) != 0 {
                libc::munmap(base, mapped);
                return None;
            }
            // So that nobody finds zeros where nothing was written.
            ptr::write_bytes(first.cast::<u8>(), LEFT_OVER, body);
        }
        let start = match side {
            Side::Before => first,
            Side::After => first.wrapping_byte_add(body - bytes),
        };
        let guarded = Some((NonNull::new(base.cast())?, mapped));
        Some(Block { start: NonNull::new(start.cast())?, bytes, guarded })
    }

    /// Where the block begins.
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Bytes of the block, rounded to its class.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some((base, mapped)) = self.guarded {
            // SAFETY: the range is what `guarded` mapped, and nobody uses it any more.
            unsafe { libc::munmap(base.as_ptr().cast(), mapped) };
        } else if self.bytes < HUGE_PAGE {
            // SAFETY: allocated in `small` with this layout, which was valid there.
            unsafe {
                let layout = Layout::from_size_align_unchecked(self.bytes, ALIGNMENT);
                dealloc(self.start.as_ptr(), layout);
            }
        } else {
            // SAFETY: the range is what `map_huge` left mapped, and nobody uses it any more.
            unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
        }
    }
}

fn small(bytes: usize) -> Option<NonNull<u8>> {
    let layout = Layout::from_size_align(bytes, ALIGNMENT).ok()?;
    // SAFETY: the layout's size is not zero.
    NonNull::new(unsafe { alloc_zeroed(layout) })
}

/// Maps a huge page more than asked for, and gives back what lies outside the aligned range.
fn map_huge(bytes: usize) -> Option<NonNull<u8>> {
    let mapped = bytes.checked_add(HUGE_PAGE)?;
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new anonymous mapping touches no existing memory.
    let base = unsafe { libc::mmap(ptr::null_mut(), mapped, protection, flags, -1, 0) };
    if base == libc::MAP_FAILED {
        return None;
    }
    let head = (base as usize).next_multiple_of(HUGE_PAGE) - base as usize;
    let start = base.wrapping_byte_add(head);
    // SAFETY: head, block and tail together are the mapping just made. Huge pages are a hint: a kernel without them fails,
    // and the block works as well with small ones.
    unsafe {
        if head > 0 {
            libc::munmap(base, head);
        }
        if head < HUGE_PAGE {
            libc::munmap(start.wrapping_byte_add(bytes), HUGE_PAGE - head);
        }
        libc::madvise(start, bytes, libc::MADV_HUGEPAGE);
    }
    NonNull::new(start.cast())
}
