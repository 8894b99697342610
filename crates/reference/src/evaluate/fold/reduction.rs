//! The states and results of folds: of a whole fold, of the places of one line, and of neighbouring lines side by side.

use std::ops::Range;

use ir::array::ArrayView;
use ops::{DType, vectorized};

use super::Block;
use crate::evaluate::block::{read_int_before, read_real_before, write_int, write_real};

/// The states and results of a fold.
pub(super) trait Reduction: Sync {
    /// How elements are read.
    type Item: Item;
    /// The accumulated state per result.
    type State: Copy + Send + Sync;

    fn empty(&self) -> Self::State;
    /// Takes one more element, with the bound of its error; returns whether the results may have changed.
    fn take(&self, state: &mut Self::State, x: Self::Item, error: f64) -> bool;
    /// Two accumulations of different elements, the first one before the second.
    fn join(&self, first: Self::State, second: Self::State) -> Self::State;
    /// The results after `n` elements, each with the bound of its error.
    fn finish(&self, state: Self::State, n: usize) -> [(Self::Item, f64); 3];

    /// Whether these elements surely change nothing; called for many at once.
    fn lose(&self, _: &Self::State, _items: &[Self::Item], _errors: &[f64]) -> bool {
        false
    }

    /// Whether a result of `length` elements has no error in any case, of elements with errors or without.
    fn is_sure(&self, _result: usize, _length: usize, _inexact: bool) -> bool {
        false
    }

    /// All elements of a part of a line, one after the other.
    fn take_all(&self, state: &mut Self::State, items: &[Self::Item], errors: &[f64]) {
        for (items, errors) in items.chunks(STRETCH).zip(errors.chunks(STRETCH)) {
            if !self.lose(state, items, errors) {
                items.iter().zip(errors).for_each(|(&x, &error)| {
                    self.take(state, x, error);
                });
            }
        }
    }

    /// The results at each of `count` elements of a line, after `before` others.
    fn scan(
        &self,
        state: &mut Self::State,
        block: &Block<Self::Item>,
        [before, count]: [usize; 2],
        columns: &mut [Block<Self::Item>],
    ) {
        let mut results = self.finish(*state, before);
        for places in stretches(count) {
            let (items, errors) = (&block.items[places.clone()], &block.errors[places.clone()]);
            if before + places.start > 0 && self.lose(state, items, errors) {
                for (column, (item, error)) in columns.iter_mut().zip(results) {
                    column.items[places.clone()].fill(item);
                    column.errors[places.clone()].fill(error);
                }
                continue;
            }
            for (place, (&item, &error)) in places.zip(items.iter().zip(errors)) {
                if self.take(state, item, error) || before + place == 0 {
                    results = self.finish(*state, before + place + 1);
                }
                for (column, result) in columns.iter_mut().zip(results) {
                    (column.items[place], column.errors[place]) = result;
                }
            }
        }
    }

    /// The states of neighbouring lines that are walked side by side, at most a block of them.
    type Lines;

    /// Lines without elements.
    fn lines(&self) -> Self::Lines;

    /// The state of a line.
    fn state(lines: &Self::Lines, line: usize) -> Self::State;

    /// One more element of each of the first lines.
    fn advance(&self, lines: &mut Self::Lines, block: &Block<Self::Item>, count: usize);

    /// One more, and the results of the first `counts[0]` lines after `counts[1]` elements, where those of one element less
    /// stand.
    fn step(
        &self,
        lines: &mut Self::Lines,
        block: &Block<Self::Item>,
        counts: [usize; 2],
        columns: &mut [Block<Self::Item>],
    );
}

/// Elements of a line that are tested at once for whether they change anything, and states that are stored field by field.
pub(super) const STRETCH: usize = 64;

/// The stretches of `count` places.
pub(super) fn stretches(count: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(STRETCH).map(move |start| start..count.min(start + STRETCH))
}

/// Whether none of these errors is above zero.
pub(super) fn are_zero(errors: &[f64]) -> bool {
    vectorized!(errors: &'a [f64] = errors => bool, { errors.iter().fold(true, |zero, &error| zero & (error == 0.0)) })
}

/// The representation of elements in blocks: doubles, integers, or one of these with its number.
pub(super) trait Item: Copy + Default + Send + Sync {
    /// At most a block of elements, each one of each operand, before those from the second number on are read.
    fn read(operands: &[ArrayView<'_>], numbers: [usize; 2], out: &mut [Self]);
    /// Writes the part for the result with this number.
    fn write(result: usize, dtype: DType, bytes: &mut [u8], block: &[Self]);
}

impl Item for f64 {
    fn read(operands: &[ArrayView<'_>], numbers: [usize; 2], out: &mut [f64]) {
        read_real_before(&operands[0], numbers, out);
    }

    fn write(_: usize, dtype: DType, bytes: &mut [u8], block: &[f64]) {
        write_real(dtype, bytes, block);
    }
}

impl Item for i64 {
    fn read(operands: &[ArrayView<'_>], numbers: [usize; 2], out: &mut [i64]) {
        read_int_before(&operands[0], numbers, out);
    }

    fn write(_: usize, dtype: DType, bytes: &mut [u8], block: &[i64]) {
        write_int(dtype, bytes, block);
    }
}
