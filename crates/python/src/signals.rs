//! Python's signals while something takes long: their handlers run, and what they raise ends it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ferrofuse::{Error, Interrupt};
use pyo3::prelude::*;

use crate::errors;

/// How long a signal waits at most where work looks often. The interpreter is taken to look, which other threads may hold.
const WAIT: Duration = Duration::from_millis(30);

/// What a handler raised.
type Raised = Arc<Mutex<Option<PyErr>>>;

/// Does something without the interpreter, until it ends or the handler of a signal raises. Handlers run on the main thread
/// of Python alone, so it is there that work can be interrupted.
///
/// # Errors
/// What the handler raised, or what the error is in Python; and the error itself.
pub fn heeded<R: Send>(
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

/// An interrupt by what handlers raise.
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

/// Waits until what was interrupted has ended in the background: a process that ends takes libLLVM away under it.
///
/// # Errors
/// What the handler of a signal raises meanwhile.
#[pyfunction]
pub fn await_background(py: Python<'_>) -> PyResult<()> {
    while !ferrofuse::has_ended() {
        py.detach(|| std::thread::sleep(Duration::from_millis(5)));
        py.check_signals()?;
    }
    Ok(())
}
