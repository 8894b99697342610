//! Memory that a plan needs for what its segments make: of each segment what is there while it runs. Inputs are the caller's.

use ir::graph::Val;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Explainer;

/// Bytes in memory while each segment runs, of what it and those before it made and somebody still needs.
pub(super) fn peaks(explainer: &Explainer<'_>) -> Vec<u64> {
    let plan = explainer.plan;
    let outputs = plan.computed.outputs().iter().map(|output| output.val);
    let viewed = plan.views.iter().flatten().map(|view| view.source);
    let stays: FxHashSet<Val> = outputs.chain(viewed).collect();
    let mut last: FxHashMap<Val, usize> = FxHashMap::default();
    for (number, segment) in plan.segments.iter().enumerate() {
        last.extend(segment.view.inputs().iter().map(|&val| (val, number)));
    }
    let (mut alive, mut made) = (0_u64, FxHashSet::default());
    let mut peaks = Vec::new();
    for (number, segment) in plan.segments.iter().enumerate() {
        for output in segment.view.outputs() {
            alive += if made.insert(output.val) { explainer.bytes(output.val) } else { 0 };
        }
        peaks.push(alive);
        let given = segment.view.outputs().iter().map(|output| output.val);
        for val in segment.view.inputs().iter().copied().chain(given) {
            let is_over = last.get(&val).is_none_or(|&last| last == number) && !stays.contains(&val);
            if is_over && made.remove(&val) {
                alive -= explainer.bytes(val);
            }
        }
    }
    peaks
}
