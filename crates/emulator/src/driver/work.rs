//! What a stream is given to do.

use std::sync::Arc;

use super::ffi::{Address, Handle};
use super::graph::Body;
use crate::{Arg, Function, Launch};

/// A piece of work.
#[derive(Clone, Debug)]
pub enum Work {
    /// Only has its place: a stream waits for an event.
    Nothing,
    /// An event happens.
    Record(Handle),
    /// A kernel runs.
    Launch(Arc<KernelCall>),
    /// Bytes that were taken from the host are written.
    Write { to: Address, bytes: Arc<[u8]> },
    /// Bytes are copied.
    Copy { to: Place, from: Place, bytes: usize },
    /// A pattern is repeated.
    Fill { to: Address, pattern: Pattern, bytes: usize },
    /// Memory comes into being.
    Allocate(Address),
    /// Memory goes away.
    Free(Address),
    /// The nodes of a graph run.
    Graph(Arc<Body>),
}

/// A launch with its parameters.
#[derive(Debug)]
pub struct KernelCall {
    pub function: Function,
    pub launch: Launch,
    pub args: Vec<Arg>,
    /// Whether a test wants it to fault.
    pub faults: bool,
}

// SAFETY: pointers among the arguments are addresses of a device's memory, which no thread reads through them.
unsafe impl Send for KernelCall {}
// SAFETY: as above.
unsafe impl Sync for KernelCall {}

/// An end of a copy.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// In memory that the driver allocated.
    Allocated(Address),
    /// In memory of the host that the driver knows nothing of.
    Pageable(Address),
}

/// What memory is filled with.
#[derive(Clone, Copy, Debug)]
pub enum Pattern {
    Byte(u8),
    Word(u32),
}

/// Memory that work uses.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub address: Address,
    /// 0 where nobody knows, as of a kernel's pointer.
    pub bytes: usize,
    /// Whether it must be the device's own.
    pub own: bool,
}

impl Place {
    /// Where it is.
    pub fn address(self) -> Address {
        match self {
            Place::Allocated(address) | Place::Pageable(address) => address,
        }
    }
}

impl Work {
    /// The memory that it uses, as far as the driver can know.
    pub fn accesses(&self) -> Vec<Access> {
        let copied = |address, bytes| Access { address, bytes, own: false };
        match self {
            Work::Nothing | Work::Record(_) | Work::Allocate(_) | Work::Free(_) => Vec::new(),
            Work::Launch(call) => call.args.iter().filter_map(pointer).collect(),
            Work::Write { to, bytes } => vec![copied(*to, bytes.len())],
            Work::Fill { to, bytes, .. } => vec![copied(*to, *bytes)],
            Work::Copy { to, from, bytes } => {
                let allocated = [to, from].into_iter().filter_map(|place| match place {
                    Place::Allocated(address) => Some(copied(*address, *bytes)),
                    Place::Pageable(_) => None,
                });
                allocated.collect()
            }
            Work::Graph(body) => body.nodes.iter().flat_map(|node| node.work.accesses()).collect(),
        }
    }
}

/// A pointer of a kernel; null is one that it must not follow.
fn pointer(arg: &Arg) -> Option<Access> {
    match arg {
        Arg::Pointer(pointer) if !pointer.is_null() => {
            Some(Access { address: *pointer as Address, bytes: 0, own: true })
        }
        _ => None,
    }
}
