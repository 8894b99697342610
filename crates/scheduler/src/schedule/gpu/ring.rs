//! Whether threads load a row while they fold the previous one.

use ir::graph::Val;
use rustc_hash::FxHashMap;

use super::keep::{bytes, longest_row, sums};
use crate::schedule::persist::narrow_value;
use crate::schedule::workload::Workload;
use crate::schedule::{Ring, Schedule};
use space::Axis;
use target::gpu::MAX_RING_BYTES;

/// Sets that for threads that walk rows and have sums of their columns in registers: too few of their blocks run at a time
/// for some to load while others fold. They keep the previous row as it is in memory.
pub(super) fn ring(work: &Workload<'_>, schedule: &mut Schedule) {
    let Some(lane) = schedule.lane.filter(|_| schedule.private && work.witness.stage_count > 1) else {
        return;
    };
    let (Some(columns), Some(&row)) = (longest_row(work, schedule, lane), schedule.outer().last()) else {
        return;
    };
    let sums = sums(work, schedule, lane);
    let kept = sums + kept_by_ring(work, schedule, row, lane);
    let persistent = computed(work, schedule);
    let with_ring = Schedule { ring: Some(Ring::Loaded), narrow: false, persistent, ..schedule.clone() };
    let fits = columns.div_ceil(schedule.lanes.into()) * kept <= MAX_RING_BYTES;
    if sums > 0 && fits && with_ring.check(work.witness).is_ok() {
        *schedule = with_ring;
    }
}

/// Values that persist and are no inputs.
fn computed(work: &Workload<'_>, schedule: &Schedule) -> Vec<Val> {
    let mut computed = schedule.persistent.clone();
    computed.retain(|&val| narrow_value(work.graph, work.view, val) == val);
    computed
}

/// Bytes that a thread keeps of each element: two rows of inputs that differ from row to row, one of those common to all
/// rows, and persistent computed values.
fn kept_by_ring(work: &Workload<'_>, schedule: &Schedule, row: Axis, lane: Axis) -> u64 {
    let Workload { graph, view, witness, .. } = *work;
    let mut rows: FxHashMap<(Val, bool), u64> = FxHashMap::default();
    for &node in view.order() {
        for (place, &operand) in graph.node(node).operands.iter().enumerate() {
            let axes = witness.space.axes_of_operand(node, place).iter().flatten();
            let loops: Vec<Axis> = axes.map(|&axis| schedule.loop_of(axis)).collect();
            if view.is_input(operand) && loops.contains(&lane) {
                let is_of_row = loops.contains(&row);
                let size = graph.dtype(operand).size() as u64;
                rows.insert((operand, is_of_row), if is_of_row { 2 * size } else { size });
            }
        }
    }
    let computed = computed(work, schedule);
    rows.values().sum::<u64>() + computed.iter().map(|val| bytes(graph, val.node)).sum::<u64>()
}
