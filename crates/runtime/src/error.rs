//! Everything that can go wrong while a fusion is compiled or called, and whose fault it is.

use compiler::PlanError;
use ir::array::ArrayError;
use ir::graph::evaluate::EvaluateError;
use ir::graph::{InputError, SizeError};
use ir::kernel::interpret::Fault;
use thiserror::Error;

use crate::cpu::alloc::AllocError;

/// Why a fusion was not compiled or not run. No output exists then; of inputs see [`crate::Executable::run_in_place`].
#[derive(Clone, Debug, Error)]
pub enum Error {
    /// The inputs do not fit the definition.
    #[error(transparent)]
    Input(#[from] InputError),
    /// An input that must be written to was given for reading.
    #[error("{input} is written to, but was given for reading only")]
    ReadOnly {
        /// The input: its position and its name.
        input: String,
    },
    /// An input that must be written to has elements that share memory.
    #[error("{input} is written to, but some of its elements share memory")]
    Repeats {
        /// The input: its position and its name.
        input: String,
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
            Error::Input(InputError::Sizes(SizeError::Beyond { .. })) => Blame::Machine,
            Error::Memory { .. } | Error::Allocation(_) => Blame::Machine,
            Error::Evaluate(EvaluateError::Memory { .. } | EvaluateError::Threads(_)) => Blame::Machine,
            _ => Blame::User,
        }
    }
}

impl From<SizeError> for Error {
    fn from(error: SizeError) -> Error {
        InputError::Sizes(error).into()
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
