//! CUDA graphs: work of a stream, captured once and launched again as a whole.

use std::ptr;
use std::sync::Arc;

use crate::driver::Handle;
use crate::error::Error;
use crate::gpu::Gpu;
use crate::stream::Stream;

/// Work that was captured, ready to run. Its addresses are those of the capture.
#[derive(Debug)]
pub struct Graph {
    device: Arc<Gpu>,
    raw: Handle,
}

// SAFETY: an executable graph is a handle that the driver lets any thread use, if not two at once: see `Graph::launch`.
unsafe impl Send for Graph {}

impl Stream {
    /// Captures the work that is enqueued on this stream meanwhile, instead of running it. Calls of other threads continue.
    ///
    /// # Errors
    /// Errors of the work and of the driver, for example for work that cannot be captured, such as a wait.
    pub fn capture<R, E: From<Error>>(&self, work: impl FnOnce() -> Result<R, E>) -> Result<(Graph, R), E> {
        let device = self.device();
        let (_entered, driver) = (device.enter()?, device.driver());
        // Libraries may allocate memory of their own at first use, which other modes reject.
        const RELAXED: u32 = 2;
        // SAFETY: the function has this type; the stream lives.
        let code = unsafe { (driver.functions.cuStreamBeginCapture)(self.raw(), RELAXED) };
        driver.check("cuStreamBeginCapture", code)?;
        let done = work();
        let mut captured = ptr::null_mut();
        // SAFETY: the function has this type; the handle outlives the call. A capture that failed is ended too.
        let code = unsafe { (driver.functions.cuStreamEndCapture)(self.raw(), &mut captured) };
        let done = done.and_then(|done| Ok(driver.check("cuStreamEndCapture", code).map(|()| done)?));
        if done.is_err() && !captured.is_null() {
            // SAFETY: the function has this type, and the graph is ours.
            unsafe { (driver.functions.cuGraphDestroy)(captured) };
        }
        let done = done?;
        let mut raw = ptr::null_mut();
        // SAFETY: the functions have these types; the captured graph is ours, and an executable one is a copy of it.
        let code = unsafe {
            let code = (driver.functions.cuGraphInstantiateWithFlags)(&mut raw, captured, 0);
            (driver.functions.cuGraphDestroy)(captured);
            code
        };
        driver.check("cuGraphInstantiateWithFlags", code)?;
        Ok((Graph { device: Arc::clone(device), raw }, done))
    }
}

impl Graph {
    /// Enqueues all its work on a stream of its device. Two launches of one graph run one after the other.
    ///
    /// # Safety
    /// What was captured may run when the stream comes to it: the addresses that it has are of memory that it may use.
    ///
    /// # Errors
    /// What the driver says.
    pub unsafe fn launch(&mut self, stream: &Stream) -> Result<(), Error> {
        let (_entered, driver) = (self.device.enter()?, self.device.driver());
        // SAFETY: the function has this type; no other thread launches it meanwhile; the rest is the caller's.
        let code = unsafe { (driver.functions.cuGraphLaunch)(self.raw, stream.raw()) };
        driver.check("cuGraphLaunch", code)
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        if let Ok(_entered) = self.device.enter() {
            // SAFETY: the graph is ours; the driver keeps it until launches that still run are done.
            unsafe { (self.device.driver().functions.cuGraphExecDestroy)(self.raw) };
        }
    }
}
