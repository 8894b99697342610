//! Memory of the host that a device copies to while the host goes on.

use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use crate::error::Error;
use crate::gpu::Gpu;
use crate::stream::Stream;

/// Words of page-locked memory.
#[derive(Debug)]
pub struct PinnedWords {
    device: Arc<Gpu>,
    first: NonNull<i64>,
    words: usize,
}

// SAFETY: it owns its memory, which any thread may use.
unsafe impl Send for PinnedWords {}

impl PinnedWords {
    /// So many words, all zero.
    ///
    /// # Errors
    /// What the driver says.
    pub fn new(device: &Arc<Gpu>, words: usize) -> Result<PinnedWords, Error> {
        let _entered = device.enter()?;
        let mut first: *mut c_void = ptr::null_mut();
        let bytes = words.max(1) * size_of::<i64>();
        // SAFETY: the function has this type; the pointer outlives the call.
        let code = unsafe { (device.driver().functions.cuMemHostAlloc)(&mut first, bytes, 0) };
        device.driver().check("cuMemHostAlloc", code)?;
        let first = NonNull::new(first.cast::<i64>()).expect("the driver gave memory");
        // SAFETY: the memory is ours, and has as many bytes.
        unsafe { first.write_bytes(0, words.max(1)) };
        Ok(PinnedWords { device: Arc::clone(device), first, words })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.words
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.words == 0
    }

    /// Has a stream copy its first words from the device when it comes to that. The host does not wait.
    ///
    /// # Safety
    /// At `from` there are as many words, which the device may read when the stream comes to it. Until then this is neither read
    /// nor dropped.
    ///
    /// # Panics
    /// When it has fewer words.
    ///
    /// # Errors
    /// What the driver says.
    pub unsafe fn download(&mut self, stream: &Stream, from: u64, words: usize) -> Result<(), Error> {
        assert!(words <= self.words, "{words} words into {}", self.words);
        let device = stream.device();
        let (_entered, functions) = (device.enter()?, &device.driver().functions);
        let (to, bytes) = (self.first.as_ptr().cast(), words * size_of::<i64>());
        // SAFETY: the memory is ours and has as many words; the rest is the caller's.
        let code = unsafe { (functions.cuMemcpyDtoHAsync)(to, from, bytes, stream.raw()) };
        device.driver().check("cuMemcpyDtoHAsync", code)
    }

    /// The words.
    ///
    /// # Safety
    /// No stream is still to copy to them.
    pub unsafe fn words(&self) -> &[i64] {
        // SAFETY: they were zero at first; the caller says that nobody writes to them.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.words) }
    }
}

impl Drop for PinnedWords {
    fn drop(&mut self) {
        if let Ok(_entered) = self.device.enter() {
            // SAFETY: the memory is ours, and no stream is still to copy to it.
            unsafe { (self.device.driver().functions.cuMemFreeHost)(self.first.as_ptr().cast()) };
        }
    }
}
