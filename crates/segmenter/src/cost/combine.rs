//! The cost of combining the partial results that blocks of a GPU leave: a launch for each combine step, and the bytes that
//! blocks write and the steps read.
//!
//! Takes a witness and estimates how the schedule that will be chosen divides it (`scheduler::schedule::divide`). On a CPU
//! combine steps are not counted.

use scheduler::hints::Hints;
use scheduler::legal::{Fold, Witness};
use space::Axis;
use target::gpu::MAX_PARTIAL_ROWS;
use target::{Gpu, Processor, Target};

use super::in_flight::keeps_columns;

/// Bytes of a partial result, roughly.
const PARTIAL_BYTES: u64 = 4;

/// Seconds that combine steps take besides the main kernel.
pub(super) fn seconds(witness: &Witness, hints: &Hints, target: &Target) -> f64 {
    let Processor::Gpu(gpu) = &target.processor else { return 0.0 };
    let blocks = Blocks { witness, hints, target, gpu };
    if blocks.elements(&witness.order) <= target.grain {
        return 0.0;
    }
    let pieces = blocks.pieces();
    let mut steps: Vec<[Vec<Axis>; 2]> = Vec::new();
    let mut partials = 0_u64;
    for fold in witness.folds.iter().filter(|fold| fold.terminal) {
        let cut: Vec<&(Axis, u64)> =
            pieces.iter().filter(|(axis, count)| fold.reduced.contains(axis) && *count > 1).collect();
        if cut.is_empty() {
            continue;
        }
        let kept: Vec<Axis> = fold.kept_axes().collect();
        let of_fold = cut.iter().fold(blocks.elements(&kept), |n, (_, count)| n.saturating_mul(*count));
        partials = partials.saturating_add(of_fold);
        let step = [kept, cut.iter().map(|(axis, _)| *axis).collect()];
        if !steps.contains(&step) {
            steps.push(step);
        }
    }
    let bytes = partials.saturating_mul(2 * PARTIAL_BYTES);
    steps.len() as f64 * target.launch + bytes as f64 / target.bandwidth
}

/// How blocks divide the axes of a group.
struct Blocks<'a> {
    witness: &'a Witness,
    hints: &'a Hints,
    target: &'a Target,
    gpu: &'a Gpu,
}

impl Blocks<'_> {
    /// The number of pieces of each folded axis that is cut: those that the fewest folds reduce first, until there are
    /// enough blocks, and no block walks too many rows of sums that it keeps.
    fn pieces(&self) -> Vec<(Axis, u64)> {
        let Blocks { witness, target, gpu, .. } = *self;
        let folds_over = |axis: &Axis| witness.folds.iter().filter(|fold| reduces(fold, *axis)).count();
        let (free, mut folded): (Vec<Axis>, Vec<Axis>) =
            witness.workers.iter().partition(|axis| folds_over(axis) == 0);
        folded.sort_by_key(folds_over);
        let in_lanes = witness.order.last().is_some_and(|last| free.contains(last));
        let mut blocks = self.elements(&free).div_ceil(if in_lanes { target.strip } else { 1 }).max(1);
        let enough = gpu.partials * target.cores;
        let longest = if keeps_columns(witness) { MAX_PARTIAL_ROWS } else { u64::MAX };
        let piece = |axis: Axis| {
            let size = self.elements(&[axis]);
            let wanted = if blocks.saturating_mul(2) > enough { 1 } else { enough / blocks };
            let count = wanted.max(size.div_ceil(longest)).min(size);
            blocks = blocks.saturating_mul(count);
            (axis, count)
        };
        folded.into_iter().map(piece).collect()
    }

    /// The number of indices of these axes together.
    fn elements(&self, axes: &[Axis]) -> u64 {
        let sizes = axes.iter().map(|&axis| self.hints.value(self.witness.space.size(axis)));
        sizes.fold(1, u64::saturating_mul)
    }
}

fn reduces(fold: &Fold, axis: Axis) -> bool {
    fold.reduced.contains(&axis)
}
