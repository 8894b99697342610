//! Gathers: elements taken at indices that are data, with the check that each index is in range.
//!
//! Runs of neighbours are read together, so rows of a table cost little more than a copy. Bounds move with the elements;
//! where an index itself is uncertain, so that any element may be meant, the bound is infinite.

use std::sync::Arc;

use rayon::prelude::*;

use super::EvaluateError;
use super::block::{BLOCK, GRAIN, read_int};
use super::value::{Meter, Strided, Value};
use crate::DType;
use crate::array::{ArrayView, Element, with_element};
use crate::graph::Val;
use crate::kernel::NO_FAULT;

/// Operand sizes are those of the result or 1, but for the source's along the gathered axis. `val` is the gather itself.
///
/// # Errors
/// [`EvaluateError::Index`] with the smallest index out of range, unless the result is empty.
pub(super) fn gather(
    val: Val,
    [source, index]: [&Value<'_>; 2],
    axis: usize,
    sizes: &[usize],
    meter: &Arc<Meter>,
) -> Result<Value<'static>, EvaluateError> {
    let size = source.sizes()[axis];
    if !sizes.contains(&0)
        && let Some(index) = out_of_range(&index.data.view(), size)
    {
        return Err(EvaluateError::Index { val, axis, size: size as i64, index });
    }
    let walk = Walk { size, count: sizes[axis], inner: sizes[axis + 1..].iter().product() };
    let places = index.relaid(|layout| layout.expanded(sizes));
    let mut spread = sizes.to_vec();
    spread[axis] = size;
    let source = source.relaid(|layout| layout.expanded(&spread));
    let part = |strided: &Strided<'_>| walk.taken(&strided.view(), &places.data.view(), sizes, meter);
    let data = part(&source.data)?;
    let bound = match (&source.bound, &places.bound) {
        (None, None) => None,
        (Some(bound), None) => Some(part(bound)?),
        (bound, Some(doubt)) => {
            let zeros = || Ok(Strided::made(meter.zeros(DType::F32, sizes)?));
            let taken = bound.as_ref().map_or_else(zeros, part)?;
            Some(doubted(&taken, doubt, sizes, meter)?)
        }
    };
    Ok(Value { data, bound })
}

/// The smallest index out of range, as fault words tell it.
fn out_of_range(index: &ArrayView<'_>, size: usize) -> Option<i64> {
    let numel = index.numel();
    let least = |start: usize| {
        let mut block = [0; BLOCK];
        let block = &mut block[..BLOCK.min(numel - start)];
        read_int(index, start, block);
        let wrong = block.iter().copied().filter(|&at| at < 0 || at as u64 >= size as u64);
        wrong.min().map(|at| at.min(NO_FAULT - 1))
    };
    (0..numel.div_ceil(BLOCK)).into_par_iter().filter_map(|block| least(block * BLOCK)).min()
}

/// How element numbers of the result become element numbers of the source.
struct Walk {
    /// Size of the source along the gathered axis.
    size: usize,
    /// Size of the result along it.
    count: usize,
    /// Elements of the axes after it.
    inner: usize,
}

impl Walk {
    fn taken(
        &self,
        source: &ArrayView<'_>,
        index: &ArrayView<'_>,
        sizes: &[usize],
        meter: &Arc<Meter>,
    ) -> Result<Strided<'static>, EvaluateError> {
        let mut result = meter.zeros(source.dtype(), sizes)?;
        with_element!(source.dtype(), T => {
            let grains = result.array_mut().as_mut_slice::<T>().par_chunks_mut(GRAIN).enumerate();
            grains.for_each(|(n, grain)| {
                for (m, block) in grain.chunks_mut(BLOCK).enumerate() {
                    self.take(source, index, n * GRAIN + m * BLOCK, block);
                }
            });
        });
        Ok(Strided::made(result))
    }

    fn take<T: Element>(&self, source: &ArrayView<'_>, index: &ArrayView<'_>, start: usize, out: &mut [T]) {
        let mut places = [0; BLOCK];
        let places = &mut places[..out.len()];
        read_int(index, start, places);
        for (n, place) in places.iter_mut().enumerate() {
            let (row, inner) = ((start + n) / self.inner, (start + n) % self.inner);
            let outer = row / self.count;
            *place += (outer * self.size) as i64;
            *place = *place * self.inner as i64 + inner as i64;
        }
        let mut first = 0;
        for run in places.chunk_by(|a, b| a + 1 == *b) {
            source.read::<T, T>(run[0] as usize, &mut out[first..first + run.len()], |x| x);
            first += run.len();
        }
    }
}

/// Bounds that are infinite where there is doubt about the index.
fn doubted(
    bounds: &Strided<'_>,
    doubt: &Strided<'_>,
    sizes: &[usize],
    meter: &Arc<Meter>,
) -> Result<Strided<'static>, EvaluateError> {
    let mut result = meter.zeros(DType::F32, sizes)?;
    let elements = result.array_mut().as_mut_slice::<f32>();
    bounds.view().read::<f32, f32>(0, elements, |bound| bound);
    let mut doubts = vec![0.0_f32; elements.len()];
    doubt.view().read::<f32, f32>(0, &mut doubts, |bound| bound);
    elements
        .iter_mut()
        .zip(doubts)
        .filter(|(_, doubt)| *doubt > 0.0)
        .for_each(|(bound, _)| *bound = f32::INFINITY);
    Ok(Strided::made(result))
}
