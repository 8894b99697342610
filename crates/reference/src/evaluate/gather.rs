//! Gathers: elements at indices that are data, with the check that each index is in range.
//!
//! Runs of neighbours are read together, so rows of a table cost little more than a copy. Bounds move with the elements; if
//! an index itself is inexact, so that any element may be meant, the bound is infinite.

use ir::array::{ArrayView, with_element};
use ir::graph::Val;
use ops::DType;

use super::EvaluateError;
use super::block::{BLOCK, GRAIN, read_int};
use super::in_range::InRange;
use super::value::{BoundedValue, Strided};
use super::workers::Resources;

/// Operand sizes are those of the result or 1, but for the source's along the gathered axis. `val` is the gather itself.
///
/// # Errors
/// [`EvaluateError::Index`] with the smallest index out of range, unless the result is empty.
pub(super) fn gather(
    val: Val,
    [source, index]: [&BoundedValue<'_>; 2],
    axis: usize,
    sizes: &[usize],
    resources: &Resources<'_>,
) -> Result<BoundedValue<'static>, EvaluateError> {
    let size = source.sizes()[axis];
    let in_range = InRange::of(axis, size);
    let inner = sizes[axis + 1..].iter().product();
    let walk = Walk { size, count: sizes[axis], inner, in_range: &in_range };
    let places = index.relaid(|layout| layout.expanded(sizes));
    let mut spread = sizes.to_vec();
    spread[axis] = size;
    let source = source.relaid(|layout| layout.expanded(&spread));
    let (data, taken) = walk.taken(&source, &places.data.view(), sizes, resources)?;
    in_range.check(val)?;
    let bound = match &places.bound {
        None => taken,
        Some(doubt) => {
            let taken = match taken {
                Some(taken) => taken,
                None => Strided::made(resources.zeros(DType::F32, sizes)?),
            };
            Some(doubted(&taken, doubt, sizes, resources)?)
        }
    };
    Ok(BoundedValue { data, bound })
}

/// Maps element numbers of the result to element numbers of the source.
struct Walk<'r> {
    /// Size of the source along the gathered axis.
    size: usize,
    /// Size of the result along it.
    count: usize,
    /// Elements of the axes after it.
    inner: usize,
    in_range: &'r InRange,
}

impl Walk<'_> {
    /// The elements at the indices, with their bounds.
    fn taken(
        &self,
        source: &BoundedValue<'_>,
        index: &ArrayView<'_>,
        sizes: &[usize],
        resources: &Resources<'_>,
    ) -> Result<(Strided<'static>, Option<Strided<'static>>), EvaluateError> {
        let (data, errors) = (source.data.view(), source.bound.as_ref().map(Strided::view));
        let mut values = resources.unwritten(data.dtype(), sizes)?;
        let mut bounds = errors.as_ref().map(|_| resources.unwritten(DType::F32, sizes)).transpose()?;
        with_element!(data.dtype(), T => {
            let grains = values.array_mut().as_mut_slice::<T>().chunks_mut(GRAIN);
            let mut others = bounds.as_mut().map(|bounds| bounds.array_mut().as_mut_slice::<f32>().chunks_mut(GRAIN));
            let grains = grains.map(|grain| (grain, others.as_mut().and_then(Iterator::next)));
            resources.each(grains, |n, (grain, mut bounds)| {
                for (m, block) in grain.chunks_mut(BLOCK).enumerate() {
                    let mut numbers = [0; BLOCK];
                    let numbers = &mut numbers[..block.len()];
                    if !self.numbers(index, n * GRAIN + m * BLOCK, numbers) {
                        continue;
                    }
                    data.take(numbers, block);
                    if let (Some(errors), Some(bounds)) = (&errors, &mut bounds) {
                        errors.take(numbers, &mut bounds[m * BLOCK..][..block.len()]);
                    }
                }
            });
        });
        Ok((Strided::made(values), bounds.map(Strided::made)))
    }

    /// The element numbers of the source for those from `start` on of the result, if their indices are in range. Along a run
    /// of results they differ by the index, and along axes after the gathered one by one from place to place.
    fn numbers(&self, index: &ArrayView<'_>, start: usize, numbers: &mut [usize]) -> bool {
        let mut indices = [0; BLOCK];
        let indices = &mut indices[..numbers.len()];
        read_int(index, start, indices);
        if !self.in_range.holds(indices) {
            return false;
        }
        let (run, step) = if self.inner == 1 { (self.count, 0) } else { (self.inner, 1) };
        let mut done = 0;
        while done < numbers.len() {
            let at = start + done;
            let end = numbers.len().min(done + run - at % run);
            let first = at / self.inner / self.count * self.size * self.inner + at % run * step;
            for (k, (number, &index)) in numbers[done..end].iter_mut().zip(&indices[done..end]).enumerate() {
                *number = first + index as usize * self.inner + k * step;
            }
            done = end;
        }
        true
    }
}

/// Bounds that are infinite where the index is inexact.
fn doubted(
    bounds: &Strided<'_>,
    doubt: &Strided<'_>,
    sizes: &[usize],
    resources: &Resources<'_>,
) -> Result<Strided<'static>, EvaluateError> {
    let mut result = resources.zeros(DType::F32, sizes)?;
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
