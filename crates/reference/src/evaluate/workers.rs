//! Who does the evaluator's work: a parallel-for that the caller gives, and how work is cut into pieces for it.
//!
//! Pieces are cut by sizes alone and each is done once, so results do not depend on who does them. Every loop of the
//! evaluator over more than a few elements goes through [`Resources::each`] or [`Resources::collect`].

use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ops::DType;

use super::EvaluateError;
use super::value::{Meter, Metered};

/// Does pieces of work, each once, in any order and on any threads.
pub trait ParallelFor: Debug + Sync {
    /// Calls `body` with each number below `pieces`, and returns when all calls have.
    fn run(&self, pieces: usize, body: &(dyn Fn(usize) + Sync));
}

/// Work on the calling thread alone.
#[derive(Clone, Copy, Debug)]
pub struct Serial;

impl ParallelFor for Serial {
    fn run(&self, pieces: usize, body: &(dyn Fn(usize) + Sync)) {
        (0..pieces).for_each(body);
    }
}

/// Work on so many threads, which start for each loop: for those that have no pool.
#[derive(Clone, Copy, Debug)]
pub struct Threads(pub usize);

impl ParallelFor for Threads {
    fn run(&self, pieces: usize, body: &(dyn Fn(usize) + Sync)) {
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(piece) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&n| n < pieces) {
                body(piece);
            }
        };
        std::thread::scope(|scope| {
            (1..self.0.min(pieces)).for_each(|_| {
                scope.spawn(work);
            });
            work();
        });
    }
}

/// What an evaluation may use: memory up to a limit, and threads.
#[derive(Clone, Debug)]
pub(super) struct Resources<'w> {
    pub(super) meter: Arc<Meter>,
    pub(super) workers: &'w dyn ParallelFor,
}

impl Resources<'_> {
    /// An array of zeros, counted until it is dropped.
    pub(super) fn zeros(&self, dtype: DType, sizes: &[usize]) -> Result<Metered, EvaluateError> {
        self.meter.zeros(dtype, sizes)
    }

    /// Does something with each piece, told its number.
    pub(super) fn each<T: Send>(&self, pieces: impl Iterator<Item = T>, body: impl Fn(usize, T) + Sync) {
        let pieces: Vec<Mutex<Option<T>>> = pieces.map(|piece| Mutex::new(Some(piece))).collect();
        self.workers.run(pieces.len(), &|number| {
            let piece = pieces[number].lock().unwrap_or_else(PoisonError::into_inner).take();
            body(number, piece.expect("each piece is done once"));
        });
    }

    /// What a function gives for each number below `count`, in order.
    ///
    /// # Errors
    /// [`EvaluateError::Memory`] where there is none for so many.
    pub(super) fn collect<T: Send + Sync>(
        &self,
        count: usize,
        body: impl Fn(usize) -> T + Sync,
    ) -> Result<Vec<T>, EvaluateError> {
        let mut results: Vec<OnceLock<T>> = Vec::new();
        let bytes = count.saturating_mul(size_of::<OnceLock<T>>());
        results.try_reserve_exact(count).map_err(|_| EvaluateError::Memory { bytes })?;
        results.resize_with(count, OnceLock::new);
        self.workers.run(count, &|number| {
            results[number].get_or_init(|| body(number));
        });
        Ok(results.into_iter().map(|result| result.into_inner().expect("each piece is done")).collect())
    }
}
