//! Who does the evaluator's work: a parallel-for that the caller gives, and how work is cut into pieces for it.
//!
//! Pieces are cut by sizes alone and each is done once, so results do not depend on who does them. Every loop of the
//! evaluator over more than a few elements goes through [`Resources::each`] or [`Resources::collect`].

use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ir::array::{ArrayError, ArrayView, ArrayViewMut};
use ops::DType;

use super::EvaluateError;
use super::block::GRAIN;
use super::memory::{Meter, Metered};

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

    /// An array to be written before it is read, counted until it is dropped.
    pub(super) fn unwritten(&self, dtype: DType, sizes: &[usize]) -> Result<Metered, EvaluateError> {
        self.meter.unwritten(dtype, sizes)
    }

    /// Copies elements to an array of the same dtype and sizes, in pieces along its longest axis.
    ///
    /// # Errors
    /// [`ArrayError::Mismatch`] when dtypes or sizes differ.
    pub(super) fn copy(&self, to: &mut ArrayViewMut<'_>, from: &ArrayView<'_>) -> Result<(), ArrayError> {
        let sizes = to.sizes().to_vec();
        let longest = (0..sizes.len()).rev().max_by_key(|&axis| sizes[axis]);
        let Some(axis) = longest.filter(|_| from.sizes() == sizes && from.numel() > GRAIN) else {
            return to.copy_from(from);
        };
        let step = (sizes[axis] * GRAIN).div_ceil(from.numel());
        let mut pieces = Vec::new();
        let mut rest = to.reborrow();
        for start in (0..sizes[axis]).step_by(step) {
            let (piece, others) = rest.split_at(axis, step.min(sizes[axis] - start));
            rest = others;
            let (mut starts, mut extent) = (vec![0; sizes.len()], sizes.clone());
            (starts[axis], extent[axis]) = (start, piece.sizes()[axis]);
            pieces.push((piece, from.relaid(from.layout().sliced(&starts, &extent))?));
        }
        let failed = Mutex::new(Ok(()));
        self.each(pieces.into_iter(), |_, (mut piece, from)| {
            if let Err(error) = piece.copy_from(&from) {
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Err(error);
            }
        });
        failed.into_inner().unwrap_or_else(PoisonError::into_inner)
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
