//! Contexts: the primary one of each device, which of them is current in a thread, and what is wrong with it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_int;
use std::thread::ThreadId;

use super::ffi::{Handle, Out};
use super::result::{DriverResult, Failure, Status};
use super::state::{Driver, call};
use super::stream::Stream;

/// The primary context of a device.
#[derive(Debug)]
pub struct Context {
    pub device: usize,
    /// Its reference count: retains minus releases.
    pub retained: usize,
    /// What went wrong in it; every call says so from then on.
    pub error: Option<Failure>,
    /// The default stream.
    pub legacy: Handle,
    /// The default streams of threads that asked for theirs.
    pub per_thread: HashMap<ThreadId, Handle>,
}

thread_local! {
    /// The stack of contexts of a thread; a null entry means that none is current.
    static STACK: RefCell<Vec<Handle>> = const { RefCell::new(Vec::new()) };
}

fn top() -> Handle {
    STACK.with_borrow(|stack| stack.last().copied().unwrap_or_default())
}

impl Driver {
    /// The current context of this thread, with nothing wrong.
    pub fn current(&self) -> DriverResult<Handle> {
        let context = top();
        if context == Handle::default() {
            return Err(Status::ERROR_INVALID_CONTEXT.because("no context is current in this thread"));
        }
        self.healthy(context)?;
        Ok(context)
    }

    /// The context, if it exists and has no error.
    pub fn healthy(&self, context: Handle) -> DriverResult<&Context> {
        let context = self.known_context(context)?;
        self.present(context.device)?;
        match &context.error {
            Some(failure) => Err(failure.clone()),
            None => Ok(context),
        }
    }

    fn known_context(&self, context: Handle) -> DriverResult<&Context> {
        let gone =
            |_| Status::ERROR_CONTEXT_IS_DESTROYED.because("the context was released, or never was one");
        self.contexts.get(context).map_err(gone)
    }

    /// Checks that a device was not lost.
    pub fn present(&self, device: usize) -> DriverResult {
        match self.settings.lost >> device & 1 {
            0 => Ok(()),
            _ => Err(Status::ERROR_UNKNOWN.because(format!("device {device} is lost"))),
        }
    }

    fn create_context(&mut self, device: usize) -> Handle {
        let legacy = Handle::default();
        let context = Context { device, retained: 0, error: None, legacy, per_thread: HashMap::new() };
        let context = self.contexts.insert(context);
        let legacy = self.streams.insert(Stream::new(context, true));
        self.contexts.get_mut(context).expect("it was just made").legacy = legacy;
        self.devices[device].primary = Some(context);
        context
    }

    /// Destroys a context and everything created in it.
    fn destroy_context(&mut self, context: Handle, device: usize) {
        self.queue.forget_context(context);
        self.streams.retain(|stream| stream.context != context);
        self.events.retain(|event| event.context != context);
        self.functions.retain(|function| function.context != context);
        self.modules.retain(|module| module.context != context);
        self.captures.retain(|capture| capture.context != context);
        self.graphs.retain(|graph| graph.context != context);
        self.executables.retain(|executable| executable.context != context);
        self.allocations.forget_context(context);
        self.devices[device].pool = Default::default();
        self.devices[device].bytes = 0;
        self.devices[device].primary = None;
        let _ = self.contexts.remove(context);
    }
}

#[unsafe(no_mangle)]
extern "C" fn cuDevicePrimaryCtxRetain(context: Out<Handle>, device: c_int) -> c_int {
    call(|driver| {
        let device = driver.ordinal(device)?;
        driver.present(device)?;
        let primary = match driver.devices[device].primary {
            Some(primary) => primary,
            None => driver.create_context(device),
        };
        context.set(primary)?;
        driver.contexts.get_mut(primary)?.retained += 1;
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDevicePrimaryCtxRelease_v2(device: c_int) -> c_int {
    call(|driver| {
        let device = driver.ordinal(device)?;
        let Some(primary) = driver.devices[device].primary else {
            return Err(Status::ERROR_INVALID_CONTEXT.because("the primary context is not retained"));
        };
        let context = driver.contexts.get_mut(primary)?;
        context.retained -= 1;
        if context.retained == 0 {
            driver.destroy_context(primary, device);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxSetCurrent(context: Handle) -> c_int {
    call(|driver| {
        if context != Handle::default() {
            driver.known_context(context)?;
        }
        STACK.with_borrow_mut(|stack| {
            stack.pop();
            if context != Handle::default() {
                stack.push(context);
            }
        });
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxGetCurrent(context: Out<Handle>) -> c_int {
    call(|_| context.set(top()))
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxPushCurrent_v2(context: Handle) -> c_int {
    call(|driver| {
        driver.known_context(context)?;
        STACK.with_borrow_mut(|stack| stack.push(context));
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxPopCurrent_v2(context: Out<Handle>) -> c_int {
    call(|_| match STACK.with_borrow_mut(Vec::pop) {
        Some(popped) => {
            context.set_if_wanted(popped);
            Ok(())
        }
        None => Err(Status::ERROR_INVALID_CONTEXT.because("the stack of contexts is empty")),
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxSynchronize() -> c_int {
    call(|driver| {
        let context = driver.current()?;
        driver.reject_while_capturing(context, "cuCtxSynchronize")?;
        driver.run_context(context)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxGetDevice(device: Out<c_int>) -> c_int {
    call(|driver| {
        let context = driver.current()?;
        device.set(driver.contexts.get(context)?.device as c_int)
    })
}
