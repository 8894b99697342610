//! How many neighbours a thread takes at a time: 16 bytes of the narrowest operand that is contiguous along the lanes, if
//! sizes are known to be multiples of that.

use index::Expr;
use kernel::VECTOR_BYTES;

use crate::schedule::Schedule;
use crate::schedule::workload::Workload;
use ir::layout::{LayoutClass, Stride};
use space::{Atoms, Axis};

/// The neighbours that a thread takes at a time.
pub(super) fn width(work: &Workload<'_>, schedule: &Schedule) -> u32 {
    let Some(lane) = schedule.lane else { return 1 };
    let is_plain = !schedule.lanes_outside && schedule.tile.is_none() && work.witness.scanned.is_none();
    let Some(narrowest) = narrowest(work, schedule, lane).filter(|_| is_plain) else { return 1 };
    let width = VECTOR_BYTES / narrowest;
    if divides(work, schedule, lane, width) { width } else { 1 }
}

/// The fewest neighbouring elements of a block, if blocks divide a contiguous axis: those that its threads take at a time.
pub(in crate::schedule) fn strip(work: &Workload<'_>, schedule: &Schedule) -> u64 {
    work.target.strip.max(u64::from(work.target.lanes) * u64::from(width(work, schedule)))
}

/// Whether neighbours never reach from one row or block into the next.
fn divides(work: &Workload<'_>, schedule: &Schedule, lane: Axis, width: u32) -> bool {
    let extent = schedule.extent(work.witness, lane);
    let is_cut_well = schedule.chunk(lane).is_none_or(|chunk| chunk % u64::from(width) == 0);
    is_cut_well && work.view.facts().prove_divides(&Expr::constant(width.into()), &extent)
}

/// The last axis in memory of a value whose axes are made of these. `None` if there is none, or if rows along it begin
/// elsewhere than in a tensor without gaps and are not all one row.
fn innermost(axes: &[Atoms], layout: &LayoutClass) -> Option<Axis> {
    match layout {
        LayoutClass::Strided(strides) => {
            let (last, outer) = strides.split_last()?;
            let is_row = *last == Stride::One && outer.iter().all(|stride| *stride == Stride::Zero);
            axes.iter().flatten().next_back().copied().filter(|_| is_row)
        }
        packed => packed.in_memory(axes)?.into_iter().flatten().last(),
    }
}

/// Bytes of the narrowest operand that is contiguous along the lanes. `None` if an operand with that axis is not contiguous
/// along it: its elements would be loaded one by one, with a gap between those of two threads.
fn narrowest(work: &Workload<'_>, schedule: &Schedule, lane: Axis) -> Option<u32> {
    let Workload { graph, view, witness, memory, .. } = *work;
    let inner = *schedule.run(lane).last()?;
    let mut narrowest: Option<u32> = None;
    let mut take = |axes: &[Atoms], layout: &LayoutClass, size: usize| {
        if !axes.iter().flatten().any(|&axis| schedule.loop_of(axis) == lane) {
            return true;
        }
        let is_along = innermost(axes, layout) == Some(inner);
        narrowest = Some(narrowest.map_or(size as u32, |known| known.min(size as u32)));
        is_along
    };
    for (store, layout) in witness.stores.iter().zip(memory.stores) {
        if !take(&store.axes, layout, graph.dtype(store.val).real().size())
            || graph.dtype(store.val).is_complex()
        {
            return None;
        }
    }
    for &node in view.order() {
        for (place, &operand) in graph.node(node).operands.iter().enumerate() {
            let Some(input) = view.input_place(operand) else { continue };
            let axes = witness.space.axes_of_operand(node, place);
            if !take(axes, &memory.inputs[input], graph.dtype(operand).size())
                || graph.dtype(operand).is_complex()
            {
                return None;
            }
        }
    }
    narrowest
}
