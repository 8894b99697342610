//! In-place outputs: for which of the outputs with the same layout as the input that they are written to, kernels may store
//! there directly.
//!
//! Takes a fusion and a plan of it, looks at kernels. Whether the caller's buffers overlap is checked at the call.

use index::{Expr, Sym};
use ir::graph::{Fusion, Val};
use kernel::may_share_memory;
use scheduler::lower::{BufferSource, KernelArgument, Lowered, LoweredSegment};

use crate::outputs::Placement;
use crate::plan::{Decision, Kernels, Plan, SegmentPlan};

impl Plan {
    /// Whether an in-place output may be stored straight into its input's memory: everything that reads the old
    /// contents has run before, or reads each element in the iteration that stores it, and nothing that can fail on real
    /// data comes after the first store.
    pub fn stores_in_place(&self, output: usize) -> bool {
        let output = &self.fusion.outputs()[output];
        let lies_there =
            |&input: &u32| self.placements.get(&output.val) == Some(&Placement::Like(input as usize));
        let Some(input) = output.alias.filter(lies_there) else { return false };
        let old = self.fusion.inputs()[input as usize];
        let makes = |segment: &SegmentPlan| segment.view.is_output(output.val);
        let Some(maker) = self.segments.iter().position(makes) else { return false };
        let reads = |segment: &SegmentPlan| segment.view.is_input(old);
        let fails = |segment: &SegmentPlan| !matches!(segment.decision, Decision::Kernels(_));
        // Faults that kernels report are checked when all have run.
        let reports = |lowered: &LoweredSegment| !lowered.checked.is_empty();
        if self.fusion.is_output(old)
            || self.lowered.iter().any(reports)
            || self.segments[maker + 1..].iter().any(reads)
            || self.segments[maker..].iter().any(fails)
        {
            return false;
        }
        match &self.segments[maker].decision {
            Decision::Kernels(kernels) => {
                let launches = &self.lowered[maker].kernels;
                shares(kernels, launches, &self.segments[maker].view, output.val, old)
            }
            Decision::Evaluate { .. } | Decision::External(_) => false,
        }
    }
}

/// Whether the kernels of a segment can store `new` where they read `old`.
fn shares(kernels: &Kernels, launches: &[Lowered], view: &Fusion, new: Val, old: Val) -> bool {
    let Some(store) = kernels.witness.stores.iter().position(|store| store.val == new) else { return false };
    let Some(input) = view.input_place(old) else { return true };
    let buffer = |kernel: &Lowered, wanted: BufferSource| {
        let place = kernel.buffers.iter().position(|&source| source == wanted);
        place.and_then(|place| kernel.kernel.buffers.keys().nth(place))
    };
    let Some(writer) = launches.iter().position(|one| buffer(one, BufferSource::Store(store)).is_some())
    else {
        return false;
    };
    let read = |kernel: &Lowered| buffer(kernel, BufferSource::Input(input));
    if launches[writer + 1..].iter().any(|kernel| read(kernel).is_some()) {
        return false;
    }
    let kernel = &launches[writer];
    match (read(kernel), buffer(kernel, BufferSource::Store(store))) {
        (Some(read), Some(written)) => {
            may_share_memory(&kernel.kernel, read, written, &|sym| same_stride(kernel, sym, store, input))
        }
        _ => true,
    }
}

/// The stride of the input where a symbol is the stride of the store: in one memory they are equal.
fn same_stride(kernel: &Lowered, sym: Sym, store: usize, input: usize) -> Option<Expr> {
    let place = kernel.kernel.arguments.iter().position(|&own| own == sym)?;
    let KernelArgument::StoreStride { store: own, axis } = kernel.arguments[place] else { return None };
    let wanted = KernelArgument::Stride { input, axis };
    let other = kernel.arguments.iter().position(|argument| own == store && *argument == wanted)?;
    Some(Expr::sym(kernel.kernel.arguments[other]))
}
