//! Scatter: elements put where indices say, one after the other in row-major order of the indices.
//!
//! What lies before the axis divides source and target into slabs of which none reaches into another, so slabs are given to
//! threads, a few at a time.

use ir::array::{Layout, with_element};
use ops::DType;

use super::{Context, indices};
use crate::evaluate::block::{BLOCK, GRAIN};
use crate::evaluate::memory::Metered;
use crate::evaluate::value::{BoundedValue, Strided};
use crate::evaluate::workers::Resources;
use crate::evaluate::{EvaluateError, Looks, OutOfRange};

/// `operands[0]` with elements of `operands[2]` where `operands[1]` says.
pub(super) fn scatter(
    operands: &[BoundedValue<'_>],
    axis: usize,
    context: &Context<'_>,
) -> Result<BoundedValue<'static>, EvaluateError> {
    let [arg, index, src] = operands else { unreachable!("three operands, by the shape rule") };
    let (places, sure) = indices(index, context.resources)?;
    let places = places.array().as_slice();
    check(places, axis, context)?;
    let layouts = [&context.sizes[..], index.sizes(), src.sizes()].map(Layout::dense);
    let moves = Moves { axis, places, layouts };
    let resources = context.resources;
    let data = moves.made(&arg.data, &src.data, None, context)?;
    let unsure = sure.as_deref().filter(|sure| sure.contains(&false));
    let inexact = arg.bound.is_some() || src.bound.is_some() || unsure.is_some();
    if !context.bounds || !inexact {
        return Ok(BoundedValue::exact(Strided::made(data)));
    }
    let bound = moves.made(&errors(arg, resources)?, &errors(src, resources)?, unsure, context)?;
    Ok(BoundedValue { data: Strided::made(data), bound: Some(Strided::made(bound)) })
}

/// The bounds of a value, zeros where it has none.
fn errors<'a>(value: &BoundedValue<'a>, resources: &Resources<'_>) -> Result<Strided<'a>, EvaluateError> {
    match &value.bound {
        Some(bound) => Ok(bound.clone()),
        None => Ok(Strided::made(resources.zeros(DType::F32, value.sizes())?)),
    }
}

/// Whether all places are in range.
fn check(places: &[i64], axis: usize, context: &Context<'_>) -> Result<(), EvaluateError> {
    let size = context.sizes[axis];
    let is_outside = |place: &i64| usize::try_from(*place).map_or(true, |place| place >= size);
    match places.iter().copied().filter(is_outside).min() {
        None => Ok(()),
        Some(index) => {
            let at = OutOfRange { axis, size: size as i64, index };
            Err(EvaluateError::Index { val: context.val, at })
        }
    }
}

/// Where each element of the source goes.
struct Moves<'p> {
    axis: usize,
    /// Along the axis, in row-major order of the indices.
    places: &'p [i64],
    /// Of the result, the indices and the source, each dense.
    layouts: [Layout; 3],
}

impl Moves<'_> {
    /// A copy of the target with elements of the source put in. Of bounds those become infinite that lie in a line of which
    /// an index is not sure.
    fn made(
        &self,
        target: &Strided<'_>,
        source: &Strided<'_>,
        sure: Option<&[bool]>,
        context: &Context<'_>,
    ) -> Result<Metered, EvaluateError> {
        let (target, source) = (target.view(), source.dense(context.resources)?);
        let mut result = context.resources.unwritten(target.dtype(), target.sizes())?;
        context.resources.copy(&mut result.array_mut().view_mut(), &target)?;
        let slab: usize = context.sizes[self.axis..].iter().product();
        let per_piece = (GRAIN / slab.max(1)).max(1);
        with_element!(target.dtype(), T => {
            let pieces = result.array_mut().as_mut_slice::<T>().chunks_mut((per_piece * slab).max(1));
            let source = source.array().as_slice::<T>();
            context.resources.each(pieces, |piece, out| {
                let mut looks = context.resources.looks();
                for (number, out) in out.chunks_mut(slab).enumerate() {
                    self.fill(piece * per_piece + number, source, out, &mut looks);
                }
            });
        });
        if let Some(sure) = sure {
            let bounds = result.array_mut().as_mut_slice::<f32>();
            (0..)
                .zip(bounds.chunks_mut(slab.max(1)))
                .for_each(|(slab, bounds)| self.doubt(slab, sure, bounds));
        }
        Ok(result)
    }

    /// Puts elements into a slab of the result.
    fn fill<T: Copy>(&self, slab: usize, source: &[T], out: &mut [T], looks: &mut Looks<'_>) {
        let stride = self.layouts[0].strides[self.axis] as usize;
        self.lines(slab, |[to, index, from], step, count| {
            for k in 0..count {
                if k % BLOCK == 0 {
                    looks.steps(BLOCK.min(count - k));
                }
                out[to + k * step + self.places[index + k] as usize * stride] = source[from + k];
            }
        });
    }

    /// Whatever lies along the axis from an index that is not sure has no bound.
    fn doubt(&self, slab: usize, sure: &[bool], bounds: &mut [f32]) {
        let (stride, size) = (self.layouts[0].strides[self.axis] as usize, self.layouts[0].sizes[self.axis]);
        self.lines(slab, |[to, index, _], step, count| {
            for k in (0..count).filter(|&k| !sure[index + k]) {
                (0..size).for_each(|place| bounds[to + k * step + place * stride] = f32::INFINITY);
            }
        });
    }

    /// Visits the lines of a slab of the result along the last axis, in order: `visit(first elements, step, count)`, with the
    /// first place in the slab of the result, if it were at index 0 of the axis, and in the indices and the source; each
    /// further place is a step on in the result.
    fn lines(&self, mut slab: usize, mut visit: impl FnMut([usize; 3], usize, usize)) {
        let [result, index, source] = &self.layouts;
        let mut starts = [0, 0];
        for axis in (0..self.axis).rev() {
            let at = slab % result.sizes[axis];
            slab /= result.sizes[axis];
            if at >= index.sizes[axis] {
                return;
            }
            starts[0] += at * index.strides[axis] as usize;
            starts[1] += at * source.strides[axis] as usize;
        }
        let Some((&count, outer)) = index.sizes[self.axis..].split_last() else { return };
        let step = usize::from(!outer.is_empty());
        for number in 0..outer.iter().product() {
            let (mut rest, mut places) = (number, [0, starts[0], starts[1]]);
            for axis in (self.axis..self.axis + outer.len()).rev() {
                let at = rest % index.sizes[axis];
                rest /= index.sizes[axis];
                let moved = if axis == self.axis { 0 } else { at * result.strides[axis] as usize };
                places[0] += moved;
                places[1] += at * index.strides[axis] as usize;
                places[2] += at * source.strides[axis] as usize;
            }
            visit(places, step, count);
        }
    }
}
