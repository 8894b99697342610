//! Complex numbers and their parts: the boundary of otherwise real arithmetic. Bounds belong to parts.

use ir::array::{ArrayView, Element, Part, prefetch, with_element};
use ops::DType;
use ops::lanes::{NullaryFnOnce, wide};

use super::EvaluateError;
use super::block::{BLOCK, GRAIN};
use super::operands::over;
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

/// Complex numbers from their parts, each of rank 0 or of the result's rank, each axis of the result's size or 1.
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
    let count: usize = sizes.iter().product();
    // As elements of the parts' dtype, two for each number.
    let mut joined = resources.unwritten(dtype.real(), &[count, 2])?;
    let views = parts.map(|part| part.map(|strided| strided.view_as(over(strided.layout(), sizes))));
    with_element!(dtype.real(), T => {
        let grains = joined.array_mut().as_mut_slice::<T>().chunks_mut(2 * GRAIN);
        resources.each(grains, |grain, numbers| {
            for (block, numbers) in numbers.chunks_mut(2 * BLOCK).enumerate() {
                join([&views[0], &views[1]], grain * GRAIN + block * BLOCK, numbers);
            }
        });
    });
    Ok(Strided::made(joined.viewed_as(dtype, sizes)))
}

/// A block of numbers, those from one on.
fn join<T: Element>(parts: [&Option<ArrayView<'_>>; 2], start: usize, numbers: &mut [T]) {
    let mut blocks = [[T::from_int(0); BLOCK]; 2];
    let count = numbers.len() / 2;
    prefetch(numbers.as_ptr().cast(), size_of_val(numbers));
    for (block, part) in blocks.iter_mut().zip(parts) {
        if let Some(view) = part {
            view.read::<T, T>(start, &mut block[..count], |x| x);
        }
    }
    let (re, im) = (&blocks[0][..count], &blocks[1][..count]);
    wide(Interleave { re, im, numbers: numbers.as_chunks_mut().0 });
}

/// Parts to be put side by side.
struct Interleave<'a, T> {
    re: &'a [T],
    im: &'a [T],
    numbers: &'a mut [[T; 2]],
}

impl<T: Copy> NullaryFnOnce for Interleave<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let parts = self.re.iter().zip(self.im);
        self.numbers.iter_mut().zip(parts).for_each(|(number, (&re, &im))| *number = [re, im]);
    }
}
