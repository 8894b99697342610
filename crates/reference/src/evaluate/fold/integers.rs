//! Folds of integers and bools: exact in any order, wrapping as the ops do.
//!
//! Sums and products of integers are those of i64, wrapped at the end; of u64 maxima are those of i64 with the sign flipped.
//! Bools are 0 and 1; the row's op is their maximum or minimum. Each op has its own loops, which vectorize.

use ops::{BoolMeaning, DType, IntType, Monoid, ScalarOp, vectorized};

use super::monoids::single;
use super::{Block, Reduction, are_zero};
use crate::evaluate::block::BLOCK;
use crate::evaluate::bound::Rounding;

/// A fold of integers or bools.
#[derive(Clone, Copy)]
pub(super) struct Integers {
    op: IntegerOp,
    identity: i64,
    /// The bits to flip to order u64 integers as i64.
    flip: i64,
    /// The type of integers; `None` for bools.
    ty: Option<IntType>,
    rounding: Rounding,
}

/// The op that combines.
#[derive(Clone, Copy, PartialEq)]
enum IntegerOp {
    Sum,
    Product,
    Max,
    Min,
}

/// Runs an expression with an op as a function.
macro_rules! with_op {
    ($op:expr, $f:ident => $body:expr) => {
        match $op {
            IntegerOp::Sum => {
                let $f = |a: i64, b: i64| a.wrapping_add(b);
                $body
            }
            IntegerOp::Product => {
                let $f = |a: i64, b: i64| a.wrapping_mul(b);
                $body
            }
            IntegerOp::Max => {
                let $f = |a: i64, b: i64| if a > b { a } else { b };
                $body
            }
            IntegerOp::Min => {
                let $f = |a: i64, b: i64| if a < b { a } else { b };
                $body
            }
        }
    };
}

#[derive(Clone, Copy)]
pub(super) struct IntegerState {
    /// With the sign flipped according to `flip`.
    value: i64,
    error: f64,
}

/// The states of neighbouring lines.
pub(super) struct IntegerStates {
    values: [i64; BLOCK],
    errors: [f64; BLOCK],
}

impl Integers {
    /// Welford is not among them: shape rules reject it. Folds with several operands are evaluated in cells.
    pub(super) fn new(monoid: &Monoid, dtype: DType) -> Integers {
        let (op, scalar_op) = match monoid {
            Monoid::Sum => (IntegerOp::Sum, ScalarOp::Add),
            Monoid::Prod => (IntegerOp::Product, ScalarOp::Mul),
            Monoid::Max => (IntegerOp::Max, ScalarOp::Maximum),
            Monoid::Min => (IntegerOp::Min, ScalarOp::Minimum),
            Monoid::Welford | Monoid::Argmax | Monoid::Argmin | Monoid::Lambda(_) => {
                unreachable!("{} is no fold of one integer", monoid.name())
            }
        };
        let op = match scalar_op.row().boolean {
            Some(BoolMeaning::Binary(f)) if dtype == DType::Bool => {
                if f(true, false) {
                    IntegerOp::Max
                } else {
                    IntegerOp::Min
                }
            }
            _ => op,
        };
        let is_ordered = matches!(op, IntegerOp::Max | IntegerOp::Min);
        let flip = if is_ordered && dtype == DType::U64 { i64::MIN } else { 0 };
        let identity = monoid.identity(&[dtype])[0].as_i64() ^ flip;
        Integers { op, identity, flip, ty: IntType::of(dtype), rounding: Rounding::new(dtype, 0.0) }
    }

    fn apply(&self, a: i64, b: i64) -> i64 {
        with_op!(self.op, f => f(a, b))
    }

    /// The integer that a state stands for.
    #[inline(always)]
    fn wrapped(&self, value: i64) -> i64 {
        let value = value ^ self.flip;
        self.ty.map_or(value, |ty| ty.wrap(value))
    }

    fn spread(&self, a: f64, b: f64) -> f64 {
        match self.op {
            IntegerOp::Sum => a + b,
            IntegerOp::Product if a + b > 0.0 => f64::INFINITY,
            _ => a.max(b),
        }
    }
}

impl Reduction for Integers {
    type Item = i64;
    type State = IntegerState;
    type Lines = IntegerStates;

    fn empty(&self) -> IntegerState {
        IntegerState { value: self.identity, error: 0.0 }
    }

    fn take(&self, state: &mut IntegerState, x: i64, error: f64) -> bool {
        *state = self.join(*state, IntegerState { value: x ^ self.flip, error });
        true
    }

    fn take_all(&self, state: &mut IntegerState, items: &[i64], errors: &[f64]) {
        state.error = match are_zero(errors) {
            true => state.error,
            false => errors.iter().fold(state.error, |a, &b| self.spread(a, b)),
        };
        state.value = vectorized!(op: IntegerOp = self.op, value: i64 = state.value, flip: i64 = self.flip,
            items: &'a [i64] = items => i64, {
            with_op!(op, f => items.iter().fold(value, |value, &x| f(value, x ^ flip)))
        });
    }

    fn join(&self, first: IntegerState, second: IntegerState) -> IntegerState {
        IntegerState {
            value: self.apply(first.value, second.value),
            error: self.spread(first.error, second.error),
        }
    }

    fn is_sure(&self, _: usize, _: usize, inexact: bool) -> bool {
        !inexact
    }

    fn finish(&self, state: IntegerState, _: usize) -> [(i64, f64); 3] {
        let value = self.wrapped(state.value);
        if state.error == 0.0 {
            return single(value, 0.0);
        }
        let exact = self.ty.map_or(value as f64, |ty| ty.as_f64(value));
        single(value, self.rounding.total(exact, state.error))
    }

    fn scan(
        &self,
        state: &mut IntegerState,
        block: &Block<i64>,
        [_, count]: [usize; 2],
        columns: &mut [Block<i64>],
    ) {
        let Block { items, errors } = &mut columns[0];
        if state.error > 0.0 || !are_zero(&block.errors[..count]) {
            for place in 0..count {
                self.take(state, block.items[place], block.errors[place]);
                (items[place], errors[place]) = self.finish(*state, 0)[0];
            }
            return;
        }
        errors[..count].fill(0.0);
        with_op!(self.op, f => {
            for (item, &x) in items[..count].iter_mut().zip(&block.items) {
                state.value = f(state.value, x ^ self.flip);
                *item = self.wrapped(state.value);
            }
        });
    }

    fn lines(&self) -> IntegerStates {
        IntegerStates { values: [self.identity; BLOCK], errors: [0.0; BLOCK] }
    }

    fn state(lines: &IntegerStates, line: usize) -> IntegerState {
        IntegerState { value: lines.values[line], error: lines.errors[line] }
    }

    fn advance(&self, lines: &mut IntegerStates, block: &Block<i64>, count: usize) {
        vectorized!(op: IntegerOp = self.op, flip: i64 = self.flip, values: &'a mut [i64] = &mut lines.values[..count],
            items: &'a [i64] = &block.items[..count] => (), {
            with_op!(op, f => values.iter_mut().zip(items).for_each(|(value, &x)| *value = f(*value, x ^ flip)));
        });
        if !are_zero(&block.errors[..count]) {
            let errors = lines.errors[..count].iter_mut().zip(&block.errors);
            errors.for_each(|(error, &other)| *error = self.spread(*error, other));
        }
    }

    fn step(
        &self,
        lines: &mut IntegerStates,
        block: &Block<i64>,
        [count, _]: [usize; 2],
        columns: &mut [Block<i64>],
    ) {
        self.advance(lines, block, count);
        let Block { items, errors } = &mut columns[0];
        let (items, errors) = (&mut items[..count], &mut errors[..count]);
        if are_zero(&lines.errors[..count]) {
            items.iter_mut().zip(&lines.values).for_each(|(item, &value)| *item = self.wrapped(value));
            return errors.fill(0.0);
        }
        for (line, result) in items.iter_mut().zip(errors).enumerate() {
            (*result.0, *result.1) = self.finish(Integers::state(lines, line), 0)[0];
        }
    }
}

#[cfg(test)]
mod tests {
    use ops::{IntMeaning, Scalar};

    use super::*;

    /// What the row says, wrapped after each element.
    fn by_the_row(op: ScalarOp, dtype: DType, items: &[i64]) -> i64 {
        let row = op.row();
        let combined =
            items.iter().copied().reduce(|a, b| match (IntType::of(dtype), row.int, row.boolean) {
                (Some(ty), Some(IntMeaning::Binary(f)), _) => (f.one)(a, b, ty),
                (None, _, Some(BoolMeaning::Binary(f))) => i64::from(f(a != 0, b != 0)),
                _ => unreachable!("an op on two integers or bools"),
            });
        combined.expect("some elements")
    }

    #[test]
    fn every_way_to_fold_follows_the_row() {
        let ops = [ScalarOp::Add, ScalarOp::Mul, ScalarOp::Maximum, ScalarOp::Minimum];
        let monoids = [Monoid::Sum, Monoid::Prod, Monoid::Max, Monoid::Min];
        for (monoid, op) in monoids.iter().zip(ops) {
            for dtype in [DType::Bool, DType::I32, DType::I64, DType::U64] {
                let numbers =
                    (1..40_i64).map(|k| k.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64) ^ (k << 7));
                let items: Vec<i64> = numbers
                    .map(|x| Scalar::from_i64(dtype, if dtype == DType::Bool { x & 1 } else { x }).as_i64())
                    .collect();
                let monoid = Integers::new(monoid, dtype);
                let mut block = Block::new();
                block.items[..items.len()].copy_from_slice(&items);
                let (mut whole, mut running) = (monoid.empty(), monoid.empty());
                monoid.take_all(&mut whole, &items, &block.errors[..items.len()]);
                let mut columns = [Block::new()];
                monoid.scan(&mut running, &block, [0, items.len()], &mut columns);
                let mut lines = monoid.lines();
                for count in 1..=items.len() {
                    let expected = by_the_row(op, dtype, &items[..count]);
                    assert_eq!(columns[0].items[count - 1], expected, "{op:?} {dtype}");
                    let mut rows = [Block::new()];
                    let element = Block { items: [items[count - 1]; BLOCK], errors: [0.0; BLOCK] };
                    monoid.step(&mut lines, &element, [3, count], &mut rows);
                    assert_eq!(rows[0].items[..3], [expected; 3], "{op:?} {dtype}");
                }
                assert_eq!(monoid.finish(whole, 0)[0].0, by_the_row(op, dtype, &items), "{op:?} {dtype}");
            }
        }
    }
}
