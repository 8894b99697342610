//! Planning and compilation on a thread with a large stack.

use cpu::background::{self, NoResult};
use ir::interrupt::{Interrupt, Interrupted};
use segmenter::parallel::STACK;

use crate::Error;

/// Does something on another thread and waits for it. No `fork` of the process happens meanwhile.
///
/// # Errors
/// [`Error::Interrupted`], after which the work may still be going on; [`Error::Thread`] where the system gives no thread.
pub fn in_background<R: Send + 'static>(
    interrupt: &Interrupt,
    work: impl FnOnce() -> R + Send + 'static,
) -> Result<R, Error> {
    background::in_background(STACK, interrupt, work).map_err(|error| match error {
        NoResult::Interrupted => Interrupted.into(),
        NoResult::Thread(reason) => Error::Thread(reason),
    })
}
