//! Everything that can go wrong while a fusion is compiled or called, and whose fault it is.

use compiler::PlanError;
use ir::DType;
use ir::array::ArrayError;
use ir::graph::evaluate::EvaluateError;
use ir::index::EvalError;
use ir::kernel::interpret::Fault;
use thiserror::Error;

use crate::cpu::alloc::AllocError;

/// Why a fusion was not compiled or not run. No output exists then, and no input was changed.
#[derive(Clone, Debug, Error)]
pub enum Error {
    /// A wrong number of inputs.
    #[error("expected {expected} inputs, got {given}")]
    Count {
        /// How many the fusion has.
        expected: usize,
        /// How many were given.
        given: usize,
    },
    /// An input of the wrong dtype.
    #[error("{input}: expected dtype {expected}, got {given}")]
    Dtype {
        /// The input: its position and its name.
        input: String,
        /// The dtype that the fusion needs.
        expected: DType,
        /// The dtype given.
        given: DType,
    },
    /// An input of the wrong rank.
    #[error("{input}: expected {expected} axes, got {given}")]
    Rank {
        /// The input: its position and its name.
        input: String,
        /// The rank that the fusion needs.
        expected: usize,
        /// The rank given.
        given: usize,
    },
    /// An input of the wrong size.
    #[error("{input}, axis {axis}: expected size {expected} ({because}), got {given}")]
    Size {
        /// The input: its position and its name.
        input: String,
        /// Which of its axes.
        axis: usize,
        /// The size that the fusion needs.
        expected: i64,
        /// Where that size comes from.
        because: String,
        /// The size given.
        given: i64,
    },
    /// The sizes do not fulfil what the definition implies of them.
    #[error("the sizes must fulfil {condition}, but {values}")]
    Guard {
        /// What must hold, in symbols.
        condition: String,
        /// The values of its symbols, and where they come from.
        values: String,
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
    /// A size too large to be counted.
    #[error("the size {formula} is beyond this machine")]
    Beyond {
        /// The size in symbols.
        formula: String,
    },
    /// More memory than the machine has, or than was allowed.
    #[error("no memory: {bytes} bytes are needed, {limit} are there")]
    Memory {
        /// The most bytes that the call would hold at once; `usize::MAX` where the number itself is beyond the machine.
        bytes: usize,
        /// The bytes that there are.
        limit: usize,
    },
    /// A choice of the user does not fit the definition.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A kernel program did what it must not: a bug of the compiler, found by the interpreter.
    #[error("{kernel}: {fault}")]
    Fault {
        /// The kernel's name.
        kernel: String,
        /// What it did.
        fault: Fault,
    },
    /// The allocator could not give a buffer.
    #[error(transparent)]
    Allocation(#[from] AllocError),
    /// The evaluator refused.
    #[error(transparent)]
    Evaluate(#[from] EvaluateError),
}

/// Who can mend an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The caller, by other inputs or another definition.
    User,
    /// The machine lacks something.
    Machine,
}

impl Error {
    /// Who can mend it.
    pub fn blame(&self) -> Blame {
        match self {
            Error::Beyond { .. } | Error::Memory { .. } | Error::Allocation(_) => Blame::Machine,
            Error::Evaluate(EvaluateError::Memory { .. } | EvaluateError::Threads(_)) => Blame::Machine,
            _ => Blame::User,
        }
    }
}

impl From<ArrayError> for Error {
    /// The runtime asks arrays for memory only; its layouts are right or it has a bug.
    fn from(error: ArrayError) -> Error {
        match error {
            ArrayError::Memory { bytes } => AllocError::OutOfMemory { bytes }.into(),
            bug => unreachable!("{bug}"),
        }
    }
}
