//! Errors of callers when a view is evaluated, and of the machine.

use std::fmt;

use ir::array::ArrayError;
use ir::graph::{InputError, SizeError, Val};
use thiserror::Error;

/// Why a view was not evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EvaluateError {
    /// The inputs do not fit the view.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A group that ends before it starts, or beyond what the groups divide.
    #[error("{op}: a group ends at {end}, which is not from {start}, where it starts, to the size {size}")]
    Group {
        op: &'static str,
        /// Where the group starts.
        start: usize,
        /// Where it ends.
        end: i64,
        /// The size that groups divide.
        size: usize,
    },
    /// An index out of range; the elements at such indices have no value.
    #[error("{val}: {at}")]
    Index {
        /// The gather, or another op that takes elements at indices.
        val: Val,
        /// Where.
        at: OutOfRange,
    },
    /// More memory than there is or than was allowed.
    #[error("no memory: {bytes} bytes are needed")]
    Memory {
        /// How many bytes would be alive at once; `usize::MAX` if the number itself overflows.
        bytes: usize,
    },
}

/// Where an index is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfRange {
    /// The axis of the indexed tensor.
    pub axis: usize,
    pub size: i64,
    /// The smallest index out of range; without meaning for an axis of size 0, where any is.
    pub index: i64,
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OutOfRange { axis, size, index } = self;
        match size {
            0 => write!(f, "axis {axis} is empty, so no index is in range"),
            _ => write!(f, "index {index} is out of range for axis {axis} of size {size}"),
        }
    }
}

impl From<SizeError> for EvaluateError {
    fn from(error: SizeError) -> EvaluateError {
        InputError::Sizes(error).into()
    }
}

impl From<ArrayError> for EvaluateError {
    /// The evaluator asks for nothing else that could fail: its layouts are right or it has a bug.
    fn from(error: ArrayError) -> EvaluateError {
        match error {
            ArrayError::Memory { bytes } => EvaluateError::Memory { bytes },
            bug => unreachable!("{bug}"),
        }
    }
}
