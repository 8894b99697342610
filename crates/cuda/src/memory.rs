//! Memory of a device in the order of a stream, and memory of the host that the device sees.

use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use crate::driver::Address;
use crate::error::Error;
use crate::gpu::Gpu;
use crate::stream::Stream;

/// Bytes of a device's memory. They are there for work that is given to the stream later than they are allocated and earlier
/// than they are dropped.
#[derive(Debug)]
pub struct DeviceBuffer {
    stream: Arc<Stream>,
    address: Address,
    bytes: usize,
}

impl DeviceBuffer {
    /// Memory with unspecified contents, aligned to 256 bytes.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn allocate(stream: &Arc<Stream>, bytes: usize) -> Result<DeviceBuffer, Error> {
        let device = stream.device();
        let _entered = device.enter()?;
        let address = device.allocate(bytes, stream.raw())?;
        Ok(DeviceBuffer { stream: Arc::clone(stream), address, bytes })
    }

    /// Where it begins, on the device.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// How many bytes it has.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The stream that it is there for.
    pub fn stream(&self) -> &Arc<Stream> {
        &self.stream
    }

    /// Fills its beginning from the host. The bytes are taken when the call returns.
    ///
    /// # Panics
    /// When it has fewer bytes.
    ///
    /// # Errors
    /// What the driver says.
    pub fn upload(&mut self, bytes: &[u8]) -> Result<(), Error> {
        assert!(bytes.len() <= self.bytes, "{} bytes into a buffer of {}", bytes.len(), self.bytes);
        // SAFETY: the buffer has as many bytes; memory of the host that is not pinned is taken when the call returns.
        unsafe { self.stream.upload(self.address, bytes) }
    }
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        let device = self.stream.device();
        if let Ok(_entered) = device.enter() {
            // SAFETY: the memory was allocated in the order of this stream, and work that uses it was given before.
            unsafe { (device.driver().functions.cuMemFreeAsync)(self.address, self.stream.raw()) };
        }
    }
}

impl Stream {
    /// Copies from the host to the device.
    ///
    /// # Safety
    /// At `to` there are as many bytes that the device may write when the stream comes to it.
    ///
    /// # Errors
    /// What the driver says.
    pub unsafe fn upload(&self, to: u64, bytes: &[u8]) -> Result<(), Error> {
        if bytes.is_empty() {
            return Ok(());
        }
        let device = self.device();
        let _entered = device.enter()?;
        let (from, functions) = (bytes.as_ptr().cast::<c_void>(), &device.driver().functions);
        // SAFETY: the source is a slice, of which the driver keeps nothing since it is not pinned; the rest is the caller's.
        let code = unsafe { (functions.cuMemcpyHtoDAsync)(to, from, bytes.len(), self.raw()) };
        device.driver().check("cuMemcpyHtoDAsync", code)
    }

    /// Copies from the device to the host, and waits for it and for all work before it.
    ///
    /// # Safety
    /// At `from` there are as many bytes that the device may read when the stream comes to it.
    ///
    /// # Errors
    /// What the driver says, also of work that was given before.
    pub unsafe fn download(&self, bytes: &mut [u8], from: u64) -> Result<(), Error> {
        if bytes.is_empty() {
            return Ok(());
        }
        let device = self.device();
        let _entered = device.enter()?;
        let (to, functions) = (bytes.as_mut_ptr().cast::<c_void>(), &device.driver().functions);
        // SAFETY: the destination is a slice that is borrowed until the stream was waited for; the rest is the caller's.
        let code = unsafe { (functions.cuMemcpyDtoHAsync)(to, from, bytes.len(), self.raw()) };
        device.driver().check("cuMemcpyDtoHAsync", code)?;
        self.synchronize()
    }

    /// Copies within the device.
    ///
    /// # Safety
    /// At both places there are as many bytes, which the device may read and write when the stream comes to it, and which do
    /// not overlap.
    ///
    /// # Errors
    /// What the driver says.
    pub unsafe fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), Error> {
        if bytes == 0 {
            return Ok(());
        }
        let device = self.device();
        let _entered = device.enter()?;
        // SAFETY: the caller's.
        let code = unsafe { (device.driver().functions.cuMemcpyDtoDAsync)(to, from, bytes, self.raw()) };
        device.driver().check("cuMemcpyDtoDAsync", code)
    }
}

/// Words of the host's memory that kernels of a device read and write where they are.
#[derive(Debug)]
pub struct MappedBuffer {
    device: Arc<Gpu>,
    words: NonNull<i64>,
    len: usize,
    address: Address,
}

// SAFETY: the memory belongs to the buffer alone, and is read and written through it.
unsafe impl Send for MappedBuffer {}

impl MappedBuffer {
    /// So many words, all of this value.
    ///
    /// # Errors
    /// What the driver says.
    pub fn new(device: &Arc<Gpu>, len: usize, value: i64) -> Result<MappedBuffer, Error> {
        const DEVICE_MAP: u32 = 2;
        let _entered = device.enter()?;
        let (mut start, mut address) = (ptr::null_mut(), 0);
        let driver = device.driver();
        // SAFETY: the functions have these types; what they write to outlives the calls. The address of what was allocated
        // with the flag is the device's for it.
        unsafe {
            let code =
                (driver.functions.cuMemHostAlloc)(&mut start, len.max(1) * size_of::<i64>(), DEVICE_MAP);
            driver.check("cuMemHostAlloc", code)?;
            let code = (driver.functions.cuMemHostGetDevicePointer)(&mut address, start, 0);
            driver.check("cuMemHostGetDevicePointer", code)?;
        }
        let words = NonNull::new(start.cast::<i64>()).expect("the driver allocated it");
        let buffer = MappedBuffer { device: Arc::clone(device), words, len, address };
        for word in 0..len {
            // SAFETY: within the words that were allocated, which no kernel knows yet.
            unsafe { buffer.words.add(word).write(value) };
        }
        Ok(buffer)
    }

    /// Where it begins, on the device.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The words as they are now. Kernels that were not waited for may change them meanwhile.
    pub fn words(&self) -> Vec<i64> {
        // SAFETY: within the words that were allocated; a word that a kernel writes meanwhile is read as it was or as it is.
        (0..self.len).map(|word| unsafe { self.words.add(word).read_volatile() }).collect()
    }
}

impl Drop for MappedBuffer {
    fn drop(&mut self) {
        if let Ok(_entered) = self.device.enter() {
            // SAFETY: it was allocated by this driver. Freeing waits for the work of the device.
            unsafe { (self.device.driver().functions.cuMemFreeHost)(self.words.as_ptr().cast()) };
        }
    }
}
