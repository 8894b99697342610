//! Events: points in the work of a stream that others can wait for.

use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use crate::driver::{Handle, NOT_READY};
use crate::error::Error;
use crate::gpu::Gpu;
use crate::stream::Stream;

/// The end of the work that was enqueued on a stream up to some moment.
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
    /// The end of the work enqueued on a stream so far.
    ///
    /// # Errors
    /// What the driver says.
    pub fn record(stream: &Stream) -> Result<Event, Error> {
        const DISABLE_TIMING: u32 = 2;
        Event::with_flags(stream, DISABLE_TIMING)
    }

    /// Records it again: the end of the work enqueued on this stream so far.
    ///
    /// # Errors
    /// What the driver says.
    pub fn again(&self, stream: &Stream) -> Result<(), Error> {
        let (_entered, driver) = (self.device.enter()?, self.device.driver());
        // SAFETY: the function has this type; event and stream live.
        driver.check("cuEventRecord", unsafe { (driver.functions.cuEventRecord)(self.raw, stream.raw()) })
    }

    /// [`Event::record`], with the time at which the stream reached it.
    ///
    /// # Errors
    /// What the driver says.
    pub fn record_timed(stream: &Stream) -> Result<Event, Error> {
        Event::with_flags(stream, 0)
    }

    fn with_flags(stream: &Stream, flags: u32) -> Result<Event, Error> {
        let device = stream.device();
        let (_entered, functions) = (device.enter()?, &device.driver().functions);
        let mut raw = ptr::null_mut();
        // SAFETY: the function has this type; the handle outlives the call.
        let code = unsafe { (functions.cuEventCreate)(&mut raw, flags) };
        device.driver().check("cuEventCreate", code)?;
        let event = Event { device: Arc::clone(device), raw };
        event.again(stream).map(|()| event)
    }

    /// The time from an earlier event to this one, once this one is done; both are timed ones.
    ///
    /// # Errors
    /// What the driver says, also of work that was given before.
    pub fn since(&self, earlier: &Event) -> Result<Duration, Error> {
        let (_entered, driver) = (self.device.enter()?, self.device.driver());
        let mut milliseconds = 0.0;
        // SAFETY: the functions have these types; the events live, the number outlives the call.
        unsafe {
            driver.check("cuEventSynchronize", (driver.functions.cuEventSynchronize)(self.raw))?;
            let code = (driver.functions.cuEventElapsedTime)(&mut milliseconds, earlier.raw, self.raw);
            driver.check("cuEventElapsedTime", code)?;
        }
        Ok(Duration::from_secs_f64(f64::from(milliseconds.max(0.0)) / 1e3))
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
    /// Makes work that is enqueued from now on wait for an event, perhaps of another device. The host does not wait.
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
