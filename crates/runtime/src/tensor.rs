//! Outputs: dense tensors in the allocator's memory, which goes back to the allocator when they are dropped.

use std::fmt;

use ir::DType;
use ir::array::{Array, ArrayError, ArrayView, ArrayViewMut, Dims, Layout};

use crate::Error;
use crate::cpu::alloc::{Allocator, Buffer};

/// A dense row-major tensor, aligned to 64 bytes.
pub struct Tensor {
    buffer: Buffer,
    dtype: DType,
    sizes: Dims,
}

impl Tensor {
    /// A tensor with unspecified contents.
    pub(crate) fn allocate(allocator: &Allocator, dtype: DType, sizes: Dims) -> Result<Tensor, Error> {
        let bytes =
            bytes_of(dtype, &sizes).ok_or(Error::Memory { bytes: usize::MAX, limit: isize::MAX as usize })?;
        Ok(Tensor { buffer: allocator.allocate(bytes)?, dtype, sizes })
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Sizes of the axes.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// The elements in row-major order, as bytes of the machine's order.
    pub fn as_bytes(&self) -> &[u8] {
        self.buffer.as_slice()
    }

    /// The elements.
    pub fn view(&self) -> ArrayView<'_> {
        let strides = Layout::dense(&self.sizes).strides;
        ArrayView::new(self.buffer.as_slice(), 0, self.dtype, &self.sizes, &strides)
            .expect("the buffer was allocated for these sizes")
    }

    pub(crate) fn view_mut(&mut self) -> ArrayViewMut<'_> {
        let strides = Layout::dense(&self.sizes).strides;
        ArrayViewMut::new(self.buffer.as_mut_slice(), 0, self.dtype, &self.sizes, &strides)
            .expect("the buffer was allocated for these sizes")
    }

    /// Where the elements begin, for whoever takes the tensor over; valid while the tensor lives.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.buffer.as_mut_ptr()
    }

    pub(crate) fn as_mut_bytes(&mut self) -> &mut [u8] {
        self.buffer.as_mut_slice()
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

/// Bytes of a dense tensor; `None` where the number is beyond the machine.
pub(crate) fn bytes_of(dtype: DType, sizes: &[usize]) -> Option<usize> {
    Layout::dense(sizes).numel()?.checked_mul(dtype.size()).filter(|&bytes| bytes <= isize::MAX as usize)
}
