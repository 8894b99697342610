//! The segments that one launch runs together.

use compiler::Plan;

/// The names of the segments of each batch.
pub(super) fn batches(plan: &Plan) -> Vec<Vec<String>> {
    let shared = plan.batches.iter().filter(|batch| batch.len() > 1);
    let names = shared.map(|batch| plan.segments[batch.clone()].iter().map(|segment| segment.name.clone()));
    names.map(Iterator::collect).collect()
}

/// A batch as a line.
pub(super) fn line(names: &[String]) -> String {
    match names {
        [first, last] => format!("one launch for {first} and {last}"),
        [first, .., last] => format!("one launch for {first} to {last}, {} segments", names.len()),
        alone => format!("one launch for {}", alone.join(", ")),
    }
}
