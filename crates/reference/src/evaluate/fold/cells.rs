//! Folds and scans evaluated step by step on constants: bodies of lambdas, and numbered elements with an inexact number.
//!
//! Each step is the op's meaning rounded to its dtype, with the error that it may have. A lambda promises that grouping does
//! not matter except for rounding; the effect of rounding is unknown for a body in general. So a fold is taken in several
//! groupings, from the front, from the back, in halves, in lanes, from the smallest element and from the largest, which
//! overflow or lose digits if any does, and with lanes that have no element, which an identity that is none for some
//! elements changes. Its bound is a multiple of the largest error and distance among them. A lambda of moments may also be
//! as far off as the built-in fold (`built_in.rs`).

use ops::{Arith, BodyArith, DType, MomentStates, Monoid, Scalar, ScalarOp, moments};

use super::super::EvaluateError;
use super::super::block::{write_int, write_real};
use super::super::bound::{Rounding, apart};
use super::super::spread::spread;
use super::super::value::BoundedValue;
use super::super::workers::{Looks, ParallelFor, Resources};
use super::Sink;
use super::built_in::as_built_in;
use super::scan::Source;

/// The factor between the bound of a body and the differences seen in a few groupings.
const MARGIN: f64 = 4.0;

/// Lanes of one of the groupings.
const LANES: usize = 16;

/// A constant and how far compiled code may be from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub value: Scalar,
    pub error: f64,
}

/// Arithmetic on cells.
struct Steps<'w> {
    /// The dtype of numbers in the expressions of rows.
    dtype: DType,
    /// Whether errors are needed.
    bounds: bool,
    looks: Looks<'w>,
}

impl Arith for Steps<'_> {
    type V = Cell;

    fn apply(&mut self, op: ScalarOp, args: &[Cell]) -> Cell {
        self.looks.step();
        let scalars: Vec<Scalar> = args.iter().map(|cell| cell.value).collect();
        let value = op.of_scalars(&scalars).expect("shape rules admit bodies that compute in their dtypes");
        let error = if self.bounds { self.error(op, args, value) } else { 0.0 };
        Cell { value, error }
    }

    fn constant(&mut self, value: f64) -> Cell {
        self.scalar(Scalar::written(self.dtype, value))
    }
}

impl BodyArith for Steps<'_> {
    fn scalar(&mut self, constant: Scalar) -> Cell {
        Cell { value: constant, error: 0.0 }
    }

    fn cast(&mut self, cell: &Cell, _: DType, to: DType) -> Cell {
        let value = cell.value.cast(to);
        if cell.error == 0.0 {
            return Cell { value, error: 0.0 };
        }
        let at = |x: f64| apart(Scalar::from_f64(to, x).as_f64(), value.as_f64());
        let x = cell.value.as_f64();
        let widest = at(x - cell.error).max(at(x + cell.error)).max(cell.error);
        Cell { value, error: if to == DType::Bool { at(x - cell.error).max(1.0) } else { widest } }
    }
}

impl Steps<'_> {
    fn error(&self, op: ScalarOp, args: &[Cell], value: Scalar) -> f64 {
        let row = op.row();
        let rounding = Rounding::new(value.dtype(), row.ulp);
        let sure = args.iter().all(|cell| cell.error == 0.0);
        let rounds = rounding.unit > 0.0 && row.ulp > 0.0;
        if sure && !rounds {
            return 0.0;
        }
        let is_finite = |scalar: Scalar| scalar.as_f64().is_finite();
        if rounds && !is_finite(value) && args.iter().all(|cell| is_finite(cell.value)) {
            // Other groupings may stay finite, or overflow elsewhere.
            return f64::INFINITY;
        }
        let reals: Vec<[f64; 1]> = args.iter().map(|cell| [cell.value.as_f64()]).collect();
        let errors: Vec<[f64; 1]> = args.iter().map(|cell| [cell.error]).collect();
        let (reals, errors): (Vec<&[f64]>, Vec<&[f64]>) =
            (reals.iter().map(|x| &x[..]).collect(), errors.iter().map(|x| &x[..]).collect());
        let exact = value.as_f64();
        let mut moved = [0.0];
        spread(op, &reals, &errors, &[exact], &mut moved);
        // The smallest positive error says that the steps may not agree, though the operands did here. A spread that is
        // NaN, as of a zero by what may be anything, stays one and becomes an infinite bound.
        let spread = if rounds && moved[0] == 0.0 { f64::MIN_POSITIVE } else { moved[0] };
        rounding.total(exact, spread)
    }
}

/// A monoid evaluated on cells.
pub(super) struct Cells<'m> {
    monoid: &'m Monoid,
    identity: Vec<Cell>,
    dtype: DType,
    bounds: bool,
    /// The states of a lambda that compiled code may compute as the built-in fold.
    moments: Option<MomentStates>,
    workers: &'m dyn ParallelFor,
}

impl<'m> Cells<'m> {
    pub(super) fn new(
        monoid: &'m Monoid,
        dtypes: &[DType],
        bounds: bool,
        workers: &'m dyn ParallelFor,
    ) -> Cells<'m> {
        let exact = |value| Cell { value, error: 0.0 };
        let identity = monoid.identity(dtypes).into_iter().map(exact).collect();
        let moments = match monoid {
            Monoid::Lambda(lambda) if bounds => moments(lambda),
            _ => None,
        };
        Cells { monoid, identity, dtype: dtypes[0], bounds, moments, workers }
    }

    fn steps(&self) -> Steps<'m> {
        Steps { dtype: self.dtype, bounds: self.bounds, looks: self.looks() }
    }

    fn looks(&self) -> Looks<'m> {
        Looks::new(self.workers)
    }

    /// The states at each place of a line, place by place.
    pub(super) fn scan(&self, sources: &[Source<'_>], start: usize, length: usize) -> Vec<Vec<Cell>> {
        let elements = self.elements(sources, start, length);
        let (mut steps, mut states) = (self.steps(), self.identity.clone());
        let next = |element: &Vec<Cell>| {
            states = self.monoid.step(&mut steps, &states, element);
            self.widened(&states)
        };
        elements.iter().map(next).collect()
    }

    /// The states of a whole line.
    fn fold(&self, sources: &[Source<'_>], start: usize, length: usize) -> Vec<Cell> {
        let elements = self.elements(sources, start, length);
        let steps = &mut self.steps();
        let forward = self.run(steps, elements.iter());
        if !self.bounds || !matches!(self.monoid, Monoid::Lambda(_)) {
            return forward;
        }
        let mut sorted: Vec<&Vec<Cell>> = elements.iter().collect();
        sorted.sort_by(|a, b| {
            steps.looks.step();
            magnitude(a).total_cmp(&magnitude(b))
        });
        let others = [
            self.run(steps, elements.iter().rev()),
            self.halves(steps, &elements),
            self.sparse(steps, &elements),
            self.lanes(steps, &elements),
            self.run(steps, sorted.iter().copied()),
            self.run(steps, sorted.iter().copied().rev()),
        ];
        let mut widest = forward;
        for states in others {
            for (cell, other) in widest.iter_mut().zip(states) {
                let distance = apart(other.value.as_f64(), cell.value.as_f64());
                cell.error = cell.error.max(distance + other.error);
            }
        }
        let mut states = self.widened(&widest);
        if let Some(moments) = &self.moments {
            as_built_in(moments, &elements, &mut states);
        }
        states
    }

    /// Nothing is known about a body except the results of a few groupings.
    fn widened(&self, states: &[Cell]) -> Vec<Cell> {
        let margin = if matches!(self.monoid, Monoid::Lambda(_)) { MARGIN } else { 1.0 };
        let widen = |cell: &Cell| Cell { error: sure(cell.error * margin), ..*cell };
        states.iter().map(widen).collect()
    }

    fn run<'e>(&self, steps: &mut Steps<'_>, elements: impl Iterator<Item = &'e Vec<Cell>>) -> Vec<Cell> {
        elements.fold(self.identity.clone(), |states, element| self.monoid.step(steps, &states, element))
    }

    fn lanes(&self, steps: &mut Steps<'_>, elements: &[Vec<Cell>]) -> Vec<Cell> {
        let of_lane = |lane: usize| self.run(steps, elements.iter().skip(lane).step_by(LANES));
        let lanes: Vec<Vec<Cell>> = (0..LANES).map(of_lane).collect();
        let first = lanes[0].clone();
        lanes[1..].iter().fold(first, |states, lane| self.monoid.combine(steps, &states, lane))
    }

    /// After each element a lane that has none.
    fn sparse(&self, steps: &mut Steps<'_>, elements: &[Vec<Cell>]) -> Vec<Cell> {
        let next = |states: Vec<Cell>, element: &Vec<Cell>| {
            let states = self.monoid.step(steps, &states, element);
            self.monoid.combine(steps, &states, &self.identity)
        };
        elements.iter().fold(self.identity.clone(), next)
    }

    fn halves(&self, steps: &mut Steps<'_>, elements: &[Vec<Cell>]) -> Vec<Cell> {
        if elements.len() < 2 {
            return self.run(steps, elements.iter());
        }
        let (front, back) = elements.split_at(elements.len() / 2);
        let [front, back] = [front, back].map(|half| self.halves(steps, half));
        self.monoid.combine(steps, &front, &back)
    }

    /// The elements of a line, each with a cell for each operand.
    fn elements(&self, sources: &[Source<'_>], start: usize, length: usize) -> Vec<Vec<Cell>> {
        let mut looks = self.looks();
        let cell = |source: &Source<'_>, number: usize| {
            let errors = source.errors.as_ref().filter(|_| self.bounds);
            let error = errors.map_or(0.0, |view| view.scalar(number).as_f64());
            Cell { value: source.data.scalar(number), error }
        };
        let element = |number: usize| {
            looks.step();
            sources.iter().map(|source| cell(source, number)).collect()
        };
        (start..start + length).map(element).collect()
    }
}

/// The largest number of an element.
fn magnitude(element: &[Cell]) -> f64 {
    element.iter().map(|cell| cell.value.as_f64().abs()).fold(0.0, f64::max)
}

/// An error, infinite if nothing is known.
pub(super) fn sure(error: f64) -> f64 {
    if error.is_nan() { f64::INFINITY } else { error }
}

/// Writes the states of consecutive places.
pub(super) fn write(sinks: &mut [Sink], start: usize, places: Vec<Vec<Cell>>) {
    for (state, sink) in sinks.iter_mut().enumerate() {
        let cells = || places.iter().map(|states| states[state]);
        let width = sink.dtype.size();
        let bytes =
            &mut sink.values.array_mut().as_mut_bytes()[start * width..(start + places.len()) * width];
        match sink.dtype.is_float() {
            true => {
                write_real(sink.dtype, bytes, &cells().map(|cell| cell.value.as_f64()).collect::<Vec<_>>())
            }
            false => {
                write_int(sink.dtype, bytes, &cells().map(|cell| cell.value.as_i64()).collect::<Vec<_>>())
            }
        }
        sink.write_bounds(start, cells().map(|cell| cell.error));
    }
}

/// These axes of the operands reduced.
pub(super) fn fold(
    monoid: &Monoid,
    operands: &[BoundedValue<'_>],
    axes: &[u8],
    bounds: bool,
    resources: &Resources<'_>,
) -> Result<Vec<BoundedValue<'static>>, EvaluateError> {
    let sizes = operands[0].sizes();
    let is_folded = |axis: &usize| axes.contains(&(*axis as u8));
    let (inner, outer): (Vec<usize>, Vec<usize>) = (0..sizes.len()).partition(is_folded);
    let kept: Vec<usize> = outer.iter().map(|&axis| sizes[axis]).collect();
    let length: usize = inner.iter().map(|&axis| sizes[axis]).product();
    let order = [outer, inner].concat();
    let sources: Vec<Source<'_>> = operands.iter().map(|value| Source::of(value, &order)).collect();
    let dtypes: Vec<DType> = operands.iter().map(|value| value.data.view().dtype()).collect();
    let mut sinks = monoid
        .result_dtypes(&dtypes)
        .into_iter()
        .map(|dtype| Sink::new(dtype, &kept, bounds, resources))
        .collect::<Result<Vec<_>, _>>()?;
    let cells = Cells::new(monoid, &dtypes, bounds, resources.workers);
    let results: usize = kept.iter().product();
    let states = resources.collect(results, |result| cells.fold(&sources, result * length, length))?;
    write(&mut sinks, 0, states);
    Ok(sinks.into_iter().map(Sink::into_value).collect())
}
