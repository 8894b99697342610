//! What can go wrong when a kernel is interpreted, each with the statement it happens in.

use std::fmt;

use index::EvalError;
use kernel::verify::Violations;
use kernel::{Buffer, Place, Scratch};
use ops::DType;
use thiserror::Error;

use super::race::Agent;

/// Why an interpretation ended early. Buffers then hold what was stored up to there.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// The kernel breaks rules, so it has no meaning.
    #[error("the kernel does not verify:\n{0}")]
    Invalid(#[from] Violations),
    /// The number of arguments differs from the kernel's.
    #[error("{given} arguments given, the kernel takes {expected}")]
    Arguments {
        /// Arguments of the kernel.
        expected: usize,
        /// Arguments given.
        given: usize,
    },
    /// The number of buffers differs from the kernel's.
    #[error("{given} buffers given, the kernel takes {expected}")]
    Buffers {
        /// Buffers of the kernel.
        expected: usize,
        /// Buffers given.
        given: usize,
    },
    /// A buffer holds elements of another dtype.
    #[error("{buffer} is of dtype {expected}, the memory given for it of {given}")]
    BufferDType {
        buffer: Buffer,
        /// As declared.
        expected: DType,
        given: DType,
    },
    /// A scratch array with a negative length, or more elements than the interpreter or the steps left allow.
    #[error("{scratch} of {len} elements is rejected")]
    ScratchLength { scratch: Scratch, len: i64 },
    /// An index expression has no value.
    #[error("in `{statement}`: {source}")]
    Index { statement: String, source: EvalError },
    /// An access outside a place.
    #[error("in `{statement}`, {at}: {place}[{index}] of {len} elements")]
    OutOfBounds {
        statement: String,
        at: Location,
        place: Place,
        index: i64,
        /// The number of elements.
        len: usize,
    },
    /// A load from scratch that nothing was stored to.
    #[error("in `{statement}`, {at}: {place}[{index}] was never stored")]
    Uninitialised { statement: String, at: Location, place: Place, index: i64 },
    /// An access to an element that is in flight: no `await` has completed its `fetch`.
    #[error("in `{statement}`, {at}: {place}[{index}] is in flight")]
    InFlight { statement: String, at: Location, place: Place, index: i64 },
    /// A block ends with an element in flight.
    #[error("block {block} ends with {scratch}[{index}] in flight")]
    NeverAwaited { block: i64, scratch: Scratch, index: i64 },
    /// Two unordered accesses to an element, one of them a store.
    #[error("in `{statement}`: race on {place}[{index}] between {at} and {other}")]
    Race {
        /// The statement of the later access as text.
        statement: String,
        /// Who made it.
        at: Location,
        /// Who made the earlier access.
        other: Location,
        /// The place both touch.
        place: Place,
        index: i64,
    },
    /// A second store to an element of a buffer by the same lane of the same block.
    #[error("in `{statement}`, {at}: {place}[{index}] is stored a second time")]
    StoredTwice { statement: String, at: Location, place: Place, index: i64 },
    /// A loop declared to give all lanes equally many iterations, and does not.
    #[error("in `{statement}`: iterations {begin} to {end} are no whole number for each of {lanes} lanes")]
    Uneven {
        /// The loop's head as text.
        statement: String,
        /// First iteration.
        begin: i64,
        /// One past the last.
        end: i64,
        /// Lanes of a block.
        lanes: u32,
    },
    /// An argument that violates an assumption of the kernel.
    #[error("the kernel assumes that {assumed}, but the argument is {given}")]
    Assumption {
        /// What is assumed, as text.
        assumed: String,
        /// What was given.
        given: i64,
    },
    /// The kernel takes more steps than allowed.
    #[error("more than {limit} steps")]
    StepLimit {
        /// The limit that was given.
        limit: u64,
    },
}

/// Which block and which of its lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    pub block: i64,
    /// The lane, or none in uniform code.
    pub lane: Option<u32>,
}

impl Location {
    pub(super) fn new(block: i64, agent: Agent) -> Self {
        let lane = match agent {
            Agent::Lane(lane) => Some(lane),
            Agent::Uniform => None,
        };
        Self { block, lane }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lane {
            Some(lane) => write!(f, "lane {lane} of block {}", self.block),
            None => write!(f, "uniform code of block {}", self.block),
        }
    }
}
