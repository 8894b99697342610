//! Moves that do not pay by themselves: what follows from one may. Each value of a small fusion is kept, dropped, replaced by one
//! next to it or made by another segment, whatever that costs, then moves are made as long as they pay; the result is taken if
//! all together pay.

use ir::graph::Val;

use super::SearchProblem;
use super::descend::descend;
use super::join;
use super::shift;
use super::state::{Change, State};
use super::transfer::transferring;

/// Tries each value of a small fusion, those of few bytes first, as long as that gains and the time is not good
/// enough.
pub(super) fn retry(state: &mut State<'_>, enough: f64) {
    if !state.problem.is_small() {
        return;
    }
    let SearchProblem { graph, fusion, .. } = state.problem;
    let vals = fusion.order().iter().flat_map(|&node| graph.results(node));
    let mut vals: Vec<Val> =
        vals.filter(|&val| state.is_free(val) || state.makers.contains_key(&val)).collect();
    vals.sort_by_key(|&val| (state.amounts.of(val).bytes, val));
    let improves = |state: &mut State<'_>| vals.iter().any(|&val| state.steps > 0 && try_around(state, val));
    while !state.is_within(enough) && improves(state) {}
}

/// Changes what is done with a value, and goes on from there.
fn try_around(state: &mut State<'_>, val: Val) -> bool {
    let before = state.total();
    changes_of(state, val).into_iter().any(|change| {
        let mut other = state.clone();
        if other.make_if(change, |_, _| true) {
            descend(&mut other);
        }
        state.steps = state.steps.min(other.steps);
        let gains = other.total().is_below(before);
        if gains {
            *state = State { steps: state.steps, ..other };
        }
        gains
    })
}

/// A value that is made is made by a segment of its own, dropped, replaced by one next to it, or made by another segment;
/// one that is not made is kept by a segment that computes it, by a new one, or by one that reads or makes what such a segment reads.
fn changes_of(state: &State<'_>, val: Val) -> Vec<Change> {
    let Some(&place) = state.makers.get(&val) else { return keeping(state, val) };
    let made_by = |other: usize| transferring(state, place, val, other);
    let dropped = Change { made: vec![state.without(place, val)], kept: Vec::new(), dropped: vec![val] };
    // One that makes nothing else would be joined, of which `join` knows when it pays.
    let is_near = |other: &usize| {
        let is_left = state.segments[place].made.len() > 1;
        let is_segment = *other != place && !state.segments[*other].made.is_empty();
        is_left && is_segment && join::read_alike(state, place, *other)
    };
    let others = (0..state.segments.len()).filter(is_near).map(made_by);
    let alone = (state.segments[place].made.len() > 1).then(|| made_by(state.segments.len()));
    match state.is_free(val) {
        true => alone.into_iter().chain([dropped]).chain(shift::shifts(state, val)).chain(others).collect(),
        false => alone.into_iter().chain(others).collect(),
    }
}

fn keeping(state: &State<'_>, val: Val) -> Vec<Change> {
    let computes = |place: &usize| state.segments[*place].computes(val);
    let (computing, others): (Vec<usize>, Vec<usize>) = (0..state.segments.len()).partition(computes);
    let is_near = |other: &usize| {
        let is_segment = !state.segments[*other].made.is_empty();
        is_segment && computing.iter().any(|&place| join::read_alike(state, place, *other))
    };
    let kept_by = |place: usize| {
        let made = vec![state.with(place, &[val])];
        Change { made, kept: vec![val], dropped: Vec::new() }
    };
    let own = computing.iter().flat_map(|&place| [kept_by(place), state.split(place, &[val])]);
    own.chain(others.iter().copied().filter(is_near).map(kept_by)).collect()
}
