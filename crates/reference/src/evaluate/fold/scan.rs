//! Scans: each element combined with all before it along an axis.
//!
//! A line is walked in order, and the bound at each place is that of a fold so far in any grouping. If the axis is the last
//! one, lines are walked one after the other; otherwise neighbouring lines are walked side by side, row by row. Threads take
//! lines, a few at a time, and write their own part of the results.

use std::sync::atomic::{AtomicBool, Ordering};

use ir::array::{ArrayView, Layout, prefetch};
use ops::{DType, Monoid};
use smallvec::SmallVec;

use super::super::EvaluateError;
use super::super::block::{BLOCK, GRAIN};
use super::super::bound::round_all_up;
use super::super::map::straightened;
use super::super::value::{BoundedValue, Strided};
use super::super::workers::{Looks, Resources};
use super::cells::{self, Cells};
use super::integers::Integers;
use super::monoids::Extreme;
use super::places::Places;
use super::product::Product;
use super::sum::Sum;
use super::welford::Welford;
use super::{Block, Item, Reduction, Sink, is_stepped, read, with_reduction};

/// Elements that are in flight before results are written.
const WAVE: usize = 1 << 18;

/// How many neighbouring lines are walked side by side.
const ABREAST: usize = 32;

/// The operands scanned along an axis; one result per state of the monoid.
pub(in super::super) fn scan(
    monoid: &Monoid,
    operands: &[BoundedValue<'_>],
    axis: usize,
    bounds: bool,
    resources: &Resources<'_>,
) -> Result<Vec<BoundedValue<'static>>, EvaluateError> {
    let rank = operands[0].sizes().len();
    let inner: usize = operands[0].sizes()[axis + 1..].iter().product();
    let is_abreast = inner >= ABREAST && !is_stepped(monoid, operands);
    let order: Vec<usize> = match is_abreast {
        true => (0..rank).collect(),
        false => (0..rank).filter(|&other| other != axis).chain([axis]).collect(),
    };
    let sizes: Vec<usize> = order.iter().map(|&axis| operands[0].sizes()[axis]).collect();
    let dtypes: Vec<_> = operands.iter().map(|value| value.data.view().dtype()).collect();
    let sinks = |is_sure: &dyn Fn(usize) -> bool| -> Result<Vec<Sink>, EvaluateError> {
        let results = monoid.result_dtypes(&dtypes).into_iter().enumerate();
        let sink = |(result, dtype)| Sink::new(dtype, &sizes, bounds && !is_sure(result), resources);
        results.map(sink).collect()
    };
    let operands: Vec<BoundedValue<'_>> = operands
        .iter()
        .map(|value| value.relaid(|layout| layout.permuted(order.iter().copied())))
        .map(|lined| straightened(lined, &sizes, resources))
        .collect();
    let last: Vec<usize> = (0..rank).collect();
    let sources: Vec<Source<'_>> = operands.iter().map(|value| Source::of(value, &last)).collect();
    let length = operands[0].sizes()[if is_abreast { axis } else { rank - 1 }];
    let sinks = if is_stepped(monoid, &operands) {
        let lines = sizes[..rank - 1].iter().product();
        let cells = Cells::new(monoid, &dtypes, bounds, resources.workers);
        let mut sinks = sinks(&|_| false)?;
        let line = |line: usize| cells.scan(&sources, line * length, length);
        waves(length, lines, &mut sinks, line, resources, cells::write)?;
        sinks
    } else {
        let lines = Lines::of(sources, length, if is_abreast { inner } else { 1 });
        with_reduction!(monoid, dtypes[0], reduction => {
            let mut sinks = sinks(&|result| reduction.is_sure(result, length, lines.errors.is_some()))?;
            lines.scan(&reduction, &mut sinks, resources);
            sinks
        })
    };
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
    /// How many lines are neighbours, so that their elements at one place are a row.
    abreast: usize,
}

/// A part of one result, to be written.
struct Slot<'r> {
    dtype: DType,
    values: &'r mut [u8],
    bounds: Option<&'r mut [f32]>,
    /// Whether some bound is not zero.
    some: &'r AtomicBool,
}

/// A part of each result.
type Slots<'r> = SmallVec<[Slot<'r>; 3]>;

impl<'v> Lines<'v> {
    fn of(sources: Vec<Source<'v>>, length: usize, abreast: usize) -> Lines<'v> {
        let mut errors = None;
        let mut data = Vec::with_capacity(sources.len());
        for source in sources {
            errors = errors.or(source.errors);
            data.push(source.data);
        }
        Lines { data, errors, length, abreast }
    }

    fn scan<R: Reduction>(&self, monoid: &R, sinks: &mut [Sink], resources: &Resources<'_>) {
        if self.data[0].numel() == 0 {
            return;
        }
        let some: Vec<AtomicBool> = sinks.iter().map(|_| AtomicBool::new(false)).collect();
        match self.abreast {
            1 => self.scan_lines(monoid, sinks, &some, resources),
            _ => self.scan_rows(monoid, sinks, &some, resources),
        }
        sinks.iter_mut().zip(some).for_each(|(sink, some)| sink.some |= some.into_inner());
    }

    /// Elements from the first number on; those from the second one on are read next.
    fn read<I: Item>(&self, numbers: [usize; 2], out: (&mut [I], &mut [f64])) {
        read(&self.data, self.errors.as_ref(), numbers, out);
    }

    /// One line after the other.
    fn scan_lines<R: Reduction>(
        &self,
        monoid: &R,
        sinks: &mut [Sink],
        some: &[AtomicBool],
        resources: &Resources<'_>,
    ) {
        let elements = (GRAIN / self.length).max(1) * self.length;
        resources.each(cut(sinks, some, elements, elements).into_iter(), |piece, mut slots| {
            let (mut blocks, mut looks) = (std::array::from_fn(|_| Block::new()), resources.looks());
            for start in (0..slots[0].count()).step_by(self.length) {
                self.line(monoid, [piece * elements + start, start], &mut slots, &mut blocks, &mut looks);
            }
        });
    }

    /// One row after the other, in blocks of lines.
    fn scan_rows<R: Reduction>(
        &self,
        monoid: &R,
        sinks: &mut [Sink],
        some: &[AtomicBool],
        resources: &Resources<'_>,
    ) {
        let blocks = self.abreast.div_ceil(BLOCK);
        let rows = self.data[0].numel() / self.abreast;
        let mut pieces: Vec<Vec<Slots<'_>>> = Vec::new();
        pieces.resize_with(rows / self.length * blocks, || Vec::with_capacity(self.length));
        for (number, slots) in cut(sinks, some, self.abreast, BLOCK).into_iter().enumerate() {
            let (row, block) = (number / blocks, number % blocks);
            pieces[row / self.length * blocks + block].push(slots);
        }
        resources.each(pieces.into_iter(), |piece, rows| {
            let start = piece / blocks * self.length * self.abreast + piece % blocks * BLOCK;
            self.block(monoid, start, rows, &mut resources.looks());
        });
    }

    /// The lines of a block, whose first elements are those from one on, row by row.
    fn block<R: Reduction>(&self, monoid: &R, start: usize, rows: Vec<Slots<'_>>, looks: &mut Looks<'_>) {
        let [mut block, mut columns @ ..]: [Block<R::Item>; 4] = std::array::from_fn(|_| Block::new());
        let mut lines = monoid.lines();
        for (row, mut slots) in rows.into_iter().enumerate() {
            let (count, results) = (slots[0].count(), slots.len());
            looks.steps(count);
            let first = start + row * self.abreast;
            slots.iter().for_each(|slot| slot.prefetch(0, count));
            self.read([first, first + self.abreast], block.part(0..count));
            monoid.step(&mut lines, &block, [count, row + 1], &mut columns[..results]);
            for (result, (slot, column)) in slots.iter_mut().zip(&columns).enumerate() {
                slot.write(result, 0, &column.items[..count], &column.errors[..count]);
            }
        }
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
            let first = from + start;
            slots.iter().for_each(|slot| slot.prefetch(to + start, count));
            self.read([first, first + count], block.part(0..count));
            monoid.scan(&mut state, block, [start, count], &mut columns[..slots.len()]);
            for (result, (slot, column)) in slots.iter_mut().zip(&*columns).enumerate() {
                slot.write(result, to + start, &column.items[..count], &column.errors[..count]);
            }
        }
    }
}

/// Cuts the results into rows of `row` elements, and these into parts, each with a slot for each result.
fn cut<'r>(sinks: &'r mut [Sink], some: &'r [AtomicBool], row: usize, part: usize) -> Vec<Slots<'r>> {
    let mut parts: Vec<Slots<'r>> = Vec::new();
    for (sink, some) in sinks.iter_mut().zip(some) {
        let (dtype, width) = (sink.dtype, sink.dtype.size());
        let rows = sink.values.array_mut().as_mut_bytes().chunks_mut(row * width);
        let values = rows.flat_map(|row| row.chunks_mut(part * width));
        let mut bounds = sink
            .bounds
            .as_mut()
            .map(|all| all.array_mut().as_mut_slice().chunks_mut(row).flat_map(|row| row.chunks_mut(part)));
        for (number, values) in values.enumerate() {
            if number == parts.len() {
                parts.push(SmallVec::new());
            }
            let bounds = bounds.as_mut().and_then(Iterator::next);
            parts[number].push(Slot { dtype, values, bounds, some });
        }
    }
    parts
}

impl Slot<'_> {
    fn count(&self) -> usize {
        self.values.len() / self.dtype.size()
    }

    /// Memory that is written after the computation is cached by then.
    fn prefetch(&self, start: usize, count: usize) {
        let width = self.dtype.size();
        prefetch(self.values[start * width..].as_ptr(), count * width);
        if let Some(bounds) = &self.bounds {
            prefetch(bounds[start..].as_ptr().cast(), count * size_of::<f32>());
        }
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
