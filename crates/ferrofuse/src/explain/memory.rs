//! Memory that a plan needs for the values that its segments make, while each segment runs. Inputs belong to the caller, and
//! so do outputs stored in inputs; partial results of folds do not count.

use compiler::Plan;
use index::Expr;
use ir::graph::Val;
use rustc_hash::FxHashSet;
use segmenter::Lifetimes;

use super::Explainer;

/// Bytes in memory of values that segments made and that are still needed.
pub(super) struct Peaks {
    /// While each segment runs.
    pub each: Vec<u64>,
    /// The maximum of these.
    pub bytes: u64,
    /// The same as a formula over sizes, valid as long as the maximum is in the same segment.
    pub formula: Expr,
}

impl Peaks {
    /// The peaks of a plan.
    pub fn of(plan: &Plan, explainer: &Explainer<'_>) -> Peaks {
        let views = plan.segments.iter().map(|segment| &segment.view);
        let in_inputs = stored_in_inputs(plan);
        let bytes = |val: Val| if in_inputs.contains(&val) { 0 } else { explainer.bytes(val) };
        let lifetimes = Lifetimes::of(&plan.computed, views, bytes);
        let order: Vec<usize> = (0..plan.segments.len()).collect();
        let each = lifetimes.peaks(&order);
        let bytes = each.iter().copied().max().unwrap_or(0);
        let alive = match each.iter().position(|&own| own == bytes) {
            Some(place) => lifetimes.alive_at(&order, place),
            None => Vec::new(),
        };
        let alive = alive.into_iter().filter(|val| !in_inputs.contains(val));
        let sum: Expr = alive.map(|val| explainer.formula(val)).sum();
        Peaks { each, bytes, formula: plan.computed.facts().normalize(&sum) }
    }
}

/// The in-place outputs that kernels store in the memory of inputs.
fn stored_in_inputs(plan: &Plan) -> FxHashSet<Val> {
    let outputs = plan.fusion.outputs().iter().enumerate();
    outputs.filter(|(place, _)| plan.stores_in_place(*place)).map(|(_, output)| output.val).collect()
}
