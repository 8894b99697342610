//! Views of memory, for reading or writing, without owning it. Any strides, any alignment.

use std::fmt;
use std::marker::PhantomData;

use ops::{DType, Scalar};

use super::runs::{PREFETCHED, SQUARE, copy_transposed, prefetch, read_run, write_run};
use super::{Array, ArrayError, Dims, Element, Layout, Part, with_element};

/// Memory to read through a layout.
#[derive(Clone)]
pub struct ArrayView<'a> {
    /// Where the layout counts its places from.
    base: *const u8,
    dtype: DType,
    layout: Layout,
    lifetime: PhantomData<&'a [u8]>,
}

// SAFETY: a view only reads memory that is borrowed for `'a`, as `&[u8]` does.
unsafe impl Send for ArrayView<'_> {}
// SAFETY: as above.
unsafe impl Sync for ArrayView<'_> {}

impl<'a> ArrayView<'a> {
    /// Views bytes, from the byte `start` on, as elements with these sizes and strides (in elements). With negative strides
    /// `start` is not the lowest byte that is reached.
    ///
    /// # Errors
    /// When some index would reach outside the bytes, or the numbers of sizes and strides differ.
    pub fn new(
        bytes: &'a [u8],
        start: usize,
        dtype: DType,
        sizes: &[usize],
        strides: &[isize],
    ) -> Result<ArrayView<'a>, ArrayError> {
        let layout = check(bytes.len(), start, dtype, sizes, strides)?;
        let base = bytes.as_ptr().wrapping_add(start);
        Ok(ArrayView { base, dtype, layout, lifetime: PhantomData })
    }

    /// Views elements in row-major order.
    ///
    /// # Errors
    /// [`ArrayError::Length`] when their number is not that of the sizes.
    pub fn from_slice<T: Element>(sizes: &[usize], elements: &'a [T]) -> Result<ArrayView<'a>, ArrayError> {
        let layout = dense(sizes, elements.len())?;
        Ok(ArrayView { base: elements.as_ptr().cast(), dtype: T::DTYPE, layout, lifetime: PhantomData })
    }

    /// Views memory at a pointer through a layout.
    ///
    /// # Safety
    /// Every place of which the layout says that it [covers](Layout::covers) it from `base` must be readable, initialised
    /// and not written to by anybody for `'a`: the elements that some index reaches, and what lies between them only if
    /// axes interleave. Alignment does not matter; without elements any pointer will do.
    pub unsafe fn from_raw_parts(base: *const u8, dtype: DType, layout: Layout) -> ArrayView<'a> {
        debug_assert_eq!(layout.sizes.len(), layout.strides.len(), "a stride for each size");
        ArrayView { base, dtype, layout, lifetime: PhantomData }
    }

    /// The same memory through another layout, whose offset counts from where this view's layout counts.
    ///
    /// # Errors
    /// [`ArrayError::Ranks`] when the layout has more or fewer strides than sizes. [`ArrayError::Outside`] when this view's
    /// layout does not [cover](Layout::covers) it: when it reaches what others may write to, be it between the elements of
    /// this view.
    pub fn relaid(&self, layout: Layout) -> Result<ArrayView<'a>, ArrayError> {
        if layout.sizes.len() != layout.strides.len() {
            return Err(ArrayError::Ranks { sizes: layout.sizes.len(), strides: layout.strides.len() });
        }
        match self.layout.covers(&layout) {
            true => Ok(ArrayView { layout, ..self.clone() }),
            false => Err(outside(&layout, self.numel())),
        }
    }

    /// One part of complex elements, as elements that are twice as far apart in the same memory. The real part of real
    /// elements is the elements themselves.
    ///
    /// # Panics
    /// When the elements are real and the imaginary part is asked for: a bug of the caller.
    pub fn part(&self, part: Part) -> ArrayView<'a> {
        if !self.dtype.is_complex() {
            assert_eq!(part, Part::Real, "the imaginary part of real elements");
            return self.clone();
        }
        let dtype = self.dtype.real();
        let base = self.base.wrapping_add(part as usize * dtype.size());
        ArrayView { base, dtype, layout: self.layout.spread(2), lifetime: PhantomData }
    }

    /// The parts of complex elements as real elements: those of one element are neighbours, in the same order. Real elements
    /// as they are. Axes are merged where one stride serves both.
    pub fn parts(&self) -> ArrayView<'a> {
        let mut view = self.part(Part::Real);
        if self.dtype.is_complex() {
            view.layout.sizes.push(2);
            view.layout.strides.push(1);
        }
        view.layout = view.layout.merged();
        view
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

    /// The layout; its offset counts from [`ArrayView::base`].
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Where the layout counts from.
    pub fn base(&self) -> *const u8 {
        self.base
    }

    /// The element at index zero; without elements it must not be read.
    pub fn as_ptr(&self) -> *const u8 {
        self.base.wrapping_offset(self.layout.offset.wrapping_mul(self.dtype.size() as isize))
    }

    /// Number of elements; `usize::MAX` if repeated elements exceed it.
    pub fn numel(&self) -> usize {
        self.layout.numel().unwrap_or(usize::MAX)
    }

    /// Reads the elements number `start ..` in row-major order, as many as `out` holds, each through `convert`.
    ///
    /// # Panics
    /// When `T` is not the dtype, or the range reaches beyond the last element: bugs of the caller.
    pub fn read<T: Element, U>(&self, start: usize, out: &mut [U], convert: impl Fn(T) -> U) {
        self.read_before(start, start.saturating_add(out.len()), out, convert);
    }

    /// As [`ArrayView::read`], and prefetches runs of neighbours among the elements from number `next` on, which are read
    /// next and need not exist.
    ///
    /// # Panics
    /// As [`ArrayView::read`].
    pub fn read_before<T: Element, U>(
        &self,
        start: usize,
        next: usize,
        out: &mut [U],
        convert: impl Fn(T) -> U,
    ) {
        assert_eq!(T::DTYPE, self.dtype, "view read as another dtype");
        assert!(
            start.checked_add(out.len()).is_some_and(|end| end <= self.numel()),
            "read beyond the last element"
        );
        let is_large = out.len() * size_of::<T>() >= *PREFETCHED.start();
        let ahead = if is_large { self.layout.distance(start, next) } else { 0 };
        let mut rest = out;
        self.layout.runs(start, rest.len(), |place, stride, count| {
            let (head, tail) = std::mem::take(&mut rest).split_at_mut(count);
            rest = tail;
            let first = self.base.cast::<T>().wrapping_offset(place);
            if stride == 1 && PREFETCHED.contains(&(count * size_of::<T>())) {
                prefetch(first.wrapping_offset(ahead).cast(), count * size_of::<T>());
            }
            // SAFETY: `runs` gives places of elements inside the layout for ranges inside it, as asserted; those are
            // readable by the contract of the constructors.
            unsafe { read_run(first, stride, head, &convert) }
        });
    }

    /// Reads the elements with these numbers in row-major order. Runs of neighbours are read together where elements lie
    /// apart.
    ///
    /// # Panics
    /// When `T` is not the dtype, there are more numbers than `out` holds, or one is beyond the last element: bugs of the
    /// caller.
    pub fn take<T: Element>(&self, numbers: &[usize], out: &mut [T]) {
        assert_eq!(T::DTYPE, self.dtype, "view read as another dtype");
        let numel = self.numel();
        assert!(numbers.iter().all(|&number| number < numel), "read beyond the last element");
        if self.layout.is_dense() {
            let first = self.base.cast::<T>().wrapping_offset(self.layout.offset);
            for (slot, &number) in out.iter_mut().zip(numbers) {
                // SAFETY: a dense layout has element `number` that far after the first; it is inside, as asserted, and so
                // readable by the contract of the constructors.
                *slot = unsafe { first.wrapping_add(number).read_unaligned() };
            }
            return;
        }
        let mut rest = out;
        for run in numbers.chunk_by(|a, b| a + 1 == *b) {
            let (head, tail) = rest.split_at_mut(run.len());
            self.read::<T, T>(run[0], head, |x| x);
            rest = tail;
        }
    }

    /// A dense copy.
    ///
    /// # Errors
    /// [`ArrayError::Memory`].
    pub fn to_array(&self) -> Result<Array, ArrayError> {
        let mut array = Array::zeros(self.dtype, self.sizes())?;
        with_element!(self.dtype, T => self.read::<T, T>(0, array.as_mut_slice(), |x| x));
        Ok(array)
    }

    /// The element with this number in row-major order, as a constant.
    ///
    /// # Panics
    /// When there is none.
    pub fn scalar(&self, number: usize) -> Scalar {
        if self.dtype.is_complex() {
            let part = |part: Part| self.part(part).scalar(number).as_f64();
            return Scalar::complex(self.dtype, part(Part::Real), part(Part::Imaginary));
        }
        with_element!(self.dtype, T => {
            let mut element = [Scalar::zero(self.dtype)];
            self.read::<T, Scalar>(number, &mut element, super::owned::scalar);
            element[0]
        })
    }
}

/// Memory to write through a layout.
pub struct ArrayViewMut<'a> {
    base: *mut u8,
    dtype: DType,
    layout: Layout,
    lifetime: PhantomData<&'a mut [u8]>,
}

// SAFETY: a view for writing is the only access to its memory for `'a`, as `&mut [u8]` is.
unsafe impl Send for ArrayViewMut<'_> {}
// SAFETY: through `&self` it only reads.
unsafe impl Sync for ArrayViewMut<'_> {}

impl<'a> ArrayViewMut<'a> {
    /// As [`ArrayView::new`], for writing.
    ///
    /// # Errors
    /// As [`ArrayView::new`].
    pub fn new(
        bytes: &'a mut [u8],
        start: usize,
        dtype: DType,
        sizes: &[usize],
        strides: &[isize],
    ) -> Result<ArrayViewMut<'a>, ArrayError> {
        let layout = check(bytes.len(), start, dtype, sizes, strides)?;
        let base = bytes.as_mut_ptr().wrapping_add(start);
        Ok(ArrayViewMut { base, dtype, layout, lifetime: PhantomData })
    }

    /// As [`ArrayView::from_slice`], for writing.
    ///
    /// # Errors
    /// As [`ArrayView::from_slice`].
    pub fn from_slice<T: Element>(
        sizes: &[usize],
        elements: &'a mut [T],
    ) -> Result<ArrayViewMut<'a>, ArrayError> {
        let layout = dense(sizes, elements.len())?;
        Ok(ArrayViewMut {
            base: elements.as_mut_ptr().cast(),
            dtype: T::DTYPE,
            layout,
            lifetime: PhantomData,
        })
    }

    /// Views memory at a pointer through a layout, for writing.
    ///
    /// # Safety
    /// Every place of which the layout says that it [covers](Layout::covers) it from `base` must be readable, writable and
    /// initialised, and nobody else may touch it for `'a`: the elements that some index reaches, and what lies between
    /// them only if axes interleave. Alignment does not matter; without elements any pointer will do.
    pub unsafe fn from_raw_parts(base: *mut u8, dtype: DType, layout: Layout) -> ArrayViewMut<'a> {
        debug_assert_eq!(layout.sizes.len(), layout.strides.len(), "a stride for each size");
        ArrayViewMut { base, dtype, layout, lifetime: PhantomData }
    }

    /// Sizes, strides and place of the element at index zero.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The same memory for reading, while this view is unused.
    pub fn view(&self) -> ArrayView<'_> {
        // SAFETY: the contract of the constructors is that of a view for reading and more.
        unsafe { ArrayView::from_raw_parts(self.base, self.dtype, self.layout.clone()) }
    }

    /// The same memory for writing, while this view is unused.
    pub fn reborrow(&mut self) -> ArrayViewMut<'_> {
        ArrayViewMut {
            base: self.base,
            dtype: self.dtype,
            layout: self.layout.clone(),
            lifetime: PhantomData,
        }
    }

    /// The same memory through another layout, whose offset counts from where this view's layout counts.
    ///
    /// # Errors
    /// As [`ArrayView::relaid`].
    pub fn relaid(self, layout: Layout) -> Result<ArrayViewMut<'a>, ArrayError> {
        self.view().relaid(layout.clone())?;
        Ok(ArrayViewMut { layout, ..self })
    }

    /// A box of it for writing, while this view is unused: `starts[i] + sizes[i]` at most the size of axis `i`.
    ///
    /// # Errors
    /// [`ArrayError::Outside`] when the box reaches further than this view.
    pub fn slice_mut(&mut self, starts: &[usize], sizes: &[usize]) -> Result<ArrayViewMut<'_>, ArrayError> {
        let fits =
            |axis: usize| starts[axis].checked_add(sizes[axis]).is_some_and(|end| end <= self.sizes()[axis]);
        if starts.len() != self.sizes().len() || sizes.len() != starts.len() || !(0..sizes.len()).all(fits) {
            return Err(outside(&Layout { sizes: sizes.into(), ..self.layout.clone() }, self.view().numel()));
        }
        let layout = self.layout.sliced(starts, sizes);
        Ok(ArrayViewMut { base: self.base, dtype: self.dtype, layout, lifetime: PhantomData })
    }

    /// Writes the elements of another array of the same dtype and sizes.
    ///
    /// # Errors
    /// [`ArrayError::Mismatch`] when they differ.
    pub fn copy_from(&mut self, from: &ArrayView<'_>) -> Result<(), ArrayError> {
        if self.dtype != from.dtype() || self.sizes() != from.sizes() {
            return Err(ArrayError::Mismatch {
                expected_dtype: self.dtype,
                expected: self.sizes().to_vec(),
                given_dtype: from.dtype(),
                given: from.sizes().to_vec(),
            });
        }
        with_element!(self.dtype, T => self.copy_elements::<T>(from));
        Ok(())
    }

    fn copy_elements<T: Element>(&mut self, from: &ArrayView<'_>) {
        match self.crossing(from) {
            Some([row, column]) => self.copy_squares::<T>(from, row, column),
            None => self.copy_runs::<T>(from),
        }
    }

    /// The axes along which each side has neighbours in memory, if they are two and both are long, and there are elements.
    fn crossing(&self, from: &ArrayView<'_>) -> Option<[usize; 2]> {
        if from.numel() == 0 {
            return None;
        }
        let nearest = |layout: &Layout| {
            (0..layout.rank()).find(|&axis| layout.strides[axis] == 1 && layout.sizes[axis] >= SQUARE)
        };
        let (row, column) = (nearest(from.layout())?, nearest(&self.layout)?);
        (row != column).then_some([row, column])
    }

    /// In squares of two axes, so that cache lines of both sides are used whole.
    fn copy_squares<T: Element>(&mut self, from: &ArrayView<'_>, row: usize, column: usize) {
        let sizes = self.layout.sizes.clone();
        let mut outer = sizes.clone();
        (outer[row], outer[column]) = (1, 1);
        let strides = [from.layout.strides[column], self.layout.strides[row]];
        let starts = |layout: &Layout| layout.sliced(&Dims::from_elem(0, outer.len()), &outer).places();
        for (source, target) in starts(&from.layout).into_iter().zip(starts(&self.layout)) {
            let source = from.base.cast::<T>().wrapping_offset(source);
            let target = self.base.cast::<T>().wrapping_offset(target);
            // SAFETY: for each index of the other axes, the two axes reach elements inside both layouts, readable and writable
            // by the contracts of the constructors, and of one memory only by that of this one's.
            unsafe { copy_transposed(source, target, [sizes[row], sizes[column]], strides) };
        }
    }

    fn copy_runs<T: Element>(&mut self, from: &ArrayView<'_>) {
        const BLOCK: usize = 1024;
        let mut block = [T::from_int(0); BLOCK];
        let (numel, layout) = (from.numel(), self.layout.merged());
        let from = ArrayView { layout: from.layout.merged(), ..from.clone() };
        for start in (0..numel).step_by(BLOCK) {
            let mut rest = &mut block[..BLOCK.min(numel - start)];
            from.read::<T, T>(start, rest, |x| x);
            layout.runs(start, rest.len(), |place, stride, count| {
                let (head, tail) = std::mem::take(&mut rest).split_at_mut(count);
                rest = tail;
                // SAFETY: `runs` gives places inside the layout, writable by the contract of the constructors.
                unsafe { write_run(self.base.cast::<T>().wrapping_offset(place), stride, head) }
            });
        }
    }

    /// The indices below `at` of an axis, and those from there on, to be written to at the same time.
    ///
    /// # Panics
    /// When the axis has no such index, or elements of the two may share memory: bugs of the caller.
    pub fn split_at(self, axis: usize, at: usize) -> (ArrayViewMut<'a>, ArrayViewMut<'a>) {
        let size = self.layout.sizes[axis];
        assert!(at <= size, "split behind the last index");
        assert!(self.layout.is_nested(), "a split of what may overlap");
        let part = |start: usize, count: usize| {
            let (mut starts, mut sizes) = (Dims::from_elem(0, self.layout.rank()), self.layout.sizes.clone());
            (starts[axis], sizes[axis]) = (start, count);
            let layout = self.layout.sliced(&starts, &sizes);
            ArrayViewMut { base: self.base, dtype: self.dtype, layout, lifetime: PhantomData }
        };
        (part(0, at), part(at, size - at))
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

    /// The element at index zero; without elements it must not be touched.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.base.wrapping_offset(self.layout.offset.wrapping_mul(self.dtype.size() as isize))
    }
}

/// The layout over bytes of which the one numbered `start` begins the element at index zero.
fn check(
    bytes: usize,
    start: usize,
    dtype: DType,
    sizes: &[usize],
    strides: &[isize],
) -> Result<Layout, ArrayError> {
    if sizes.len() != strides.len() {
        return Err(ArrayError::Ranks { sizes: sizes.len(), strides: strides.len() });
    }
    let layout = Layout { offset: 0, sizes: sizes.into(), strides: strides.into() };
    let Some((low, high)) = layout.span() else { return Ok(layout) };
    let (width, start) = (dtype.size() as i128, start as i128);
    let first = low.saturating_mul(width).saturating_add(start);
    let end = high.saturating_add(1).saturating_mul(width).saturating_add(start);
    match first >= 0 && end <= bytes as i128 {
        false => Err(outside(&layout, bytes / dtype.size())),
        true => Ok(layout),
    }
}

/// The row-major layout of so many elements.
fn dense(sizes: &[usize], given: usize) -> Result<Layout, ArrayError> {
    let layout = Layout::dense(sizes);
    let expected = layout.numel().unwrap_or(usize::MAX);
    match expected == given {
        true => Ok(layout),
        false => Err(ArrayError::Length { sizes: sizes.to_vec(), expected, given }),
    }
}

fn outside(layout: &Layout, elements: usize) -> ArrayError {
    ArrayError::Outside { sizes: layout.sizes.to_vec(), strides: layout.strides.to_vec(), elements }
}

impl fmt::Debug for ArrayView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ArrayView({}{:?} strides {:?})", self.dtype, self.sizes(), self.strides())
    }
}

impl fmt::Debug for ArrayViewMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ArrayViewMut({}{:?} strides {:?})", self.dtype, self.sizes(), self.strides())
    }
}
