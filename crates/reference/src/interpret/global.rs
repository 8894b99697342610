//! The caller's memory: given, with who stored to each element, or absent where only addresses matter.

use cranelift_entity::{EntityRef, PrimaryMap};
use kernel::Buffer;
use ops::Scalar;

use super::DenseMemory;
use super::race::{Agent, Stores};

/// The buffers of a launch.
pub(super) enum Global<'m> {
    /// Memory that a kernel runs on.
    Given { buffers: &'m mut [DenseMemory], stores: PrimaryMap<Buffer, Stores> },
    /// No memory: loads give zero, stores are dropped.
    Absent,
}

impl<'m> Global<'m> {
    /// Memory with no element stored yet.
    pub(super) fn given(buffers: &'m mut [DenseMemory]) -> Self {
        let stores = buffers.iter().map(|memory| Stores::new(memory.len())).collect();
        Self::Given { buffers, stores }
    }

    /// The number of elements of a buffer; unlimited without memory.
    pub(super) fn len(&self, buffer: Buffer) -> usize {
        match self {
            Self::Given { buffers, .. } => buffers[buffer.index()].len(),
            Self::Absent => usize::MAX,
        }
    }

    /// The element at a position below [`len`](Self::len).
    pub(super) fn read(&self, buffer: Buffer, position: usize) -> Option<Scalar> {
        match self {
            Self::Given { buffers, .. } => Some(buffers[buffer.index()].read(position)),
            Self::Absent => None,
        }
    }

    /// Replaces the element at a position below [`len`](Self::len).
    pub(super) fn write(&mut self, buffer: Buffer, position: usize, element: Scalar) {
        if let Self::Given { buffers, .. } = self {
            buffers[buffer.index()].write(position, element);
        }
    }

    /// Notes a store; if the element was stored before, returns the block and agent that stored it.
    pub(super) fn note_store(
        &mut self,
        buffer: Buffer,
        position: usize,
        by: (i64, Agent),
    ) -> Result<(), (i64, Agent)> {
        match self {
            Self::Given { stores, .. } => stores[buffer].store(position, by.0, by.1),
            Self::Absent => Ok(()),
        }
    }
}
