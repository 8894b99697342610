//! Moves that do not pay by themselves but may enable others that do. Each value of a small fusion is kept, dropped,
//! replaced by an adjacent one or made by another segment, at any cost; from the cheapest of the states that this gives,
//! moves are made as long as they pay. The result is taken if all together pay.

use ir::graph::Val;
use rustc_hash::FxHashSet;

use super::SearchProblem;
use super::descend::{ALL, FIRST, Move, descend};
use super::join;
use super::keep::with_stages_apart;
use super::shift;
use super::state::{Change, State};
use super::transfer::{transferring, transferring_without_folds};

/// Moves of all kinds from one state may take one in so many of the steps.
const DESCENTS: usize = 8;

/// What the segments of a state make.
type Made = Vec<Vec<Val>>;

/// Tries the states around that of a small fusion, while that gains and the time is above `enough`.
pub(super) fn retry(state: &mut State<'_>, enough: f64) {
    let mut known: FxHashSet<Made> = FxHashSet::default();
    while state.problem.is_small() && !state.is_within(enough) && try_around(state, &mut known) {}
}

/// Takes a state below this one that moves reach from one around it: first moves of few steps, then those of all kinds.
fn try_around(state: &mut State<'_>, known: &mut FxHashSet<Made>) -> bool {
    known.insert(made_by(state));
    let mut others = around(state);
    let all = state.steps_left;
    take_below(state, &mut others, FIRST, all, &mut known.clone()) || {
        let share = state.steps_left / DESCENTS;
        take_below(state, &mut others, ALL, share, known)
    }
}

/// Makes moves from other states, from the cheapest first, until one is below this state and takes its place. Each takes so
/// many steps at most, and none continues from a `known` state.
fn take_below<'a>(
    state: &mut State<'a>,
    others: &mut Vec<State<'a>>,
    moves: &[Move],
    steps: usize,
    known: &mut FxHashSet<Made>,
) -> bool {
    let mut found: FxHashSet<Made> = FxHashSet::default();
    others.retain(|other| !known.contains(&made_by(other)) && found.insert(made_by(other)));
    others.sort_by(|one, other| one.total().compare(other.total()));
    let mut is_below = |other: &mut State<'a>| {
        other.steps_left = state.steps_left;
        descend(other, moves, steps, |other| !known.insert(made_by(other)));
        state.steps_left = other.steps_left;
        other.total().is_below(state.total())
    };
    let below = others.iter_mut().find_map(|other| is_below(other).then(|| other.clone()));
    let is_found = below.is_some();
    below.into_iter().for_each(|below| *state = below);
    is_found
}

/// The states that one change of a value gives, those of values of few bytes first, and those of several stages' results.
/// They leave half of the steps.
fn around<'a>(state: &mut State<'a>) -> Vec<State<'a>> {
    let SearchProblem { graph, fusion, .. } = state.problem;
    let vals = fusion.order().iter().flat_map(|&node| graph.results(node));
    let mut vals: Vec<Val> =
        vals.filter(|&val| state.is_free(val) || state.places.maker(val).is_some()).collect();
    vals.sort_by_key(|&val| (state.pricing.amounts.of(val).bytes, val));
    let changes: Vec<Change> = vals.into_iter().flat_map(|val| changes_of(state, val)).collect();
    let apart = (0..state.segments.len()).filter_map(|place| with_stages_apart(state, place));
    let mut others: Vec<State<'a>> = apart.collect();
    let left = state.steps_left / 2;
    for change in changes {
        let mut other = state.clone();
        let is_made = state.steps_left > left && other.make_if(change, |_, _| true);
        state.steps_left = other.steps_left;
        others.extend(is_made.then_some(other));
    }
    others
}

fn made_by(state: &State<'_>) -> Made {
    let mut made: Made = state.segments.iter().map(|segment| segment.made.clone()).collect();
    made.retain(|made| !made.is_empty());
    made.sort_unstable();
    made
}

/// The changes to try for a value. One that is made may get its own segment, be dropped, replaced by an adjacent one, or
/// made by another segment; one that is not made may be kept by a segment that computes it, by a new one, or by one that
/// reads or makes what such a segment reads.
fn changes_of(state: &State<'_>, val: Val) -> Vec<Change> {
    let Some(place) = state.places.maker(val) else { return keeping(state, val) };
    let to = |other: usize| transferring(state, place, val, other);
    let without_folds = |other: usize| transferring_without_folds(state, place, val, other);
    let dropped = Change { made: vec![state.without(place, val)], kept: Vec::new(), dropped: vec![val] };
    // If it makes nothing else, the segments would be joined; `join` knows when that pays.
    let is_near = |other: &usize| {
        let is_left = state.segments[place].made.len() > 1;
        let is_segment = *other != place && !state.segments[*other].made.is_empty();
        is_left && is_segment && join::share_tensors(state, place, *other)
    };
    let near: Vec<usize> = (0..state.segments.len()).filter(is_near).collect();
    let others = near.iter().flat_map(|&other| [Some(to(other)), without_folds(other)]).flatten();
    let alone = (state.segments[place].made.len() > 1).then(|| to(state.segments.len()));
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
    let own = computing
        .iter()
        .flat_map(|&place| [kept_by(place), state.split(place, &[val]), state.split_before(place, &[val])]);
    own.chain(others.iter().copied().filter(is_near).map(kept_by)).collect()
}
