//! Everything that can go wrong while a fusion is compiled or called, and whose fault it is.

use compiler::PlanError;
use ir::array::ArrayError;
use ir::definition::SourceLine;
use ir::graph::{InputError, SizeError, Val};
use ir::interrupt::Interrupted;
use llvm::CpuTarget;
use ops::DType;
use reference::evaluate::{EvaluateError, OutOfRange};
use reference::interpret::Fault;
use segmenter::parallel::STACK;
use thiserror::Error;

use cpu::alloc::AllocError;

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
    /// Memory for outputs was given for another number of outputs.
    #[error("out: expected {expected} arrays, one for each output, got {given}")]
    Destinations {
        /// How many outputs are returned.
        expected: usize,
        /// How many there is memory for.
        given: usize,
    },
    /// Memory that was given for an output does not suit it.
    #[error("out[{place}]: {problem}")]
    Destination {
        /// The number of the output among those that are returned.
        place: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// More memory than the machine has, or than was allowed.
    #[error("no memory: {bytes} bytes are needed, {limit} are there")]
    Memory {
        /// The most bytes that the call would hold at once; `usize::MAX` if the number itself overflows.
        bytes: usize,
        /// The bytes that are available.
        limit: usize,
    },
    /// A result whose bytes cannot be counted.
    #[error("{}`{op}`: the result, {dtype} of sizes {sizes}, has more bytes than can be counted", in_line(line.as_ref()))]
    TooLarge {
        /// The op, as the definition has it.
        op: String,
        /// Its line, where that is known.
        line: Option<SourceLine>,
        /// The dtype of the result.
        dtype: DType,
        sizes: String,
    },
    /// A choice of the user does not fit the definition.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A schedule of the user fits a segment whose inputs lie as they are declared, but not on these.
    #[error(
        "{error}; it fits inputs that lie as they are declared, but the call has {others}: call it on others, declare such \
         strides, or set no schedule"
    )]
    ScheduleOfCall {
        /// The inputs that lie otherwise.
        others: String,
        /// Why it does not fit.
        error: PlanError,
    },
    /// Another number of outputs to compare than the definition has.
    #[error("expected as many outputs as the definition has, {expected}, got {given}")]
    Outputs {
        /// How many the definition has.
        expected: usize,
        given: usize,
    },
    /// An output to compare that is none of the definition's.
    #[error("output {place}: {problem}")]
    Output {
        /// Its number.
        place: usize,
        problem: String,
    },
    /// A segment that is none of the definition's.
    #[error("segment {segment}: {problem}")]
    Segment {
        /// Its name.
        segment: String,
        problem: String,
    },
    /// An output that no segment makes.
    #[error("no segment makes output {output}")]
    Missing {
        /// Its number.
        output: usize,
    },
    /// Code was asked for that the machine cannot run.
    #[error("this machine cannot run code for {0}")]
    Target(CpuTarget),
    /// A call on tensors of a GPU, of an executable that is for none.
    #[error("the executable was not compiled for a GPU")]
    NoGpu,
    /// A number that decides sizes is in a GPU's memory.
    #[error("{input}: its value decides sizes, so it must be a number of the host")]
    OnGpu {
        /// The input: its position and its name.
        input: String,
    },
    /// A stream of another GPU than the executable's.
    #[error("the stream is one of cuda:{stream}, and the executable is for cuda:{executable}")]
    OtherGpu {
        /// The number of the stream's GPU.
        stream: usize,
        executable: usize,
    },
    /// An index out of range in a call that gave its work to a GPU and did not wait.
    #[error("of an earlier call on {device}: {error}")]
    Earlier {
        /// The GPU, as in `cuda:0`.
        device: String,
        /// The error.
        error: Box<Error>,
    },
    /// An output in memory of its own, in a graph that is captured: each replay would allocate it again.
    #[error(
        "the call would allocate output {output} while the stream is captured: give memory for it (`out`)"
    )]
    AllocatesInCapture {
        /// The number of the output among those that are given back.
        output: usize,
    },
    /// A call that draws random numbers, in a graph that is captured.
    #[error(
        "the call draws random numbers, which would be the same in each replay of a graph that is captured"
    )]
    DrawsInCapture,
    /// A call that needs the host, in a graph that is captured.
    #[error("the host has a part in the call ({what}), which a graph that is captured cannot wait for")]
    HostInCapture {
        /// The host's part.
        what: &'static str,
    },
    /// An input that a captured graph would read at another time than the call.
    #[error("{input} {what}")]
    InputInCapture {
        /// The input in words.
        input: String,
        /// What is wrong with it, and how to fix it.
        what: &'static str,
    },
    /// An error of NVIDIA's libraries.
    #[error(transparent)]
    Cuda(#[from] cuda::Error),
    /// An error of theirs about a kernel or a product of matrices.
    #[error("{step} on {device}: {error}")]
    Step {
        /// The kernel, by its segment, or the op.
        step: String,
        /// As users name it.
        device: String,
        error: cuda::Error,
    },
    /// A GPU has no memory for the result of a step.
    #[error("{step}: {error}")]
    GpuMemory {
        /// The segment.
        step: String,
        error: cuda::Error,
    },
    /// A launch that exceeds the GPU's limits.
    #[error("{kernel}: the launch has {what}")]
    TooLargeLaunch {
        kernel: String,
        /// What is too much, and how much there may be.
        what: String,
    },
    /// A kernel program did what it must not: a bug of the compiler, found by the interpreter.
    #[error("{kernel}: {fault}")]
    Fault {
        kernel: String,
        /// The fault.
        fault: Fault,
    },
    /// An index among the data is out of range.
    #[error("{}`{op}`: {at}", in_line(line.as_ref()))]
    Index {
        /// The op, as the definition has it.
        op: String,
        /// Its line, where that is known.
        line: Option<SourceLine>,
        /// Where.
        at: OutOfRange,
    },
    /// The caller interrupted the call.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// A thread to compile on could not be started.
    #[error("no thread with a stack of {mib} MiB of address space could be started: {0}", mib = STACK >> 20)]
    Thread(String),
    /// The allocator could not give a buffer.
    #[error(transparent)]
    Allocation(#[from] AllocError),
    /// The evaluator gave an error.
    #[error(transparent)]
    Evaluate(#[from] EvaluateError),
}

fn in_line(line: Option<&SourceLine>) -> String {
    line.map_or_else(String::new, |line| format!("{line}: "))
}

/// An index out of range, of a value of the definition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexFault {
    pub val: Val,
    pub at: OutOfRange,
}

impl From<IndexFault> for Error {
    /// Not yet in the words of the definition; see [`crate::located`].
    fn from(IndexFault { val, at }: IndexFault) -> Error {
        EvaluateError::Index { val, at }.into()
    }
}

/// Who can fix an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The caller, by other inputs or another definition.
    User,
    /// The machine lacks something.
    Machine,
}

impl Error {
    /// The same error, which also says what the missing memory was for.
    pub(crate) fn for_step(self, step: impl FnOnce() -> Option<String>) -> Error {
        match self {
            Error::Cuda(error @ cuda::Error::OutOfMemory { .. }) => match step() {
                Some(step) => Error::GpuMemory { step, error },
                None => error.into(),
            },
            error => error,
        }
    }

    /// Whether in-place outputs of the call may have been written, in part or in whole.
    pub fn may_have_written(&self) -> bool {
        match self {
            Error::Interrupted(_) | Error::Memory { .. } | Error::Allocation(_) => true,
            // Of a later step or segment.
            Error::Cuda(_) | Error::Step { .. } | Error::GpuMemory { .. } | Error::TooLargeLaunch { .. } => {
                true
            }
            Error::Evaluate(error) => matches!(error, EvaluateError::Memory { .. }),
            _ => false,
        }
    }

    /// Who can fix it.
    pub fn blame(&self) -> Blame {
        match self {
            Error::Input(InputError::Sizes(SizeError::Beyond { .. })) => Blame::Machine,
            Error::Memory { .. } | Error::TooLarge { .. } | Error::Allocation(_) | Error::Thread(_) => {
                Blame::Machine
            }
            Error::Evaluate(EvaluateError::Memory { .. }) => Blame::Machine,
            Error::Cuda(_) | Error::Step { .. } | Error::GpuMemory { .. } | Error::TooLargeLaunch { .. } => {
                Blame::Machine
            }
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
