//! Errors in the inputs of a view.

use ops::DType;
use thiserror::Error;

use crate::graph::SizeError;

/// Why inputs do not fit a view. An input is named by its position, and by the user's name where it has one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InputError {
    /// A wrong number of inputs.
    #[error("expected {expected} inputs, got {given}")]
    Count {
        /// How many the view has.
        expected: usize,
        /// How many were given.
        given: usize,
    },
    /// An input of the wrong dtype.
    #[error("{input}: expected dtype {expected}, got {given}")]
    Dtype {
        input: String,
        /// The dtype that the view needs.
        expected: DType,
        given: DType,
    },
    /// An input of the wrong rank.
    #[error("{input}: expected {expected} axes, got {given}")]
    Rank {
        input: String,
        /// The rank that the view needs.
        expected: usize,
        /// The rank given.
        given: usize,
    },
    /// An input of the wrong size.
    #[error("{input}, axis {axis}: expected size {expected} ({because}), got {given}")]
    Size {
        input: String,
        /// Which of its axes.
        axis: usize,
        /// The size that the view needs.
        expected: i64,
        /// Where that size comes from.
        because: String,
        /// The size given.
        given: i64,
    },
    /// The sizes do not satisfy the constraints that the definition implies.
    #[error("the sizes must satisfy {condition}, but {values}")]
    Guard {
        /// What must hold, in symbols.
        condition: String,
        /// The values of its symbols, and where they come from.
        values: String,
    },
    /// A size that divides another one is zero.
    #[error("the sizes must satisfy {condition}, which divides by zero: {values}")]
    Undefined {
        /// What must hold, in symbols.
        condition: String,
        /// The values of its symbols, and where they come from.
        values: String,
    },
    /// A size that is computed is no whole number, or too large.
    #[error("{0}")]
    Computed(String),
    /// A size has no value that can be used.
    #[error(transparent)]
    Sizes(#[from] SizeError),
}
