//! All that the driver knows, behind one lock, and how each of its functions begins and ends.

use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use super::allocations::Allocations;
use super::capture::Capture;
use super::clock::Timed;
use super::context::Context;
use super::device::{DeviceState, MOST_DEVICES};
use super::event::Event;
use super::graph::{Executable, Graph};
use super::module::{LoadedFunction, LoadedModule};
use super::queue::Queue;
use super::registry::Registry;
use super::result::{DriverResult, Failure, Status};
use super::settings::Settings;
use super::stream::Stream;

/// The driver.
#[derive(Debug)]
pub struct Driver {
    pub initialized: bool,
    pub settings: Settings,
    pub devices: Vec<DeviceState>,
    pub contexts: Registry<Context>,
    pub streams: Registry<Stream>,
    pub events: Registry<Event>,
    pub modules: Registry<LoadedModule>,
    pub functions: Registry<LoadedFunction>,
    pub captures: Registry<Capture>,
    pub graphs: Registry<Graph>,
    pub executables: Registry<Executable>,
    pub allocations: Allocations,
    pub queue: Queue,
    /// Launches so far.
    pub launches: u64,
    /// Allocations from pools since the process began.
    pub taken: u64,
}

static DRIVER: LazyLock<Mutex<Driver>> = LazyLock::new(|| {
    Mutex::new(Driver {
        initialized: false,
        settings: Settings::default(),
        devices: (0..MOST_DEVICES).map(|_| DeviceState::default()).collect(),
        contexts: Registry::new("a context", 1),
        streams: Registry::new("a stream", 2),
        events: Registry::new("an event", 3),
        modules: Registry::new("a module", 4),
        functions: Registry::new("a function", 5),
        captures: Registry::new("a capture", 6),
        graphs: Registry::new("a graph", 7),
        executables: Registry::new("an executable graph", 8),
        allocations: Allocations::default(),
        queue: Queue::default(),
        launches: 0,
        taken: 0,
    })
});

thread_local! {
    /// Why this thread's latest failed call failed.
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// The driver, locked for the calling thread.
pub fn driver() -> MutexGuard<'static, Driver> {
    DRIVER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The result of a function that needs no `cuInit`.
pub fn finish(outcome: DriverResult) -> c_int {
    match outcome {
        Ok(()) => Status::SUCCESS.0,
        Err(Failure { code, text }) => {
            MESSAGE.set(CString::new(text.replace('\0', " ")).unwrap_or_default());
            code.0
        }
    }
}

/// Runs a function of the driver.
pub fn call(body: impl FnOnce(&mut Driver) -> DriverResult) -> c_int {
    let _timed = Timed::begin();
    let mut driver = driver();
    if !driver.initialized {
        return finish(Err(Status::ERROR_NOT_INITIALIZED.because("cuInit was not called")));
    }
    finish(body(&mut driver))
}

/// The latest message of this thread. It is there until the next call that fails.
pub fn message() -> *const c_char {
    MESSAGE.with_borrow(|message| message.as_ptr())
}
