//! Work on its own thread, with a large stack. The caller waits, and may be interrupted: the thread is then left to end by
//! itself, when it next checks the interrupt.
//!
//! The work owns what it needs. A `fork` waits for its end.

use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread::{self, Builder, ThreadId};
use std::time::Duration;

use ir::interrupt::Interrupt;
use thiserror::Error;

use crate::fork::{has_ended, unforked};

/// Why work in the background gives no result.
#[derive(Clone, Debug, Error)]
pub enum NoResult {
    /// The caller was interrupted; the work may still be going on.
    #[error("interrupted")]
    Interrupted,
    /// The system gives no thread, with its reason.
    #[error("{0}")]
    Thread(String),
}

/// How long the caller waits between two checks of the interrupt.
const INTERRUPT_INTERVAL: Duration = Duration::from_millis(10);

/// The thread in which the process ends.
static LAST: OnceLock<ThreadId> = OnceLock::new();

thread_local! {
    /// Made by a thread that leaves work to end by itself. A thread that ends waits for that, and so does the process, which
    /// then unloads libLLVM, if it is the main thread.
    static LEFT: LeftBehind = const { LeftBehind };
}

/// Work that may still be going on.
struct LeftBehind;

impl Drop for LeftBehind {
    fn drop(&mut self) {
        while !has_ended() {
            thread::sleep(INTERRUPT_INTERVAL);
        }
    }
}

/// The error for a caller that is interrupted.
fn interrupted() -> NoResult {
    LEFT.with(|_| ());
    NoResult::Interrupted
}

/// The process is about to end in this thread: work of others no longer begins, and they wait for good.
pub fn end_background() {
    LAST.get_or_init(|| thread::current().id());
}

/// Does something on another thread, with a stack of so many bytes, and waits for it. No `fork` of the process happens
/// meanwhile.
///
/// # Errors
/// [`NoResult`].
pub fn in_background<R: Send + 'static>(
    stack: usize,
    interrupt: &Interrupt,
    work: impl FnOnce() -> R + Send + 'static,
) -> Result<R, NoResult> {
    while LAST.get().is_some_and(|last| *last != thread::current().id()) {
        thread::park();
    }
    let (done, result) = sync_channel(1);
    let send = move || {
        // If the caller was interrupted, nobody receives it.
        let _ = done.send(unforked(work));
    };
    let thread = Builder::new().stack_size(stack).name("ferrofuse-compile".to_owned()).spawn(send);
    let thread = thread.map_err(|error| NoResult::Thread(error.to_string()))?;
    if interrupt.poll() {
        return Err(interrupted());
    }
    while interrupt.is_possible() {
        match result.recv_timeout(INTERRUPT_INTERVAL) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) if interrupt.poll() => return Err(interrupted()),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    result.recv().map_err(|_| resume_unwind(thread.join().expect_err("a thread that gives nothing panicked")))
}
