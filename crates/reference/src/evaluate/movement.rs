//! Ops that move elements or make them from nothing: boxes, padding, concatenation, reshapes, ramps.
//!
//! What strides can express costs no memory; the rest is copied. Bounds move with the elements.

use ir::array::{Element, Layout, with_element};
use ops::lanes::wide;
use ops::{DType, Scalar, vectorized};

use super::EvaluateError;
use super::block::{Elementwise, Kind, Scratch, Span};
use super::bound::Rounding;
use super::map::run;
use super::operands::Target;
use super::value::{BoundedValue, Strided};
use super::workers::Resources;

/// A scalar.
pub(super) fn scalar(
    value: Scalar,
    resources: &Resources<'_>,
) -> Result<BoundedValue<'static>, EvaluateError> {
    let mut cell = resources.zeros(value.dtype(), &[])?;
    cell.array_mut().fill(value);
    Ok(BoundedValue::exact(Strided::made(cell)))
}

/// The elements in row-major order under other sizes.
pub(super) fn reshape<'a>(
    value: &BoundedValue<'a>,
    sizes: &[usize],
    resources: &Resources<'_>,
) -> Result<BoundedValue<'a>, EvaluateError> {
    let reshaped = |strided: &Strided<'a>| -> Result<Strided<'a>, EvaluateError> {
        let source = match strided.layout().reshaped(sizes) {
            Some(layout) => return Ok(strided.relaid(layout)),
            None => strided.copied(resources)?,
        };
        let layout = source.layout().reshaped(sizes).expect("dense memory takes any sizes");
        Ok(source.relaid(layout))
    };
    Ok(BoundedValue { data: reshaped(&value.data)?, bound: value.bound.as_ref().map(reshaped).transpose()? })
}

/// A box of the operand; the signature has checked that it is inside.
pub(super) fn slice<'a>(value: &BoundedValue<'a>, starts: &[usize], sizes: &[usize]) -> BoundedValue<'a> {
    value.relaid(|layout| layout.sliced(starts, sizes))
}

/// The operand with `before[i]` elements of the fill put before axis `i`, or dropped where negative.
pub(super) fn pad(
    value: &BoundedValue<'_>,
    fill: &BoundedValue<'_>,
    before: &[i64],
    sizes: &[usize],
    resources: &Resources<'_>,
) -> Result<BoundedValue<'static>, EvaluateError> {
    let part = |inside: &Strided<'_>, around: &Strided<'_>| padded(inside, around, before, sizes, resources);
    let data = part(&value.data, &fill.data)?;
    let Some(some) = value.bound.as_ref().or(fill.bound.as_ref()) else {
        return Ok(BoundedValue::exact(data));
    };
    let zero = Strided::made(resources.zeros(some.view().dtype(), &[])?);
    let zeros = zero.relaid(zero.layout().raised(value.sizes().len()).expanded(value.sizes()));
    let bound = part(value.bound.as_ref().unwrap_or(&zeros), fill.bound.as_ref().unwrap_or(&zero))?;
    Ok(BoundedValue { data, bound: Some(bound) })
}

/// The elements of one, surrounded by the single element of the other.
fn padded(
    inside: &Strided<'_>,
    around: &Strided<'_>,
    before: &[i64],
    sizes: &[usize],
    resources: &Resources<'_>,
) -> Result<Strided<'static>, EvaluateError> {
    // Along axis `i`, the `count[i]` elements from `from[i]` on go to `to[i]`.
    let (mut from, mut to, mut count) = (vec![], vec![], vec![]);
    for ((&width, &old), &new) in before.iter().zip(inside.layout().sizes.iter()).zip(sizes) {
        from.push(width.min(0).unsigned_abs() as usize);
        to.push((width.max(0) as usize).min(new));
        let kept = old.saturating_sub(width.min(0).unsigned_abs() as usize);
        count.push(kept.min(new - to[to.len() - 1]));
    }
    let dtype = inside.view().dtype();
    let mut result = resources.unwritten(dtype, sizes)?;
    let mut put = |starts: &[usize], counts: &[usize], source: &Strided<'_>, layout: Layout| {
        let mut target = result.array_mut().view_mut();
        resources.copy(&mut target.slice_mut(starts, counts)?, &source.view_as(layout))
    };
    for (starts, counts) in boxes_around(&to, &count, sizes) {
        put(&starts, &counts, around, around.layout().raised(sizes.len()).expanded(&counts))?;
    }
    if !count.contains(&0) {
        put(&to, &count, inside, inside.layout().sliced(&from, &count))?;
    }
    Ok(Strided::made(result))
}

/// The complement of a box, as disjoint boxes: for each axis the parts before and after the box, inside it along all earlier
/// axes.
fn boxes_around(starts: &[usize], counts: &[usize], sizes: &[usize]) -> Vec<(Vec<usize>, Vec<usize>)> {
    let part = |axis: usize, [start, end]: [usize; 2]| {
        let (mut first, mut extent) = (vec![0; sizes.len()], sizes.to_vec());
        first[..axis].copy_from_slice(&starts[..axis]);
        extent[..axis].copy_from_slice(&counts[..axis]);
        (first[axis], extent[axis]) = (start, end - start);
        (first, extent)
    };
    let ends = |axis: usize| [[0, starts[axis]], [starts[axis] + counts[axis], sizes[axis]]];
    let parts = (0..sizes.len()).flat_map(|axis| ends(axis).map(|ends| part(axis, ends)));
    parts.filter(|(_, extent)| !extent.contains(&0)).collect()
}

/// The operands one after the other along an axis.
pub(super) fn cat(
    operands: &[BoundedValue<'_>],
    axis: usize,
    sizes: &[usize],
    resources: &Resources<'_>,
) -> Result<BoundedValue<'static>, EvaluateError> {
    let dtype = operands[0].data.view().dtype();
    let data = joined(
        operands.iter().map(|value| (value.sizes(), Some(&value.data))),
        dtype,
        axis,
        sizes,
        resources,
    )?;
    let bound = match operands.iter().any(|value| value.bound.is_some()) {
        false => None,
        true => {
            let parts = operands.iter().map(|value| (value.sizes(), value.bound.as_ref()));
            Some(joined(parts, DType::F32, axis, sizes, resources)?)
        }
    };
    Ok(BoundedValue { data, bound })
}

/// Parts that are absent are zeros.
fn joined<'p>(
    parts: impl Iterator<Item = (&'p [usize], Option<&'p Strided<'p>>)> + Clone,
    dtype: DType,
    axis: usize,
    sizes: &[usize],
    resources: &Resources<'_>,
) -> Result<Strided<'static>, EvaluateError> {
    let mut result = match parts.clone().any(|(_, strided)| strided.is_none()) {
        true => resources.zeros(dtype, sizes)?,
        false => resources.unwritten(dtype, sizes)?,
    };
    let mut starts = vec![0; sizes.len()];
    for (part, strided) in parts {
        if let Some(strided) = strided {
            let mut target = result.array_mut().view_mut();
            resources.copy(&mut target.slice_mut(&starts, part)?, &strided.view())?;
        }
        starts[axis] += part[axis];
    }
    Ok(Strided::made(result))
}

/// `start + step * k`.
pub(super) fn iota(
    start: &BoundedValue<'_>,
    step: &BoundedValue<'_>,
    length: usize,
    bounds: bool,
    resources: &Resources<'_>,
) -> Result<BoundedValue<'static>, EvaluateError> {
    let dtype = start.data.view().dtype();
    let error =
        |value: &BoundedValue<'_>| value.bound.as_ref().map_or(0.0, |bound| bound.view().scalar(0).as_f64());
    let body = Ramp {
        dtype,
        start: start.data.view().scalar(0),
        step: step.data.view().scalar(0),
        errors: [error(start), error(step)],
        rounding: Rounding::new(dtype, 0.5),
    };
    let bounds = bounds && !body.is_exact(length);
    Ok(run(&body, Target::new(&[length], dtype, bounds, [None, None], resources)?, resources))
}

struct Ramp {
    dtype: DType,
    start: Scalar,
    step: Scalar,
    errors: [f64; 2],
    rounding: Rounding,
}

impl Elementwise for Ramp {
    fn compute(&self, scratch: &mut Scratch, span: &Span<'_>) -> Kind {
        let Scratch { real, int, error, .. } = scratch;
        let (start, count, bounds) = (span.start, span.count, span.has_bounds());
        if !self.dtype.is_float() {
            self.integers(start, &mut int[..count]);
        }
        if self.dtype.is_float() || bounds {
            self.reals(start, &mut real[..count]);
        }
        if bounds {
            with_element!(self.dtype, T => self.bound::<T>(start, &real[..count], &mut error[..count]));
        }
        if self.dtype.is_float() { Kind::Real } else { Kind::Int }
    }
}

impl Ramp {
    /// Whether compiled code rounds only the sums: steps are whole and every product is a number of the dtype.
    fn is_exact(&self, length: usize) -> bool {
        let (step, most) = (self.step.as_f64(), 1.0 / self.rounding.unit);
        let is_whole = step.trunc() == step && length as f64 <= most && step.abs() * length as f64 <= most;
        self.errors == [0.0; 2] && (is_whole || !self.dtype.is_float())
    }

    fn integers(&self, start: usize, out: &mut [i64]) {
        let step = self.step.as_i64();
        let mut next = self.start.as_i64().wrapping_add(step.wrapping_mul(start as i64));
        for out in out {
            *out = next;
            next = next.wrapping_add(step);
        }
    }

    fn reals(&self, start: usize, out: &mut [f64]) {
        let (first, step, start) = (self.start.as_f64(), self.step.as_f64(), start as f64);
        vectorized!(line: [f64; 3] = [first, step, start], out: &'a mut [f64] = out => (), {
            let [first, step, start] = line;
            for (k, real) in (0_i32..).zip(out) {
                *real = first + step * (start + f64::from(k));
            }
        });
    }

    /// Compiled code rounds the number, the product and the sum to the dtype; often none of them changes anything.
    fn bound<T: Element>(&self, start: usize, exact: &[f64], errors: &mut [f64]) {
        let ([first, step], factor, rounding) = (self.errors, self.step.as_f64(), self.rounding);
        let (start, is_float) = (start as f64, T::DTYPE.is_float());
        let rounded = |x: f64| T::from_real(x).to_real();
        wide(move || {
            for ((k, error), &exact) in (0_i32..).zip(errors).zip(exact) {
                let number = start + f64::from(k);
                let (spread, product) = (first + step * number, factor * number);
                let is_exact = (spread == 0.0) & (rounded(number) == number) & (rounded(product) == product);
                let inexact = rounding.total(exact, spread + 2.0 * rounding.ulp(product));
                *error = if is_exact | !is_float { rounding.guarded(exact, spread) } else { inexact };
            }
        });
    }
}
