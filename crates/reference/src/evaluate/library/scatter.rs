//! Scatter: elements put where indices say, one after the other in row-major order of the indices.

use ir::array::{Array, Layout, with_element};
use ops::DType;

use super::{Context, dense, indices};
use crate::evaluate::value::{Metered, Strided, Value};
use crate::evaluate::{EvaluateError, OutOfRange};

/// Where each element of the source goes, as numbers of elements of the source and of the result.
struct Moves {
    pairs: Vec<(usize, usize)>,
    /// Lines of the result, by the number of one of their elements, of which no place is sure.
    unsure: Vec<usize>,
}

/// `operands[0]` with elements of `operands[2]` where `operands[1]` says.
pub(super) fn scatter(
    operands: &[Value<'_>],
    axis: usize,
    context: &Context<'_>,
) -> Result<Value<'static>, EvaluateError> {
    let [arg, index, src] = operands else { unreachable!("three operands, by the shape rule") };
    let moves = moves(index, src.sizes(), axis, context)?;
    let data =
        moved(dense(&arg.data, context.resources)?, &dense(&src.data, context.resources)?, &moves, context)?;
    let inexact = arg.bound.is_some() || src.bound.is_some() || !moves.unsure.is_empty();
    if !context.bounds || !inexact {
        return Ok(Value::exact(Strided::made(data)));
    }
    let errors = |value: &Value<'_>| match &value.bound {
        Some(bound) => dense(bound, context.resources),
        None => Ok(Array::zeros(DType::F32, value.sizes())?),
    };
    let mut bound = moved(errors(arg)?, &errors(src)?, &moves, context)?;
    let layout = Layout::dense(&context.sizes);
    let stride = layout.strides[axis] as usize;
    let bounds = bound.array_mut().as_mut_slice::<f32>();
    for &first in &moves.unsure {
        (0..context.sizes[axis]).for_each(|k| bounds[first + k * stride] = f32::INFINITY);
    }
    Ok(Value { data: Strided::made(data), bound: Some(Strided::made(bound)) })
}

/// A copy of the target with elements of the source put in.
fn moved(
    target: Array,
    source: &Array,
    moves: &Moves,
    context: &Context<'_>,
) -> Result<Metered, EvaluateError> {
    let mut result = context.resources.zeros(target.dtype(), target.sizes())?;
    with_element!(target.dtype(), T => {
        let result = result.array_mut().as_mut_slice::<T>();
        result.copy_from_slice(target.as_slice::<T>());
        let source = source.as_slice::<T>();
        moves.pairs.iter().for_each(|&(from, to)| result[to] = source[from]);
    });
    Ok(result)
}

fn moves(
    index: &Value<'_>,
    src: &[usize],
    axis: usize,
    context: &Context<'_>,
) -> Result<Moves, EvaluateError> {
    let (values, sure) = indices(index, context.resources)?;
    let (source, target) = (Layout::dense(src), Layout::dense(&context.sizes));
    let size = context.sizes[axis];
    let mut moves = Moves { pairs: Vec::with_capacity(values.len()), unsure: Vec::new() };
    let mut at = vec![0_usize; index.sizes().len()];
    let mut outside = None;
    for (number, (&value, &sure)) in values.iter().zip(&sure).enumerate() {
        if number > 0 {
            step(&mut at, index.sizes());
        }
        let sum = |strides: &[isize]| -> usize {
            at.iter().zip(strides).map(|(&place, &stride)| place * stride as usize).sum()
        };
        let first = sum(&target.strides) - at[axis] * target.strides[axis] as usize;
        match usize::try_from(value).ok().filter(|&value| value < size) {
            Some(value) => {
                moves.pairs.push((sum(&source.strides), first + value * target.strides[axis] as usize));
            }
            None => outside = Some(outside.map_or(value, |least: i64| least.min(value))),
        }
        if !sure {
            moves.unsure.push(first);
        }
    }
    match outside {
        Some(index) => {
            let at = OutOfRange { axis, size: size as i64, index };
            Err(EvaluateError::Index { val: context.val, at })
        }
        None => Ok(moves),
    }
}

/// The next index in row-major order.
fn step(at: &mut [usize], sizes: &[usize]) {
    for (place, &size) in at.iter_mut().zip(sizes).rev() {
        *place += 1;
        if *place < size {
            return;
        }
        *place = 0;
    }
}
