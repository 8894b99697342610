//! Interrupts: a caller may no longer want the result of long work.
//!
//! Working threads check the request between two parts of the work. The thread that waits for the result polls, which calls
//! a function that may check a flag, or the signals of the calling language. Nothing here measures time or stops anything.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use thiserror::Error;

/// Whether work is to stop. A clone is of the same work.
#[derive(Clone, Default)]
pub struct Interrupt(Option<Arc<Watch>>);

struct Watch {
    requested: AtomicBool,
    asks: Box<dyn Fn() -> bool + Send + Sync>,
}

/// The work was interrupted. What it had done is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("interrupted")]
pub struct Interrupted;

impl Interrupt {
    /// Work that stops when a function says so. It is called often, and only on the thread that waits.
    pub fn when(asks: impl Fn() -> bool + Send + Sync + 'static) -> Interrupt {
        Interrupt(Some(Arc::new(Watch { requested: AtomicBool::new(false), asks: Box::new(asks) })))
    }

    /// Whether anything can interrupt.
    pub fn is_possible(&self) -> bool {
        self.0.is_some()
    }

    /// Whether work is to stop, as far as it was polled.
    pub fn is_requested(&self) -> bool {
        self.0.as_ref().is_some_and(|watch| watch.requested.load(Ordering::Relaxed))
    }

    /// The flag that becomes true once work is to stop.
    pub fn flag(&self) -> &AtomicBool {
        static NEVER: AtomicBool = AtomicBool::new(false);
        self.0.as_ref().map_or(&NEVER, |watch| &watch.requested)
    }

    /// Asks whether work is to stop, and informs all working threads. A request is final.
    pub fn poll(&self) -> bool {
        let Some(watch) = &self.0 else { return false };
        if !self.is_requested() && (watch.asks)() {
            watch.requested.store(true, Ordering::Relaxed);
        }
        self.is_requested()
    }

    /// An error once it is requested.
    ///
    /// # Errors
    /// [`Interrupted`].
    pub fn check(&self) -> Result<(), Interrupted> {
        if self.is_requested() { Err(Interrupted) } else { Ok(()) }
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self {
            Interrupt(None) => "never",
            _ if self.is_requested() => "requested",
            _ => "not requested",
        };
        write!(f, "Interrupt({state})")
    }
}
