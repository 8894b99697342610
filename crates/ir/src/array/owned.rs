//! Arrays that own their memory: dense, row-major, aligned for vector instructions.

use std::alloc::{self, Layout as Block};
use std::fmt;
use std::num::NonZero;
use std::ptr::NonNull;

use ops::{DType, Scalar};

use super::{ArrayError, ArrayView, ArrayViewMut, Dims, Element, Layout};

/// Alignment of the first element in bytes: a cache line, and the widest vector register.
const ALIGNMENT: NonZero<usize> = NonZero::new(64).expect("64 is not zero");

/// Blocks from here on ask for huge pages.
const MIN_HUGE_PAGE_BYTES: usize = 4 << 20;

/// Lets the system use huge pages for a large block: page faults of small ones take longer than an addition of their
/// elements.
#[cfg_attr(not(target_os = "linux"), allow(unused_variables))]
fn prefer_huge_pages(start: NonNull<u8>, bytes: usize) {
    #[cfg(target_os = "linux")]
    if bytes >= MIN_HUGE_PAGE_BYTES {
        const PAGE: usize = 4096;
        let first = start.align_offset(PAGE);
        let whole = (bytes - first) / PAGE * PAGE;
        // SAFETY: the pages lie inside a block just allocated, whose contents the advice leaves as they are.
        unsafe { libc::madvise(start.add(first).as_ptr().cast(), whole, libc::MADV_HUGEPAGE) };
    }
}

/// Declares what the allocator left in a block its contents: to the language a fresh block is uninitialised and must not be
/// read.
fn initialized(start: *mut u8) {
    // SAFETY: no instruction is executed. The compiler has to assume that the empty one, which is told where the block is,
    // writes all of it; and its bytes stay as they are until they are written, as the system's allocator does not use
    // `MADV_FREE`, which lets untouched pages change.
    unsafe { std::arch::asm!("/* {0} */", in(reg) start, options(nostack, preserves_flags)) };
}

/// A dense row-major array that owns its memory, aligned to 64 bytes.
pub struct Array {
    dtype: DType,
    sizes: Dims,
    /// First byte of the elements, aligned.
    data: NonNull<u8>,
    bytes: usize,
    /// The allocated block, `None` if no byte is needed.
    block: Option<(NonNull<u8>, Block)>,
}

// SAFETY: the memory is owned, and reached through `&self` for reading and `&mut self` for writing only.
unsafe impl Send for Array {}
// SAFETY: as above; there is no interior mutability.
unsafe impl Sync for Array {}

impl Array {
    /// An array of zeros (false for bool).
    ///
    /// # Errors
    /// [`ArrayError::Memory`] when the allocator has none, or the number of bytes is beyond the machine.
    pub fn zeros(dtype: DType, sizes: &[usize]) -> Result<Array, ArrayError> {
        // SAFETY: the block has a size, as `made` says.
        Array::made(dtype, sizes, |block| unsafe { alloc::alloc_zeroed(block) })
    }

    /// An array to be written before it is read: its contents are those of the memory. Clearing a block that the process has
    /// used before takes as long as a simple operation on its elements.
    ///
    /// # Errors
    /// [`ArrayError::Memory`] as for `zeros`.
    pub fn unwritten(dtype: DType, sizes: &[usize]) -> Result<Array, ArrayError> {
        Array::made(dtype, sizes, |block| {
            // SAFETY: the block has a size, as `made` says.
            let start = unsafe { alloc::alloc(block) };
            initialized(start);
            start
        })
    }

    /// An array in a block, of nonzero size, that `allocate` gives with contents.
    fn made(dtype: DType, sizes: &[usize], allocate: fn(Block) -> *mut u8) -> Result<Array, ArrayError> {
        let bytes = Layout::dense(sizes)
            .numel()
            .and_then(|numel| numel.checked_mul(dtype.size()))
            .filter(|&bytes| bytes <= isize::MAX as usize - 2 * ALIGNMENT.get())
            .ok_or(ArrayError::Memory { bytes: usize::MAX })?;
        let mut array = Array {
            dtype,
            sizes: sizes.into(),
            data: NonNull::without_provenance(ALIGNMENT),
            bytes,
            block: None,
        };
        if bytes > 0 {
            array.allocate(allocate)?;
        }
        Ok(array)
    }

    /// The system allocator hands out zero pages untouched only at its own alignment, so a larger block is allocated and its
    /// start aligned.
    fn allocate(&mut self, allocate: fn(Block) -> *mut u8) -> Result<(), ArrayError> {
        let failed = ArrayError::Memory { bytes: self.bytes };
        let block = Block::from_size_align(self.bytes + ALIGNMENT.get(), align_of::<u128>())
            .map_err(|_| failed.clone())?;
        let start = NonNull::new(allocate(block)).ok_or(failed)?;
        prefer_huge_pages(start, block.size());
        let shift = start.align_offset(ALIGNMENT.get()) % ALIGNMENT;
        // SAFETY: `shift` is less than `ALIGNMENT`, by which the block is larger than the elements.
        self.data = unsafe { start.add(shift) };
        self.block = Some((start, block));
        Ok(())
    }

    /// The same memory, with the same bits, as an array of another dtype and other sizes.
    ///
    /// # Panics
    /// When that has another number of bytes: a bug of the caller.
    #[must_use]
    pub fn viewed_as(self, dtype: DType, sizes: &[usize]) -> Array {
        let bytes = Layout::dense(sizes).numel().and_then(|numel| numel.checked_mul(dtype.size()));
        assert_eq!(bytes, Some(self.bytes), "memory seen as an array of another size");
        let mut array = self;
        array.dtype = dtype;
        array.sizes = sizes.into();
        array
    }

    /// An array of these elements in row-major order.
    ///
    /// # Errors
    /// [`ArrayError::Length`] when their number is not that of the sizes; [`ArrayError::Memory`] as for `zeros`.
    pub fn from_slice<T: Element>(sizes: &[usize], elements: &[T]) -> Result<Array, ArrayError> {
        let mut array = Array::zeros(T::DTYPE, sizes)?;
        if array.numel() != elements.len() {
            let expected = array.numel();
            return Err(ArrayError::Length { sizes: sizes.to_vec(), expected, given: elements.len() });
        }
        array.as_mut_slice::<T>().copy_from_slice(elements);
        Ok(array)
    }

    /// An array full of one constant.
    ///
    /// # Errors
    /// [`ArrayError::Memory`] as for `zeros`.
    pub fn full(value: Scalar, sizes: &[usize]) -> Result<Array, ArrayError> {
        let mut array = Array::zeros(value.dtype(), sizes)?;
        array.fill(value);
        Ok(array)
    }

    /// Sets every element.
    ///
    /// # Panics
    /// When the constant is of another dtype: a bug of the caller.
    pub fn fill(&mut self, value: Scalar) {
        assert_eq!(value.dtype(), self.dtype, "array filled with another dtype");
        let width = self.dtype.real().size();
        let pattern = |part: Scalar| match cfg!(target_endian = "big") {
            true => part.bits().to_be_bytes()[8 - width..].to_vec(),
            false => part.bits().to_le_bytes()[..width].to_vec(),
        };
        let mut element = pattern(value.real());
        if self.dtype.is_complex() {
            element.extend(pattern(value.imag()));
        }
        self.as_mut_bytes().chunks_exact_mut(element.len()).for_each(|place| place.copy_from_slice(&element));
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Sizes of the axes.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// Number of elements.
    pub fn numel(&self) -> usize {
        self.bytes / self.dtype.size()
    }

    /// The elements as bytes in the machine's order.
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: `bytes` bytes from `data` are owned and initialised; for zero bytes the pointer is aligned.
        unsafe { std::slice::from_raw_parts(self.data.as_ptr(), self.bytes) }
    }

    /// The elements as bytes, for writing. Any bytes are values of any dtype.
    pub fn as_mut_bytes(&mut self) -> &mut [u8] {
        // SAFETY: as in `as_bytes`, and `self` is borrowed for writing.
        unsafe { std::slice::from_raw_parts_mut(self.data.as_ptr(), self.bytes) }
    }

    /// The elements in row-major order; those of bool are [`ByteBool`](super::ByteBool), of complex dtypes
    /// [`Complex`](super::Complex).
    ///
    /// # Panics
    /// When `T` is not the dtype: a bug of the caller.
    pub fn as_slice<T: Element>(&self) -> &[T] {
        assert_eq!(T::DTYPE, self.dtype, "array seen as another dtype");
        // SAFETY: the dtype is right, the memory aligned and initialised, and any bits are a value of `T`.
        unsafe { std::slice::from_raw_parts(self.data.as_ptr().cast(), self.numel()) }
    }

    /// The elements in row-major order, for writing.
    ///
    /// # Panics
    /// When `T` is not the dtype: a bug of the caller.
    pub fn as_mut_slice<T: Element>(&mut self) -> &mut [T] {
        assert_eq!(T::DTYPE, self.dtype, "array seen as another dtype");
        // SAFETY: as in `as_slice`, and `self` is borrowed for writing.
        unsafe { std::slice::from_raw_parts_mut(self.data.as_ptr().cast(), self.numel()) }
    }

    /// All of it as a view.
    pub fn view(&self) -> ArrayView<'_> {
        let (dense, origin) = (Layout::dense(&self.sizes), self.data.as_ptr().cast_const());
        // SAFETY: a dense layout of these sizes reaches the owned elements only, borrowed as long as the view lives.
        unsafe { ArrayView::from_raw_parts(origin, self.dtype, dense) }
    }

    /// All of it as a view for writing.
    pub fn view_mut(&mut self) -> ArrayViewMut<'_> {
        let dense = Layout::dense(&self.sizes);
        // SAFETY: as in `view`, and `self` is borrowed for writing.
        unsafe { ArrayViewMut::from_raw_parts(self.data.as_ptr(), self.dtype, dense) }
    }

    /// The elements as constants, in row-major order: for small arrays and messages.
    pub fn scalars(&self) -> Vec<Scalar> {
        let view = self.view();
        (0..self.numel()).map(|number| view.scalar(number)).collect()
    }
}

/// An element of a real dtype as a constant.
pub(super) fn scalar<T: Element>(x: T) -> Scalar {
    match T::DTYPE.is_float() {
        true => Scalar::from_f64(T::DTYPE, x.to_real()),
        false => Scalar::from_i64(T::DTYPE, x.to_int()),
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        if let Some((start, block)) = self.block.take() {
            // SAFETY: the block was allocated with this layout and is freed once, since it is taken.
            unsafe { alloc::dealloc(start.as_ptr(), block) }
        }
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Array({}{:?})", self.dtype, self.sizes)
    }
}
