//! Which loops are cut at the breakpoints of cats and pads, so that a subrange needs no predicate.

use ir::graph::{TensorOp, Val};

use super::Schedule;
use super::knobs::may_partition;
use super::workload::Workload;
use crate::legal::statements_for;
use space::{Axis, breakpoints, concatenated};
use target::Processor;
use target::cpu::{LOOP_STATEMENTS, MAX_CONCATENATED, MAX_SUBRANGES};
use target::limits::{MAX_PARTITIONED_STATEMENTS, MAX_STATEMENTS};

/// The loops that are cut: those within the stages and that of the lanes; and of the loops around them that of jammed rows,
/// and those along which tensors are concatenated, so that a row is read from one tensor.
pub(super) fn partition(work: &Workload<'_>, schedule: &Schedule) -> Vec<Axis> {
    let Workload { graph, view, witness, .. } = *work;
    let most_statements = match work.target.processor {
        Processor::Cpu(_) => MAX_PARTITIONED_STATEMENTS,
        Processor::Gpu(_) => MAX_STATEMENTS,
    };
    let mut subranges = 1;
    let mut partition = Vec::new();
    let within: Vec<Axis> = schedule.lane.into_iter().chain(schedule.inner.iter().copied()).collect();
    let walked = within.iter().copied().chain(schedule.outer());
    for axis in walked.filter(|axis| may_partition(schedule, work.witness, *axis)) {
        let breakpoints = breakpoints(graph, view, &witness.space, axis, MAX_CONCATENATED).len();
        if breakpoints == 0 || partition.contains(&axis) {
            continue;
        }
        let cut = subranges * (breakpoints + 1);
        let (shared, of_one) = code(work, axis, breakpoints + 1);
        // Each subrange of the outer loops contains all of the single ones.
        let own = of_one.saturating_mul(subranges as u64);
        let of_each = shared.saturating_add(LOOP_STATEMENTS).saturating_mul(cut as u64);
        let is_short = of_each.saturating_add(own) <= most_statements.max(of_one.saturating_mul(2));
        // Each of the rows has its own predicate.
        let is_jammed = schedule.jam.is_some_and(|(row, _)| row == axis);
        let (most, pays) = if own > 0 {
            (MAX_CONCATENATED, true)
        } else {
            (MAX_SUBRANGES, is_jammed || within.contains(&axis))
        };
        if cut <= most && is_short && pays {
            subranges = cut;
            partition.push(axis);
        }
    }
    partition
}

/// Statements of every subrange of a loop, and those of single subranges together: if all breakpoints of an axis are those
/// of cats with an operand for each subrange, no operand is code in two of them.
fn code(work: &Workload<'_>, axis: Axis, subranges: usize) -> (u64, u64) {
    let Workload { graph, view, witness, .. } = *work;
    let mut cats: Vec<Val> = Vec::new();
    for &node in view.order() {
        let own = witness.space.axes_of(node.into());
        let walks = |place: usize| own[place].as_slice() == [axis];
        match graph.op(node.into()) {
            TensorOp::Cat(place) if walks(usize::from(*place)) => {
                if concatenated(graph, view, node, *place).len() != subranges {
                    return (witness.statements, 0);
                }
                cats.push(node.into());
            }
            TensorOp::Pad { before, .. } if (0..before.len()).any(walks) => return (witness.statements, 0),
            _ => {}
        }
    }
    let own = statements_for(graph, view, &witness.space, &cats);
    (witness.statements.saturating_sub(own), own)
}
