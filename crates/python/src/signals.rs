//! Python's signals during long work: their handlers run, and an exception of a handler ends the work.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ferrofuse::{Error, Interrupt};
use pyo3::prelude::*;

use crate::errors;

/// The longest wait of a signal if work polls often. Polling takes the interpreter, which other threads may hold.
const WAIT: Duration = Duration::from_millis(30);

/// The exception of a handler.
type Raised = Arc<Mutex<Option<PyErr>>>;

/// Runs work without the interpreter, until it ends or a signal handler raises. Python runs handlers only on its main
/// thread, so only there can work be interrupted.
///
/// # Errors
/// The exception of the handler, or the Python form of the error; and the error itself.
pub fn interruptible<R: Send>(
    py: Python<'_>,
    work: impl FnOnce(Interrupt) -> Result<R, Error> + Send,
) -> Result<R, (PyErr, Error)> {
    let raised = Raised::default();
    let interrupt = interrupt(&raised);
    let done = py.detach(move || work(interrupt));
    done.map_err(|error| {
        let raised = raised.lock().unwrap_or_else(PoisonError::into_inner).take();
        (raised.unwrap_or_else(|| errors::failed(py, &error)), error)
    })
}

/// An interrupt for exceptions of handlers.
fn interrupt(raised: &Raised) -> Interrupt {
    let (raised, looked) = (Arc::clone(raised), Mutex::new(Instant::now()));
    Interrupt::when(move || {
        let mut looked = looked.lock().unwrap_or_else(PoisonError::into_inner);
        if looked.elapsed() < WAIT {
            return false;
        }
        let checked = Python::attach(|py| py.check_signals());
        *looked = Instant::now();
        let is_raised = checked.is_err();
        *raised.lock().unwrap_or_else(PoisonError::into_inner) = checked.err();
        is_raised
    })
}

/// Waits until work in the background has ended, interrupted or of other threads, and lets no other thread begin any: after
/// its exit the process unloads libLLVM.
///
/// # Errors
/// The exception of a signal handler meanwhile.
#[pyfunction]
pub fn await_background(py: Python<'_>) -> PyResult<()> {
    ferrofuse::end_background();
    while !ferrofuse::has_ended() {
        py.detach(|| std::thread::sleep(Duration::from_millis(5)));
        py.check_signals()?;
    }
    Ok(())
}
