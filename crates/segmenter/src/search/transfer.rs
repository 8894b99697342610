//! Values that another segment makes from then on: one that computes them anyway, in small fusions one that reads the same
//! tensors, or a new one.

use ir::graph::{Node, Val};

use super::SearchProblem;
use super::join;
use super::keep::used;
use super::state::{Change, State};
use super::tried::LocalMove;
use crate::segmentation::segment_cone;

/// Tries to have each value made elsewhere; returns whether any is.
pub(super) fn transfer(state: &mut State<'_>) -> bool {
    let mut is_changed = false;
    for (place, val) in state.made() {
        let try_move = |state: &mut State<'_>| try_transfer(state, place, val);
        is_changed |=
            state.steps_left > 0 && state.attempt(LocalMove::Transfer, &[place], Some(val), try_move);
    }
    is_changed
}

fn try_transfer(state: &mut State<'_>, place: usize, val: Val) -> bool {
    let is_alone = state.segments[place].made.len() == 1;
    let is_small = state.problem.is_small();
    let near = |other: &usize| {
        let segment = &state.segments[*other];
        *other != place
            && !segment.made.is_empty()
            && (segment.computes(val) || (is_small && join::share_tensors(state, place, *other)))
    };
    let mut places: Vec<usize> = (0..state.segments.len()).filter(near).collect();
    if !is_alone {
        places.push(state.segments.len());
    }
    places.into_iter().any(|other| {
        state.improve(transferring(state, place, val, other))
            || (is_small
                && [transferring_without_folds, transferring_without_shared].into_iter().any(|change| {
                    change(state, place, val, other).is_some_and(|change| state.improve(change))
                }))
    })
}

/// The change by which another segment makes a value. Values made for this value alone are no longer kept.
pub(super) fn transferring(state: &State<'_>, place: usize, val: Val, other: usize) -> Change {
    let SearchProblem { graph, fusion, .. } = state.problem;
    let (_, left) = state.without(place, val);
    let left = segment_cone(graph, fusion, &left, |kept| kept == val || state.kept.contains(&kept));
    let is_unread = |&kept: &Val| {
        state.is_free(kept)
            && state.segments[place].reads(kept)
            && state.places.readers(kept).len() == 1
            && left.inputs().binary_search(&kept).is_err()
    };
    let made = state.segments.get(other).map_or(&[][..], |segment| &segment.made[..]);
    let dropped: Vec<Val> = made.iter().copied().filter(is_unread).collect();
    let (other, mut made) = state.with(other, &[val]);
    made.retain(|val| !dropped.contains(val));
    Change { made: vec![state.without(place, val), (other, made)], kept: Vec::new(), dropped }
}

/// The same, while what both segments would compute for others of their values is kept and made where it was.
fn transferring_without_shared(state: &State<'_>, place: usize, val: Val, other: usize) -> Option<Change> {
    let SearchProblem { graph, fusion, .. } = state.problem;
    let cone = |made: &[Val]| segment_cone(graph, fusion, made, |kept| state.kept.contains(&kept));
    let (_, left) = state.without(place, val);
    let (own, left) = (cone(&[val]), cone(&left));
    let is_own = |user: &Node| own.order().contains(user) && !left.order().contains(user);
    let is_shared = |kept: &Val| state.may_be_kept(*kept) && fusion.uses(*kept).iter().any(is_own);
    let both = own.order().iter().filter(|node| left.order().contains(node));
    let kept: Vec<Val> = both.flat_map(|&node| graph.results(node)).filter(is_shared).collect();
    let mut change = transferring(state, place, val, other);
    change.made[0].1.extend(&kept);
    change.kept.clone_from(&kept);
    (!kept.is_empty()).then_some(change)
}

/// The same, while the results of the folds that the value needs are kept and made where they were.
pub(super) fn transferring_without_folds(
    state: &State<'_>,
    place: usize,
    val: Val,
    other: usize,
) -> Option<Change> {
    let SearchProblem { graph, fusion, .. } = state.problem;
    let cone = segment_cone(graph, fusion, &[val], |kept| kept != val && state.kept.contains(&kept));
    let folds = cone.order().iter().filter(|&&node| node != val.node && graph.node(node).op.is_fold());
    let may_be_made = |val: Val| state.may_be_kept(val);
    let mut kept: Vec<Val> = folds.flat_map(|&fold| used(state, fold, may_be_made)).collect();
    kept.retain(|&kept| kept != val && may_be_made(kept));
    kept.sort_unstable();
    kept.dedup();
    let mut change = transferring(state, place, val, other);
    change.made[0].1.extend(&kept);
    change.kept.clone_from(&kept);
    (!kept.is_empty()).then_some(change)
}
