//! Products of matrices in tiles, each computed by one thread.
//!
//! f32 and f64 are multiplied in place. Half types become f32 in panels, are accumulated in f32, and are rounded once. Long
//! sums of f32 are cut into slices that are added up in f64, so that rounding errors do not grow with their length. Tiles,
//! panels and slices come from sizes alone.

use std::sync::{Mutex, PoisonError};

use gemm::{Parallelism, gemm};
use half::{bf16, f16};
use ir::array::products::{Matrix, Product};
use ir::array::{ArrayView, Element};
use ops::DType;

use super::lines::Shared;
use crate::pool::Workers;

/// Rows and columns of a tile: large enough that packing costs little beside multiplying, small enough to share.
const ROWS: usize = 256;
const COLUMNS: usize = 256;
/// How much of the summed axis is added up in f32 and converted at a time.
const DEPTH: usize = 512;
/// How much of the summed axis is added up in place between two checks of an interrupt.
const DEPTH_IN_PLACE: usize = 4096;
/// The number of products up to which a sum is short.
const MAX_SHORT_SUM: usize = 2;

/// The parts of a product: each is computed by one thread.
fn tiles(product: &Product) -> impl Iterator<Item = Product> + '_ {
    let (rows, columns) = (product.a.rows, product.b.columns);
    (0..rows).step_by(ROWS).flat_map(move |i| {
        (0..columns).step_by(COLUMNS).map(move |j| Product {
            a: product.a.rows(i, rows.min(i + ROWS)),
            b: product.b.columns(j, columns.min(j + COLUMNS)),
            first: product.first + i * product.row + j,
            row: product.row,
        })
    })
}

/// Computes products that write different elements of the result; all others become zero.
pub fn multiply_all(
    a: &ArrayView<'_>,
    b: &ArrayView<'_>,
    products: &[Product],
    result: &Shared<'_>,
    workers: &Workers<'_>,
) {
    let tiles: Vec<Product> = products.iter().flat_map(tiles).collect();
    let written: usize =
        tiles.iter().filter(|tile| tile.a.columns > 0).map(|tile| tile.a.rows * tile.b.columns).sum();
    if written < result.numel() {
        // SAFETY: no thread multiplies yet.
        unsafe { result.clear(workers) };
    }
    let tiles: Vec<Product> = tiles.into_iter().filter(|tile| tile.a.columns > 0).collect();
    let sums: Vec<Mutex<Sums>> = (0..workers.threads()).map(|_| Mutex::default()).collect();
    workers.run(tiles.len(), 1, &|worker, begin, end| {
        let mut sums = sums[worker].lock().unwrap_or_else(PoisonError::into_inner);
        tiles[begin..end].iter().for_each(|part| Tile { a, b, part, result, workers }.multiply(&mut sums));
    });
}

/// The sums of a tile, which a worker reuses from tile to tile: fresh memory would take a twentieth of a product's time.
#[derive(Default)]
struct Sums {
    /// Of a slice, row-major; finally of all.
    slice: Vec<f32>,
    /// Of the slices so far, if there are several.
    totals: Vec<f64>,
}

impl Sums {
    /// The sum of the tiles that `multiply` writes for each slice of the summed axis, row-major; several are added up in f64
    /// and rounded once.
    fn of_slices(&mut self, tile: &Tile<'_>, multiply: impl Fn(usize, usize, Place<*mut f32>)) -> &[f32] {
        let [rows, columns, depth] = tile.sizes();
        self.slice.resize(rows * columns, 0.0);
        for start in (0..depth).step_by(DEPTH) {
            tile.workers.look();
            let target = Place { at: self.slice.as_mut_ptr(), row: columns as isize, column: 1 };
            multiply(start, depth.min(start + DEPTH), target);
            match start {
                _ if depth <= DEPTH => {}
                0 => self.begin(),
                _ => {
                    self.totals.iter_mut().zip(&self.slice).for_each(|(total, &sum)| *total += f64::from(sum))
                }
            }
        }
        if depth > DEPTH {
            self.slice.iter_mut().zip(&self.totals).for_each(|(sum, &total)| *sum = total as f32);
        }
        &self.slice
    }

    /// The first slice becomes the sum so far.
    fn begin(&mut self) {
        self.totals.clear();
        self.totals.extend(self.slice.iter().map(|&sum| f64::from(sum)));
    }
}

/// A type that is multiplied in place.
trait Factor: Element {
    const ZERO: Self;
    const ONE: Self;
}

impl Factor for f32 {
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;
}

impl Factor for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
}

/// An address with the strides from row to row and from column to column.
#[derive(Clone, Copy)]
struct Place<P> {
    at: P,
    row: isize,
    column: isize,
}

/// `target = a @ b`, or `target += a @ b`. A sum begins with zero, so that a sum of -0 is +0; `gemm` begins short ones with
/// their first product, so the target is zeroed before.
///
/// # Safety
/// All elements of the three matrices must be there, those of the target for this thread alone.
unsafe fn multiply<T: Factor>(
    [rows, columns, depth]: [usize; 3],
    target: Place<*mut T>,
    adds: bool,
    a: Place<*const T>,
    b: Place<*const T>,
) {
    let is_short = !adds && depth <= MAX_SHORT_SUM;
    // SAFETY: the caller's; the strides are those of the pointers.
    unsafe {
        if is_short {
            for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
                target.at.offset(row as isize * target.row + column as isize * target.column).write(T::ZERO);
            }
        }
        gemm(
            rows,
            columns,
            depth,
            target.at,
            target.column,
            target.row,
            adds || is_short,
            a.at,
            a.column,
            a.row,
            b.at,
            b.column,
            b.row,
            T::ONE,
            T::ONE,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

/// The place of a matrix in an operand.
fn factor<T: Factor>(view: &ArrayView<'_>, matrix: &Matrix) -> Place<*const T> {
    let view = view.relaid(matrix.layout()).expect("a part of the operand");
    Place { at: view.as_ptr().cast::<T>(), row: matrix.row, column: matrix.column }
}

/// A part of the result that one thread computes.
struct Tile<'t> {
    a: &'t ArrayView<'t>,
    b: &'t ArrayView<'t>,
    part: &'t Product,
    result: &'t Shared<'t>,
    workers: &'t Workers<'t>,
}

impl Tile<'_> {
    fn multiply(&self, sums: &mut Sums) {
        match (self.a.dtype(), self.result.dtype()) {
            (DType::F64, _) => self.in_place::<f64>(),
            (DType::F32, _) if self.part.a.columns > DEPTH => self.in_slices(sums),
            (DType::F32, _) => self.in_place::<f32>(),
            (DType::F16, DType::F16) => self.in_panels::<f16, f16>(sums, f16::from_f32),
            (DType::F16, _) => self.in_panels::<f16, f32>(sums, |x| x),
            (_, DType::BF16) => self.in_panels::<bf16, bf16>(sums, bf16::from_f32),
            _ => self.in_panels::<bf16, f32>(sums, |x| x),
        }
    }

    /// Rows, columns, and products of each sum.
    fn sizes(&self) -> [usize; 3] {
        [self.part.a.rows, self.part.b.columns, self.part.a.columns]
    }

    /// The factors of a slice of the summed axis.
    fn slice(&self, start: usize, end: usize) -> (Matrix, Matrix) {
        (self.part.a.columns(start, end), self.part.b.rows(start, end))
    }

    /// Multiplies the matrices in place, and accumulates in the result.
    fn in_place<T: Factor>(&self) {
        let [rows, columns, depth] = self.sizes();
        let end = self.part.first + (rows - 1) * self.part.row + columns;
        // SAFETY: tiles write different elements; those between the rows of one are not touched through this pointer.
        let at = unsafe { self.result.address::<T>(self.part.first..end) };
        let target = Place { at, row: self.part.row as isize, column: 1 };
        for start in (0..depth).step_by(DEPTH_IN_PLACE) {
            self.workers.look();
            let end = depth.min(start + DEPTH_IN_PLACE);
            let (a, b) = self.slice(start, end);
            let (a, b) = (factor::<T>(self.a, &a), factor::<T>(self.b, &b));
            // SAFETY: `relaid` saw that the operands hold their matrices, and the result was just seen to hold the tile.
            unsafe { multiply([rows, columns, end - start], target, start > 0, a, b) }
        }
    }

    fn in_panels<S: Element + Into<f32>, R: Element>(&self, sums: &mut Sums, round: fn(f32) -> R) {
        let [rows, columns, _] = self.sizes();
        let panel = |view: &ArrayView<'_>, matrix: Matrix| {
            let mut panel = vec![0.0_f32; matrix.rows * matrix.columns];
            let view = view.relaid(matrix.layout()).expect("a part of the operand");
            view.read::<S, f32>(0, &mut panel, S::into);
            panel
        };
        let sums = sums.of_slices(self, |start, end, target| {
            let (a, b) = self.slice(start, end);
            let (of_a, of_b) = (panel(self.a, a), panel(self.b, b));
            let a = Place { at: of_a.as_ptr(), row: (end - start) as isize, column: 1 };
            let b = Place { at: of_b.as_ptr(), row: columns as isize, column: 1 };
            // SAFETY: the panels are this function's, of these sizes, row-major, and the target holds a tile.
            unsafe { multiply([rows, columns, end - start], target, false, a, b) }
        });
        self.write_rows(sums, round);
    }

    /// f32 in place, a slice of the summed axis at a time.
    fn in_slices(&self, sums: &mut Sums) {
        let [rows, columns, _] = self.sizes();
        let sums = sums.of_slices(self, |start, end, target| {
            let (a, b) = self.slice(start, end);
            let (a, b) = (factor::<f32>(self.a, &a), factor::<f32>(self.b, &b));
            // SAFETY: `relaid` saw that the operands hold their matrices, and the target holds a tile.
            unsafe { multiply([rows, columns, end - start], target, false, a, b) }
        });
        self.write_rows(sums, |x| x);
    }

    /// Writes the sums, rounded.
    fn write_rows<R: Element>(&self, sums: &[f32], round: impl Fn(f32) -> R) {
        for (row, sums) in sums.chunks(self.part.b.columns).enumerate() {
            let rounded: Vec<R> = sums.iter().map(|&sum| round(sum)).collect();
            // SAFETY: tiles write different elements.
            unsafe { self.result.write::<R>(self.part.first + row * self.part.row, 1, &rounded) };
        }
    }
}
