//! Arguments of a call that writes into its inputs: memory to read, or to read and write.
//!
//! Rust's own views cannot overlap if one of them writes; memory at pointers can, so constructing it is unsafe.

use std::marker::PhantomData;

use super::{ArrayView, ArrayViewMut, Layout};
use ops::DType;
use smallvec::{SmallVec, smallvec};

/// An input of a call, for reading or for writing too.
#[derive(Debug)]
pub struct Argument<'a> {
    base: *mut u8,
    dtype: DType,
    layout: Layout,
    writable: bool,
    lifetime: PhantomData<&'a mut [u8]>,
}

// SAFETY: an argument is memory that is borrowed for `'a`, as a slice is; it may go to another thread. It may not be shared
// among threads, as each could have a call write to it.
unsafe impl Send for Argument<'_> {}

impl<'a> From<ArrayView<'a>> for Argument<'a> {
    /// Memory that is only read.
    fn from(view: ArrayView<'a>) -> Argument<'a> {
        let (base, dtype, layout) = (view.base().cast_mut(), view.dtype(), view.layout().clone());
        Argument { base, dtype, layout, writable: false, lifetime: PhantomData }
    }
}

impl<'a> From<ArrayViewMut<'a>> for Argument<'a> {
    /// Memory that may be written too.
    fn from(mut view: ArrayViewMut<'a>) -> Argument<'a> {
        let layout = Layout { offset: 0, sizes: view.sizes().into(), strides: view.strides().into() };
        let (base, dtype) = (view.as_mut_ptr(), view.dtype());
        Argument { base, dtype, layout, writable: true, lifetime: PhantomData }
    }
}

impl<'a> Argument<'a> {
    /// Memory at a pointer, to be read and written. Arguments of one call made by this may overlap each other.
    ///
    /// # Safety
    /// Every element that some index of the layout reaches from `base` must be readable, writable and initialised for
    /// `'a`, and until the call has returned and views among its outputs are gone nobody may touch it but through arguments of the
    /// same call that were made by this function. Alignment does not matter.
    pub unsafe fn from_raw_parts(base: *mut u8, dtype: DType, layout: Layout) -> Argument<'a> {
        debug_assert_eq!(layout.sizes.len(), layout.strides.len(), "a stride for each size");
        Argument { base, dtype, layout, writable: true, lifetime: PhantomData }
    }

    /// The same memory, for a call within the one that this is an argument of.
    ///
    /// # Safety
    /// As for [`Argument::view_mut`], for as long as the copy lives.
    pub unsafe fn again(&self) -> Argument<'_> {
        Argument { layout: self.layout.clone(), ..*self }
    }

    /// Whether it may be written.
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    /// Element type and layout.
    pub fn form(&self) -> (DType, &Layout) {
        (self.dtype, &self.layout)
    }

    /// The elements. The call no longer uses this view after it has written to them.
    pub fn view(&self) -> ArrayView<'_> {
        // SAFETY: the memory is readable by the contracts of the views that arguments are made of, and of `from_raw_parts`.
        // The call alone writes to it, either when it reads no more, or by a kernel that the plan proved to store no element
        // before it has loaded it; segments after that kernel read what it stored.
        unsafe { ArrayView::from_raw_parts(self.base, self.dtype, self.layout.clone()) }
    }

    /// The elements for writing.
    ///
    /// # Safety
    /// The argument must be writable, and nothing may read through a view of these elements, or of an argument that
    /// overlaps, what is written through this one and is expected to be old.
    pub unsafe fn view_mut(&self) -> ArrayViewMut<'a> {
        debug_assert!(self.writable, "an argument for reading is written");
        // SAFETY: writable by the contract of what the argument was made of; the rest is the caller's.
        unsafe { ArrayViewMut::from_raw_parts(self.base, self.dtype, self.layout.clone()) }
    }

    /// Where it is.
    pub fn footprint(&self) -> Footprint<'_> {
        Footprint { base: self.base.addr(), dtype: self.dtype, layout: &self.layout }
    }
}

/// The elements of an argument as addresses, of the host's memory or of a device's.
#[derive(Clone, Copy, Debug)]
pub struct Footprint<'m> {
    /// The address that the layout counts from.
    pub base: usize,
    pub dtype: DType,
    pub layout: &'m Layout,
}

impl Footprint<'_> {
    /// The address of the element at index zero.
    pub fn start(&self) -> usize {
        self.base.wrapping_add_signed(self.layout.offset * self.dtype.size() as isize)
    }

    /// Whether some byte may belong to both. Exact for arrays apart from each other, and for parts of one array such as its
    /// columns, halves of its rows, or its even and odd elements.
    pub fn overlaps(&self, other: &Footprint<'_>) -> bool {
        match (self.stretch(), other.stretch()) {
            (Some((first, end)), Some((other_first, other_end))) => {
                first < other_end && other_first < end && !self.interleaves(other)
            }
            _ => false,
        }
    }

    /// Whether both repeat with one period, in separate parts of it.
    fn interleaves(&self, other: &Footprint<'_>) -> bool {
        self.periods().chain(other.periods()).any(|period| {
            let (start, length) = self.within(period);
            let (other_start, other_length) = other.within(period);
            let distance = (other_start - start).rem_euclid(period);
            length <= distance && distance.saturating_add(other_length) <= period
        })
    }

    /// The distances in bytes of its elements along each axis.
    fn periods(&self) -> impl Iterator<Item = i128> {
        let width = self.dtype.size() as i128;
        let axes = self.layout.sizes.iter().zip(&self.layout.strides);
        let moving = axes.filter(|(size, stride)| **size > 1 && **stride != 0);
        moving.map(move |(_, &stride)| (stride as i128).abs() * width)
    }

    /// The address of the first byte, and the number of bytes to the last, along the axes that do not move by whole periods.
    fn within(&self, period: i128) -> (i128, i128) {
        let width = self.dtype.size() as i128;
        let axes = self.layout.sizes.iter().zip(&self.layout.strides);
        let reaches = axes.filter(|(_, stride)| (**stride as i128 * width) % period != 0);
        let reaches =
            reaches.map(|(&size, &stride)| (size as i128 - 1).saturating_mul(stride as i128 * width));
        let (below, above) = reaches.fold((0_i128, 0_i128), |(below, above), reach| {
            (below.saturating_add(reach.min(0)), above.saturating_add(reach.max(0)))
        });
        let start = self.base as i128 + self.layout.offset as i128 * width;
        (start.saturating_add(below), above.saturating_sub(below).saturating_add(width))
    }

    /// The addresses of the first byte and of the one past the last; `None` without elements.
    fn stretch(&self) -> Option<(i128, i128)> {
        let (low, high) = self.layout.span()?;
        let (base, width) = (self.base as i128, self.dtype.size() as i128);
        Some((base + low * width, base + (high + 1) * width))
    }

    /// Whether two indices may reach one element.
    pub fn repeats(&self) -> bool {
        !self.layout.sizes.contains(&0) && !self.layout.is_nested()
    }
}

/// For each footprint, if there is one, whether its range from the first to the last byte meets that of another one.
pub fn shared<'m>(footprints: impl Iterator<Item = Option<Footprint<'m>>>) -> SmallVec<[bool; 8]> {
    let stretches: SmallVec<[_; 8]> = footprints.map(|footprint| footprint?.stretch()).collect();
    let mut shared = smallvec![false; stretches.len()];
    let mut in_order: SmallVec<[(i128, i128, usize); 8]> = stretches
        .iter()
        .enumerate()
        .filter_map(|(place, &stretch)| Some((stretch?.0, stretch?.1, place)))
        .collect();
    in_order.sort_unstable();
    // A range meets a later one if it meets the next one, and an earlier one if it meets the one that ends last.
    let mut last_end = i128::MIN;
    for (number, &(first, end, place)) in in_order.iter().enumerate() {
        let meets_next = in_order.get(number + 1).is_some_and(|next| next.0 < end);
        shared[place] = meets_next || last_end > first;
        last_end = last_end.max(end);
    }
    shared
}
