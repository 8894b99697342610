//! A caching allocator for outputs and scratch.
//!
//! On a fresh 64 MiB output the page faults cost more than the kernel that fills it, so freed memory is kept, up to a bound,
//! and reused, the last freed first. Takes sizes in bytes, returns aligned [`Buffer`]s that free themselves when dropped;
//! running out of memory is an error and does not end the process. Knows nothing of tensors.

mod block;
mod cache;
#[cfg(test)]
mod tests;

pub use block::Side;
use block::{ALIGNMENT, Block, HUGE_PAGE};
use cache::Cache;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::fork::ForkLock;

/// Bounds of an [`Allocator`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllocatorOptions {
    /// The most bytes kept for reuse; memory freed beyond that evicts the blocks unused longest.
    pub cache_limit: usize,
    /// The most bytes in use at once; without it, as much as the system provides.
    pub live_limit: Option<usize>,
    /// The side on which a buffer touches a guard page, so that a kernel that accesses memory beyond it faults; such buffers
    /// are aligned only to a divisor of their bytes, and never kept. For tests.
    pub guard: Option<Side>,
}

impl Default for AllocatorOptions {
    /// Two gibibytes of cache, no bound on the bytes in use.
    fn default() -> AllocatorOptions {
        AllocatorOptions { cache_limit: 2 << 30, live_limit: None, guard: None }
    }
}

/// Why a buffer cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AllocError {
    /// The system has no such memory, even after the cache was emptied.
    #[error("out of memory: the system gives no {bytes} bytes")]
    OutOfMemory {
        /// The bytes asked for.
        bytes: usize,
    },
    /// The allocator's own bound.
    #[error("out of memory: {bytes} bytes on top of the {live} in use exceed the limit of {limit}")]
    OverLimit {
        /// The bytes asked for.
        bytes: usize,
        /// The bytes in use, rounded to size classes.
        live: usize,
        /// The bound in [`AllocatorOptions::live_limit`].
        limit: usize,
    },
}

/// What an allocator holds and how often its cache helped. Bytes are those of size classes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Bytes of the buffers in use.
    pub live_bytes: usize,
    /// Number of buffers in use, without the empty ones.
    pub live_blocks: usize,
    /// The most bytes that were in use at once.
    pub peak_live_bytes: usize,
    /// Bytes kept for reuse.
    pub cached_bytes: usize,
    /// Number of blocks kept for reuse.
    pub cached_blocks: usize,
    /// Buffers that came from the cache.
    pub hits: u64,
    /// Buffers that came from the system.
    pub misses: u64,
}

/// The allocator. Clones share one cache; any number of threads may use them.
#[derive(Debug, Clone, Default)]
pub struct Allocator {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    options: AllocatorOptions,
    state: ForkLock<State>,
}

#[derive(Debug, Default)]
struct State {
    cache: Cache,
    stats: Stats,
}

impl Allocator {
    /// An allocator with an empty cache.
    pub fn new(options: AllocatorOptions) -> Allocator {
        Allocator { shared: Arc::new(Shared { options, state: ForkLock::default() }) }
    }

    /// A buffer of `bytes` bytes with unspecified contents, aligned to 64 bytes, and to 2 MiB from that size
    /// on. Zero bytes are fine.
    ///
    /// # Errors
    /// [`AllocError`] if the memory cannot be allocated.
    pub fn allocate(&self, bytes: usize) -> Result<Buffer, AllocError> {
        if bytes == 0 {
            return Ok(Buffer { block: None, bytes, owner: Arc::clone(&self.shared) });
        }
        if let Some(side) = self.shared.options.guard {
            return self.guarded(bytes, side);
        }
        let class = size_class(bytes).ok_or(AllocError::OutOfMemory { bytes })?;
        let cached = self.reserve(bytes, class)?;
        let Some(block) = cached.or_else(|| self.fresh(class)) else {
            self.shared.state.lock().release(class);
            return Err(AllocError::OutOfMemory { bytes });
        };
        Ok(Buffer { block: Some(block), bytes, owner: Arc::clone(&self.shared) })
    }

    /// A separate buffer between two guard pages.
    fn guarded(&self, bytes: usize, side: Side) -> Result<Buffer, AllocError> {
        let block = Block::guarded(bytes, side).ok_or(AllocError::OutOfMemory { bytes })?;
        let class = block.bytes();
        self.reserve(bytes, class)?;
        Ok(Buffer { block: Some(block), bytes, owner: Arc::clone(&self.shared) })
    }

    /// Counts a block of the class as live, and takes it from the cache if there is one.
    fn reserve(&self, bytes: usize, class: usize) -> Result<Option<Block>, AllocError> {
        let mut state = self.shared.state.lock();
        let live = state.stats.live_bytes;
        let limit = self.shared.options.live_limit.unwrap_or(usize::MAX);
        if live.checked_add(class).is_none_or(|sum| sum > limit) {
            return Err(AllocError::OverLimit { bytes, live, limit });
        }
        let block = state.cache.take(class);
        state.acquire(class, block.is_some());
        Ok(block)
    }

    /// A block from the system, if need be after emptying the cache.
    fn fresh(&self, class: usize) -> Option<Block> {
        Block::new(class).or_else(|| {
            self.trim();
            Block::new(class)
        })
    }

    /// Gives all kept memory back to the system.
    pub fn trim(&self) {
        let kept = std::mem::take(&mut self.shared.state.lock().cache);
        drop(kept);
    }

    /// The present statistics.
    pub fn stats(&self) -> Stats {
        let state = self.shared.state.lock();
        Stats { cached_bytes: state.cache.bytes(), cached_blocks: state.cache.blocks(), ..state.stats }
    }
}

impl State {
    fn acquire(&mut self, class: usize, hit: bool) {
        let stats = &mut self.stats;
        stats.live_bytes += class;
        stats.live_blocks += 1;
        stats.peak_live_bytes = stats.peak_live_bytes.max(stats.live_bytes);
        *(if hit { &mut stats.hits } else { &mut stats.misses }) += 1;
    }

    fn release(&mut self, class: usize) {
        self.stats.live_bytes -= class;
        self.stats.live_blocks -= 1;
    }
}

/// The size of the block that serves `bytes`: eight classes between powers of two, so that at most an eighth is wasted and
/// sizes that vary a little share a class; whole huge pages from 2 MiB on. `None` if it exceeds the address space.
fn size_class(bytes: usize) -> Option<usize> {
    let min = if bytes >= HUGE_PAGE { HUGE_PAGE } else { ALIGNMENT };
    let step = (1usize << (bytes.max(1).ilog2().saturating_sub(3))).max(min);
    bytes.checked_next_multiple_of(step).filter(|&class| class <= isize::MAX as usize - HUGE_PAGE)
}

/// Memory from an [`Allocator`], to which it returns when dropped. Its bytes are always initialised, but with arbitrary
/// values.
#[derive(Debug)]
pub struct Buffer {
    block: Option<Block>,
    bytes: usize,
    owner: Arc<Shared>,
}

impl Buffer {
    /// Bytes asked for.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether it was asked for with zero bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    fn start(&self) -> NonNull<u8> {
        // An empty buffer, too, has an aligned address that is not null.
        self.block.as_ref().map_or(NonNull::<Aligned>::dangling().cast(), Block::start)
    }

    /// The address for reading.
    pub fn as_ptr(&self) -> *const u8 {
        self.start().as_ptr()
    }

    /// The address for writing.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.start().as_ptr()
    }

    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: the block has at least `bytes` initialised bytes and is ours as long as the buffer lives.
        unsafe { std::slice::from_raw_parts(self.as_ptr(), self.bytes) }
    }

    /// The bytes, for writing.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as for reading, and borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.as_mut_ptr(), self.bytes) }
    }
}

#[repr(align(64))]
struct Aligned;

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(block) = self.block.take() {
            let mut state = self.owner.state.lock();
            state.release(block.bytes());
            let surplus = match self.owner.options.guard {
                Some(_) => vec![block],
                None => state.cache.put(block, self.owner.options.cache_limit),
            };
            // Returning memory to the system takes long, so others do not wait for it.
            drop(state);
            drop(surplus);
        }
    }
}
