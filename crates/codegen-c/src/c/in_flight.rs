//! How many bytes the lanes of a block load from global memory before they use the first of them, in the text as written:
//! the device's compiler may group more loads.

use index::Expr;
use kernel::{Kernel, Loop, Place, Stmt};

/// The largest number so far, and how many iterations of the loops around are unrolled.
#[derive(Clone, Debug)]
pub(super) struct InFlight {
    /// Over the arguments.
    pub(super) bytes: Expr,
    pub(super) iterations: u64,
}

impl InFlight {
    pub(super) fn new() -> InFlight {
        InFlight { bytes: Expr::zero(), iterations: 1 }
    }

    /// Notes the loads of these statements of a body, which all lanes run.
    pub(super) fn note(&mut self, kernel: &Kernel, body: &[Stmt]) {
        self.add(kernel, body, &Expr::constant(kernel.lanes.into()));
    }

    /// Notes the loads of these statements of a loop over lanes, `vectors` vectors each: no more than the loop has.
    pub(super) fn note_lanes<'s>(
        &mut self,
        kernel: &Kernel,
        for_loop: &Loop,
        loads: impl IntoIterator<Item = &'s Stmt>,
        vectors: i64,
    ) {
        let count = for_loop.end.clone() - for_loop.begin.clone();
        let most = Expr::constant(vectors * i64::from(for_loop.width) * i64::from(kernel.lanes));
        let is_known = count.symbols().iter().all(|symbol| kernel.arguments.contains(symbol));
        let elements = if is_known { Expr::min(&count, &most) } else { most };
        self.add(kernel, loads, &elements);
    }

    fn add<'s>(&mut self, kernel: &Kernel, loads: impl IntoIterator<Item = &'s Stmt>, elements: &Expr) {
        let bytes: u64 = loads.into_iter().map(|statement| loaded(kernel, statement)).sum();
        let all = elements.clone() * (bytes * self.iterations * u64::from(kernel.teams)) as i64;
        let all = all.ceil_div(&Expr::constant(kernel.cluster.into()));
        self.bytes = Expr::max(&self.bytes, &all);
    }
}

/// The bytes of an element that a statement loads from global memory.
fn loaded(kernel: &Kernel, statement: &Stmt) -> u64 {
    match statement {
        Stmt::Load { place: Place::Buffer(buffer), .. } | Stmt::Fetch { buffer, .. } => {
            kernel.buffers[*buffer].dtype.size() as u64
        }
        _ => 0,
    }
}
