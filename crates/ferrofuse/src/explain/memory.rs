//! Memory that a plan needs for what its segments make: of each segment what is there while it runs. Inputs are the caller's,
//! and partial results of folds do not count.

use compiler::segment::Lifetimes;
use index::Expr;

use super::Explainer;

/// Bytes in memory of what segments make and somebody still needs.
pub(super) struct Peaks {
    /// While each segment runs.
    pub each: Vec<u64>,
    /// The most of these.
    pub bytes: u64,
    /// The same at any sizes, as long as the same segment has most.
    pub formula: Expr,
}

impl Peaks {
    /// Those of a plan.
    pub fn of(explainer: &Explainer<'_>) -> Peaks {
        let plan = explainer.plan;
        let views = plan.segments.iter().map(|segment| &segment.view);
        let lifetimes = Lifetimes::of(&plan.computed, views, |val| explainer.bytes(val));
        let order: Vec<usize> = (0..plan.segments.len()).collect();
        let each = lifetimes.peaks(&order);
        let bytes = each.iter().copied().max().unwrap_or(0);
        let alive = match each.iter().position(|&own| own == bytes) {
            Some(place) => lifetimes.alive_at(&order, place),
            None => Vec::new(),
        };
        let sum: Expr = alive.into_iter().map(|val| explainer.formula(val)).sum();
        Peaks { each, bytes, formula: plan.computed.facts().normalize(&sum) }
    }
}
