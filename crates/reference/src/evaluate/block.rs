//! Blocks: the elements that the evaluator computes at a time, as doubles or as integers, few enough for L1.
//!
//! Reading widens any dtype exactly (to doubles from floats, to i64 from integers and bools, u64 by its bits), writing is
//! the language's cast, so operations on blocks need not know dtypes.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

use ir::array::{Array, ArrayView, Element, prefetch, with_element};
use ops::lanes::{NullaryFnOnce, wide};
use ops::{DType, vectorized};

use super::bound::round_all_up;
use super::workers::Resources;

/// Elements of a block.
pub(super) const BLOCK: usize = 512;
/// Elements that one task computes; also the unit in which work is given to threads.
pub(super) const GRAIN: usize = 64 * BLOCK;

/// Blocks for operands, their errors, and the result.
pub(super) struct Scratch {
    pub(super) reals: [Vec<f64>; 3],
    pub(super) ints: [Vec<i64>; 3],
    pub(super) errors: [Vec<f64>; 3],
    pub(super) real: Vec<f64>,
    pub(super) int: Vec<i64>,
    pub(super) error: Vec<f64>,
}

thread_local! {
    /// Kept from grain to grain: zeroing twelve blocks takes as long as a simple operation on one.
    static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch::new());
}

impl Scratch {
    fn new() -> Scratch {
        let reals = || vec![0.0; BLOCK];
        let ints = || vec![0; BLOCK];
        Scratch {
            reals: [reals(), reals(), reals()],
            ints: [ints(), ints(), ints()],
            errors: [reals(), reals(), reals()],
            real: reals(),
            int: ints(),
            error: reals(),
        }
    }
}

/// Which of the result blocks holds the result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Real,
    Int,
    /// In the block of integers, those of u64 by their bits.
    Unsigned,
}

impl Kind {
    /// How integers or bools of a dtype are held.
    pub(super) fn of_ints(dtype: DType) -> Kind {
        if dtype == DType::U64 { Kind::Unsigned } else { Kind::Int }
    }
}

/// The numbers represented by integers of this kind, as doubles.
pub(super) fn as_reals(kind: Kind, ints: &[i64], reals: &mut [f64]) {
    let numbers = reals.iter_mut().zip(ints);
    match kind {
        Kind::Real => {}
        Kind::Int => numbers.for_each(|(real, &int)| *real = int as f64),
        Kind::Unsigned => numbers.for_each(|(real, &int)| *real = int as u64 as f64),
    }
}

/// The elements of a block, and the present contents of their results' memory: those of an operand, if they replace one.
pub(super) struct Span<'b> {
    /// Number of the first.
    pub(super) start: usize,
    pub(super) count: usize,
    values: &'b [u8],
    /// Absent where no bounds are computed.
    bounds: Option<&'b [f32]>,
}

impl Span<'_> {
    /// Whether bounds are computed too.
    pub(super) fn has_bounds(&self) -> bool {
        self.bounds.is_some()
    }

    /// The present contents of the values' memory, as elements of an equally wide dtype.
    pub(super) fn replaced(&self, dtype: DType) -> ArrayView<'_> {
        ArrayView::new(self.values, 0, dtype, &[self.count], &[1]).expect("elements as wide as the results")
    }

    /// The present contents of the bounds' memory.
    pub(super) fn read_bounds(&self, out: &mut [f64]) {
        vectorized!(bounds: &'a [f32] = self.bounds.unwrap_or_default(), out: &'a mut [f64] = out => (), {
            out.iter_mut().zip(bounds).for_each(|(out, &bound)| *out = f64::from(bound));
        });
    }
}

/// An operation on blocks.
pub(super) trait Elementwise: Sync {
    /// Computes elements into the result block that it returns, and their errors into the error block if requested.
    fn compute(&self, scratch: &mut Scratch, span: &Span<'_>) -> Kind;
}

/// Fills an array, and the array of its bounds; returns whether some bound is not zero.
pub(super) fn fill(
    values: &mut Array,
    bounds: Option<&mut Array>,
    body: &impl Elementwise,
    resources: &Resources<'_>,
) -> bool {
    let dtype = values.dtype();
    let some = AtomicBool::new(false);
    let chunks = values.as_mut_bytes().chunks_mut(GRAIN * dtype.size());
    match bounds {
        None => resources.each(chunks, |n, chunk| fill_grain(dtype, n * GRAIN, chunk, None, body, &some)),
        Some(bounds) => {
            let bounds = bounds.as_mut_slice::<f32>().chunks_mut(GRAIN);
            resources.each(chunks.zip(bounds), |n, (chunk, bounds)| {
                fill_grain(dtype, n * GRAIN, chunk, Some(bounds), body, &some);
            });
        }
    }
    some.into_inner()
}

fn fill_grain(
    dtype: DType,
    start: usize,
    values: &mut [u8],
    bounds: Option<&mut [f32]>,
    body: &impl Elementwise,
    some: &AtomicBool,
) {
    SCRATCH.with_borrow_mut(|scratch| fill_blocks(dtype, start, values, bounds, body, some, scratch));
}

fn fill_blocks(
    dtype: DType,
    start: usize,
    values: &mut [u8],
    mut bounds: Option<&mut [f32]>,
    body: &impl Elementwise,
    some: &AtomicBool,
    scratch: &mut Scratch,
) {
    for (n, bytes) in values.chunks_mut(BLOCK * dtype.size()).enumerate() {
        let count = bytes.len() / dtype.size();
        // The memory that is written after the block is computed is cached by then.
        prefetch(bytes.as_ptr(), bytes.len());
        if let Some(bounds) = &bounds {
            prefetch(bounds[n * BLOCK..].as_ptr().cast(), count * size_of::<f32>());
        }
        let places = n * BLOCK..n * BLOCK + count;
        let errors = bounds.as_deref().map(|bounds| &bounds[places.clone()]);
        let span = Span { start: start + n * BLOCK, count, values: bytes, bounds: errors };
        match body.compute(scratch, &span) {
            Kind::Real => write_real(dtype, bytes, &scratch.real[..count]),
            Kind::Int => write_int(dtype, bytes, &scratch.int[..count]),
            Kind::Unsigned => write_unsigned(dtype, bytes, &scratch.int[..count]),
        }
        if let Some(bounds) = bounds.as_deref_mut()
            && round_all_up(&scratch.error[..count], &mut bounds[places])
        {
            some.store(true, Ordering::Relaxed);
        }
    }
}

/// Reads elements as doubles.
pub(super) fn read_real(view: &ArrayView<'_>, start: usize, out: &mut [f64]) {
    read_real_before(view, [start, start + out.len()], out);
}

/// Reads elements as integers.
pub(super) fn read_int(view: &ArrayView<'_>, start: usize, out: &mut [i64]) {
    read_int_before(view, [start, start + out.len()], out);
}

/// Reads elements as doubles, before those from the second number on are read.
pub(super) fn read_real_before(view: &ArrayView<'_>, [start, next]: [usize; 2], out: &mut [f64]) {
    with_element!(view.dtype(), T => view.read_before::<T, f64>(start, next, out, T::to_real));
}

/// Reads elements as integers, before those from the second number on are read.
pub(super) fn read_int_before(view: &ArrayView<'_>, [start, next]: [usize; 2], out: &mut [i64]) {
    with_element!(view.dtype(), T => view.read_before::<T, i64>(start, next, out, T::to_int));
}

/// Writes doubles as elements.
pub(super) fn write_real(dtype: DType, bytes: &mut [u8], block: &[f64]) {
    with_element!(dtype, T => write::<T, f64>(bytes, block, T::from_real));
}

/// Writes integers as elements.
pub(super) fn write_int(dtype: DType, bytes: &mut [u8], block: &[i64]) {
    with_element!(dtype, T => write::<T, i64>(bytes, block, T::from_int));
}

/// Writes integers of u64 as elements.
fn write_unsigned(dtype: DType, bytes: &mut [u8], block: &[i64]) {
    with_element!(dtype, T => write::<T, i64>(bytes, block, |bits| T::from_unsigned(bits as u64)));
}

fn write<T: Element, U: Copy>(bytes: &mut [u8], block: &[U], convert: impl Fn(U) -> T) {
    assert_eq!(bytes.len(), block.len() * size_of::<T>(), "a block written to as many elements");
    wide(Write { first: bytes.as_mut_ptr().cast::<T>(), block, convert });
}

/// Elements to be written one after another; whoever makes one guarantees that there is room.
struct Write<'a, T, U, F> {
    first: *mut T,
    block: &'a [U],
    convert: F,
}

impl<T: Element, U: Copy, F: Fn(U) -> T> NullaryFnOnce for Write<'_, T, U, F> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (k, &x) in self.block.iter().enumerate() {
            // SAFETY: there is room for as many elements as there are, at any alignment, as `write` asserts; any bytes are
            // a `T`.
            unsafe { self.first.add(k).write_unaligned((self.convert)(x)) }
        }
    }
}
