//! Sorted order along an axis: argsort and top-k. Stable; NaN is above all numbers.
//!
//! Elements become integers with the same order, sorted together with their places, so that equal ones stay in order. If
//! only a few are wanted, a partition selects them, and only those are sorted.

use std::cmp::Ordering;
use std::sync::atomic::{self, AtomicBool};

use ir::array::{ArrayView, Element, with_element};
use ops::DType;
use reference::evaluate::{EvaluateError, Looks};

use super::lines::{Lines, Shared};
use crate::pool::Workers;

/// Elements between two checks of an interrupt.
const ELEMENTS_BETWEEN_CHECKS: usize = 1 << 16;

/// Elements that are sorted without checking the interrupt.
const MAX_UNCHECKED_ELEMENTS: usize = 1 << 20;

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
        workers.run(lines.count(), ELEMENTS_BETWEEN_CHECKS.div_ceil(length), &|_, begin, end| {
            let mut keys: Vec<Key> = Vec::new();
            if keys.try_reserve_exact(length).is_err() {
                return exhausted.store(true, atomic::Ordering::Relaxed);
            }
            (begin..end).for_each(|number| self.line::<T>(&lines, number, &mut keys, workers));
        });
        match exhausted.into_inner() {
            true => Err(EvaluateError::Memory { bytes: length.saturating_mul(size_of::<Key>()) }),
            false => Ok(()),
        }
    }

    fn line<T: Element>(&self, lines: &Lines, number: usize, keys: &mut Vec<Key>, workers: &Workers<'_>) {
        let length = self.arg.sizes()[self.axis];
        let taken = self.indices.layout().sizes[self.axis];
        let index = lines.index(number);
        let line = self.arg.relaid(lines.at(&index, length)).expect("a line of the operand");
        self.read::<T>(&line, keys, workers);
        if taken < length / 4 {
            select(keys, taken, workers);
        }
        put_in_order(keys, workers);
        let results = self.indices.layout();
        let first = Lines::new(results, self.axis, &results.sizes).at(&index, taken).offset as usize;
        let stride = results.strides[self.axis] as usize;
        for (part, keys) in keys[..taken].chunks(ELEMENTS_BETWEEN_CHECKS).enumerate() {
            workers.look();
            self.write::<T>(&line, first + part * ELEMENTS_BETWEEN_CHECKS * stride, stride, keys);
        }
    }

    /// The keys of a line, with their places.
    fn read<T: Element>(&self, line: &ArrayView<'_>, keys: &mut Vec<Key>, workers: &Workers<'_>) {
        keys.clear();
        for start in (0..line.numel()).step_by(ELEMENTS_BETWEEN_CHECKS) {
            workers.look();
            keys.resize(line.numel().min(start + ELEMENTS_BETWEEN_CHECKS), (0, 0));
            line.read::<T, Key>(start, &mut keys[start..], |x| (key(x, self.descending), 0));
            keys[start..].iter_mut().zip(start..).for_each(|(key, place)| key.1 = place);
        }
    }

    /// Writes the places of elements of a line, and the elements if they are wanted, a stride apart from `first` on.
    fn write<T: Element>(&self, line: &ArrayView<'_>, first: usize, stride: usize, keys: &[Key]) {
        let places: Vec<i64> = keys.iter().map(|&(_, place)| place as i64).collect();
        // SAFETY: the line is its task's alone.
        unsafe { self.indices.write::<i64>(first, stride, &places) };
        if let Some(values) = self.values {
            let element = |&(_, place): &Key| {
                let mut element = [T::from_int(0)];
                line.read::<T, T>(place, &mut element, |x| x);
                element[0]
            };
            let sorted: Vec<T> = keys.iter().map(element).collect();
            // SAFETY: as above; values lie as indices do.
            unsafe { values.write::<T>(first, stride, &sorted) };
        }
    }
}

/// An integer with the order of the element, and the element's place.
type Key = (u64, usize);

/// Keeps the smallest keys.
fn select(keys: &mut Vec<Key>, count: usize, workers: &Workers<'_>) {
    match keys.len() > MAX_UNCHECKED_ELEMENTS {
        true => keys.select_nth_unstable_by(count, looking(workers)),
        false => keys.select_nth_unstable(count),
    };
    keys.truncate(count);
}

fn put_in_order(keys: &mut [Key], workers: &Workers<'_>) {
    match keys.len() > MAX_UNCHECKED_ELEMENTS {
        true => keys.sort_unstable_by(looking(workers)),
        false => keys.sort_unstable(),
    }
}

/// The order of keys, with a check of the interrupt now and then.
fn looking<'w>(workers: &'w Workers<'_>) -> impl FnMut(&Key, &Key) -> Ordering + 'w {
    let mut looks = Looks::new(workers);
    move |a, b| {
        looks.step();
        a.cmp(b)
    }
}

/// An integer with the order of the element, or the reverse order.
fn key<T: Element>(x: T, descending: bool) -> u64 {
    const SIGN: u64 = 1 << 63;
    let ascending = match T::DTYPE.is_float() {
        true => real_key(x.to_real()),
        false if T::DTYPE == DType::U64 => x.to_int() as u64,
        false => x.to_int() as u64 ^ SIGN,
    };
    if descending { !ascending } else { ascending }
}

/// The bits of a double, those of negative ones flipped. Both zeros are one, NaN is above infinity.
fn real_key(x: f64) -> u64 {
    const SIGN: u64 = 1 << 63;
    let bits = match x {
        _ if x.is_nan() => return u64::MAX,
        0.0 => 0,
        _ => x.to_bits(),
    };
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}
