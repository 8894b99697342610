//! One call of `run`: its tasks, cut into pieces that threads take by an atomic counter.
//!
//! Keeps the first panic of the body for the caller. Knows nothing of threads.

use super::Body;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Enough to even out pieces of unequal cost, few enough that taking them costs nothing.
const PIECES_PER_WORKER: usize = 8;

/// The counter is alone on its pair of cache lines, because all threads write it.
#[repr(align(128))]
struct Counter(AtomicUsize);

pub(super) struct Job<'f> {
    next: Counter,
    body: Body<'f>,
    tasks: usize,
    /// Tasks a piece.
    grain: usize,
    pieces: usize,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl<'f> Job<'f> {
    /// `tasks` is at least 1.
    pub fn new(tasks: usize, workers: usize, body: Body<'f>) -> Job<'f> {
        let grain = tasks.div_ceil(PIECES_PER_WORKER * workers);
        let pieces = tasks.div_ceil(grain);
        Job { next: Counter(AtomicUsize::new(0)), body, tasks, grain, pieces, panic: Mutex::new(None) }
    }

    pub fn pieces(&self) -> usize {
        self.pieces
    }

    /// Takes and does pieces until none is left. Never panics.
    pub fn work(&self, worker: usize) {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            while let Some((begin, end)) = self.take() {
                (self.body)(worker, begin, end);
            }
        }));
        if let Err(payload) = outcome {
            self.next.0.store(self.pieces, Ordering::Relaxed);
            self.panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(payload);
        }
    }

    /// The next piece. The counter passes the number of pieces by at most one a thread.
    fn take(&self) -> Option<(usize, usize)> {
        let piece = self.next.0.fetch_add(1, Ordering::Relaxed);
        (piece < self.pieces).then(|| {
            let begin = piece * self.grain;
            (begin, begin.saturating_add(self.grain).min(self.tasks))
        })
    }

    /// Passes on the body's panic, if there was one.
    pub fn finish(self) {
        if let Some(payload) = self.panic.into_inner().unwrap_or_else(PoisonError::into_inner) {
            resume_unwind(payload);
        }
    }
}
