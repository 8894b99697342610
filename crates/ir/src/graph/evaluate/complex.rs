//! Complex numbers and their parts: the boundary of what is otherwise real. Bounds belong to parts.

use std::sync::Arc;

use super::EvaluateError;
use super::value::{Meter, Strided, Value};
use crate::DType;
use crate::array::Part;

/// A part of each element.
pub(super) fn part<'a>(
    value: &Value<'a>,
    part: Part,
    meter: &Arc<Meter>,
) -> Result<Value<'a>, EvaluateError> {
    let bound = value.bound.as_ref().map(|bound| bound.part(part, meter)).transpose()?;
    Ok(Value { data: value.data.part(part, meter)?, bound })
}

/// Complex numbers of their parts, each of rank 0 or of the result's rank, each axis of the result's size or 1.
pub(super) fn pair(
    re: &Value<'_>,
    im: &Value<'_>,
    sizes: &[usize],
    meter: &Arc<Meter>,
) -> Result<Value<'static>, EvaluateError> {
    let dtype = re.data.view().dtype().complex();
    let data = joined([Some(&re.data), Some(&im.data)], dtype, sizes, meter)?;
    let bound = match (&re.bound, &im.bound) {
        (None, None) => None,
        (re, im) => Some(joined([re.as_ref(), im.as_ref()], DType::C64, sizes, meter)?),
    };
    Ok(Value { data, bound })
}

/// Parts side by side; an absent one is zeros.
fn joined(
    parts: [Option<&Strided<'_>>; 2],
    dtype: DType,
    sizes: &[usize],
    meter: &Arc<Meter>,
) -> Result<Strided<'static>, EvaluateError> {
    let mut joined = meter.zeros(dtype, sizes)?;
    for (strided, part) in parts.into_iter().zip([Part::Real, Part::Imaginary]) {
        let Some(strided) = strided else { continue };
        let layout = strided.layout();
        let raised = match layout.rank() {
            0 => layout.broadcast(&vec![true; sizes.len()]),
            _ => layout.clone(),
        };
        let view = strided.view_as(raised.expanded(sizes));
        joined.array_mut().view_mut().part_mut(part).copy_from(&view)?;
    }
    Ok(Strided::made(joined))
}
