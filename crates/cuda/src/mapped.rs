//! Words of the host's memory that kernels write: page-locked, and mapped for the device.

use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use crate::driver::Address;
use crate::error::Error;
use crate::gpu::Gpu;

/// Words of mapped memory.
#[derive(Debug)]
pub(crate) struct MappedWords {
    device: Arc<Gpu>,
    first: NonNull<AtomicI64>,
    /// The device's address of the same place.
    address: Address,
    words: usize,
}

// SAFETY: it owns its memory, which any thread may use.
unsafe impl Send for MappedWords {}
// SAFETY: all that is done there is atomic.
unsafe impl Sync for MappedWords {}

impl MappedWords {
    /// `count` words, at least one, all with this value.
    ///
    /// # Errors
    /// What the driver says.
    pub fn new(device: &Arc<Gpu>, words: usize, value: i64) -> Result<MappedWords, Error> {
        const DEVICE_MAP: u32 = 2;
        let (_entered, _relaxed, driver) = (device.enter()?, device.relaxed()?, device.driver());
        let mut first: *mut c_void = ptr::null_mut();
        // SAFETY: the function has this type; the pointer outlives the call.
        let code = unsafe {
            (driver.functions.cuMemHostAlloc)(&mut first, words * size_of::<AtomicI64>(), DEVICE_MAP)
        };
        driver.check("cuMemHostAlloc", code)?;
        let first = NonNull::new(first.cast::<AtomicI64>()).expect("the driver gave memory");
        let mut mapped = MappedWords { device: Arc::clone(device), first, address: 0, words };
        for word in 0..words {
            // SAFETY: the memory is ours, has as many words, and nobody else knows of it.
            unsafe { first.add(word).write(AtomicI64::new(value)) };
        }
        // SAFETY: the function has this type; the number outlives the call.
        let code = unsafe {
            let place = driver.functions.cuMemHostGetDevicePointer;
            place(&mut mapped.address, first.as_ptr().cast(), 0)
        };
        driver.check("cuMemHostGetDevicePointer", code).map(|()| mapped)
    }

    /// The words, which the device may write meanwhile.
    pub fn words(&self) -> &[AtomicI64] {
        // SAFETY: they were set when they were made. A device writes each as a whole.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.words) }
    }

    /// The device's address of a word.
    pub fn address(&self, word: usize) -> Address {
        self.address + (word * size_of::<AtomicI64>()) as u64
    }
}

impl Drop for MappedWords {
    /// No stream may still have work that writes there.
    fn drop(&mut self) {
        if let Ok(_entered) = self.device.enter() {
            // SAFETY: the memory is ours, and nothing is still to be written there.
            unsafe { (self.device.driver().functions.cuMemFreeHost)(self.first.as_ptr().cast()) };
        }
    }
}
