//! Arrays: the exchange format between callers, the evaluator, the runtime and the command line.
//!
//! [`Array`] owns dense memory, [`StridedArray`] memory of any strides; [`ArrayView`] and [`ArrayViewMut`] see anybody's
//! memory through a [`Layout`] with any strides. Alignment of foreign memory is never assumed. Nothing here knows a
//! backend or does I/O.

mod argument;
mod element;
mod layout;
mod owned;
pub mod products;
mod runs;
mod strided;
mod view;

pub use argument::{Argument, Footprint, shared};
pub use element::{ByteBool, Complex, Element, with_element};
pub use layout::{Dims, Layout, Strides};
pub use owned::Array;
pub use runs::prefetch;
pub use strided::StridedArray;
pub use view::{ArrayView, ArrayViewMut};

use ops::DType;
use thiserror::Error;

/// A part of a complex number.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Part {
    /// The first in memory.
    Real,
    /// The second.
    Imaginary,
}

/// Why memory cannot be allocated or viewed as requested.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ArrayError {
    /// The memory could not be allocated.
    #[error("no memory for an array of {} bytes", count(*bytes))]
    Memory {
        /// How many bytes were asked for; `usize::MAX` if the number itself overflows.
        bytes: usize,
    },
    /// Some index would reach outside the memory.
    #[error("sizes {sizes:?} with strides {strides:?} reach outside the {elements} elements that there are")]
    Outside {
        /// Requested sizes.
        sizes: Vec<usize>,
        /// Requested strides in elements.
        strides: Vec<isize>,
        /// How many elements there are.
        elements: usize,
    },
    /// The number of strides is not that of the sizes.
    #[error("{strides} strides for {sizes} sizes")]
    Ranks {
        /// How many sizes.
        sizes: usize,
        /// How many strides.
        strides: usize,
    },
    /// The number of elements given is not that of the sizes.
    #[error("{given} elements where the sizes {sizes:?} need {}", count(*expected))]
    Length {
        sizes: Vec<usize>,
        /// Their product; `usize::MAX` if it overflows.
        expected: usize,
        /// How many elements were given.
        given: usize,
    },
    /// Two arrays that must agree in dtype and sizes differ.
    #[error("{given_dtype}{given:?} where {expected_dtype}{expected:?} was expected")]
    Mismatch {
        /// Needed dtype.
        expected_dtype: DType,
        /// Needed sizes.
        expected: Vec<usize>,
        given_dtype: DType,
        /// Given sizes.
        given: Vec<usize>,
    },
}

/// A number of bytes or elements, in words if it overflows.
fn count(number: usize) -> String {
    match number {
        usize::MAX => "more than can be counted".to_owned(),
        number => number.to_string(),
    }
}
