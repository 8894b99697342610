//! Work on its own thread, with a large stack. The caller waits, and may be interrupted: the thread is then left to end by
//! itself, when it next checks the interrupt.
//!
//! The work owns what it needs. A `fork` waits for its end.

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread::Builder;
use std::time::Duration;

use ir::interrupt::{Interrupt, Interrupted};
use segmenter::parallel::STACK;

use crate::{Error, unforked};

/// How long the caller waits between two checks of the interrupt.
const INTERRUPT_INTERVAL: Duration = Duration::from_millis(10);

/// Does something on another thread and waits for it. No `fork` of the process happens meanwhile.
///
/// # Errors
/// [`Error::Interrupted`], after which the work may still be going on; [`Error::Thread`] where the system gives no thread.
pub fn in_background<R: Send + 'static>(
    interrupt: &Interrupt,
    work: impl FnOnce() -> R + Send + 'static,
) -> Result<R, Error> {
    let (done, result) = sync_channel(1);
    let send = move || {
        // If the caller was interrupted, nobody receives it.
        let _ = done.send(unforked(work));
    };
    let thread = Builder::new().stack_size(STACK).name("ferrofuse-compile".to_owned()).spawn(send);
    let thread = thread.map_err(|error| Error::Thread(error.to_string()))?;
    if interrupt.poll() {
        return Err(Interrupted.into());
    }
    while interrupt.is_possible() {
        match result.recv_timeout(INTERRUPT_INTERVAL) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) if interrupt.poll() => return Err(Interrupted.into()),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    result.recv().map_err(|_| resume_unwind(thread.join().expect_err("a thread that gives nothing panicked")))
}
