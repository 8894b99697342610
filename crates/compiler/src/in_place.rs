//! In-place outputs: for which of the outputs with the same layout as the input that they are written to, kernels may store
//! there directly.
//!
//! Takes a fusion and a plan of it, looks at kernels. Whether the caller's buffers overlap is checked at the call.

use index::{Expr, Sym};
use ir::graph::{Fusion, Val};
use kernel::{Buffer, may_share_memory};
use lowering::{BufferSource, KernelArgument, Lowered, LoweredSegment};

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
    let Some((writer, written)) = writer(launches, store) else { return false };
    let read = |kernel: &Lowered| buffer(kernel, BufferSource::Input(input));
    launches[writer + 1..].iter().all(|kernel| read(kernel).is_none())
        && read(&launches[writer])
            .is_none_or(|read| launches[writer].kernel.buffers[written].over == Some(read))
}

/// Notes in the kernels of a segment which buffer that is read an in-place output may be written over.
pub(crate) fn note_shared_memory(fusion: &Fusion, segment: &SegmentPlan, lowered: &mut LoweredSegment) {
    let Decision::Kernels(kernels) = &segment.decision else { return };
    for (store, made) in kernels.witness.stores.iter().enumerate() {
        let aliases = fusion.outputs().iter().filter(|output| output.val == made.val);
        for old in aliases.filter_map(|output| output.alias) {
            let input = segment.view.input_place(fusion.inputs()[old as usize]);
            let (Some(input), Some((writer, written))) = (input, writer(&lowered.kernels, store)) else {
                continue;
            };
            let kernel = &lowered.kernels[writer];
            let Some(read) = buffer(kernel, BufferSource::Input(input)) else { continue };
            let same = |sym: Sym| same_stride(kernel, sym, store, input);
            // Of several inputs that it is written to, one can be its memory.
            let is_free = kernel.kernel.buffers[written].over.is_none();
            if is_free && may_share_memory(&kernel.kernel, read, written, &same) {
                lowered.kernels[writer].kernel.buffers[written].over = Some(read);
            }
        }
    }
}

/// The kernel that writes a store, and the buffer of it.
fn writer(launches: &[Lowered], store: usize) -> Option<(usize, Buffer)> {
    let writes = |(number, kernel)| Some((number, buffer(kernel, BufferSource::Store(store))?));
    launches.iter().enumerate().find_map(writes)
}

fn buffer(kernel: &Lowered, wanted: BufferSource) -> Option<Buffer> {
    let place = kernel.buffers.iter().position(|&source| source == wanted)?;
    kernel.kernel.buffers.keys().nth(place)
}

/// The stride of the input where a symbol is the stride of the store: in one memory they are equal.
fn same_stride(kernel: &Lowered, sym: Sym, store: usize, input: usize) -> Option<Expr> {
    let place = kernel.kernel.arguments.iter().position(|&own| own == sym)?;
    let KernelArgument::StoreStride { store: own, axis } = kernel.arguments[place] else { return None };
    let wanted = KernelArgument::Stride { input, axis };
    let other = kernel.arguments.iter().position(|argument| own == store && *argument == wanted)?;
    Some(Expr::sym(kernel.kernel.arguments[other]))
}
