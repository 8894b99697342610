//! Scatter: elements put where indices say, one after the other in row-major order of the indices.
//!
//! What lies before the axis divides source and target into slabs of which none reaches into another, so slabs are given to
//! threads, a few at a time.

use ir::array::{ArrayView, Element, Layout, with_element};
use ops::DType;

use super::{Context, indices, sure};
use crate::evaluate::block::{BLOCK, GRAIN, read_int};
use crate::evaluate::in_range::InRange;
use crate::evaluate::memory::Metered;
use crate::evaluate::value::{BoundedValue, Strided};
use crate::evaluate::workers::Resources;
use crate::evaluate::{EvaluateError, Looks};

/// `operands[0]` with elements of `operands[2]` where `operands[1]` says.
pub(super) fn scatter(
    operands: &[BoundedValue<'_>],
    axis: usize,
    context: &Context<'_>,
) -> Result<BoundedValue<'static>, EvaluateError> {
    let [arg, index, src] = operands else { unreachable!("three operands, by the shape rule") };
    let (sure, in_range) = (sure(index), InRange::of(axis, context.sizes[axis]));
    let layouts = [&context.sizes[..], index.sizes(), src.sizes()].map(Layout::dense);
    let moves = Moves { axis, index: index.data.view(), in_range: &in_range, layouts };
    let resources = context.resources;
    let data = moves.made(&arg.data, &src.data, None, context)?;
    if context.sizes.contains(&0) {
        // Nothing is put anywhere, but indices of an empty axis are wrong.
        in_range.holds(indices(index, resources)?.0.array().as_slice());
    }
    in_range.check(context.val)?;
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

/// Where each element of the source goes.
struct Moves<'p> {
    axis: usize,
    /// Along the axis, in row-major order of the indices.
    index: ArrayView<'p>,
    in_range: &'p InRange,
    /// Of the result, the indices and the source, each in row-major order.
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
        let (target, source) = (target.view(), source.view());
        let mut result = context.resources.unwritten(target.dtype(), target.sizes())?;
        context.resources.copy(&mut result.array_mut().view_mut(), &target)?;
        let slab: usize = context.sizes[self.axis..].iter().product();
        let per_piece = (GRAIN / slab.max(1)).max(1);
        with_element!(target.dtype(), T => {
            let pieces = result.array_mut().as_mut_slice::<T>().chunks_mut((per_piece * slab).max(1));
            context.resources.each(pieces, |piece, out| {
                let mut looks = context.resources.looks();
                for (number, out) in out.chunks_mut(slab).enumerate() {
                    self.fill(piece * per_piece + number, &source, out, &mut looks);
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

    /// Puts elements into a slab of the result, a block at a time, where the indices of the block are in range.
    fn fill<T: Element>(&self, slab: usize, source: &ArrayView<'_>, out: &mut [T], looks: &mut Looks<'_>) {
        let stride = self.layouts[0].strides[self.axis] as usize;
        let (mut places, mut elements) = ([0; BLOCK], [T::from_int(0); BLOCK]);
        self.lines(slab, |[to, index, from], step, count| {
            for start in (0..count).step_by(BLOCK) {
                let places = &mut places[..BLOCK.min(count - start)];
                let elements = &mut elements[..places.len()];
                looks.steps(places.len());
                read_int(&self.index, index + start, places);
                if !self.in_range.holds(places) {
                    continue;
                }
                source.read::<T, T>(from + start, elements, |x| x);
                for ((k, &place), &element) in (start..).zip(&*places).zip(&*elements) {
                    out[to + k * step + place as usize * stride] = element;
                }
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
