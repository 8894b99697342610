//! Memory that was allocated: of devices and of the host, each between guard pages. Looks up addresses.

use std::collections::BTreeMap;

use super::ffi::{Address, Handle};
use super::queue::Ticket;
use super::result::{DriverResult, Status};
use crate::{GuardedBuffer, GuardedEnd};

/// What a real driver aligns memory to.
const ALIGNMENT: usize = 256;

/// New memory has these bytes: a NaN as any float, -1 as any integer.
const UNWRITTEN: u8 = 0xff;

/// How memory was allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// By `cuMemAlloc`.
    Device,
    /// By `cuMemAllocAsync`.
    Pooled,
    /// By `cuMemAllocAsync` of a stream that captures: it belongs to a graph.
    Graph,
    /// By `cuMemHostAlloc`.
    Host,
}

/// Some memory.
#[derive(Debug)]
pub struct Allocation {
    memory: GuardedBuffer,
    pub bytes: usize,
    pub context: Handle,
    pub device: usize,
    pub kind: MemoryKind,
    /// The stream on which it is allocated, and the place in its order.
    pub born: Option<(Handle, Ticket)>,
    /// Whether `cuMemFreeAsync` was called.
    pub freed: bool,
    /// Whether the stream has executed its allocation but not yet its free.
    pub alive: bool,
}

/// All memory, by its first address.
#[derive(Debug, Default)]
pub struct Allocations {
    by_start: BTreeMap<Address, Allocation>,
}

impl Allocations {
    /// New memory; alive at once unless its kind is allocated in stream order.
    pub fn add(
        &mut self,
        bytes: usize,
        context: Handle,
        device: usize,
        kind: MemoryKind,
    ) -> DriverResult<Address> {
        let memory = GuardedBuffer::filled(UNWRITTEN, bytes, GuardedEnd::Last, ALIGNMENT);
        let mut memory = memory.map_err(|error| {
            Status::ERROR_OUT_OF_MEMORY.because(format!("the machine has no {bytes} bytes: {error}"))
        })?;
        let start = memory.as_mut_ptr() as Address;
        let alive = matches!(kind, MemoryKind::Device | MemoryKind::Host);
        let (born, freed) = (None, false);
        self.by_start.insert(start, Allocation { memory, bytes, context, device, kind, born, freed, alive });
        Ok(start)
    }

    /// The memory that begins here.
    pub fn get(&self, start: Address) -> DriverResult<&Allocation> {
        self.by_start.get(&start).ok_or_else(|| {
            Status::ERROR_INVALID_VALUE.because(format!("no memory that is there begins at {start:#x}"))
        })
    }

    /// The memory that begins here, to change what is known of it.
    pub fn get_mut(&mut self, start: Address) -> Option<&mut Allocation> {
        self.by_start.get_mut(&start)
    }

    /// The memory that contains all of these bytes. An empty range may also begin at its end.
    pub fn containing(&self, address: Address, bytes: usize) -> Option<(Address, &Allocation)> {
        let (&start, allocation) = self.by_start.range(..=address).next_back()?;
        let end = address.checked_add(bytes as u64)?;
        (end <= start + allocation.bytes as u64).then_some((start, allocation))
    }

    /// Takes memory away.
    pub fn remove(&mut self, start: Address) -> Option<Allocation> {
        self.by_start.remove(&start)
    }

    /// Takes all memory of a context away.
    pub fn forget_context(&mut self, context: Handle) {
        self.by_start.retain(|_, allocation| allocation.context != context);
    }

    /// All memory.
    pub fn iter(&self) -> impl Iterator<Item = &Allocation> {
        self.by_start.values()
    }
}

impl Allocation {
    /// Whether it is host memory.
    pub fn is_host(&self) -> bool {
        self.kind == MemoryKind::Host
    }

    /// Whether nobody has written between its end and the guard page after it.
    pub fn is_kept_to(&self) -> bool {
        self.memory.rest().iter().all(|&byte| byte == UNWRITTEN)
    }
}
