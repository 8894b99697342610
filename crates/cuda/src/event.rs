//! Events: moments in the work of a stream, which others wait for.

use std::ptr;
use std::sync::Arc;

use crate::driver::{Handle, NOT_READY};
use crate::error::Error;
use crate::gpu::Gpu;
use crate::stream::Stream;

/// The end of the work that a stream had been given by some moment.
#[derive(Debug)]
pub struct Event {
    device: Arc<Gpu>,
    raw: Handle,
}

// SAFETY: an event is a handle that the driver lets any thread use.
unsafe impl Send for Event {}
// SAFETY: as above; the driver locks what it must.
unsafe impl Sync for Event {}

impl Event {
    /// The end of what a stream has been given so far.
    ///
    /// # Errors
    /// What the driver says.
    pub fn record(stream: &Stream) -> Result<Event, Error> {
        const DISABLE_TIMING: u32 = 2;
        let device = stream.device();
        let (_entered, functions) = (device.enter()?, &device.driver().functions);
        let mut raw = ptr::null_mut();
        // SAFETY: the function has this type; the handle outlives the call.
        let code = unsafe { (functions.cuEventCreate)(&mut raw, DISABLE_TIMING) };
        device.driver().check("cuEventCreate", code)?;
        let event = Event { device: Arc::clone(device), raw };
        // SAFETY: the function has this type; event and stream live.
        let code = unsafe { (functions.cuEventRecord)(raw, stream.raw()) };
        device.driver().check("cuEventRecord", code)?;
        Ok(event)
    }

    /// Whether that work is done.
    ///
    /// # Errors
    /// What went wrong in work of the device before.
    pub fn is_done(&self) -> Result<bool, Error> {
        let _entered = self.device.enter()?;
        // SAFETY: the function has this type; the event lives.
        match unsafe { (self.device.driver().functions.cuEventQuery)(self.raw) } {
            NOT_READY => Ok(false),
            code => self.device.driver().check("cuEventQuery", code).map(|()| true),
        }
    }
}

impl Stream {
    /// Has the work that is given to it from now on wait for an event, also one of another device. The host does not wait.
    ///
    /// # Errors
    /// What the driver says.
    pub fn wait_for(&self, event: &Event) -> Result<(), Error> {
        let device = self.device();
        let _entered = device.enter()?;
        // SAFETY: the function has this type; event and stream live.
        let code = unsafe { (device.driver().functions.cuStreamWaitEvent)(self.raw(), event.raw, 0) };
        device.driver().check("cuStreamWaitEvent", code)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if let Ok(_entered) = self.device.enter() {
            // SAFETY: the event is ours. The driver keeps it for what waits for it still.
            unsafe { (self.device.driver().functions.cuEventDestroy)(self.raw) };
        }
    }
}
