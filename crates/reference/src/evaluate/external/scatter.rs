//! Scatter: elements written at indices, one after the other in row-major order of the indices.
//!
//! The axes before the scattered one divide source and target into independent slabs, so threads take slabs, a few at a
//! time. Bounds move with the elements.

use ir::array::{ArrayView, Element, Layout, with_element};
use ops::DType;

use super::{Context, indices, sure};
use crate::evaluate::block::{BLOCK, GRAIN, read_int};
use crate::evaluate::in_range::InRange;
use crate::evaluate::memory::Metered;
use crate::evaluate::value::{BoundedValue, Strided};
use crate::evaluate::workers::Resources;
use crate::evaluate::{EvaluateError, Looks};

/// `operands[0]` with elements of `operands[2]` written at `operands[1]`.
pub(super) fn scatter(
    operands: &[BoundedValue<'_>],
    axis: usize,
    context: &Context<'_>,
) -> Result<BoundedValue<'static>, EvaluateError> {
    let [arg, index, src] = operands else { unreachable!("three operands, by the shape rule") };
    let (sure, in_range) = (sure(index), InRange::of(axis, context.sizes[axis]));
    let unsure = sure.as_deref().filter(|sure| sure.contains(&false));
    let layouts = [&context.sizes[..], index.sizes(), src.sizes()].map(Layout::dense);
    let moves = Moves { axis, index: index.data.view(), unsure, in_range: &in_range, layouts };
    let result = moves.made(arg, src, context)?;
    if context.sizes.contains(&0) {
        // Nothing is written, but indices of an empty axis are wrong.
        in_range.holds(indices(index, context.resources)?.0.array().as_slice());
    }
    in_range.check(context.val)?;
    Ok(result)
}

/// A copy of a target, to be written to.
fn copied(target: &Strided<'_>, resources: &Resources<'_>) -> Result<Metered, EvaluateError> {
    let target = target.view();
    let mut copy = resources.unwritten(target.dtype(), target.sizes())?;
    resources.copy(&mut copy.array_mut().view_mut(), &target)?;
    Ok(copy)
}

/// The destination of each element of the source.
struct Moves<'p> {
    axis: usize,
    /// Along the axis, in row-major order of the indices.
    index: ArrayView<'p>,
    /// Whether each of them is exact, if one is not.
    unsure: Option<&'p [bool]>,
    in_range: &'p InRange,
    /// Of the result, the indices and the source, each in row-major order.
    layouts: [Layout; 3],
}

/// A source, and the bounds of its elements.
struct Source<'p> {
    data: ArrayView<'p>,
    errors: Option<ArrayView<'p>>,
}

impl Moves<'_> {
    /// A copy of the target with elements of the source put in, with the bounds of both.
    fn made(
        &self,
        target: &BoundedValue<'_>,
        source: &BoundedValue<'_>,
        context: &Context<'_>,
    ) -> Result<BoundedValue<'static>, EvaluateError> {
        let resources = context.resources;
        let inexact = target.bound.is_some() || source.bound.is_some() || self.unsure.is_some();
        let mut values = copied(&target.data, resources)?;
        let mut bounds = match &target.bound {
            _ if !context.bounds || !inexact => None,
            Some(bound) => Some(copied(bound, resources)?),
            None => Some(resources.zeros(DType::F32, &context.sizes)?),
        };
        let source = Source { data: source.data.view(), errors: source.bound.as_ref().map(Strided::view) };
        let slab = context.sizes[self.axis..].iter().product::<usize>().max(1);
        let per_piece = (GRAIN / slab).max(1);
        with_element!(source.data.dtype(), T => {
            let pieces = values.array_mut().as_mut_slice::<T>().chunks_mut(per_piece * slab);
            let mut others = bounds.as_mut().map(|all| all.array_mut().as_mut_slice().chunks_mut(per_piece * slab));
            let pieces = pieces.map(|piece| (piece, others.as_mut().and_then(Iterator::next)));
            resources.each(pieces, |piece, (values, mut bounds)| {
                let mut looks = resources.looks();
                for (number, values) in values.chunks_mut(slab).enumerate() {
                    let bounds = bounds.as_deref_mut().map(|bounds| &mut bounds[number * slab..][..slab]);
                    self.fill(piece * per_piece + number, &source, (values, bounds), &mut looks);
                }
            });
        });
        Ok(BoundedValue { data: Strided::made(values), bound: bounds.map(Strided::made) })
    }

    /// Puts elements and their bounds into a slab of the result, a block at a time, where the indices of the block are in
    /// range. Bounds in a line with an inexact index become infinite.
    fn fill<T: Element>(
        &self,
        slab: usize,
        source: &Source<'_>,
        (values, mut bounds): (&mut [T], Option<&mut [f32]>),
        looks: &mut Looks<'_>,
    ) {
        let stride = self.layouts[0].strides[self.axis];
        let (mut places, mut elements, mut errors) = ([0; BLOCK], [T::from_int(0); BLOCK], [0.0; BLOCK]);
        self.lines(slab, |[to, index, from], step, count| {
            for start in (0..count).step_by(BLOCK) {
                let places = &mut places[..BLOCK.min(count - start)];
                let (elements, errors) = (&mut elements[..places.len()], &mut errors[..places.len()]);
                looks.steps(places.len());
                read_int(&self.index, index + start, places);
                if !self.in_range.holds(places) {
                    continue;
                }
                let first = (to + start * step) as i64;
                (0..)
                    .zip(&mut *places)
                    .for_each(|(k, place)| *place = first + k * step as i64 + *place * stride as i64);
                source.data.read::<T, T>(from + start, elements, |x| x);
                if let Some(view) = &source.errors {
                    view.read::<f32, f32>(from + start, errors, |error| error);
                }
                match &mut bounds {
                    None => put(elements, places, values),
                    Some(bounds) => {
                        for (&place, (&element, &error)) in places.iter().zip(elements.iter().zip(&*errors)) {
                            (values[place as usize], bounds[place as usize]) = (element, error);
                        }
                    }
                }
            }
        });
        if let (Some(sure), Some(bounds)) = (self.unsure, bounds) {
            self.doubt(slab, sure, bounds);
        }
    }

    /// Elements in the same line along the axis as an inexact index have no bound.
    fn doubt(&self, slab: usize, sure: &[bool], bounds: &mut [f32]) {
        let (stride, size) = (self.layouts[0].strides[self.axis] as usize, self.layouts[0].sizes[self.axis]);
        self.lines(slab, |[to, index, _], step, count| {
            // All indices of the line in which the axis lies are of one line of results.
            let lines = if step == 0 { 1 } else { count };
            for k in (0..count).filter(|&k| !sure[index + k]).take(lines) {
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

/// Each element to its place, in order.
fn put<T: Copy>(elements: &[T], places: &[i64], out: &mut [T]) {
    places.iter().zip(elements).for_each(|(&place, &element)| out[place as usize] = element);
}
