//! The work of streams.

use std::sync::Arc;

use super::ffi::{Address, Handle};
use super::graph::Body;
use super::matmul::MatmulCall;
use crate::{Arg, Function, Launch};

/// A piece of work.
#[derive(Clone, Debug)]
pub enum Work {
    /// Does nothing but order: a stream waits for an event.
    Nothing,
    /// An event happens.
    Record(Handle),
    /// A kernel runs.
    Launch(Arc<KernelCall>),
    /// Matrices are multiplied.
    Matmul(Arc<MatmulCall>),
    /// Bytes that were taken from the host are written.
    Write { to: Address, bytes: Arc<[u8]> },
    /// Bytes are copied.
    Copy { to: Place, from: Place, bytes: usize },
    /// A pattern is repeated.
    Fill { to: Address, pattern: Pattern, bytes: usize },
    /// Memory is allocated.
    Allocate(Address),
    /// Memory is freed.
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
    /// The words of tables among them that are addresses.
    pub in_tables: Vec<Address>,
    /// Tables, kept for the arguments.
    pub _tables: Vec<Box<[u64]>>,
    /// Whether a test wants it to fault.
    pub faults: bool,
}

// SAFETY: pointers among the arguments are addresses of a device's memory, which no thread reads through them.
unsafe impl Send for KernelCall {}
// SAFETY: as above.
unsafe impl Sync for KernelCall {}

impl KernelCall {
    /// The memory that its pointers point into. Null is skipped: the kernel must not dereference it. Whether it only reads
    /// through an address in a table is not known.
    fn pointers(&self) -> impl Iterator<Item = Access> {
        let access = |address, writes| Access { address, bytes: 0, own: true, writes };
        let kinds = self.function.parameters();
        let pointers = self.args.iter().zip(kinds).filter_map(move |(arg, (kind, _))| match arg {
            Arg::Pointer(pointer) if !pointer.is_null() => Some(access(*pointer as Address, kind == 'p')),
            _ => None,
        });
        pointers.chain(self.in_tables.iter().map(move |&address| access(address, true)))
    }
}

/// An end of a copy.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// In memory that the driver allocated.
    Allocated(Address),
    /// In host memory unknown to the driver.
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
    /// 0 if unknown, as for a kernel's pointer.
    pub bytes: usize,
    /// Whether it must be the device's own.
    pub own: bool,
    /// Whether it may be written.
    pub writes: bool,
}

impl Place {
    /// Its address.
    pub fn address(self) -> Address {
        match self {
            Place::Allocated(address) | Place::Pageable(address) => address,
        }
    }
}

impl Work {
    /// The memory that it uses, as far as the driver can know.
    pub fn accesses(&self) -> Vec<Access> {
        let copied = |address, bytes, writes| Access { address, bytes, own: false, writes };
        match self {
            Work::Nothing | Work::Record(_) | Work::Allocate(_) | Work::Free(_) => Vec::new(),
            Work::Launch(call) => call.pointers().collect(),
            Work::Matmul(call) => call.accesses(),
            Work::Write { to, bytes } => vec![copied(*to, bytes.len(), true)],
            Work::Fill { to, bytes, .. } => vec![copied(*to, *bytes, true)],
            Work::Copy { to, from, bytes } => {
                let allocated = [(to, true), (from, false)].into_iter().filter_map(|end| match end.0 {
                    Place::Allocated(address) => Some(copied(*address, *bytes, end.1)),
                    Place::Pageable(_) => None,
                });
                allocated.collect()
            }
            Work::Graph(body) => body.nodes.iter().flat_map(|node| node.work.accesses()).collect(),
        }
    }
}
