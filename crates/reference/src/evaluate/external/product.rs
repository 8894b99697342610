//! The inner loops of products of matrices: sums of products in doubles with the sums of their magnitudes, by blocks.
//!
//! It takes rows of one factor and columns of the other and gives three sums of each pair, each in the order of the terms,
//! so that blocks and vectors change no bit. A sum that is not finite is recomputed term by term, with special rules for
//! infinities and NaN.

use ops::lanes::{NullaryFnOnce, wide};

use super::matmul::{Factor, Product};
use crate::evaluate::ParallelFor;

/// Rows and columns of a block of results.
pub(super) const ROWS: usize = 64;
pub(super) const COLUMNS: usize = 512;
/// Terms that are summed before the next columns: a panel of them fits L1.
const DEPTH: usize = 256;
/// Rows and columns whose sums are held in registers.
const HELD_ROWS: usize = 2;
const HELD_COLUMNS: usize = 8;

/// A sum of products.
#[derive(Clone, Copy, Default)]
pub(super) struct Sum {
    pub(super) exact: f64,
    /// Sum of the magnitudes, errors included.
    pub(super) magnitude: f64,
    /// How far errors of the operands may move it.
    pub(super) spread: f64,
}

impl Sum {
    /// Errors of operands move a sum of products by no more than they add to the sum of the magnitudes. Both of these are off
    /// by roundings, which count where there are errors at all: without, the two are equal to the last bit.
    fn between(exact: f64, [min, most]: [f64; 2], depth: usize) -> Sum {
        let roundings = if min == most { 0.0 } else { depth as f64 * f64::EPSILON * most };
        Sum { exact, magnitude: most, spread: (most - min).abs() + roundings }
    }

    fn add(&mut self, a: f64, e: f64, b: f64, f: f64) {
        self.exact += a * b;
        if a.is_finite() && b.is_finite() {
            self.magnitude += (a.abs() + e) * (b.abs() + f);
        }
        if e != 0.0 || f != 0.0 {
            let spread = a.abs() * f + b.abs() * e + e * f;
            self.spread += if spread.is_nan() { f64::INFINITY } else { spread };
        }
    }

    fn is_finite(&self) -> bool {
        (self.exact + self.magnitude + self.spread).is_finite()
    }
}

/// Sums of the pairs of a register block, column by column in lanes.
#[derive(Clone, Copy, Default)]
struct Held {
    exact: [[f64; HELD_COLUMNS]; HELD_ROWS],
    /// Of the magnitudes without errors.
    min: [[f64; HELD_COLUMNS]; HELD_ROWS],
    /// Of the magnitudes with errors; of factors without errors nothing.
    most: [[f64; HELD_COLUMNS]; HELD_ROWS],
}

/// A panel of a factor: for each term the elements of a few rows, or columns, and what their magnitudes are at most, errors
/// included, if some have any. Missing ones are zero.
struct Panel<const N: usize> {
    values: Vec<[f64; N]>,
    most: Vec<[f64; N]>,
}

impl<const N: usize> Panel<N> {
    fn new() -> Panel<N> {
        Panel { values: vec![[0.0; N]; DEPTH], most: vec![[0.0; N]; DEPTH] }
    }

    /// Elements `count` a stride `along` apart for each of the terms, which are a stride `down` apart.
    fn pack(&mut self, factor: &Factor, start: usize, count: usize, [along, down]: [usize; 2], terms: usize) {
        let pack = |from: &[f64], to: &mut [[f64; N]]| {
            for (term, slots) in to[..terms].iter_mut().enumerate() {
                let first = start + term * down;
                if count == N && along == 1 {
                    slots.copy_from_slice(&from[first..first + N]);
                    continue;
                }
                for (k, slot) in slots.iter_mut().enumerate() {
                    *slot = if k < count { from[first + k * along] } else { 0.0 };
                }
            }
        };
        pack(factor.values(), &mut self.values);
        match factor.errors() {
            Some(errors) => pack(errors, &mut self.most),
            None => self.most[..terms].fill([0.0; N]),
        }
    }

    /// Replaces errors of the terms by the largest possible magnitudes.
    fn add_magnitudes(&mut self, terms: usize) {
        for (most, values) in self.most[..terms].iter_mut().zip(&self.values[..terms]) {
            most.iter_mut().zip(values).for_each(|(most, value)| *most += value.abs());
        }
    }
}

/// The sums of a block of results of a product, row by row, checking the interrupt for each panel.
pub(super) fn block(
    [a, b]: [&Factor; 2],
    product: &Product,
    [first_row, first_column]: [usize; 2],
    [rows, columns]: [usize; 2],
    workers: &dyn ParallelFor,
) -> Vec<Sum> {
    let across = columns.div_ceil(HELD_COLUMNS);
    let mut held = vec![Held::default(); rows.div_ceil(HELD_ROWS) * across];
    let inexact = a.errors().is_some() || b.errors().is_some();
    let mut lefts: Vec<Panel<HELD_ROWS>> = (0..rows.div_ceil(HELD_ROWS)).map(|_| Panel::new()).collect();
    let mut right = Panel::<HELD_COLUMNS>::new();
    for from in (0..product.depth).step_by(DEPTH) {
        workers.look();
        let terms = DEPTH.min(product.depth - from);
        for (left, row) in lefts.iter_mut().zip((0..rows).step_by(HELD_ROWS)) {
            let start = product.a + (first_row + row) * product.a_row + from;
            let count = HELD_ROWS.min(rows - row);
            left.pack(a, start, count, [product.a_row, 1], terms);
            if inexact {
                left.add_magnitudes(terms);
            }
        }
        for (number, column) in (0..columns).step_by(HELD_COLUMNS).enumerate() {
            let start = product.b + from * product.b_row + first_column + column;
            let count = HELD_COLUMNS.min(columns - column);
            right.pack(b, start, count, [1, product.b_row], terms);
            if inexact {
                right.add_magnitudes(terms);
            }
            for (row, left) in lefts.iter().enumerate() {
                let sums = &mut held[row * across + number];
                let step = Step { sums, left, right: &right, terms };
                match inexact {
                    true => wide(Inexact(step)),
                    false => wide(Exact(step)),
                }
            }
        }
    }
    let sum = |row: usize, column: usize| {
        let held = &held[row / HELD_ROWS * across + column / HELD_COLUMNS];
        let (row, column) = (row % HELD_ROWS, column % HELD_COLUMNS);
        let (exact, min) = (held.exact[row][column], held.min[row][column]);
        match inexact {
            true => Sum::between(exact, [min, held.most[row][column]], product.depth),
            false => Sum { exact, magnitude: min, spread: 0.0 },
        }
    };
    let tile_element = |place: usize| {
        let (row, column) = (place / columns, place % columns);
        let sum = sum(row, column);
        if sum.is_finite() {
            sum
        } else {
            workers.look();
            term_by_term([a, b], product, first_row + row, first_column + column)
        }
    };
    (0..rows * columns).map(tile_element).collect()
}

/// One sum by the rules for terms that are not finite.
fn term_by_term([a, b]: [&Factor; 2], product: &Product, row: usize, column: usize) -> Sum {
    let mut sum = Sum::default();
    let error = |factor: &Factor, place: usize| factor.errors().map_or(0.0, |errors| errors[place]);
    for term in 0..product.depth {
        let left = product.a + row * product.a_row + term;
        let right = product.b + term * product.b_row + column;
        sum.add(a.values()[left], error(a, left), b.values()[right], error(b, right));
    }
    sum
}

/// Terms to be added to the sums of a register block.
struct Step<'p> {
    sums: &'p mut Held,
    left: &'p Panel<HELD_ROWS>,
    right: &'p Panel<HELD_COLUMNS>,
    terms: usize,
}

/// Of factors without errors.
struct Exact<'p>(Step<'p>);

impl NullaryFnOnce for Exact<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Step { sums, left, right, terms } = self.0;
        let Held { mut exact, mut min, .. } = *sums;
        for (a, b) in left.values[..terms].iter().zip(&right.values[..terms]) {
            for row in 0..HELD_ROWS {
                let product = lanes(|column| a[row] * b[column]);
                exact[row] = lanes(|column| exact[row][column] + product[column]);
                min[row] = lanes(|column| min[row][column] + product[column].abs());
            }
        }
        (sums.exact, sums.min) = (exact, min);
    }
}

/// Of factors with errors.
struct Inexact<'p>(Step<'p>);

impl NullaryFnOnce for Inexact<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Step { sums, left, right, terms } = self.0;
        let Held { mut exact, mut min, mut most } = *sums;
        let lefts = left.values[..terms].iter().zip(&left.most[..terms]);
        let rights = right.values[..terms].iter().zip(&right.most[..terms]);
        for ((a, c), (b, d)) in lefts.zip(rights) {
            for row in 0..HELD_ROWS {
                let product = lanes(|column| a[row] * b[column]);
                exact[row] = lanes(|column| exact[row][column] + product[column]);
                min[row] = lanes(|column| min[row][column] + product[column].abs());
                most[row] = lanes(|column| most[row][column] + c[row] * d[column]);
            }
        }
        *sums = Held { exact, min, most };
    }
}

/// A number for each column of a register block.
#[inline(always)]
fn lanes(number: impl Fn(usize) -> f64) -> [f64; HELD_COLUMNS] {
    let mut numbers = [0.0; HELD_COLUMNS];
    for (column, slot) in numbers.iter_mut().enumerate() {
        *slot = number(column);
    }
    numbers
}
