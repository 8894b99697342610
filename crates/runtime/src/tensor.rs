//! Tensors without gaps in the allocator's memory, which goes back to the allocator when they are dropped.

use std::fmt;

use ir::array::{Array, ArrayError, ArrayView, ArrayViewMut, Layout};
use ops::DType;

use crate::Error;
use cpu::alloc::{Allocator, Buffer};

/// A tensor without gaps, row-major unless the definition or the input that it is written to says otherwise, aligned to
/// 64 bytes. Expanded axes repeat one element.
pub struct Tensor {
    buffer: Buffer,
    dtype: DType,
    layout: Layout,
}

impl Tensor {
    /// A tensor with unspecified contents, in a layout without gaps.
    pub(crate) fn allocate(allocator: &Allocator, dtype: DType, layout: Layout) -> Result<Tensor, Error> {
        let bytes = bytes_of(dtype, &layout.sizes);
        let bytes = bytes.ok_or(Error::Memory { bytes: usize::MAX, limit: isize::MAX as usize })?;
        Ok(Tensor { buffer: allocator.allocate(bytes)?, dtype, layout })
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Sizes of the axes.
    pub fn sizes(&self) -> &[usize] {
        &self.layout.sizes
    }

    /// Strides of the axes, in elements.
    pub fn strides(&self) -> &[isize] {
        &self.layout.strides
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The same elements through another layout, which begins where this one does and reaches no further.
    pub(crate) fn relaid(self, layout: Layout) -> Tensor {
        Tensor { layout, ..self }
    }

    /// The elements as they lie in memory, as bytes of the machine's order.
    pub fn as_bytes(&self) -> &[u8] {
        self.buffer.as_slice()
    }

    /// The elements as they lie in memory, for writing.
    pub(crate) fn as_mut_bytes(&mut self) -> &mut [u8] {
        self.buffer.as_mut_slice()
    }

    /// The elements.
    pub fn view(&self) -> ArrayView<'_> {
        let Layout { sizes, strides, .. } = &self.layout;
        ArrayView::new(self.buffer.as_slice(), 0, self.dtype, sizes, strides)
            .expect("the buffer was allocated for these sizes")
    }

    pub(crate) fn view_mut(&mut self) -> ArrayViewMut<'_> {
        let Layout { sizes, strides, .. } = &self.layout;
        ArrayViewMut::new(self.buffer.as_mut_slice(), 0, self.dtype, sizes, strides)
            .expect("the buffer was allocated for these sizes")
    }

    /// Where the elements begin.
    pub(crate) fn as_ptr(&self) -> *const u8 {
        self.buffer.as_ptr()
    }

    /// Where the elements begin, for writing.
    pub(crate) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.buffer.as_mut_ptr()
    }

    /// The memory, which begins with the element at index zero, element type and layout, for a new owner.
    pub fn into_parts(self) -> (Buffer, DType, Layout) {
        (self.buffer, self.dtype, self.layout)
    }

    /// A copy in memory of its own.
    ///
    /// # Errors
    /// [`ArrayError::Memory`].
    pub fn to_array(&self) -> Result<Array, ArrayError> {
        self.view().to_array()
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor({}{:?})", self.dtype, self.sizes())
    }
}

/// A layout without gaps, with axes in memory in the order of these strides; row-major if that is such an order.
pub(crate) fn packed(sizes: &[usize], strides: &[isize]) -> Layout {
    let mut order: Vec<usize> = (0..sizes.len()).filter(|&axis| sizes[axis] != 1).collect();
    order.sort_by_key(|&axis| std::cmp::Reverse(strides[axis].unsigned_abs()));
    Layout::ordered(sizes, order)
}

/// Bytes of a dense tensor; `None` if the number overflows.
pub(crate) fn bytes_of(dtype: DType, sizes: &[usize]) -> Option<usize> {
    let elements = match sizes.contains(&0) {
        true => 0,
        false => sizes.iter().try_fold(1_usize, |elements, &size| elements.checked_mul(size))?,
    };
    elements.checked_mul(dtype.size()).filter(|&bytes| bytes <= isize::MAX as usize)
}
