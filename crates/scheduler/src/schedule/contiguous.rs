//! Which tensors of a group are contiguous along which axis.

use ir::graph::Val;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Schedule;
use super::workload::Workload;
use ir::layout::{LayoutClass, Stride};
use space::{Atoms, Axis};

/// The tensors that are contiguous along an axis.
#[derive(Clone, Copy, Default)]
pub(super) struct Contiguous {
    /// Bytes of these tensors.
    pub bytes: u64,
    /// Bytes of the stored ones.
    pub stored: u64,
    /// Bytes of their widest element.
    pub widest: usize,
}

/// The tensors that are contiguous along each axis, of those whose axes count: each once, however often it is read.
pub(super) fn contiguous(
    work: &Workload<'_>,
    counts: impl Fn(&[Atoms]) -> bool,
) -> FxHashMap<Axis, Contiguous> {
    let Workload { graph, view, witness, memory, hints, .. } = *work;
    let mut found: FxHashMap<Axis, Contiguous> = FxHashMap::default();
    let mut add = |axis: Axis, val: Val, is_stored: bool| {
        let (known, bytes) = (found.entry(axis).or_default(), hints.value(&graph.ty(val).bytes()));
        known.bytes += bytes;
        known.stored += if is_stored { bytes } else { 0 };
        known.widest = known.widest.max(graph.dtype(val).size());
    };
    for (store, layout) in witness.stores.iter().zip(memory.stores) {
        if let Some(axis) = contiguous_axis(&store.axes, layout).filter(|_| counts(&store.axes)) {
            add(axis, store.val, true);
        }
    }
    let mut seen: FxHashSet<(Axis, Val)> = FxHashSet::default();
    for &node in view.order() {
        for (k, operand) in graph.node(node).operands.iter().enumerate() {
            let Some(input) = view.input_place(*operand) else { continue };
            let axes = witness.space.axes_of_operand(node, k);
            let axis = contiguous_axis(axes, &memory.inputs[input]).filter(|_| counts(axes));
            if let Some(axis) = axis.filter(|&axis| seen.insert((axis, *operand))) {
                add(axis, *operand, false);
            }
        }
    }
    found
}

/// Whether lanes around stages cross tensors that are contiguous along another axis: each lane then takes their elements
/// from its own cache lines, and all lines of a strip should stay in the nearest cache.
pub(super) fn crosses_rows(work: &Workload<'_>, schedule: &Schedule, lane: Axis) -> bool {
    let is_other = |axis: &Axis| schedule.loop_of(*axis) != lane;
    schedule.lanes_outside && contiguous(work, |axes| has_loop(schedule, axes, lane)).keys().any(is_other)
}

/// Whether a loop walks one of these axes.
pub(super) fn has_loop(schedule: &Schedule, axes: &[Atoms], axis: Axis) -> bool {
    axes.iter().flatten().any(|&own| schedule.loop_of(own) == axis)
}

fn contiguous_axis(axes: &[Atoms], layout: &LayoutClass) -> Option<Axis> {
    match layout {
        LayoutClass::Strided(strides) => {
            let unit = axes
                .iter()
                .zip(strides)
                .rev()
                .find(|(atoms, stride)| !atoms.is_empty() && **stride == Stride::One);
            unit.and_then(|(atoms, _)| atoms.last().copied())
        }
        packed => packed.in_memory(axes)?.into_iter().flatten().last(),
    }
}
