//! Who does the evaluator's work: a parallel-for that the caller gives, and how work is cut into pieces for it.
//!
//! Pieces are cut by sizes alone and each is done once, so results do not depend on who does them. Every loop of the
//! evaluator over more than a few elements goes through [`Resources::each`] or [`Resources::collect`], and checks whether it
//! must stop, by [`ParallelFor::look`] or [`Looks`], where a single piece may take longer than a few milliseconds.

use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ir::array::{ArrayError, ArrayView, ArrayViewMut};
use ops::DType;

use super::EvaluateError;
use super::copy::copy;
use super::memory::{Meter, Metered};

/// Does pieces of work, each once, in any order and on any threads.
pub trait ParallelFor: Debug + Sync {
    /// Calls `body` with each number below `pieces`, and returns when all calls have.
    fn run(&self, pieces: usize, body: &(dyn Fn(usize) + Sync));

    /// Called now and then within a long piece: unwinds if the work must stop.
    fn look(&self) {}
}

/// Work on the calling thread alone.
#[derive(Clone, Copy, Debug)]
pub struct Serial;

impl ParallelFor for Serial {
    fn run(&self, pieces: usize, body: &(dyn Fn(usize) + Sync)) {
        (0..pieces).for_each(body);
    }
}

/// Work on this number of threads, which start for each loop: for callers without a pool.
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

/// Checks whether work is to stop, once every [`Looks::STEPS`] steps of a long piece.
#[derive(Debug)]
pub struct Looks<'w> {
    workers: &'w dyn ParallelFor,
    steps: usize,
}

impl<'w> Looks<'w> {
    /// Steps between two looks; they take at most a few milliseconds.
    const STEPS: usize = 1 << 13;

    /// For a piece of work of these workers.
    pub fn new(workers: &'w dyn ParallelFor) -> Looks<'w> {
        Looks { workers, steps: 0 }
    }

    /// Counts a step.
    #[inline]
    pub fn step(&mut self) {
        self.steps(1);
    }

    /// Counts several steps.
    #[inline]
    pub fn steps(&mut self, count: usize) {
        self.steps += count;
        if self.steps >= Looks::STEPS {
            self.steps = 0;
            self.workers.look();
        }
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

    /// An array to be written before it is read, counted until it is dropped.
    pub(super) fn unwritten(&self, dtype: DType, sizes: &[usize]) -> Result<Metered, EvaluateError> {
        self.meter.unwritten(dtype, sizes)
    }

    /// For a piece of work that takes long.
    pub(super) fn looks(&self) -> Looks<'_> {
        Looks::new(self.workers)
    }

    /// [`copy`] on its threads.
    pub(super) fn copy(&self, to: &mut ArrayViewMut<'_>, from: &ArrayView<'_>) -> Result<(), ArrayError> {
        copy(to, from, self.workers)
    }

    /// Calls `body` with each piece and its number.
    pub(super) fn each<T: Send>(&self, pieces: impl Iterator<Item = T>, body: impl Fn(usize, T) + Sync) {
        each(self.workers, pieces, body);
    }

    /// What a function gives for each number below `count`, in order.
    ///
    /// # Errors
    /// [`EvaluateError::Memory`] where there is none for `count` results.
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

/// Calls `body` with each piece and its number.
pub(super) fn each<T: Send>(
    workers: &dyn ParallelFor,
    pieces: impl Iterator<Item = T>,
    body: impl Fn(usize, T) + Sync,
) {
    let pieces: Vec<Mutex<Option<T>>> = pieces.map(|piece| Mutex::new(Some(piece))).collect();
    workers.run(pieces.len(), &|number| {
        let piece = pieces[number].lock().unwrap_or_else(PoisonError::into_inner).take();
        body(number, piece.expect("each piece is done once"));
    });
}
