//! Memory of a device in the order of a stream.

use std::ffi::c_void;
use std::sync::Arc;

use crate::driver::Address;
use crate::error::Error;
use crate::stream::Stream;

/// Bytes of a device's memory. They are valid for work that is enqueued on the stream after their allocation and before they
/// are dropped.
#[derive(Debug)]
pub struct DeviceBuffer {
    stream: Arc<Stream>,
    address: Address,
    bytes: usize,
}

impl DeviceBuffer {
    /// Memory with unspecified contents, or all NaN after [`Gpu::poison`](crate::Gpu::poison), aligned to 256 bytes.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn allocate(stream: &Arc<Stream>, bytes: usize) -> Result<DeviceBuffer, Error> {
        let device = stream.device();
        let _entered = device.enter()?;
        let address = device.allocate(bytes, stream.raw())?;
        let buffer = DeviceBuffer { stream: Arc::clone(stream), address, bytes };
        if device.poisons() {
            // SAFETY: the buffer has as many bytes.
            unsafe { stream.fill(address, bytes, u32::MAX) }?;
        }
        Ok(buffer)
    }

    /// Its address on the device.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Its length in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The stream that it belongs to.
    pub fn stream(&self) -> &Arc<Stream> {
        &self.stream
    }

    /// Fills its beginning from the host.
    ///
    /// # Safety
    /// The bytes are in pageable memory, which the driver has read when the call returns, or stay as they are until the stream has
    /// come to the copy: pinned memory is read then.
    ///
    /// # Panics
    /// When it has fewer bytes.
    ///
    /// # Errors
    /// What the driver says.
    pub unsafe fn upload(&mut self, bytes: &[u8]) -> Result<(), Error> {
        assert!(bytes.len() <= self.bytes, "{} bytes into a buffer of {}", bytes.len(), self.bytes);
        // SAFETY: the buffer has as many bytes; the rest is the caller's.
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
    /// At `to` there are as many bytes that the device may write when the stream comes to it. The bytes are in pageable memory, or
    /// stay as they are until then.
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
        // SAFETY: the caller's.
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

    /// Sets bytes of the device to zero.
    ///
    /// # Safety
    /// At `to` there are as many bytes that the device may write when the stream comes to it.
    ///
    /// # Errors
    /// What the driver says.
    pub unsafe fn clear(&self, to: u64, bytes: usize) -> Result<(), Error> {
        // SAFETY: the caller's.
        unsafe { self.fill(to, bytes, 0).map(|_| ()) }
    }

    /// Fills with a 32-bit word; returns whether it did: words must begin at multiples of 4 bytes, unless all bytes are
    /// equal.
    ///
    /// # Safety
    /// As [`Stream::clear`].
    ///
    /// # Errors
    /// What the driver says.
    pub unsafe fn fill(&self, to: u64, bytes: usize, word: u32) -> Result<bool, Error> {
        if bytes == 0 {
            return Ok(true);
        }
        let device = self.device();
        let (_entered, driver) = (device.enter()?, device.driver());
        let [byte, rest @ ..] = word.to_ne_bytes();
        // SAFETY: the caller's.
        let code = unsafe {
            if rest == [byte; 3] {
                (driver.functions.cuMemsetD8Async)(to, byte, bytes, self.raw())
            } else if to.is_multiple_of(4) && bytes.is_multiple_of(4) {
                (driver.functions.cuMemsetD32Async)(to, word, bytes / 4, self.raw())
            } else {
                return Ok(false);
            }
        };
        driver.check("cuMemsetAsync", code).map(|()| true)
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
