//! The segments that one launch runs together.

use std::ops::Range;

use codegen_c::c::members_of_launch;
use codegen_c::cuda::CUDA;
use compiler::Plan;
use target::Processor;

/// The names of the segments of each launch that runs several: those of a batch, or as many as a launch on a GPU has room
/// for.
pub(super) fn batches(plan: &Plan) -> Vec<Vec<String>> {
    let launches = plan.batches.iter().flat_map(|batch| launches(plan, batch));
    let shared = launches.filter(|launch| launch.len() > 1);
    let names = shared.map(|launch| plan.segments[launch].iter().map(|segment| segment.name.clone()));
    names.map(Iterator::collect).collect()
}

/// The launches of a batch. Kernels that combine partial results may have room for more members.
fn launches(plan: &Plan, batch: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let kernels = plan.lowered[batch.start].kernels.iter();
    let members = match plan.target.processor {
        Processor::Cpu(_) => None,
        Processor::Gpu(_) => {
            kernels.map(|lowered| members_of_launch(&lowered.kernel, batch.len(), &CUDA)).min()
        }
    };
    let (members, end) = (members.unwrap_or(batch.len()), batch.end);
    batch.clone().step_by(members).map(move |first| first..end.min(first + members))
}

/// A batch as a line.
pub(super) fn line(names: &[String]) -> String {
    match names {
        [first, last] => format!("one launch for {first} and {last}"),
        [first, .., last] => format!("one launch for {first} to {last}, {} segments", names.len()),
        alone => format!("one launch for {}", alone.join(", ")),
    }
}
