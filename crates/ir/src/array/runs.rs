//! Elements a stride apart in memory, read and written through pointers: the inner loops of views.

use ops::lanes::{NullaryFnOnce, wide};

use super::Element;

/// Rows and columns of a square of elements that is copied at a time: a cache line of f32.
pub(super) const SQUARE: usize = 16;

/// Reads `out.len()` elements a stride apart. The two common strides have separate loops, so that they vectorise.
///
/// # Safety
/// The elements must be readable; they may be unaligned.
pub(super) unsafe fn read_run<T: Element, U>(
    first: *const T,
    stride: isize,
    out: &mut [U],
    convert: &impl Fn(T) -> U,
) {
    // SAFETY: element `k` of the run is readable by the contract, for every `k` below `out.len()`.
    let element = |k: isize| unsafe { first.wrapping_offset(k * stride).read_unaligned() };
    match stride {
        1 => wide(Run { first, out, convert }),
        0 => {
            let same = element(0);
            out.iter_mut().for_each(|slot| *slot = convert(same));
        }
        _ => out.iter_mut().enumerate().for_each(|(k, slot)| *slot = convert(element(k as isize))),
    }
}

/// Bytes of a run: from the lower bound on the next run is worth a prefetch; up to the upper it stays cached until it is
/// read.
pub(super) const PREFETCHED: std::ops::RangeInclusive<usize> = 512..=8192;

/// Prefetches `bytes` bytes, which need not exist. When blocks of several arrays are read in alternation, the hardware
/// prefetcher sees no stream.
#[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))]
pub fn prefetch(first: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        const LINE: usize = 64;
        for at in (0..bytes).step_by(LINE) {
            // SAFETY: a prefetch reads nothing, wherever it points to.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(first.wrapping_add(at).cast()) };
        }
    }
}

/// Neighbours to be read; whoever makes one guarantees that they are readable.
struct Run<'a, T, U, F> {
    first: *const T,
    out: &'a mut [U],
    convert: &'a F,
}

impl<T: Element, U, F: Fn(T) -> U> NullaryFnOnce for Run<'_, T, U, F> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (k, slot) in self.out.iter_mut().enumerate() {
            // SAFETY: as many elements as there are slots are readable, by the contract of `read_run`.
            *slot = (self.convert)(unsafe { self.first.wrapping_add(k).read_unaligned() });
        }
    }
}

/// Writes elements a stride apart.
///
/// # Safety
/// The elements must be writable; they may be unaligned.
pub(super) unsafe fn write_run<T: Element>(first: *mut T, stride: isize, from: &[T]) {
    if stride == 1 {
        // SAFETY: as many bytes are writable by the contract, and nobody else has them.
        unsafe { first.cast::<u8>().copy_from_nonoverlapping(from.as_ptr().cast(), size_of_val(from)) };
        return;
    }
    for (k, &x) in from.iter().enumerate() {
        // SAFETY: element `k` of the run is writable by the contract.
        unsafe { first.wrapping_offset(k as isize * stride).write_unaligned(x) }
    }
}

/// Copies a matrix that is contiguous along rows in the source, with `strides[0]` from column to column, and contiguous
/// along columns in the target, with `strides[1]` from row to row.
///
/// # Safety
/// The elements of the source must be readable and those of the target writable; they may be unaligned.
pub(super) unsafe fn copy_transposed<T: Element>(
    from: *const T,
    to: *mut T,
    [rows, columns]: [usize; 2],
    strides: [isize; 2],
) {
    for row in (0..rows).step_by(SQUARE) {
        for column in (0..columns).step_by(SQUARE) {
            let source = from.wrapping_add(row).wrapping_offset(column as isize * strides[0]);
            let target = to.wrapping_add(column).wrapping_offset(row as isize * strides[1]);
            let extent = [SQUARE.min(rows - row), SQUARE.min(columns - column)];
            if columns - column > SQUARE {
                prefetch_square(source.wrapping_offset(SQUARE as isize * strides[0]), strides[0]);
                prefetch_square(target.wrapping_add(SQUARE), strides[1]);
            }
            // SAFETY: this part of the rows and columns is in the contract.
            unsafe {
                match extent {
                    [SQUARE, SQUARE] => copy_square(source, target, strides),
                    _ => copy_corner(source, target, extent, strides),
                }
            }
        }
    }
}

/// Prefetches the lines of a square a stride apart: no hardware prefetcher sees a stream in a few elements of each of many
/// lines.
fn prefetch_square<T>(first: *const T, stride: isize) {
    for line in 0..SQUARE {
        prefetch(first.wrapping_offset(line as isize * stride).cast(), SQUARE * size_of::<T>());
    }
}

/// A whole square, by lines of both sides.
///
/// # Safety
/// As for [`copy_transposed`].
unsafe fn copy_square<T: Element>(from: *const T, to: *mut T, strides: [isize; 2]) {
    // SAFETY: column `k` of the source is readable by the contract.
    let column = |k: usize| unsafe {
        from.wrapping_offset(k as isize * strides[0]).cast::<[T; SQUARE]>().read_unaligned()
    };
    let square: [[T; SQUARE]; SQUARE] = std::array::from_fn(column);
    let line = |row: usize| -> [T; SQUARE] { std::array::from_fn(|column| square[column][row]) };
    // SAFETY: the rows of the target are writable by the contract.
    let write = |row: usize| unsafe {
        to.wrapping_offset(row as isize * strides[1]).cast::<[T; SQUARE]>().write_unaligned(line(row));
    };
    (0..SQUARE).for_each(write);
}

/// A remainder smaller than a square, element by element.
///
/// # Safety
/// As for [`copy_transposed`].
unsafe fn copy_corner<T: Element>(
    from: *const T,
    to: *mut T,
    [rows, columns]: [usize; 2],
    strides: [isize; 2],
) {
    for row in 0..rows {
        for column in 0..columns {
            let source = from.wrapping_add(row).wrapping_offset(column as isize * strides[0]);
            let target = to.wrapping_add(column).wrapping_offset(row as isize * strides[1]);
            // SAFETY: an element of both sides is readable and writable by the contract.
            unsafe { target.write_unaligned(source.read_unaligned()) };
        }
    }
}
