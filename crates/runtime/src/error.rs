//! Everything that can go wrong while a fusion is compiled or called, and whose fault it is.

use codegen::cpu::llvm::CpuTarget;
use compiler::PlanError;
use ir::array::ArrayError;
use ir::define::Definition;
use ir::graph::Val;
use ir::graph::evaluate::EvaluateError;
use ir::graph::{InputError, SizeError};
use ir::interrupt::Interrupted;
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
    /// Code was asked for that the machine cannot run.
    #[error("this machine cannot run code for {0}")]
    Target(CpuTarget),
    /// A kernel program did what it must not: a bug of the compiler, found by the interpreter.
    #[error("{kernel}: {fault}")]
    Fault {
        /// The kernel's name.
        kernel: String,
        /// What it did.
        fault: Fault,
    },
    /// An index among the data is out of range.
    #[error("{}`{op}`: index {index} is out of range for axis {axis} of size {size}", in_line(*line))]
    Index {
        /// The op, as the definition has it.
        op: String,
        /// The line of the definition, from 1, where it has a text.
        line: Option<usize>,
        /// Which axis of what is indexed.
        axis: usize,
        /// Its size.
        size: i64,
        /// The smallest index out of range. One beyond 2^63 - 2 is told as that.
        index: i64,
    },
    /// The caller wants the answer no more.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// A thread to compile on could not be started.
    #[error("no thread could be started: {0}")]
    Thread(String),
    /// The allocator could not give a buffer.
    #[error(transparent)]
    Allocation(#[from] AllocError),
    /// The evaluator refused.
    #[error(transparent)]
    Evaluate(#[from] EvaluateError),
}

fn in_line(line: Option<usize>) -> String {
    line.map_or_else(String::new, |line| format!("line {line}: "))
}

/// An index out of range, of a value of the definition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexFault {
    pub val: Val,
    pub axis: usize,
    pub size: i64,
    pub index: i64,
}

impl From<IndexFault> for Error {
    /// Not yet in the words of the definition; see [`Error::in_words_of`].
    fn from(IndexFault { val, axis, size, index }: IndexFault) -> Error {
        EvaluateError::Index { val, axis, size, index }.into()
    }
}

impl Error {
    /// An index out of range named as the definition has it: by its op and line.
    pub(crate) fn in_words_of(self, definition: &Definition) -> Error {
        let Error::Evaluate(EvaluateError::Index { val, axis, size, index }) = self else { return self };
        let record = &definition.record;
        let Some(site) = record.site_of(val) else {
            return Error::Index { op: definition.name_of(val), line: None, axis, size, index };
        };
        let line = site.span.and_then(|span| record.line_of(span));
        // The size was added to what was negative.
        let index = if site.counts_from_end && index < 0 { index.wrapping_sub(size) } else { index };
        Error::Index { op: site.op.to_owned(), line, axis: site.axis, size, index }
    }
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
    /// Whether in-place outputs of the call may have been written, in part or in whole.
    pub fn may_have_written(&self) -> bool {
        matches!(self, Error::Interrupted(_) | Error::Memory { .. } | Error::Allocation(_))
    }

    /// Who can mend it.
    pub fn blame(&self) -> Blame {
        match self {
            Error::Input(InputError::Sizes(SizeError::Beyond { .. })) => Blame::Machine,
            Error::Memory { .. } | Error::Allocation(_) | Error::Thread(_) => Blame::Machine,
            Error::Evaluate(EvaluateError::Memory { .. }) => Blame::Machine,
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
