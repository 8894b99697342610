//! Moves that do not pay by themselves but may enable others that do. Each value of a small fusion is kept, dropped,
//! replaced by an adjacent one or made by another segment, at any cost; then moves are made as long as they pay. The result
//! is taken if all together pay.

use ir::graph::Val;

use super::SearchProblem;
use super::descend::descend;
use super::join;
use super::shift;
use super::state::{Change, State};
use super::transfer::transferring;

/// Tries each value of a small fusion, those of few bytes first, while that gains and the time is above `enough`.
pub(super) fn retry(state: &mut State<'_>, enough: f64) {
    if !state.problem.is_small() {
        return;
    }
    let SearchProblem { graph, fusion, .. } = state.problem;
    let vals = fusion.order().iter().flat_map(|&node| graph.results(node));
    let mut vals: Vec<Val> =
        vals.filter(|&val| state.is_free(val) || state.makers.contains_key(&val)).collect();
    vals.sort_by_key(|&val| (state.amounts.of(val).bytes, val));
    let improves =
        |state: &mut State<'_>| vals.iter().any(|&val| state.steps_left > 0 && try_around(state, val));
    while !state.is_within(enough) && improves(state) {}
}

/// Changes how a value is kept or made, and continues from there.
fn try_around(state: &mut State<'_>, val: Val) -> bool {
    let before = state.total();
    changes_of(state, val).into_iter().any(|change| {
        let mut other = state.clone();
        if other.make_if(change, |_, _| true) {
            descend(&mut other);
        }
        state.steps_left = state.steps_left.min(other.steps_left);
        let gains = other.total().is_below(before);
        if gains {
            *state = State { steps_left: state.steps_left, ..other };
        }
        gains
    })
}

/// The changes to try for a value. One that is made may get its own segment, be dropped, replaced by an adjacent one, or
/// made by another segment; one that is not made may be kept by a segment that computes it, by a new one, or by one that
/// reads or makes what such a segment reads.
fn changes_of(state: &State<'_>, val: Val) -> Vec<Change> {
    let Some(&place) = state.makers.get(&val) else { return keeping(state, val) };
    let made_by = |other: usize| transferring(state, place, val, other);
    let dropped = Change { made: vec![state.without(place, val)], kept: Vec::new(), dropped: vec![val] };
    // If it makes nothing else, the segments would be joined; `join` knows when that pays.
    let is_near = |other: &usize| {
        let is_left = state.segments[place].made.len() > 1;
        let is_segment = *other != place && !state.segments[*other].made.is_empty();
        is_left && is_segment && join::share_tensors(state, place, *other)
    };
    let others = (0..state.segments.len()).filter(is_near).map(made_by);
    let alone = (state.segments[place].made.len() > 1).then(|| made_by(state.segments.len()));
    if state.is_free(val) {
        alone.into_iter().chain([dropped]).chain(shift::shifts(state, val)).chain(others).collect()
    } else {
        alone.into_iter().chain(others).collect()
    }
}

fn keeping(state: &State<'_>, val: Val) -> Vec<Change> {
    let computes = |place: &usize| state.segments[*place].computes(val);
    let (computing, others): (Vec<usize>, Vec<usize>) = (0..state.segments.len()).partition(computes);
    let is_near = |other: &usize| {
        let is_segment = !state.segments[*other].made.is_empty();
        is_segment && computing.iter().any(|&place| join::share_tensors(state, place, *other))
    };
    let kept_by = |place: usize| {
        let made = vec![state.with(place, &[val])];
        Change { made, kept: vec![val], dropped: Vec::new() }
    };
    let own = computing.iter().flat_map(|&place| [kept_by(place), state.split(place, &[val])]);
    own.chain(others.iter().copied().filter(is_near).map(kept_by)).collect()
}
