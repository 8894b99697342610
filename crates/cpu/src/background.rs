//! Work on its own thread, with a large stack. The caller waits, and may be interrupted: the thread is then left to end by
//! itself, when it next checks the interrupt.
//!
//! The work owns what it needs. A `fork` waits for its end.

use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, OnceLock, Weak};
use std::thread::{self, Builder, ThreadId};
use std::time::Duration;

use ir::interrupt::Interrupt;
use thiserror::Error;

use crate::fork::unforked;

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
    /// The work that this thread was interrupted in. A thread that ends waits for it; if that is the main thread, so does the
    /// process, which then unloads libLLVM.
    static ABANDONED: Abandoned = const { Abandoned(RefCell::new(Vec::new())) };
}

/// Work that may still be going on: each owns what these refer to until it ends.
struct Abandoned(RefCell<Vec<Weak<()>>>);

impl Drop for Abandoned {
    fn drop(&mut self) {
        while self.0.get_mut().iter().any(is_running) {
            thread::sleep(INTERRUPT_INTERVAL);
        }
    }
}

fn is_running(work: &Weak<()>) -> bool {
    work.strong_count() > 0
}

/// The error for a caller that is interrupted in this work.
fn interrupted(work: Weak<()>) -> NoResult {
    // A thread that is about to end has no place for it.
    let _ = ABANDONED.try_with(|Abandoned(abandoned)| {
        let mut abandoned = abandoned.borrow_mut();
        abandoned.retain(is_running);
        abandoned.push(work);
    });
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
    let running = Arc::new(());
    let own = Arc::downgrade(&running);
    let send = move || {
        let result = unforked(|| {
            let _running = running;
            work()
        });
        // If the caller was interrupted, nobody receives it.
        let _ = done.send(result);
    };
    let thread = Builder::new().stack_size(stack).name("ferrofuse-compile".to_owned()).spawn(send);
    let thread = thread.map_err(|error| NoResult::Thread(error.to_string()))?;
    if interrupt.poll() {
        return Err(interrupted(own));
    }
    while interrupt.is_possible() {
        match result.recv_timeout(INTERRUPT_INTERVAL) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) if interrupt.poll() => return Err(interrupted(own)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    result.recv().map_err(|_| resume_unwind(thread.join().expect_err("a thread that gives nothing panicked")))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc;

    use super::*;

    /// The thread that was interrupted ends with its own work, whatever others do.
    #[test]
    fn threads_wait_for_work_that_they_were_interrupted_in() {
        let (end_other, other_may_end) = mpsc::channel::<()>();
        let other = thread::spawn(move || unforked(|| other_may_end.recv()));
        let ended = Arc::new(AtomicBool::new(false));
        let sets = Arc::clone(&ended);
        let caller = thread::spawn(move || {
            let work = move || {
                thread::sleep(Duration::from_millis(100));
                sets.store(true, Ordering::SeqCst);
            };
            matches!(in_background(1 << 20, &Interrupt::when(|| true), work), Err(NoResult::Interrupted))
        });
        assert!(caller.join().expect("no panic"), "it is interrupted at once");
        assert!(ended.load(Ordering::SeqCst), "the thread ended before its work");
        end_other.send(()).expect("it waits");
        other.join().expect("no panic").expect("it was sent");
    }
}
