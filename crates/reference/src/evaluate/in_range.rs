//! Indices that are data: whether each is in range, checked block by block on any threads.

use std::sync::{Mutex, PoisonError};

use ir::graph::Val;
use ops::vectorized;

use super::{EvaluateError, OutOfRange};

/// Whether indices are in range of an axis, and the smallest that was not.
pub(super) struct InRange {
    axis: usize,
    size: usize,
    wrong: Mutex<Option<i64>>,
}

impl InRange {
    pub(super) fn of(axis: usize, size: usize) -> InRange {
        InRange { axis, size, wrong: Mutex::new(None) }
    }

    /// Whether all of these are in range; if not, the smallest is kept.
    pub(super) fn holds(&self, indices: &[i64]) -> bool {
        let size = self.size as u64;
        let all = vectorized!(size: u64 = size, indices: &'a [i64] = indices => bool, {
            indices.iter().fold(true, |all, &index| all & ((index as u64) < size))
        });
        if !all {
            let outside = indices.iter().copied().filter(|&index| index as u64 >= size);
            let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
            *wrong = wrong.into_iter().chain(outside).min();
        }
        all
    }

    /// Success if all were in range, otherwise an error at a value.
    pub(super) fn check(&self, val: Val) -> Result<(), EvaluateError> {
        let (axis, size) = (self.axis, self.size as i64);
        match *self.wrong.lock().unwrap_or_else(PoisonError::into_inner) {
            None => Ok(()),
            Some(index) => Err(EvaluateError::Index { val, at: OutOfRange { axis, size, index } }),
        }
    }
}
