//! Whether the next row is fetched while this one is worked on: where a row is read in one stage and worked on in another,
//! memory would rest in between.

use super::Schedule;
use super::workload::Workload;
use crate::space::Axis;

/// Fewest bytes of a row: of shorter ones the machine fetches the next by itself, as they lie behind each other.
const LEAST: u64 = 1 << 11;

/// Fewest rows of a block: behind the last one another block's are fetched.
const ROWS: u64 = 4;

/// The axis of the rows, if they are fetched ahead.
pub(super) fn ahead(work: &Workload<'_>, schedule: &Schedule) -> Option<Axis> {
    if schedule.lanes_outside || work.witness.levels < 2 {
        return None;
    }
    let row = *schedule.outer().last()?;
    let extent = work.turns(schedule, row);
    let rows = schedule.chunk(row).unwrap_or(extent).min(extent);
    let bytes = row_bytes(work, schedule, row);
    (rows >= ROWS && (LEAST..=work.target.ahead).contains(&bytes)).then_some(row)
}

/// Bytes of the inputs that belong to one index of an axis, at one index of the others outside the stages.
fn row_bytes(work: &Workload<'_>, schedule: &Schedule, row: Axis) -> u64 {
    let Workload { graph, view, witness, .. } = *work;
    let mut counted = Vec::new();
    let mut sum = 0_u64;
    for &node in view.order() {
        for (place, &operand) in graph.node(node).operands.iter().enumerate() {
            let axes = witness.space.axes_of_operand(graph, view, node, place);
            let loops = schedule.loops_of(axes.into_iter().flatten());
            if !view.is_input(operand) || !loops.contains(&row) || counted.contains(&operand) {
                continue;
            }
            counted.push(operand);
            let within = loops.iter().filter(|axis| schedule.inner.contains(axis));
            let elements = within.fold(1, |n: u64, &axis| n.saturating_mul(work.turns(schedule, axis)));
            sum = sum.saturating_add(elements.saturating_mul(graph.dtype(operand).size() as u64));
        }
    }
    sum
}
