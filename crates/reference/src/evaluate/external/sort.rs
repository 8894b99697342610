//! Sorted order along an axis, stable, NaN above all numbers.
//!
//! If elements are inexact, neighbours in the order may change places: the bound of an index is the largest distance to the
//! other indices that may be there, that of a value the largest error among those elements.

use ir::array::{ArrayView, Layout};
use ops::DType;

use super::Context;
use crate::evaluate::EvaluateError;
use crate::evaluate::block::{read_int, read_real, write_int, write_real};
use crate::evaluate::bound::round_up;
use crate::evaluate::key::key;
use crate::evaluate::memory::Metered;
use crate::evaluate::value::{BoundedValue, Strided};
use crate::evaluate::workers::{Looks, Resources};

/// The first elements of an axis in sorted order.
pub(super) struct Sorted {
    pub values: BoundedValue<'static>,
    pub indices: BoundedValue<'static>,
}

/// Sorts an axis; of each line along it, as many elements as the result's sizes say.
pub(super) fn sort(
    value: &BoundedValue<'_>,
    axis: usize,
    descending: bool,
    context: &Context<'_>,
) -> Result<Sorted, EvaluateError> {
    let rank = value.sizes().len();
    let last: Vec<usize> = (0..rank).filter(|&other| other != axis).chain([axis]).collect();
    let source = value.relaid(|layout| layout.permuted(last.iter().copied()));
    let sizes: Vec<usize> = last.iter().map(|&axis| context.sizes[axis]).collect();
    let lines = Lines {
        data: source.data.view(),
        errors: source.bound.as_ref().map(Strided::view),
        length: value.sizes()[axis],
        taken: context.sizes[axis],
        descending,
    };
    let [mut values, mut indices, mut value_bounds, mut index_bounds] = [
        context.resources.unwritten(lines.data.dtype(), &sizes)?,
        context.resources.unwritten(DType::I64, &sizes)?,
        context.resources.zeros(DType::F32, &sizes)?,
        context.resources.zeros(DType::F32, &sizes)?,
    ];
    lines.fill(&mut values, &mut indices, [&mut value_bounds, &mut index_bounds], context.resources);
    let wanted = context.bounds && lines.errors.is_some();
    let back = |array: Metered| {
        let layout = Layout::dense(&sizes);
        let order = (0..rank).map(|axis| last.iter().position(|&from| from == axis).expect("a permutation"));
        Strided::made(array).relaid(layout.permuted(order))
    };
    let bound = |array: Metered| wanted.then(|| back(array));
    Ok(Sorted {
        values: BoundedValue { data: back(values), bound: bound(value_bounds) },
        indices: BoundedValue { data: back(indices), bound: bound(index_bounds) },
    })
}

/// Lines along the last axis.
struct Lines<'v> {
    data: ArrayView<'v>,
    errors: Option<ArrayView<'v>>,
    length: usize,
    taken: usize,
    descending: bool,
}

/// A line in sorted order.
struct Line {
    /// The places of its elements, in sorted order, as far as they matter.
    order: Vec<usize>,
    /// Its elements, as numbers or as integers, the other ones absent, and their errors, which may be absent.
    reals: Vec<f64>,
    ints: Vec<i64>,
    errors: Vec<f64>,
}

impl Lines<'_> {
    fn fill(
        &self,
        values: &mut Metered,
        indices: &mut Metered,
        bounds: [&mut Metered; 2],
        resources: &Resources<'_>,
    ) {
        if self.taken == 0 || values.array().numel() == 0 {
            return;
        }
        let dtype = self.data.dtype();
        let [value_bounds, index_bounds] =
            bounds.map(|bounds| bounds.array_mut().as_mut_slice::<f32>().chunks_mut(self.taken));
        let values = values.array_mut().as_mut_bytes().chunks_mut(self.taken * dtype.size());
        let indices = indices.array_mut().as_mut_slice::<i64>().chunks_mut(self.taken);
        let results = values.zip(indices).zip(value_bounds.zip(index_bounds));
        resources.each(results, |number, ((values, indices), (value_bounds, index_bounds))| {
            let line = self.line(number, resources.looks());
            let taken = &line.order[..self.taken];
            if dtype.is_float() {
                write_real(dtype, values, &taken.iter().map(|&place| line.reals[place]).collect::<Vec<_>>());
            } else {
                let flipped = if dtype == DType::U64 { i64::MIN } else { 0 };
                let ints: Vec<i64> = taken.iter().map(|&place| line.ints[place] ^ flipped).collect();
                write_int(dtype, values, &ints);
            }
            indices.iter_mut().zip(taken).for_each(|(index, &place)| *index = place as i64);
            if self.errors.is_some() {
                line.bound(value_bounds, index_bounds, self.descending);
            }
        });
    }

    /// Equal elements keep their order. Only the first elements are in order, and those that may be among them.
    fn line(&self, number: usize, mut looks: Looks<'_>) -> Line {
        let start = number * self.length;
        let (mut reals, mut ints, mut errors) = (vec![], vec![], vec![]);
        let directed = |key: i64| if self.descending { !key } else { key };
        let mut sorted: Vec<(i64, usize)> = if self.data.dtype().is_float() {
            reals.resize(self.length, 0.0);
            read_real(&self.data, start, &mut reals);
            reals.iter().map(|&x| directed(key(x))).zip(0..).collect()
        } else {
            ints.resize(self.length, 0);
            read_int(&self.data, start, &mut ints);
            // The bits of u64 are read as those of i64; with the sign flipped they are in order.
            if self.data.dtype() == DType::U64 {
                ints.iter_mut().for_each(|x| *x ^= i64::MIN);
            }
            ints.iter().map(|&x| directed(x)).zip(0..).collect()
        };
        let mut compare = |a: &(i64, usize), b: &(i64, usize)| {
            looks.step();
            a.cmp(b)
        };
        if let Some(view) = &self.errors {
            errors.resize(self.length, 0.0);
            read_real(view, start, &mut errors);
        }
        let mut line = Line { order: Vec::new(), reals, ints, errors };
        if self.taken < self.length {
            sorted.select_nth_unstable_by(self.taken, &mut compare);
            let count = if self.errors.is_some() { self.reached(&mut sorted, &line) } else { self.taken };
            sorted.truncate(count);
        }
        sorted.sort_unstable_by(compare);
        line.order.extend(sorted.into_iter().map(|(_, place)| place));
        line
    }

    /// How many elements are in front, including those that may be among the first ones: all whose intervals reach one of
    /// them, transitively. If that takes more than a few rounds, all elements.
    fn reached(&self, sorted: &mut [(i64, usize)], line: &Line) -> usize {
        const ROUNDS: usize = 4;
        let interval = |&(_, place): &(i64, usize)| line.interval(place, self.descending);
        let mut reach =
            sorted[..self.taken].iter().map(|one| interval(one).1).fold(f64::NEG_INFINITY, f64::max);
        let mut count = self.taken;
        for _ in 0..ROUNDS {
            let before = count;
            for other in before..sorted.len() {
                let (low, high) = interval(&sorted[other]);
                if low <= reach {
                    reach = reach.max(high);
                    sorted.swap(count, other);
                    count += 1;
                }
            }
            if count == before {
                return count;
            }
        }
        sorted.len()
    }
}

impl Line {
    /// Bounds of the first values and indices. Elements whose intervals touch form a run, in which any order is possible,
    /// unless all of them are exact.
    fn bound(&self, values: &mut [f32], indices: &mut [f32], descending: bool) {
        let intervals = self.intervals(descending);
        let mut lowest: Vec<f64> = intervals.iter().map(|interval| interval.0).collect();
        (1..lowest.len()).rev().for_each(|rank| lowest[rank - 1] = lowest[rank - 1].min(lowest[rank]));
        let mut start = 0;
        while start < values.len() {
            let end = run(&intervals, &lowest, start);
            let run = &self.order[start..end];
            let error = run.iter().map(|&place| self.errors[place]).fold(0.0, f64::max);
            let (min, max) = (run.iter().min(), run.iter().max());
            for rank in start..end.min(values.len()) {
                let place = self.order[rank];
                values[rank] = round_up(error);
                if let (Some(&min), Some(&max)) = (min, max)
                    && error > 0.0
                {
                    indices[rank] = round_up((place - min).max(max - place) as f64);
                }
            }
            start = end;
        }
    }

    /// In sorted order, between what numbers each element may lie; in descending order, of their negatives.
    fn intervals(&self, descending: bool) -> Vec<(f64, f64)> {
        self.order.iter().map(|&place| self.interval(place, descending)).collect()
    }

    fn interval(&self, place: usize, descending: bool) -> (f64, f64) {
        let sign = if descending { -1.0 } else { 1.0 };
        match (sign * self.real(place), self.errors[place]) {
            (_, f64::INFINITY) => (f64::NEG_INFINITY, f64::INFINITY),
            (x, error) => (x - error, x + error),
        }
    }

    /// An element as a real number; NaN sorts like infinity.
    fn real(&self, place: usize) -> f64 {
        match self.reals.get(place) {
            None => self.ints[place] as f64,
            Some(x) if x.is_nan() => f64::INFINITY,
            Some(&x) => x,
        }
    }
}

/// The end of the run that starts at a rank: no element before it reaches one after it, whose lower ends are in `lowest`.
fn run(intervals: &[(f64, f64)], lowest: &[f64], start: usize) -> usize {
    let mut reach = f64::NEG_INFINITY;
    for (rank, interval) in intervals.iter().enumerate().skip(start) {
        reach = reach.max(interval.1);
        if lowest.get(rank + 1).is_none_or(|&next| reach < next) {
            return rank + 1;
        }
    }
    intervals.len()
}

#[cfg(test)]
mod tests {
    use ir::array::Array;

    use super::*;
    use crate::evaluate::Serial;
    use crate::evaluate::memory::Meter;

    /// Values, indices and bounds of the first elements of a line.
    fn first(taken: usize, line: &[f32], errors: &[f32], descending: bool) -> [Vec<f64>; 4] {
        let resources = Resources { meter: Meter::new(usize::MAX), workers: &Serial };
        let [data, errors] =
            [line, errors].map(|numbers| Array::from_slice(&[numbers.len()], numbers).expect("memory"));
        let lines =
            Lines { data: data.view(), errors: Some(errors.view()), length: line.len(), taken, descending };
        let [mut values, mut indices, mut value_bounds, mut index_bounds] =
            [DType::F32, DType::I64, DType::F32, DType::F32]
                .map(|dtype| resources.zeros(dtype, &[taken]).expect("memory"));
        lines.fill(&mut values, &mut indices, [&mut value_bounds, &mut index_bounds], &resources);
        [values, indices, value_bounds, index_bounds]
            .map(|array| array.array().scalars().iter().map(|x| x.as_f64()).collect())
    }

    /// A selection before sorting gives the bounds of a fully sorted line, however far intervals overlap.
    #[test]
    fn a_selection_has_the_bounds_of_a_sorted_line() {
        let mut state = 1_u32;
        let mut next = move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from((state >> 16) as u16) / 65536.0
        };
        for width in [0.0, 1e-4, 1e-3, 1e-2, 0.1] {
            let line: Vec<f32> = (0..300).map(|k| if k % 97 == 96 { f32::NAN } else { next() }).collect();
            let mut errors: Vec<f32> = (0..300).map(|_| width * next()).collect();
            for descending in [false, true] {
                let whole = first(300, &line, &errors, descending);
                for taken in [1, 8, 299] {
                    let some = first(taken, &line, &errors, descending);
                    for (some, whole) in some.iter().zip(&whole) {
                        let same = some.iter().zip(whole).all(|(a, b)| a.total_cmp(b).is_eq());
                        assert!(same, "{taken} of 300, width {width}, descending {descending}");
                    }
                }
                errors[150] = f32::INFINITY;
            }
        }
    }
}
