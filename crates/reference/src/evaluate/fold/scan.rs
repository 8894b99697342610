//! Scans: each element combined with all before it along an axis, line by line.
//!
//! A line is walked in order, and the bound at each place is that of a fold so far in any grouping.

use ir::array::{ArrayView, Layout};
use ops::Monoid;

use super::super::EvaluateError;
use super::super::block::read_real;
use super::super::value::{Strided, Value};
use super::super::workers::Resources;
use super::cells::{self, Cells};
use super::monoids::{Extreme, Integers, Product, Sum, Welford};
use super::{Item, Reduction, Sink, with_reduction};

/// Elements that are in flight before results are written.
const WAVE: usize = 1 << 18;

/// The operands scanned along an axis; one result per state of the monoid.
pub(in super::super) fn scan(
    monoid: &Monoid,
    operands: &[Value<'_>],
    axis: usize,
    bounds: bool,
    resources: &Resources<'_>,
) -> Result<Vec<Value<'static>>, EvaluateError> {
    let rank = operands[0].sizes().len();
    let order: Vec<usize> = (0..rank).filter(|&other| other != axis).chain([axis]).collect();
    let sizes: Vec<usize> = order.iter().map(|&axis| operands[0].sizes()[axis]).collect();
    let dtypes: Vec<_> = operands.iter().map(|value| value.data.view().dtype()).collect();
    let mut sinks = monoid
        .result_dtypes(&dtypes)
        .into_iter()
        .map(|dtype| Sink::new(dtype, &sizes, bounds, resources))
        .collect::<Result<Vec<_>, _>>()?;
    let sources: Vec<Source<'_>> = operands.iter().map(|value| Source::of(value, &order)).collect();
    let (length, lines) = (sizes[rank - 1], sizes[..rank - 1].iter().product());
    let results = sinks.len();
    if matches!(monoid, Monoid::Argmax | Monoid::Argmin | Monoid::Lambda(_)) {
        let cells = Cells::new(monoid, &dtypes, bounds);
        waves(
            length,
            lines,
            &mut sinks,
            |line| cells.scan(&sources, line * length, length),
            resources,
            cells::write,
        )?;
    } else {
        with_reduction!(monoid, dtypes[0], reduction => {
            waves(length, lines, &mut sinks, |line| line_of(&reduction, &sources[0], line * length, length, results), resources, write)?;
        });
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
    pub(super) fn of(value: &'v Value<'_>, order: &[usize]) -> Source<'v> {
        let seen = |strided: &'v Strided<'_>| {
            strided.view_as(strided.layout().permuted(order.iter().copied()).merged())
        };
        Source { data: seen(&value.data), errors: value.bound.as_ref().map(seen) }
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

/// One result of a line, place by place.
struct Column<I> {
    items: Vec<I>,
    bounds: Vec<f64>,
}

/// One line of a monoid of one operand: its results.
fn line_of<R: Reduction>(
    monoid: &R,
    source: &Source<'_>,
    start: usize,
    length: usize,
    results: usize,
) -> Vec<Column<R::Item>> {
    let mut items = vec![R::Item::default(); length];
    let mut errors = vec![0.0; length];
    R::Item::read(&source.data, start, &mut items);
    if let Some(view) = &source.errors {
        read_real(view, start, &mut errors);
    }
    let column = || Column { items: vec![R::Item::default(); length], bounds: vec![0.0; length] };
    let mut columns: Vec<_> = (0..results).map(|_| column()).collect();
    let mut state = monoid.empty();
    for (place, (item, error)) in items.into_iter().zip(errors).enumerate() {
        monoid.take(&mut state, item, error);
        for (column, (item, bound)) in columns.iter_mut().zip(monoid.finish(state, place + 1)) {
            (column.items[place], column.bounds[place]) = (item, bound);
        }
    }
    columns
}

fn write<I: Item>(sinks: &mut [Sink], start: usize, line: Vec<Column<I>>) {
    for (sink, column) in sinks.iter_mut().zip(line) {
        sink.write(start, &column.items, column.bounds.into_iter());
    }
}
