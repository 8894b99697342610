//! The largest or smallest element and its number: argmax and argmin over numbered elements.
//!
//! It takes elements with the bounds of their errors, and exact numbers. Elements are compared by keys, integers in the
//! order in which they win: NaN above all, zeros of both signs equal. If intervals of elements overlap, any of them may win,
//! so the bound of the number extends to the smallest and the largest number of those.

use ir::array::ArrayView;
use ops::lanes::{NullaryFnOnce, wide};
use ops::{DType, Monoid};

use super::super::block::{BLOCK, read_int_before, write_int};
use super::super::bound::apart;
use super::super::key::{key, number};
use super::{Block, Item, Reduction, are_zero};

/// An element and its number.
#[derive(Clone, Copy, Default)]
pub(super) struct Numbered<I> {
    value: I,
    number: i64,
}

impl<I: Item> Item for Numbered<I> {
    fn read(operands: &[ArrayView<'_>], places: [usize; 2], out: &mut [Self]) {
        let (mut values, mut numbers) = ([I::default(); BLOCK], [0; BLOCK]);
        let (values, numbers) = (&mut values[..out.len()], &mut numbers[..out.len()]);
        I::read(&operands[..1], places, values);
        read_int_before(&operands[1], places, numbers);
        let pairs = values.iter().zip(&*numbers);
        out.iter_mut().zip(pairs).for_each(|(out, (&value, &number))| *out = Numbered { value, number });
    }

    fn write(result: usize, dtype: DType, bytes: &mut [u8], block: &[Self]) {
        match result {
            0 => I::write(0, dtype, bytes, &block.iter().map(|item| item.value).collect::<Vec<_>>()),
            _ => write_int(dtype, bytes, &block.iter().map(|item| item.number).collect::<Vec<_>>()),
        }
    }
}

/// Which elements win.
#[derive(Clone, Copy)]
pub(super) struct Direction {
    largest: bool,
    /// Integers are those of u64, by their bits.
    unsigned: bool,
}

/// Elements that have keys.
pub(super) trait Keyed: Item {
    /// Larger keys win.
    fn key(self, direction: Direction) -> i64;
    /// The smallest and the largest key that an element with an error may have.
    fn low(self, error: f64, direction: Direction) -> i64;
    fn high(self, error: f64, direction: Direction) -> i64;
    /// The distance between elements with two keys.
    fn distance(first: i64, second: i64) -> f64;
}

impl Keyed for f64 {
    #[inline(always)]
    fn key(self, direction: Direction) -> i64 {
        key(if direction.largest { self } else { -self })
    }

    #[inline(always)]
    fn low(self, error: f64, direction: Direction) -> i64 {
        let x = if direction.largest { self } else { -self };
        key(if error == f64::INFINITY { f64::NEG_INFINITY } else { x - error })
    }

    /// An element about which nothing is known may be NaN too.
    #[inline(always)]
    fn high(self, error: f64, direction: Direction) -> i64 {
        let x = if direction.largest { self } else { -self };
        key(if error == f64::INFINITY { f64::NAN } else { x + error })
    }

    fn distance(first: i64, second: i64) -> f64 {
        apart(number(first), number(second))
    }
}

impl Keyed for i64 {
    #[inline(always)]
    fn key(self, direction: Direction) -> i64 {
        let ordered = if direction.unsigned { self ^ i64::MIN } else { self };
        if direction.largest { ordered } else { !ordered }
    }

    fn low(self, error: f64, direction: Direction) -> i64 {
        self.key(direction).saturating_sub(error.ceil() as i64)
    }

    #[inline(always)]
    fn high(self, error: f64, direction: Direction) -> i64 {
        self.key(direction).saturating_add(if error == 0.0 { 0 } else { error.ceil() as i64 })
    }

    fn distance(first: i64, second: i64) -> f64 {
        first.abs_diff(second) as f64
    }
}

/// Largest or smallest elements with their numbers.
pub(super) struct Places<I> {
    direction: Direction,
    identity: Numbered<I>,
    /// No two elements are further apart.
    widest: f64,
}

#[derive(Clone, Copy)]
pub(super) struct Place<I> {
    best: Numbered<I>,
    key: i64,
    /// The largest lower end and the largest upper end of all elements' keys.
    low: i64,
    high: i64,
    /// The number of the element whose key is surely at least `low`.
    sure: i64,
    /// The smallest and the largest number that the best one may have.
    first: i64,
    last: i64,
}

impl Places<f64> {
    pub(super) fn new(monoid: &Monoid, dtype: DType) -> Places<f64> {
        Places::of(monoid, dtype, monoid.identity(&[dtype, DType::I64])[0].as_f64())
    }
}

impl Places<i64> {
    pub(super) fn new(monoid: &Monoid, dtype: DType) -> Places<i64> {
        Places::of(monoid, dtype, monoid.identity(&[dtype, DType::I64])[0].as_i64())
    }
}

impl<I: Keyed> Places<I> {
    fn of(monoid: &Monoid, dtype: DType, value: I) -> Places<I> {
        let direction = Direction { largest: *monoid == Monoid::Argmax, unsigned: dtype == DType::U64 };
        let widest = if dtype == DType::Bool { 1.0 } else { f64::INFINITY };
        Places { direction, identity: Numbered { value, number: i64::MAX }, widest }
    }
}

impl<I: Copy> Place<I> {
    /// Elements with larger numbers change nothing if they are at most equal.
    fn behind(&self) -> i64 {
        self.last.max(self.best.number)
    }
}

/// Neighbouring lines, and the keys that most elements lose against.
pub(super) struct PlaceLines<I> {
    states: Vec<Place<I>>,
    lows: [i64; BLOCK],
    behind: [i64; BLOCK],
}

impl<I: Keyed> Places<I> {
    /// Takes those elements, one of each line, that do not surely lose, and tells of each that may change something.
    fn take_each(
        &self,
        lines: &mut PlaceLines<I>,
        block: &Block<Numbered<I>>,
        count: usize,
        mut changed: impl FnMut(usize, &Place<I>),
    ) {
        let mut loses = [false; BLOCK];
        let loses = &mut loses[..count];
        let (direction, lows, behind) = (self.direction, &lines.lows, &lines.behind);
        match are_zero(&block.errors[..count]) {
            true => wide(LoseEach::<_, true> { lows, behind, direction, block, loses }),
            false => wide(LoseEach::<_, false> { lows, behind, direction, block, loses }),
        }
        for line in (0..count).filter(|&line| !loses[line]) {
            let state = &mut lines.states[line];
            self.take(state, block.items[line], block.errors[line]);
            (lines.lows[line], lines.behind[line]) = (state.low, state.behind());
            changed(line, state);
        }
    }
}

impl<I: Keyed> Reduction for Places<I> {
    type Item = Numbered<I>;
    type State = Place<I>;
    type Lines = PlaceLines<I>;

    fn empty(&self) -> Place<I> {
        Place {
            best: self.identity,
            key: self.identity.value.key(self.direction),
            low: i64::MIN,
            high: i64::MIN,
            sure: i64::MAX,
            first: i64::MAX,
            last: i64::MIN,
        }
    }

    /// An element that surely loses changes nothing, nor does one after all candidates that at most equals them.
    #[inline(always)]
    fn take(&self, state: &mut Place<I>, x: Numbered<I>, error: f64) -> bool {
        let high = x.value.high(error, self.direction);
        let is_behind = x.number > state.behind();
        if (high < state.low) | (high == state.low) & is_behind {
            return false;
        }
        let (key, low) = (x.value.key(self.direction), x.value.low(error, self.direction));
        let one = Place { best: x, key, low, high, sure: x.number, first: x.number, last: x.number };
        *state = self.join(*state, one);
        true
    }

    fn lose(&self, state: &Place<I>, items: &[Numbered<I>], errors: &[f64]) -> bool {
        let (low, behind) = (state.low, state.behind());
        wide(Lose { low, behind, direction: self.direction, items, errors })
    }

    fn lines(&self) -> PlaceLines<I> {
        let states = vec![self.empty(); BLOCK];
        PlaceLines { states, lows: [i64::MIN; BLOCK], behind: [i64::MAX; BLOCK] }
    }

    fn state(lines: &PlaceLines<I>, line: usize) -> Place<I> {
        lines.states[line]
    }

    fn advance(&self, lines: &mut PlaceLines<I>, block: &Block<Numbered<I>>, count: usize) {
        self.take_each(lines, block, count, |_, _| {});
    }

    fn step(
        &self,
        lines: &mut PlaceLines<I>,
        block: &Block<Numbered<I>>,
        [lines_count, count]: [usize; 2],
        columns: &mut [Block<Numbered<I>>],
    ) {
        self.take_each(lines, block, lines_count, |line, state| {
            for (column, result) in columns.iter_mut().zip(self.finish(*state, count)) {
                (column.items[line], column.errors[line]) = result;
            }
        });
    }

    fn is_sure(&self, _: usize, _: usize, inexact: bool) -> bool {
        !inexact
    }

    /// Of equal elements that with the smallest number wins.
    #[inline(always)]
    fn join(&self, first: Place<I>, second: Place<I>) -> Place<I> {
        let is_second = |keys: [i64; 2], numbers: [i64; 2]| {
            keys[1] > keys[0] || keys[1] == keys[0] && numbers[1] < numbers[0]
        };
        let better = is_second([first.key, second.key], [first.best.number, second.best.number]);
        let surer = is_second([first.low, second.low], [first.sure, second.sure]);
        let (min, max) = if is_second([first.high, second.low], [first.first, second.last]) {
            (second.first, second.last)
        } else if is_second([second.high, first.low], [second.first, first.last]) {
            (first.first, first.last)
        } else {
            (first.first.min(second.first), first.last.max(second.last))
        };
        let (best, sure) = (if better { second } else { first }, if surer { second } else { first });
        Place {
            best: best.best,
            key: best.key,
            low: sure.low,
            high: first.high.max(second.high),
            sure: sure.sure,
            first: min,
            last: max,
        }
    }

    fn finish(&self, state: Place<I>, n: usize) -> [(Numbered<I>, f64); 3] {
        let distance = I::distance(state.high, state.key).max(I::distance(state.low, state.key));
        let number = state.best.number;
        let reach = number.saturating_sub(state.first).max(state.last.saturating_sub(number));
        let bounds = if n == 0 { [0.0; 2] } else { [distance.min(self.widest), reach as f64] };
        [(state.best, bounds[0]), (state.best, bounds[1]), (Numbered::default(), 0.0)]
    }
}

/// Whether an element with a key of at most `high` changes nothing about a line.
#[inline(always)]
fn surely_loses(high: i64, number: i64, low: i64, behind: i64) -> bool {
    (high < low) | (high == low) & (number > behind)
}

/// Whether all elements lose against one.
struct Lose<'a, I> {
    low: i64,
    behind: i64,
    direction: Direction,
    items: &'a [Numbered<I>],
    errors: &'a [f64],
}

impl<I: Keyed> NullaryFnOnce for Lose<'_, I> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        let elements = self.items.iter().zip(self.errors);
        elements.fold(true, |lose, (x, &error)| {
            lose & surely_loses(x.value.high(error, self.direction), x.number, self.low, self.behind)
        })
    }
}

/// Whether the element of each line loses, of elements without errors or with them.
struct LoseEach<'a, I, const EXACT: bool> {
    lows: &'a [i64; BLOCK],
    behind: &'a [i64; BLOCK],
    direction: Direction,
    block: &'a Block<Numbered<I>>,
    loses: &'a mut [bool],
}

impl<I: Keyed, const EXACT: bool> NullaryFnOnce for LoseEach<'_, I, EXACT> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let lines = self.lows.iter().zip(self.behind);
        let elements = self.block.items.iter().zip(&self.block.errors);
        for (loses, ((&low, &behind), (x, &error))) in self.loses.iter_mut().zip(lines.zip(elements)) {
            let high = if EXACT { x.value.key(self.direction) } else { x.value.high(error, self.direction) };
            *loses = surely_loses(high, x.number, low, behind);
        }
    }
}
