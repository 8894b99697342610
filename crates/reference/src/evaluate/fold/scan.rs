//! Scans: each element combined with all before it along an axis, line by line.
//!
//! A line is walked in order, and the bound at each place is that of a fold so far in any grouping. Lines are given to
//! threads, a few at a time, and write their own part of the results.

use std::sync::atomic::{AtomicBool, Ordering};

use ir::array::{ArrayView, Layout};
use ops::{DType, Monoid};
use smallvec::SmallVec;

use super::super::EvaluateError;
use super::super::block::{BLOCK, GRAIN};
use super::super::bound::round_all_up;
use super::super::map::straightened;
use super::super::value::{BoundedValue, Strided};
use super::super::workers::{Looks, Resources};
use super::cells::{self, Cells};
use super::monoids::{Extreme, Integers, Product, Welford};
use super::places::Places;
use super::sum::Sum;
use super::{Block, Item, Reduction, Sink, is_stepped, read, with_reduction};

/// Elements that are in flight before results are written.
const WAVE: usize = 1 << 18;

/// The operands scanned along an axis; one result per state of the monoid.
pub(in super::super) fn scan(
    monoid: &Monoid,
    operands: &[BoundedValue<'_>],
    axis: usize,
    bounds: bool,
    resources: &Resources<'_>,
) -> Result<Vec<BoundedValue<'static>>, EvaluateError> {
    let rank = operands[0].sizes().len();
    let order: Vec<usize> = (0..rank).filter(|&other| other != axis).chain([axis]).collect();
    let sizes: Vec<usize> = order.iter().map(|&axis| operands[0].sizes()[axis]).collect();
    let dtypes: Vec<_> = operands.iter().map(|value| value.data.view().dtype()).collect();
    let mut sinks = monoid
        .result_dtypes(&dtypes)
        .into_iter()
        .map(|dtype| Sink::new(dtype, &sizes, bounds, resources))
        .collect::<Result<Vec<_>, _>>()?;
    let operands: Vec<BoundedValue<'_>> = operands
        .iter()
        .map(|value| value.relaid(|layout| layout.permuted(order.iter().copied())))
        .map(|lined| straightened(&lined, &sizes, resources))
        .collect();
    let last: Vec<usize> = (0..rank).collect();
    let sources: Vec<Source<'_>> = operands.iter().map(|value| Source::of(value, &last)).collect();
    let (length, lines) = (sizes[rank - 1], sizes[..rank - 1].iter().product());
    if is_stepped(monoid, &operands) {
        let cells = Cells::new(monoid, &dtypes, bounds, resources.workers);
        waves(
            length,
            lines,
            &mut sinks,
            |line| cells.scan(&sources, line * length, length),
            resources,
            cells::write,
        )?;
    } else {
        let lines = Lines::of(sources, length);
        with_reduction!(monoid, dtypes[0], reduction => lines.scan(&reduction, &mut sinks, resources));
    }
    let back: Vec<usize> =
        (0..rank).map(|axis| order.iter().position(|&own| own == axis).unwrap_or(axis)).collect();
    let restored =
        |sink: Sink| sink.into_value().relaid(|layout: &Layout| layout.permuted(back.iter().copied()));
    Ok(sinks.into_iter().map(restored).collect())
}

/// An operand with the scanned axis last.
pub(super) struct Source<'v> {
    pub(super) data: ArrayView<'v>,
    pub(super) errors: Option<ArrayView<'v>>,
}

impl<'v> Source<'v> {
    pub(super) fn of(value: &'v BoundedValue<'_>, order: &[usize]) -> Source<'v> {
        let viewed = |strided: &'v Strided<'_>| {
            strided.view_as(strided.layout().permuted(order.iter().copied()).merged())
        };
        Source { data: viewed(&value.data), errors: value.bound.as_ref().map(viewed) }
    }
}

/// Computes lines in parallel, a wave at a time, and writes each wave in order.
fn waves<T: Send + Sync>(
    length: usize,
    lines: usize,
    sinks: &mut [Sink],
    line: impl Fn(usize) -> T + Sync,
    resources: &Resources<'_>,
    write: impl Fn(&mut [Sink], usize, T),
) -> Result<(), EvaluateError> {
    let per_wave = (WAVE / length.max(1)).max(1);
    for first in (0..lines).step_by(per_wave) {
        let last = lines.min(first + per_wave);
        let done: Vec<T> = resources.collect(last - first, |number| line(first + number))?;
        done.into_iter().enumerate().for_each(|(k, done)| write(sinks, (first + k) * length, done));
    }
    Ok(())
}

/// Lines of the elements of a monoid of the table.
struct Lines<'v> {
    /// The operands.
    data: Vec<ArrayView<'v>>,
    /// Of the first.
    errors: Option<ArrayView<'v>>,
    length: usize,
}

/// Some lines of one result, to be written.
struct Slot<'r> {
    dtype: DType,
    values: &'r mut [u8],
    bounds: Option<&'r mut [f32]>,
    /// Whether some bound is not zero.
    some: &'r AtomicBool,
}

impl<'v> Lines<'v> {
    fn of(sources: Vec<Source<'v>>, length: usize) -> Lines<'v> {
        let mut errors = None;
        let mut data = Vec::with_capacity(sources.len());
        for source in sources {
            errors = errors.or(source.errors);
            data.push(source.data);
        }
        Lines { data, errors, length }
    }

    fn scan<R: Reduction>(&self, monoid: &R, sinks: &mut [Sink], resources: &Resources<'_>) {
        let elements = (GRAIN / self.length.max(1)).max(1) * self.length;
        if elements == 0 {
            return;
        }
        let some: Vec<AtomicBool> = sinks.iter().map(|_| AtomicBool::new(false)).collect();
        let pieces = cut(sinks, &some, elements);
        resources.each(pieces.into_iter(), |piece, mut slots| {
            let (mut blocks, mut looks) = (std::array::from_fn(|_| Block::new()), resources.looks());
            for start in (0..slots[0].count()).step_by(self.length) {
                self.line(monoid, [piece * elements + start, start], &mut slots, &mut blocks, &mut looks);
            }
        });
        sinks.iter_mut().zip(some).for_each(|(sink, some)| sink.some |= some.into_inner());
    }

    /// The line from an element on, which is written from `to` on, by way of a block of elements and one of each result.
    fn line<R: Reduction>(
        &self,
        monoid: &R,
        [from, to]: [usize; 2],
        slots: &mut [Slot<'_>],
        [block, columns @ ..]: &mut [Block<R::Item>; 4],
        looks: &mut Looks<'_>,
    ) {
        let mut state = monoid.empty();
        for start in (0..self.length).step_by(BLOCK) {
            let count = BLOCK.min(self.length - start);
            looks.steps(count);
            read(&self.data, self.errors.as_ref(), from + start, count, block);
            monoid.scan(&mut state, block, [start, count], &mut columns[..slots.len()]);
            for (result, (slot, column)) in slots.iter_mut().zip(&*columns).enumerate() {
                slot.write(result, to + start, &column.items[..count], &column.errors[..count]);
            }
        }
    }
}

/// Cuts the results into pieces of so many elements, each with a slot for each result.
fn cut<'r>(sinks: &'r mut [Sink], some: &'r [AtomicBool], elements: usize) -> Vec<SmallVec<[Slot<'r>; 3]>> {
    let mut pieces: Vec<SmallVec<[Slot<'r>; 3]>> = Vec::new();
    for (sink, some) in sinks.iter_mut().zip(some) {
        let dtype = sink.dtype;
        let values = sink.values.array_mut().as_mut_bytes().chunks_mut(elements * dtype.size());
        let mut bounds = sink.bounds.as_mut().map(|all| all.array_mut().as_mut_slice().chunks_mut(elements));
        for (piece, values) in values.enumerate() {
            if piece == pieces.len() {
                pieces.push(SmallVec::new());
            }
            let bounds = bounds.as_mut().and_then(Iterator::next);
            pieces[piece].push(Slot { dtype, values, bounds, some });
        }
    }
    pieces
}

impl Slot<'_> {
    fn count(&self) -> usize {
        self.values.len() / self.dtype.size()
    }

    fn write<I: Item>(&mut self, result: usize, start: usize, items: &[I], errors: &[f64]) {
        let width = self.dtype.size();
        I::write(result, self.dtype, &mut self.values[start * width..(start + items.len()) * width], items);
        if let Some(bounds) = &mut self.bounds
            && round_all_up(errors, &mut bounds[start..start + items.len()])
        {
            self.some.store(true, Ordering::Relaxed);
        }
    }
}
