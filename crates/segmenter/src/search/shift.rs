//! Values kept instead of others: one that is computed from a kept value alone, or one that the kept value is computed from.
//! A narrowed statistic has fewer bytes than the wide one; a value that is otherwise recomputed from the kept one is
//! computed once.

use ir::graph::{TensorOp, Val};

use super::state::{Change, State};

/// Tries for each kept value of a small fusion the adjacent ones; returns whether any replaces it.
pub(super) fn shift(state: &mut State<'_>) -> bool {
    state.improve_around_each(shifts)
}

/// The changes that keep another value instead of this one, made by the same segment.
pub(super) fn shifts(state: &State<'_>, val: Val) -> Vec<Change> {
    let Some(place) = state.places.maker(val).filter(|_| state.is_free(val)) else {
        return Vec::new();
    };
    let is_computed = !matches!(state.problem.graph.op(val), TensorOp::External(_));
    let next = if is_computed { next_to(state, val) } else { Vec::new() };
    let instead = |other: Val| {
        let (place, made) = state.without(place, val);
        let made = made.into_iter().chain([other]).collect();
        Change { made: vec![(place, made)], kept: vec![other], dropped: vec![val] }
    };
    next.into_iter().map(instead).collect()
}

/// The values that use this one, and those that it uses, if they may be kept.
fn next_to(state: &State<'_>, val: Val) -> Vec<Val> {
    let (graph, fusion) = (state.problem.graph, state.problem.fusion);
    let users = fusion.uses(val).iter().flat_map(|&user| graph.results(user));
    let next = users.chain(graph.operands(val).iter().copied());
    let is_computed = |val: &Val| !matches!(graph.op(*val), TensorOp::External(_));
    next.filter(|&other| state.may_be_kept(other)).filter(is_computed).collect()
}
