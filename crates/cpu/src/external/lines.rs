//! Tensors as lines along one axis, and results that several threads write.

use std::marker::PhantomData;
use std::ops::Range;

use ir::array::{ArrayView, ArrayViewMut, Dims, Element, Layout};
use ops::DType;

use crate::pool::Workers;

/// The lines of a tensor along an axis, numbered in row-major order of the other axes.
#[derive(Clone, Debug)]
pub struct Lines {
    /// Sizes of the other axes.
    sizes: Dims,
    strides: Dims,
    layout: Layout,
    axis: usize,
}

impl Lines {
    /// The lines of a layout along an axis, within `sizes` along the other axes (all axes; that of the lines is ignored).
    pub fn new(layout: &Layout, axis: usize, sizes: &[usize]) -> Lines {
        let others = |list: &[usize]| {
            (0..list.len()).filter(|&other| other != axis).map(|other| list[other]).collect()
        };
        let strides: Vec<usize> = layout.strides.iter().map(|&stride| stride as usize).collect();
        Lines { sizes: others(sizes), strides: others(&strides), layout: layout.clone(), axis }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.sizes.iter().product()
    }

    /// The index along the other axes of the line with a number.
    pub fn index(&self, mut number: usize) -> Dims {
        let mut index: Dims = self.sizes.clone();
        for place in index.iter_mut().rev() {
            let size = *place;
            (*place, number) = (number % size, number / size);
        }
        index
    }

    /// Elements `0..length` of the line at an index of the other axes.
    pub fn at(&self, index: &[usize], length: usize) -> Layout {
        let moved: isize =
            index.iter().zip(&self.strides).map(|(&place, &stride)| place as isize * stride as isize).sum();
        Layout {
            offset: self.layout.offset + moved,
            sizes: [length].into_iter().collect(),
            strides: [self.layout.strides[self.axis]].into_iter().collect(),
        }
    }
}

/// Reads the elements of a line, which must be one of the view's.
pub fn read<T: Element, U>(view: &ArrayView<'_>, line: Layout, out: &mut [U], convert: impl Fn(T) -> U) {
    view.relaid(line).expect("a line of the view").read::<T, U>(0, out, convert);
}

/// A dense result that several threads write, each its own elements.
#[derive(Debug)]
pub struct Shared<'a> {
    base: *mut u8,
    dtype: DType,
    layout: Layout,
    lifetime: PhantomData<&'a mut [u8]>,
}

// SAFETY: the pointer is that of memory borrowed for writing; what threads do with it is restricted where they write.
unsafe impl Sync for Shared<'_> {}

impl<'a> Shared<'a> {
    /// A dense tensor to be written. Strides of axes with at most one index do not matter.
    pub fn new(view: ArrayViewMut<'a>) -> Shared<'a> {
        let given = view.view().layout().clone();
        let layout = Layout::dense(&given.sizes);
        let mut axes = given.sizes.iter().zip(given.strides.iter().zip(&layout.strides));
        let is_empty = given.sizes.contains(&0);
        let is_dense = is_empty || axes.all(|(&size, (given, dense))| size <= 1 || given == dense);
        assert!(is_dense && given.offset == 0, "results are dense");
        let (base, dtype) = (view.view().base().cast_mut(), view.view().dtype());
        Shared { base, dtype, layout, lifetime: PhantomData }
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Sizes and strides.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Number of elements.
    pub fn numel(&self) -> usize {
        self.layout.numel().expect("tensors in memory can be counted")
    }

    /// Sets all elements to zero.
    ///
    /// # Safety
    /// No other thread may touch the result meanwhile.
    pub unsafe fn clear(&self, workers: &Workers<'_>) {
        const ELEMENTS_BETWEEN_CHECKS: usize = 1 << 20;
        let bytes = self.numel() * self.dtype.size();
        workers.run(bytes.div_ceil(ELEMENTS_BETWEEN_CHECKS), 1, &|_, begin, end| {
            let (first, last) = (begin * ELEMENTS_BETWEEN_CHECKS, bytes.min(end * ELEMENTS_BETWEEN_CHECKS));
            // SAFETY: the caller keeps others away, these bytes of the result are this task's, and zero bits are a value of any
            // dtype.
            unsafe { self.base.add(first).write_bytes(0, last - first) }
        });
    }

    /// The address of the first element of a range.
    ///
    /// # Safety
    /// Of what lies in the range, no two threads may write one element.
    pub unsafe fn address<T: Element>(&self, range: Range<usize>) -> *mut T {
        assert_eq!(T::DTYPE, self.dtype, "a result written as another dtype");
        assert!(range.start <= range.end && range.end <= self.numel(), "a range of the result");
        self.base.cast::<T>().wrapping_add(range.start)
    }

    /// Writes elements a stride apart, from `first` on.
    ///
    /// # Safety
    /// No other thread may touch these elements meanwhile.
    pub unsafe fn write<T: Element>(&self, first: usize, stride: usize, values: &[T]) {
        let Some(last) = values.len().checked_sub(1) else { return };
        assert_eq!(T::DTYPE, self.dtype, "a result written as another dtype");
        assert!(first + last * stride < self.numel(), "a line of the result");
        for (k, &value) in values.iter().enumerate() {
            // SAFETY: the last element lies in the memory, as asserted, and so do those before it.
            unsafe { self.base.cast::<T>().add(first + k * stride).write(value) }
        }
    }
}
