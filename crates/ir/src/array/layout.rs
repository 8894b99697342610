//! Layouts map indices to places in memory: sizes, strides and an offset, all in elements.
//!
//! Every change of a layout gives one that reaches only elements that the old one reached. No memory is accessed here.

use smallvec::SmallVec;

/// Axes that [`Dims`] and [`Strides`] store inline: few arrays have more, and calls copy many layouts.
const INLINE: usize = 4;

/// Sizes of the axes, outermost first.
pub type Dims = SmallVec<[usize; INLINE]>;
/// Strides of the axes in elements; zero repeats an element, negative walks backward.
pub type Strides = SmallVec<[isize; INLINE]>;

/// Sizes, strides and the place of the element whose indices are all zero, counted in elements.
#[derive(Debug, PartialEq, Eq)]
pub struct Layout {
    /// Where the element at index zero is.
    pub offset: isize,
    pub sizes: Dims,
    /// Strides of the axes; as many as sizes.
    pub strides: Strides,
}

impl Clone for Layout {
    /// Faster than the derived `clone`, which calls `memcpy` or copies one by one.
    fn clone(&self) -> Layout {
        Layout { offset: self.offset, sizes: copied(&self.sizes), strides: copied(&self.strides) }
    }
}

/// A copy of a list. A short one is copied as a whole buffer, without a call of `memcpy`.
fn copied<T: Copy + Default>(list: &[T]) -> SmallVec<[T; INLINE]> {
    if list.len() > INLINE {
        return SmallVec::from_slice(list);
    }
    let element = |place: usize| list.get(place).copied().unwrap_or_default();
    SmallVec::from_buf_and_len(std::array::from_fn(element), list.len())
}

impl Layout {
    /// Row-major without gaps. Strides of sizes that overflow are meaningless; memory for them is rejected.
    pub fn dense(sizes: &[usize]) -> Layout {
        let mut strides: Strides = SmallVec::from_elem(0, sizes.len());
        let mut step = 1_usize;
        for (stride, &size) in strides.iter_mut().zip(sizes).rev() {
            *stride = step as isize;
            step = step.wrapping_mul(size.max(1));
        }
        Layout { offset: 0, sizes: copied(sizes), strides }
    }

    /// Without gaps, these axes from the outermost in memory to the innermost; others, of size 1, are placed as in a
    /// row-major one.
    pub fn ordered(
        sizes: &[usize],
        order: impl IntoIterator<Item = usize, IntoIter: DoubleEndedIterator>,
    ) -> Layout {
        let mut layout = Layout::dense(sizes);
        let mut step = 1_usize;
        for axis in order.into_iter().rev() {
            layout.strides[axis] = step as isize;
            step = step.wrapping_mul(sizes[axis].max(1));
        }
        layout
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// Number of elements; `None` if it overflows.
    pub fn numel(&self) -> Option<usize> {
        if self.sizes.contains(&0) {
            return Some(0);
        }
        self.sizes.iter().try_fold(1_usize, |n, &size| n.checked_mul(size))
    }

    /// The smallest and the largest place that some index reaches; `None` when there is no index.
    pub fn span(&self) -> Option<(i128, i128)> {
        let mut span = (self.offset as i128, self.offset as i128);
        for (&size, &stride) in self.sizes.iter().zip(&self.strides) {
            let reach = (size as i128 - 1).saturating_mul(stride as i128);
            match size {
                0 => return None,
                _ if reach < 0 => span.0 = span.0.saturating_add(reach),
                _ => span.1 = span.1.saturating_add(reach),
            }
        }
        Some(span)
    }

    /// Whether the elements are row-major without gaps.
    pub fn is_dense(&self) -> bool {
        let mut step = 1;
        for (&size, &stride) in self.sizes.iter().zip(&self.strides).rev() {
            if size > 1 && stride != step {
                return false;
            }
            step = step.wrapping_mul(size as isize);
        }
        true
    }

    /// Whether each axis steps over all that axes of smaller strides reach, so that no two indices share a place.
    pub fn is_nested(&self) -> bool {
        let axes = self.sizes.iter().zip(&self.strides).filter(|(size, _)| **size > 1);
        let mut axes: SmallVec<[(usize, usize); 6]> =
            axes.map(|(&size, &stride)| (stride.unsigned_abs(), size)).collect();
        axes.sort_unstable();
        let mut reach = 0_usize;
        axes.into_iter().all(|(stride, size)| {
            let is_beyond = stride > reach;
            reach = reach.saturating_add(stride.saturating_mul(size - 1));
            is_beyond
        })
    }

    /// Whether this layout reaches each place that another one reaches. Changes of this layout by the functions below are
    /// covered; of others some may be missed. If its axes interleave, so that places between its elements cannot be told
    /// from theirs, all of its span counts as reached.
    pub fn covers(&self, other: &Layout) -> bool {
        let Some((low, high)) = other.span() else { return true };
        let Some((first, last)) = self.span() else { return false };
        if low < first || last < high {
            return false;
        }
        let Some(mut progressions) = self.progressions() else { return true };
        // A distance is a sum of steps. If each progression has enough of them for all axes together, it has those of every
        // index.
        let mut has_steps = |mut distance: usize, times: usize| {
            let enough = progressions.iter_mut().rev().all(|(step, left)| {
                let needed = (distance / *step).saturating_mul(times);
                distance %= *step;
                let is_enough = needed <= *left;
                *left = left.saturating_sub(needed);
                is_enough
            });
            enough && distance == 0
        };
        let axes = other.sizes.iter().zip(&other.strides).filter(|(size, _)| **size > 1);
        let mut distances = axes.map(|(&size, &stride)| (stride.unsigned_abs(), size - 1));
        has_steps((low - first) as usize, 1) && distances.all(|(stride, times)| has_steps(stride, times))
    }

    /// The places from the lowest on as sums of arithmetic progressions, each by its step and the number of its steps.
    /// Each but the first steps over all that those before it reach; `None` where axes interleave.
    fn progressions(&self) -> Option<SmallVec<[(usize, usize); 6]>> {
        let axes = self.sizes.iter().zip(&self.strides).filter(|(size, stride)| **size > 1 && **stride != 0);
        let mut axes: SmallVec<[(usize, usize); 6]> =
            axes.map(|(&size, &stride)| (stride.unsigned_abs(), size - 1)).collect();
        axes.sort_unstable();
        let (mut progressions, mut reach) = (SmallVec::<[(usize, usize); 6]>::new(), 0_usize);
        for (stride, count) in axes {
            match progressions.last_mut() {
                Some((step, steps)) if stride % *step == 0 && stride / *step - 1 <= *steps => {
                    *steps = steps.saturating_add(count.saturating_mul(stride / *step));
                }
                _ if stride <= reach => return None,
                _ => progressions.push((stride, count)),
            }
            reach = reach.saturating_add(stride.saturating_mul(count));
        }
        Some(progressions)
    }

    /// The same elements with strides multiplied by `factor`: counted in parts of an element.
    pub fn spread(&self, factor: isize) -> Layout {
        let strides = self.strides.iter().map(|stride| stride.wrapping_mul(factor)).collect();
        Layout { offset: self.offset.wrapping_mul(factor), sizes: self.sizes.clone(), strides }
    }

    /// Axis `i` of the result is axis `order[i]`; axes that `order` leaves out have index 0.
    pub fn permuted(&self, order: impl IntoIterator<Item = usize>) -> Layout {
        let (sizes, strides) = order.into_iter().map(|axis| (self.sizes[axis], self.strides[axis])).unzip();
        Layout { offset: self.offset, sizes, strides }
    }

    /// The layout raised to a rank: the new axes come first and have size 1.
    pub fn raised(&self, rank: usize) -> Layout {
        let new: Vec<bool> = (0..rank).map(|axis| axis + self.rank() < rank).collect();
        self.broadcast(&new)
    }

    /// New axes of size 1 where the flag is true.
    pub fn broadcast(&self, new: &[bool]) -> Layout {
        let mut old = self.sizes.iter().copied().zip(self.strides.iter().copied());
        let axes = new.iter().map(|&new| if new { (1, 0) } else { old.next().unwrap_or((1, 0)) });
        let (sizes, strides) = axes.unzip();
        Layout { offset: self.offset, sizes, strides }
    }

    /// Axes of size 1 repeated to these sizes. Axes of other sizes keep theirs.
    pub fn expanded(&self, sizes: &[usize]) -> Layout {
        let mut result = self.clone();
        for (axis, &size) in sizes.iter().enumerate() {
            if self.sizes[axis] == 1 {
                result.sizes[axis] = size;
                result.strides[axis] = 0;
            }
        }
        result
    }

    /// The same places with each repeated axis once.
    pub fn distinct(&self) -> Layout {
        let mut result = self.clone();
        let axes = result.sizes.iter_mut().zip(&result.strides);
        axes.filter(|(size, stride)| **size > 1 && **stride == 0).for_each(|(size, _)| *size = 1);
        result
    }

    /// A box of the tensor: `starts[i] + sizes[i]` must not exceed the size of axis `i`.
    pub fn sliced(&self, starts: &[usize], sizes: &[usize]) -> Layout {
        let empty = sizes.contains(&0);
        let steps = starts.iter().zip(&self.strides).map(|(&start, &stride)| start as isize * stride);
        let moved = if empty { 0 } else { steps.sum() };
        Layout { offset: self.offset + moved, sizes: sizes.into(), strides: self.strides.clone() }
    }

    /// The same elements in row-major order under other sizes with as many elements, if strides can express it.
    pub fn reshaped(&self, sizes: &[usize]) -> Option<Layout> {
        if sizes.contains(&0) {
            return Some(Layout { offset: self.offset, ..Layout::dense(sizes) });
        }
        let merged = self.merged();
        let mut strides: Strides = SmallVec::from_elem(0, sizes.len());
        let mut axis = sizes.len();
        for (&whole, &stride) in merged.sizes.iter().zip(&merged.strides).rev() {
            let mut covered = 1;
            while covered < whole {
                axis = axis.checked_sub(1)?;
                strides[axis] = stride.checked_mul(covered as isize)?;
                covered *= sizes[axis];
            }
            if covered != whole {
                return None;
            }
        }
        Some(Layout { offset: self.offset, sizes: sizes.into(), strides })
    }

    /// The same elements in the same order with as few axes as possible: none of size 1, neighbours joined where one stride
    /// serves both.
    pub fn merged(&self) -> Layout {
        let mut result = Layout { offset: self.offset, sizes: Dims::new(), strides: Strides::new() };
        for (&size, &stride) in self.sizes.iter().zip(&self.strides) {
            let joined = stride.checked_mul(size as isize);
            match (result.sizes.last_mut(), result.strides.last_mut()) {
                _ if size == 1 => {}
                (Some(outer), Some(step)) if Some(*step) == joined => {
                    *outer *= size;
                    *step = stride;
                }
                _ => {
                    result.sizes.push(size);
                    result.strides.push(stride);
                }
            }
        }
        result
    }

    /// Visits the elements number `start .. start + count` in row-major order, as runs of equal stride along the last
    /// axis: `visit(place of the first, stride, how many)`. The range must lie inside.
    pub fn runs(&self, start: usize, count: usize, mut visit: impl FnMut(isize, isize, usize)) {
        let last = match self.strides[..] {
            _ if count == 0 => return,
            [] => return visit(self.offset, 0, 1),
            [stride] => return visit(self.offset + start as isize * stride, stride, count),
            [.., _] => self.rank() - 1,
        };
        let (mut index, mut place) = self.locate(start);
        let mut left = count;
        while left > 0 {
            let run = left.min(self.sizes[last] - index[last]);
            visit(place, self.strides[last], run);
            left -= run;
            place += run as isize * self.strides[last];
            index[last] += run;
            for axis in (1..=last).rev().take_while(|_| left > 0) {
                if index[axis] < self.sizes[axis] {
                    break;
                }
                index[axis] = 0;
                index[axis - 1] += 1;
                place += self.strides[axis - 1] - self.sizes[axis] as isize * self.strides[axis];
            }
        }
    }

    /// How far one element lies after another in memory, by their numbers in row-major order; zero without such elements.
    pub(super) fn distance(&self, from: usize, to: usize) -> isize {
        let is_inside = |number: usize| self.numel().is_none_or(|numel| number < numel);
        match self.strides[..] {
            _ if !is_inside(from) || !is_inside(to) => 0,
            [stride] => (to as isize - from as isize) * stride,
            _ => self.locate(to).1 - self.locate(from).1,
        }
    }

    /// The place of each element, in row-major order.
    pub(super) fn places(&self) -> Vec<isize> {
        let mut places = Vec::new();
        self.runs(0, self.numel().unwrap_or_default(), |place, stride, count| {
            places.extend((0..count as isize).map(|k| place + k * stride));
        });
        places
    }

    /// The indices and the place of the element with this number in row-major order.
    fn locate(&self, number: usize) -> (Dims, isize) {
        let mut index: Dims = SmallVec::from_elem(0, self.rank());
        let (mut rest, mut place) = (number, self.offset);
        for axis in (0..self.rank()).rev().filter(|_| number > 0) {
            index[axis] = rest % self.sizes[axis];
            rest /= self.sizes[axis];
            place += index[axis] as isize * self.strides[axis];
        }
        (index, place)
    }
}
