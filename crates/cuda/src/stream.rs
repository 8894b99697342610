//! Streams: work of a device in an order.

use std::ptr;
use std::sync::Arc;

use crate::driver::Handle;
use crate::error::Error;
use crate::gpu::{Entered, Gpu};

/// A stream of a device: one of our own, or one of the caller's.
#[derive(Debug)]
pub struct Stream {
    device: Arc<Gpu>,
    raw: Handle,
    /// Whether it is destroyed with this.
    is_owned: bool,
}

// SAFETY: a stream is a handle that the driver lets any thread use.
unsafe impl Send for Stream {}
// SAFETY: as above; the driver locks what it must.
unsafe impl Sync for Stream {}

impl Stream {
    /// A stream of its own, which does not wait for the default one.
    ///
    /// # Errors
    /// What the driver says.
    pub fn new(device: &Arc<Gpu>) -> Result<Stream, Error> {
        const NON_BLOCKING: u32 = 1;
        let _entered = device.enter()?;
        let mut raw = ptr::null_mut();
        // SAFETY: the function has this type; the handle outlives the call.
        let code = unsafe { (device.driver().functions.cuStreamCreate)(&mut raw, NON_BLOCKING) };
        device.driver().check("cuStreamCreate", code)?;
        Ok(Stream { device: Arc::clone(device), raw, is_owned: true })
    }

    /// A stream of the caller's, by its `CUstream` as a number; 0 is the default stream.
    ///
    /// # Safety
    /// It must be a stream of this device's primary context that lives as long as this and what is made on it.
    ///
    /// # Errors
    /// A stream of another device.
    pub unsafe fn of_caller(device: &Arc<Gpu>, raw: usize) -> Result<Stream, Error> {
        let raw = ptr::without_provenance_mut(raw);
        let _entered = device.enter()?;
        let mut context = ptr::null_mut();
        // SAFETY: the caller's word says that the stream lives; the handle outlives the call.
        let code = unsafe { (device.driver().functions.cuStreamGetCtx)(raw, &mut context) };
        device.driver().check("cuStreamGetCtx", code)?;
        if context != device.context() {
            let text = format!("the stream is one of another device than cuda:{}", device.ordinal());
            let name = "CUDA_ERROR_INVALID_CONTEXT".to_owned();
            return Err(Error::Driver { call: "cuStreamGetCtx", code: 201, name, text });
        }
        Ok(Stream { device: Arc::clone(device), raw, is_owned: false })
    }

    /// The device.
    pub fn device(&self) -> &Arc<Gpu> {
        &self.device
    }

    /// Makes the device's context the thread's current one as long as the guard lives: work enqueued meanwhile need not do
    /// so.
    ///
    /// # Errors
    /// What the driver says.
    pub fn enter(&self) -> Result<Entered<'_>, Error> {
        self.device.enter()
    }

    pub(crate) fn raw(&self) -> Handle {
        self.raw
    }

    /// Its `CUstream` as a number.
    pub fn number(&self) -> usize {
        self.raw.addr()
    }

    /// Whether its work is captured as a graph instead of run.
    ///
    /// # Errors
    /// What the driver says.
    pub fn is_capturing(&self) -> Result<bool, Error> {
        let _entered = self.device.enter()?;
        let mut status = 0;
        // SAFETY: the function has this type; the status outlives the call.
        let code = unsafe { (self.device.driver().functions.cuStreamIsCapturing)(self.raw, &mut status) };
        self.device.driver().check("cuStreamIsCapturing", code)?;
        Ok(status != 0)
    }

    /// Waits until all its work is done.
    ///
    /// # Errors
    /// What went wrong in work that was given to it, or to the device before.
    pub fn synchronize(&self) -> Result<(), Error> {
        let _entered = self.device.enter()?;
        // SAFETY: the function has this type; the stream lives.
        let code = unsafe { (self.device.driver().functions.cuStreamSynchronize)(self.raw) };
        self.device.driver().check("cuStreamSynchronize", code)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.is_owned
            && let Ok(_entered) = self.device.enter()
        {
            // SAFETY: the stream is ours and nobody gives it work any more; what it has is done all the same.
            unsafe { (self.device.driver().functions.cuStreamDestroy)(self.raw) };
        }
    }
}
