//! Sorted order along an axis: argsort and top-k. Stable; NaN is greater than all numbers.
//!
//! Elements become integers that are ordered as they are, sorted together with their places, so that equal ones stay in
//! order. Of few elements that are wanted, only those are put in order after a partition.

use std::sync::atomic::{AtomicBool, Ordering};

use ir::array::{ArrayView, Element, with_element};
use ops::DType;
use reference::evaluate::EvaluateError;

use super::lines::{Lines, Shared, read};
use crate::cpu::pool::Workers;

/// Elements between two looks at an interrupt, but that a line is sorted at once.
const PART: usize = 1 << 16;

/// The first elements of each line in sorted order, as many as the results have, and their places.
pub fn sort(
    arg: &ArrayView<'_>,
    axis: usize,
    descending: bool,
    values: Option<&Shared<'_>>,
    indices: &Shared<'_>,
    workers: &Workers<'_>,
) -> Result<(), EvaluateError> {
    if indices.numel() == 0 {
        return Ok(());
    }
    with_element!(arg.dtype(), T => Sort { arg, axis, descending, values, indices }.all::<T>(workers))
}

struct Sort<'s> {
    arg: &'s ArrayView<'s>,
    axis: usize,
    descending: bool,
    values: Option<&'s Shared<'s>>,
    indices: &'s Shared<'s>,
}

impl Sort<'_> {
    fn all<T: Element>(&self, workers: &Workers<'_>) -> Result<(), EvaluateError> {
        let length = self.arg.sizes()[self.axis];
        let lines = Lines::new(self.arg.layout(), self.axis, self.arg.sizes());
        let exhausted = AtomicBool::new(false);
        workers.run(lines.count(), PART.div_ceil(length), &|_, begin, end| {
            let mut keys: Vec<(u64, usize)> = Vec::new();
            if keys.try_reserve_exact(length).is_err() {
                return exhausted.store(true, Ordering::Relaxed);
            }
            (begin..end).for_each(|number| self.line::<T>(&lines, number, &mut keys));
        });
        match exhausted.into_inner() {
            true => Err(EvaluateError::Memory { bytes: length.saturating_mul(size_of::<(u64, usize)>()) }),
            false => Ok(()),
        }
    }

    fn line<T: Element>(&self, lines: &Lines, number: usize, keys: &mut Vec<(u64, usize)>) {
        let length = self.arg.sizes()[self.axis];
        let taken = self.indices.layout().sizes[self.axis];
        let index = lines.index(number);
        let line = || lines.at(&index, length);
        keys.clear();
        keys.resize(length, (0, 0));
        read::<T, (u64, usize)>(self.arg, line(), keys, |x| (key(x, self.descending), 0));
        keys.iter_mut().enumerate().for_each(|(place, key)| key.1 = place);
        if taken < length / 4 {
            keys.select_nth_unstable(taken);
            keys.truncate(taken);
        }
        keys.sort_unstable();
        let results = self.indices.layout();
        let first = Lines::new(results, self.axis, &results.sizes).at(&index, taken).offset as usize;
        let stride = results.strides[self.axis] as usize;
        let places: Vec<i64> = keys[..taken].iter().map(|&(_, place)| place as i64).collect();
        // SAFETY: the line of this number is this task's alone.
        unsafe { self.indices.write::<i64>(first, stride, &places) };
        if let Some(values) = self.values {
            let view = self.arg.relaid(line()).expect("a line of the operand");
            let element = |&place: &i64| {
                let mut element = [T::from_int(0)];
                view.read::<T, T>(place as usize, &mut element, |x| x);
                element[0]
            };
            let sorted: Vec<T> = places.iter().map(element).collect();
            // SAFETY: as above; values lie as indices do.
            unsafe { values.write::<T>(first, stride, &sorted) };
        }
    }
}

/// An integer that is ordered as the element is, or the other way round.
fn key<T: Element>(x: T, descending: bool) -> u64 {
    const SIGN: u64 = 1 << 63;
    let ascending = match T::DTYPE.is_float() {
        true => real_key(x.to_real()),
        false if T::DTYPE == DType::U64 => x.to_int() as u64,
        false => x.to_int() as u64 ^ SIGN,
    };
    if descending { !ascending } else { ascending }
}

/// The bits of a double, those of negative ones turned round. Both zeros are one, NaN is above infinity.
fn real_key(x: f64) -> u64 {
    const SIGN: u64 = 1 << 63;
    let bits = match x {
        _ if x.is_nan() => return u64::MAX,
        0.0 => 0,
        _ => x.to_bits(),
    };
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}
