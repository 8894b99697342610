//! Complex numbers and their parts: the boundary of what is otherwise real. Bounds belong to parts.

use ir::array::Part;
use ops::DType;

use super::EvaluateError;
use super::value::{BoundedValue, Strided};
use super::workers::Resources;

/// A part of each element.
pub(super) fn part<'a>(
    value: &BoundedValue<'a>,
    part: Part,
    resources: &Resources<'_>,
) -> Result<BoundedValue<'a>, EvaluateError> {
    let bound = value.bound.as_ref().map(|bound| bound.part(part, resources)).transpose()?;
    Ok(BoundedValue { data: value.data.part(part, resources)?, bound })
}

/// Complex numbers of their parts, each of rank 0 or of the result's rank, each axis of the result's size or 1.
pub(super) fn pair(
    re: &BoundedValue<'_>,
    im: &BoundedValue<'_>,
    sizes: &[usize],
    resources: &Resources<'_>,
) -> Result<BoundedValue<'static>, EvaluateError> {
    let dtype = re.data.view().dtype().complex();
    let data = joined([Some(&re.data), Some(&im.data)], dtype, sizes, resources)?;
    let bound = match (&re.bound, &im.bound) {
        (None, None) => None,
        (re, im) => Some(joined([re.as_ref(), im.as_ref()], DType::C64, sizes, resources)?),
    };
    Ok(BoundedValue { data, bound })
}

/// Parts side by side; an absent one is zeros.
fn joined(
    parts: [Option<&Strided<'_>>; 2],
    dtype: DType,
    sizes: &[usize],
    resources: &Resources<'_>,
) -> Result<Strided<'static>, EvaluateError> {
    let mut joined = match parts.iter().any(Option::is_none) {
        true => resources.zeros(dtype, sizes)?,
        false => resources.unwritten(dtype, sizes)?,
    };
    for (strided, part) in parts.into_iter().zip([Part::Real, Part::Imaginary]) {
        let Some(strided) = strided else { continue };
        let layout = strided.layout();
        let raised = match layout.rank() {
            0 => layout.broadcast(&vec![true; sizes.len()]),
            _ => layout.clone(),
        };
        let view = strided.view_as(raised.expanded(sizes));
        resources.copy(&mut joined.array_mut().view_mut().part_mut(part), &view)?;
    }
    Ok(Strided::made(joined))
}
