//! Which loops are cut at the breakpoints of cats and pads, so that a subrange needs no predicate.

use super::Schedule;
use super::knobs::may_partition;
use super::workload::Workload;
use crate::legal::cut;
use space::Axis;
use target::Processor;
use target::cpu::MAX_SUBRANGES;
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
    let mut code = 0;
    let mut partition = Vec::new();
    let within: Vec<Axis> = schedule.lane.into_iter().chain(schedule.inner.iter().copied()).collect();
    let walked = within.iter().copied().chain(schedule.outer());
    for axis in walked.filter(|axis| may_partition(schedule, work.witness, *axis)) {
        let Some(cut) = cut(graph, view, &witness.space, axis).filter(|_| !partition.contains(&axis)) else {
            continue;
        };
        // The first cut is short by itself.
        let cut_code = if subranges == 1 { cut.code } else { (code as f64 * cut.growth()).ceil() as u64 };
        let is_short = cut_code <= most_statements.max(witness.statements.saturating_mul(2));
        // Each of the rows has its own predicate.
        let is_jammed = schedule.jam.is_some_and(|(row, _)| row == axis);
        let pays = !cut.has_pads || is_jammed || within.contains(&axis);
        if is_short && pays && (subranges == 1 || subranges * cut.subranges() <= MAX_SUBRANGES) {
            subranges *= cut.subranges();
            code = cut_code;
            partition.push(axis);
        }
    }
    partition
}
