//! Folds: axes reduced with a monoid, in doubles or integers, with the bound of any other order of combination.
//!
//! The elements are cut in tiles of results and chunks of the folded elements, by sizes alone, so the result is the same for
//! any number of threads. `reduction.rs` defines folds; `monoids.rs` has the accumulated states and error bounds of compiled
//! code, `sum.rs` those of sums of floats, `product.rs` of products, `welford.rs` of means, `integers.rs` of integers,
//! `places.rs` of argmax and argmin; `states.rs` lays states out for vectors. `cells.rs` evaluates bodies step by step,
//! `scan.rs` scans lines.

mod built_in;
mod cells;
mod integers;
mod monoids;
mod places;
mod product;
mod reduction;
mod scan;
mod states;
mod sum;
mod welford;

pub(super) use scan::scan;

use std::ops::Range;

use ir::array::{ArrayView, Layout};
use ops::{DType, Monoid};
use smallvec::SmallVec;

use super::EvaluateError;
use super::block::{BLOCK, GRAIN, read_real_before};
use super::bound::round_up;
use super::memory::Metered;
use super::value::{BoundedValue, Strided};
use super::workers::Resources;
use integers::Integers;
use monoids::Extreme;
use places::Places;
use product::Product;
use reduction::{Item, Reduction, STRETCH, are_zero, stretches};
use sum::Sum;
use welford::Welford;

/// Tasks that run before their results are written.
const WAVE: usize = 1024;

/// Whether a fold is evaluated step by step: a body, or inexact element numbers.
fn is_stepped(monoid: &Monoid, operands: &[BoundedValue<'_>]) -> bool {
    matches!(monoid, Monoid::Lambda(_)) || operands[1..].iter().any(|value| value.bound.is_some())
}

/// Runs an expression with the accumulation of a monoid of the table in this dtype.
macro_rules! with_reduction {
    ($monoid:expr, $dtype:expr, $name:ident => $body:expr) => {
        match ($monoid, $dtype.is_float()) {
            (monoid @ (Monoid::Argmax | Monoid::Argmin), false) => {
                let $name = Places::<i64>::new(monoid, $dtype);
                $body
            }
            (monoid @ (Monoid::Argmax | Monoid::Argmin), true) => {
                let $name = Places::<f64>::new(monoid, $dtype);
                $body
            }
            (monoid, false) => {
                let $name = Integers::new(monoid, $dtype);
                $body
            }
            (Monoid::Prod, _) => {
                let $name = Product::new($dtype);
                $body
            }
            (Monoid::Max, _) => {
                let $name = Extreme::new(true);
                $body
            }
            (Monoid::Min, _) => {
                let $name = Extreme::new(false);
                $body
            }
            (Monoid::Welford, _) => {
                let $name = Welford::new($dtype);
                $body
            }
            (Monoid::Sum, _) => {
                let $name = Sum::new($dtype);
                $body
            }
            (Monoid::Lambda(_), _) => unreachable!("evaluated in cells"),
        }
    };
}
use with_reduction;

/// These axes of the operands reduced; one result per state of the monoid.
pub(super) fn fold(
    monoid: &Monoid,
    operands: &[BoundedValue<'_>],
    axes: &[u8],
    bounds: bool,
    resources: &Resources<'_>,
) -> Result<Vec<BoundedValue<'static>>, EvaluateError> {
    if is_stepped(monoid, operands) {
        return cells::fold(monoid, operands, axes, bounds, resources);
    }
    let order = Order::new(operands[0].data.layout(), axes);
    let seen = |strided: &Strided<'_>| order.apply(strided.layout());
    let source = Source {
        data: operands.iter().map(|value| value.data.view_as(seen(&value.data))).collect(),
        errors: operands[0].bound.as_ref().map(|bound| bound.view_as(seen(bound))),
        order: &order,
    };
    let operands: Vec<DType> = source.data.iter().map(ArrayView::dtype).collect();
    let target = FoldOutput { dtypes: monoid.result_dtypes(&operands), bounds, resources };
    with_reduction!(monoid, operands[0], reduction => source.reduce(&reduction, &target))
}

/// The order in which the elements are visited.
struct Order {
    axes: Vec<usize>,
    /// Sizes of the axes that stay.
    kept: Vec<usize>,
    /// Number of results, and of elements of each.
    results: usize,
    folded: usize,
    /// Whether all elements of one result are visited in sequence; otherwise all results for each folded index.
    by_rows: bool,
}

impl Order {
    /// Along the axis of the smallest stride neighbours share cache lines, so that axis comes last.
    fn new(layout: &Layout, folded: &[u8]) -> Order {
        let is_folded = |axis: &usize| folded.contains(&(*axis as u8));
        let (inner, outer): (Vec<usize>, Vec<usize>) = (0..layout.rank()).partition(is_folded);
        let nearest = (0..layout.rank())
            .filter(|&axis| layout.sizes[axis] > 1 && layout.strides[axis] != 0)
            .min_by_key(|&axis| layout.strides[axis].unsigned_abs());
        let kept: Vec<usize> = outer.iter().map(|&axis| layout.sizes[axis]).collect();
        let product = |axes: &[usize]| axes.iter().map(|&axis| layout.sizes[axis]).product();
        let (results, count) = (product(&outer), product(&inner));
        let by_rows = nearest.as_ref().is_none_or(is_folded);
        let axes = if by_rows { [outer, inner].concat() } else { [inner, outer].concat() };
        Order { axes, kept, results, folded: count, by_rows }
    }

    fn apply(&self, layout: &Layout) -> Layout {
        layout.permuted(self.axes.iter().copied()).merged()
    }

    /// How many results a tile has.
    fn tile(&self) -> usize {
        match self.by_rows {
            true => (GRAIN / self.folded.max(1)).clamp(1, BLOCK),
            false => self.results.clamp(1, BLOCK),
        }
    }

    /// How many folded elements a chunk has.
    fn chunk(&self) -> usize {
        if self.by_rows { 2 * GRAIN } else { (4 * GRAIN / self.tile()).max(1) }
    }
}

/// The operands of a fold.
struct Source<'v> {
    /// The operands.
    data: Vec<ArrayView<'v>>,
    /// Of the first.
    errors: Option<ArrayView<'v>>,
    order: &'v Order,
}

/// The results of a fold.
struct FoldOutput<'m> {
    /// Of each result.
    dtypes: SmallVec<[DType; 4]>,
    bounds: bool,
    resources: &'m Resources<'m>,
}

impl Source<'_> {
    fn reduce<R: Reduction>(
        &self,
        monoid: &R,
        target: &FoldOutput<'_>,
    ) -> Result<Vec<BoundedValue<'static>>, EvaluateError> {
        let order = self.order;
        let mut sinks = target
            .dtypes
            .iter()
            .enumerate()
            .map(|(result, &dtype)| {
                let bounds = target.bounds && !monoid.is_sure(result, order.folded, self.errors.is_some());
                Sink::new(dtype, &order.kept, bounds, target.resources)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let chunks = order.folded.div_ceil(order.chunk()).max(1);
        let tiles = order.results.div_ceil(order.tile());
        let per_wave = (WAVE / chunks).max(1);
        for first in (0..tiles).step_by(per_wave) {
            let wave = per_wave.min(tiles - first);
            let part = |task: usize| self.part(monoid, first + task / chunks, task % chunks);
            let parts: Vec<Vec<R::State>> = target.resources.collect(wave * chunks, part)?;
            for (tile, parts) in parts.chunks(chunks).enumerate() {
                let start = (first + tile) * order.tile();
                self.finish(monoid, parts, start, &mut sinks);
            }
        }
        Ok(sinks.into_iter().map(Sink::into_value).collect())
    }

    /// One chunk of the elements of each result of a tile.
    fn part<R: Reduction>(&self, monoid: &R, tile: usize, chunk: usize) -> Vec<R::State> {
        let order = self.order;
        let start = tile * order.tile();
        let mut states = vec![monoid.empty(); order.tile().min(order.results - start)];
        let from = chunk * order.chunk();
        let to = order.folded.min(from + order.chunk());
        let mut block = Block::new();
        if order.by_rows {
            for (row, state) in states.iter_mut().enumerate() {
                let row = (start + row) * order.folded;
                for at in (from..to).step_by(BLOCK) {
                    let count = BLOCK.min(to - at);
                    let next = row + at + count;
                    read(&self.data, self.errors.as_ref(), [row + at, next], block.part(0..count));
                    monoid.take_all(state, &block.items[..count], &block.errors[..count]);
                }
            }
        } else {
            let mut lines = monoid.lines();
            for row in from..to {
                let first = row * order.results + start;
                let next = first + order.results;
                read(&self.data, self.errors.as_ref(), [first, next], block.part(0..states.len()));
                monoid.advance(&mut lines, &block, states.len());
            }
            let all = states.iter_mut().enumerate();
            all.for_each(|(line, state)| *state = R::state(&lines, line));
        }
        states
    }

    /// Joins the chunks of a tile and writes the results.
    fn finish<R: Reduction>(&self, monoid: &R, parts: &[Vec<R::State>], start: usize, sinks: &mut [Sink]) {
        let count = parts[0].len();
        let mut finished = vec![[(R::Item::default(), 0.0); 3]; count];
        for (k, results) in finished.iter_mut().enumerate() {
            let whole = parts[1..].iter().fold(parts[0][k], |whole, part| monoid.join(whole, part[k]));
            *results = monoid.finish(whole, self.order.folded);
        }
        for (result, sink) in sinks.iter_mut().enumerate() {
            let items: Vec<R::Item> = finished.iter().map(|results| results[result].0).collect();
            sink.write(result, start, &items, finished.iter().map(|results| results[result].1));
        }
    }
}

/// Elements with the bounds of their errors, which stay zero where there are none.
struct Block<I> {
    items: [I; BLOCK],
    errors: [f64; BLOCK],
}

impl<I: Item> Block<I> {
    fn new() -> Block<I> {
        Block { items: [I::default(); BLOCK], errors: [0.0; BLOCK] }
    }

    /// Some places, for writing.
    fn part(&mut self, places: Range<usize>) -> (&mut [I], &mut [f64]) {
        (&mut self.items[places.clone()], &mut self.errors[places])
    }
}

/// Elements of the operands from the first number on, with the errors of the first operand, before those from the second
/// number on are read.
fn read<I: Item>(
    data: &[ArrayView<'_>],
    errors: Option<&ArrayView<'_>>,
    numbers: [usize; 2],
    (items, out): (&mut [I], &mut [f64]),
) {
    I::read(data, numbers, items);
    if let Some(errors) = errors {
        read_real_before(errors, numbers, out);
    }
}

/// Where one result goes.
struct Sink {
    dtype: DType,
    values: Metered,
    bounds: Option<Metered>,
    /// Whether some bound is not zero.
    some: bool,
}

impl Sink {
    fn new(
        dtype: DType,
        sizes: &[usize],
        bounds: bool,
        resources: &Resources<'_>,
    ) -> Result<Sink, EvaluateError> {
        let values = resources.unwritten(dtype, sizes)?;
        let bounds = if bounds { Some(resources.unwritten(DType::F32, sizes)?) } else { None };
        Ok(Sink { dtype, values, bounds, some: false })
    }

    /// Results from number `start` on, each with the bound of its error.
    fn write<I: Item>(
        &mut self,
        result: usize,
        start: usize,
        items: &[I],
        errors: impl Iterator<Item = f64>,
    ) {
        let width = self.dtype.size();
        let bytes = self.values.array_mut().as_mut_bytes();
        I::write(result, self.dtype, &mut bytes[start * width..(start + items.len()) * width], items);
        self.write_bounds(start, errors);
    }

    fn write_bounds(&mut self, start: usize, errors: impl Iterator<Item = f64>) {
        if let Some(bounds) = &mut self.bounds {
            let slots = &mut bounds.array_mut().as_mut_slice::<f32>()[start..];
            for (slot, error) in slots.iter_mut().zip(errors) {
                *slot = round_up(error);
                self.some |= *slot > 0.0;
            }
        }
    }

    fn into_value(self) -> BoundedValue<'static> {
        let bound = self.bounds.filter(|_| self.some).map(Strided::made);
        BoundedValue { data: Strided::made(self.values), bound }
    }
}
