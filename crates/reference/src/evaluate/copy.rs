//! Elements of one array written to another by the threads of a parallel-for, which may be interrupted between two pieces.
//!
//! It takes views of one dtype and of the same sizes, and cuts them along the longest axis. It converts nothing.

use std::sync::{Mutex, PoisonError};

use ir::array::{ArrayError, ArrayView, ArrayViewMut};

use super::block::GRAIN;
use super::workers::{ParallelFor, each};

/// Copies elements to an array of the same dtype and sizes. What may overlap is written by the calling thread.
///
/// # Errors
/// [`ArrayError::Mismatch`] when dtypes or sizes differ.
pub fn copy(
    to: &mut ArrayViewMut<'_>,
    from: &ArrayView<'_>,
    workers: &dyn ParallelFor,
) -> Result<(), ArrayError> {
    let is_large = from.sizes() == to.sizes() && from.numel() > GRAIN && to.view().layout().is_nested();
    let longest = (0..to.sizes().len()).rev().max_by_key(|&axis| to.sizes()[axis]);
    let Some(axis) = longest.filter(|_| is_large) else { return to.copy_from(from) };
    let failed = Mutex::new(Ok(()));
    each(workers, pieces(to, from, axis)?.into_iter(), |_, (mut piece, from)| {
        if let Err(error) = piece.copy_from(&from) {
            *failed.lock().unwrap_or_else(PoisonError::into_inner) = Err(error);
        }
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// A part of the target and of the source.
type Piece<'t, 'f> = (ArrayViewMut<'t>, ArrayView<'f>);

/// Cuts both along an axis into pieces of about so many elements as a task takes.
fn pieces<'t, 'f>(
    to: &'t mut ArrayViewMut<'_>,
    from: &ArrayView<'f>,
    axis: usize,
) -> Result<Vec<Piece<'t, 'f>>, ArrayError> {
    let sizes = to.sizes().to_vec();
    let step = (sizes[axis].saturating_mul(GRAIN)).div_ceil(from.numel());
    let mut pieces = Vec::new();
    let mut rest = to.reborrow();
    for start in (0..sizes[axis]).step_by(step) {
        let (piece, others) = rest.split_at(axis, step.min(sizes[axis] - start));
        rest = others;
        let (mut starts, mut extent) = (vec![0; sizes.len()], sizes.clone());
        (starts[axis], extent[axis]) = (start, piece.sizes()[axis]);
        pieces.push((piece, from.relaid(from.layout().sliced(&starts, &extent))?));
    }
    Ok(pieces)
}
