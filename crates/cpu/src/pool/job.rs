//! One call of `run`: its tasks, which threads take in pieces that get smaller towards the end.
//!
//! Polychronopoulos and Kuck, Guided self-scheduling, IEEE Transactions on Computers, 1987: a piece is a part of the
//! remaining tasks, so there are few of them, and threads end at most one small piece apart. Keeps the first panic of the
//! body for the caller. Knows nothing of threads.

use super::Body;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A piece is a worker's share of the remaining tasks divided by this, so that a late worker finds some left, but at least
/// its share of all tasks divided by [`MOST_PIECES`].
const SHARE_DIVISOR: usize = 2;

/// The most of the smallest pieces that a worker's share has, so that taking them costs nothing.
const MOST_PIECES: usize = 64;

/// The counter is alone on its pair of cache lines, because all threads write it.
#[repr(align(128))]
struct Counter(AtomicUsize);

pub(super) struct Job<'f> {
    /// The first task that nobody has taken.
    next: Counter,
    body: Body<'f>,
    tasks: usize,
    workers: usize,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl<'f> Job<'f> {
    /// `tasks` is at least 1.
    pub fn new(tasks: usize, workers: usize, body: Body<'f>) -> Job<'f> {
        Job { next: Counter(AtomicUsize::new(0)), body, tasks, workers, panic: Mutex::new(None) }
    }

    /// The most workers that find something to do.
    pub fn useful_workers(&self) -> usize {
        self.workers.min(self.tasks)
    }

    /// Takes and does pieces until none is left. Never panics.
    pub fn work(&self, worker: usize) {
        self.caught(|| {
            while let Some((begin, end)) = self.take() {
                (self.body)(worker, begin, end);
            }
        });
    }

    /// Does something for the job. Its panic is kept for the caller, and nothing more of the job is begun. Never panics.
    pub fn caught(&self, work: impl FnOnce()) {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(work)) {
            self.next.0.store(self.tasks, Ordering::Relaxed);
            self.panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(payload);
        }
    }

    /// The next piece.
    pub fn take(&self) -> Option<(usize, usize)> {
        let end_of = |begin| (begin < self.tasks).then(|| begin + self.piece(self.tasks - begin));
        let begin = self.next.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, end_of).ok()?;
        Some((begin, end_of(begin)?))
    }

    /// How many tasks are taken at a time when `left` are left.
    fn piece(&self, left: usize) -> usize {
        let min = self.tasks.div_ceil(MOST_PIECES * self.workers);
        left.div_ceil(SHARE_DIVISOR * self.workers).max(min).min(left)
    }

    /// Passes on the body's panic, if there was one.
    pub fn finish(self) {
        if let Some(payload) = self.panic.into_inner().unwrap_or_else(PoisonError::into_inner) {
            resume_unwind(payload);
        }
    }
}
