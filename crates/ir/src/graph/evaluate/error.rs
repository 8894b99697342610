//! What a caller can do wrong when a view is evaluated, and what the machine can lack.

use thiserror::Error;

use crate::DType;
use crate::array::ArrayError;
use crate::index::EvalError;

/// Why a view was not evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EvaluateError {
    /// A wrong number of inputs.
    #[error("expected {expected} inputs, got {given}")]
    Count {
        /// How many the view has.
        expected: usize,
        /// How many were given.
        given: usize,
    },
    /// An input of the wrong dtype.
    #[error("input {input}: expected dtype {expected}, got {given}")]
    Dtype {
        /// Position among the inputs.
        input: usize,
        /// The dtype that the view needs.
        expected: DType,
        /// The dtype given.
        given: DType,
    },
    /// An input of the wrong rank.
    #[error("input {input}: expected {expected} axes, got {given}")]
    Rank {
        /// Position among the inputs.
        input: usize,
        /// The rank that the view needs.
        expected: usize,
        /// The rank given.
        given: usize,
    },
    /// An input of the wrong size.
    #[error("input {input}, axis {axis}: expected size {expected} ({formula}), got {given}")]
    Size {
        /// Position among the inputs.
        input: usize,
        /// Which of its axes.
        axis: usize,
        /// The size that the view needs.
        expected: i64,
        /// That size in symbols and where they come from.
        formula: String,
        /// The size given.
        given: usize,
    },
    /// The sizes do not fulfil what was assumed of them when the graph was built.
    #[error("the sizes must fulfil {condition}, but {values}")]
    Guard {
        /// What must hold, in symbols.
        condition: String,
        /// The values of its symbols and where they come from.
        values: String,
    },
    /// A box that a slice takes reaches outside its operand.
    #[error("slice, axis {axis}: {size} elements from {start} on do not fit in size {extent}")]
    Slice {
        /// Which axis.
        axis: usize,
        /// First index.
        start: i64,
        /// Number of elements.
        size: i64,
        /// Size of the operand.
        extent: usize,
    },
    /// A size that comes out negative.
    #[error("the size {formula} is {value}, which is negative")]
    Negative {
        /// The size in symbols.
        formula: String,
        /// Its value.
        value: i64,
    },
    /// A size that has no value.
    #[error("the size {formula} has no value: {error}")]
    Unknown {
        /// The size in symbols.
        formula: String,
        /// Why.
        error: EvalError,
    },
    /// More memory than there is or than was allowed.
    #[error("no memory: {bytes} bytes are needed")]
    Memory {
        /// How many bytes would be alive at once; `usize::MAX` where the number itself is beyond the machine.
        bytes: usize,
    },
    /// The threads could not be started.
    #[error("threads could not be started: {0}")]
    Threads(String),
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
