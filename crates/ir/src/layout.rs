//! The layout of an input or a store of a segment, as far as its kernel depends on it.

use std::cmp::Reverse;

use smallvec::SmallVec;

use crate::array::Layout as ArrayLayout;
use crate::definition::DeclaredLayout;
use crate::graph::{Axes, Shape};

/// The layout of one tensor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LayoutClass {
    /// Row-major without gaps: strides follow from the sizes.
    Dense,
    /// Without gaps, the axes from the outermost in memory to the innermost.
    Ordered(Axes),
    /// A stride per axis, in elements.
    Strided(Vec<Stride>),
}

/// The layouts of all that a segment touches.
#[derive(Clone, Copy, Debug)]
pub struct SegmentLayouts<'a> {
    pub inputs: &'a [LayoutClass],
    /// Its stores, in the order of the witness.
    pub stores: &'a [LayoutClass],
}

/// What is known of one stride.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stride {
    /// All indices along the axis address one element.
    Zero,
    /// Neighbours along the axis are neighbours in memory.
    One,
    /// Known at the call only; an argument of the kernel.
    Any,
}

impl From<&ArrayLayout> for LayoutClass {
    /// How an array lies in memory. Sizes and strides beyond i64 do not exist on machines with 64 bits.
    fn from(layout: &ArrayLayout) -> LayoutClass {
        let sizes: SmallVec<[i64; 6]> = layout.sizes.iter().map(|&size| size as i64).collect();
        let strides: SmallVec<[i64; 6]> = layout.strides.iter().map(|&stride| stride as i64).collect();
        LayoutClass::of(&sizes, &strides)
    }
}

impl LayoutClass {
    /// The layout of a tensor of these sizes and strides (in elements). Axes of size 1 do not count.
    pub fn of(sizes: &[i64], strides: &[i64]) -> LayoutClass {
        let mut dense = 1;
        let mut is_dense = true;
        for (&size, &stride) in sizes.iter().zip(strides).rev() {
            is_dense &= size == 1 || stride == dense;
            dense = dense.saturating_mul(size);
        }
        if is_dense || sizes.contains(&0) {
            return LayoutClass::Dense;
        }
        if let Some(order) = order_without_gaps(sizes, strides) {
            return LayoutClass::Ordered(order);
        }
        LayoutClass::Strided(
            sizes
                .iter()
                .zip(strides)
                .map(|(&size, &stride)| match stride {
                    _ if size == 1 => Stride::Zero,
                    0 => Stride::Zero,
                    1 => Stride::One,
                    _ => Stride::Any,
                })
                .collect(),
        )
    }

    /// The layout that was declared. Axes that may have gaps are taken to have none.
    pub fn declared(declared: &DeclaredLayout) -> LayoutClass {
        let axes = 0..declared.shape.len();
        let is_row_major = axes.clone().all(|axis| declared.memory_place(axis) == axis);
        if !axes.clone().any(|axis| declared.is_expanded(axis)) {
            return if is_row_major {
                LayoutClass::Dense
            } else {
                LayoutClass::Ordered(declared.in_graph().order)
            };
        }
        let repeats = |axis: usize| declared.shape[axis] == 1 || declared.is_expanded(axis);
        let innermost =
            axes.clone().filter(|&axis| !repeats(axis)).max_by_key(|&axis| declared.memory_place(axis));
        let stride = |axis: usize| match axis {
            _ if repeats(axis) => Stride::Zero,
            _ if Some(axis) == innermost => Stride::One,
            _ => Stride::Any,
        };
        LayoutClass::Strided(axes.map(stride).collect())
    }

    /// The items that stand for the axes, in memory order, if the axes have no gaps.
    pub fn in_memory<T: Clone>(&self, axes: &[T]) -> Option<Vec<T>> {
        match self {
            LayoutClass::Dense => Some(axes.to_vec()),
            LayoutClass::Ordered(order) => {
                Some(order.iter().map(|&axis| axes[usize::from(axis)].clone()).collect())
            }
            LayoutClass::Strided(_) => None,
        }
    }

    /// Whether a tensor of this layout may be written: no axis repeats elements, as far as the layout tells.
    pub fn is_writable(&self, shape: &Shape) -> bool {
        let LayoutClass::Strided(strides) = self else { return true };
        let repeats =
            strides.iter().zip(shape).any(|(stride, size)| *stride == Stride::Zero && !size.is_one());
        !repeats && strides.iter().filter(|stride| **stride == Stride::One).count() <= 1
    }
}

/// The axes of a tensor from the outermost in memory to the innermost, if they lie without gaps. Those of size 1 come first.
fn order_without_gaps(sizes: &[i64], strides: &[i64]) -> Option<Axes> {
    let mut order: Axes = (0..sizes.len() as u8).collect();
    let [size, stride] = [sizes, strides].map(|of| move |axis: u8| of[usize::from(axis)]);
    order.sort_by_key(|&axis| (size(axis) != 1, Reverse(stride(axis))));
    let end = order
        .iter()
        .rev()
        .filter(|&&axis| size(axis) != 1)
        .try_fold(1_i64, |end, &axis| (stride(axis) == end).then(|| end.saturating_mul(size(axis))));
    end.map(|_| order)
}
