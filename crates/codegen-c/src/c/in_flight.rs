//! How many bytes a lane loads from global memory before it uses the first of them, as the text is written: the machine's
//! compiler may move more loads together.

use ir::kernel::{Kernel, Loop, Place, Stmt};

/// The largest number so far, and how many iterations of the loops around are unrolled.
#[derive(Clone, Copy, Debug)]
pub(super) struct InFlight {
    pub(super) bytes: u64,
    pub(super) iterations: u64,
}

impl InFlight {
    pub(super) fn new() -> InFlight {
        InFlight { bytes: 0, iterations: 1 }
    }

    /// Enters a loop of which so many iterations are unrolled, and gives what held outside.
    pub(super) fn enter(&mut self, iterations: u64) -> InFlight {
        std::mem::replace(self, InFlight { iterations: self.iterations * iterations, ..*self })
    }

    /// Leaves the loop.
    pub(super) fn leave(&mut self, outside: InFlight) {
        self.iterations = outside.iterations;
    }

    /// Notes the loads that stand in a body.
    pub(super) fn note(&mut self, kernel: &Kernel, body: &[Stmt]) {
        self.add(body.iter().map(|statement| loaded(kernel, statement)).sum());
    }

    /// Notes loads of vectors: of the statements at these places of a loop, so many vectors each.
    pub(super) fn note_vectors(&mut self, kernel: &Kernel, for_loop: &Loop, loads: &[usize], vectors: i64) {
        let elements = u64::from(for_loop.width) * vectors.unsigned_abs();
        let bytes = loads.iter().map(|&place| loaded(kernel, &for_loop.body[place]));
        self.add(bytes.sum::<u64>() * elements);
    }

    fn add(&mut self, bytes: u64) {
        self.bytes = self.bytes.max(bytes * self.iterations);
    }
}

/// The bytes of an element that a statement loads from global memory.
fn loaded(kernel: &Kernel, statement: &Stmt) -> u64 {
    match statement {
        Stmt::Load { place: Place::Buffer(buffer), .. } => kernel.buffers[*buffer].dtype.size() as u64,
        _ => 0,
    }
}
