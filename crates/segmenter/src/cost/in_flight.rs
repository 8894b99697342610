//! How many bytes in flight a GPU has for a kernel that is not planned yet: what a thread loads of a row at a time, times
//! the threads. If columns are folded as well as rows, threads keep these sums, and there are few threads.

use ir::graph::{Fusion, Graph};
use scheduler::legal::Witness;
use target::gpu::{KEEPERS_REGISTERS, MAX_ROW_ELEMENTS};
use target::{Processor, Target};

/// Bytes that all multiprocessors together have in flight; `None` on a CPU.
pub(super) fn in_flight(graph: &Graph, view: &Fusion, witness: &Witness, target: &Target) -> Option<f64> {
    let Processor::Gpu(gpu) = &target.processor else { return None };
    let element: u64 = view.inputs_of_most_axes(graph).map(|val| graph.dtype(val).size() as u64).sum();
    let of_thread = (element * MAX_ROW_ELEMENTS).max(gpu.in_flight);
    let threads = if keeps_columns(witness) {
        gpu.multiprocessor.registers / KEEPERS_REGISTERS
    } else {
        gpu.multiprocessor.threads
    };
    Some((threads * of_thread * target.cores) as f64)
}

/// Whether blocks keep a sum for each index of the rows that they walk and fold.
pub(super) fn keeps_columns(witness: &Witness) -> bool {
    witness.folds.iter().any(|fold| fold.terminal && witness.keeps_undivided(fold))
}
