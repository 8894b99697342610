//! Moves that keep values in memory: those that several segments compute, those that one computes several times because of
//! index maps, and statistics, without which a kernel can divide its work along other axes. They are made by a segment that
//! computes them anyway, or by a new one. All statistics of a stage are kept together, as a remaining one would restrict the
//! workers as before.

use std::collections::BTreeMap;

use ir::graph::{Node, TensorOp, Val};

use super::SearchProblem;
use super::join;
use super::state::{Change, State};
use super::tried::LocalMove;
use crate::engine::Engine;
use crate::segmentation::{segment_cone, segment_view};

/// Tries the statistics of each segment; returns whether any are kept from then on.
pub(super) fn keep_statistics(state: &mut State<'_>) -> bool {
    let mut is_changed = false;
    for place in 0..state.segments.len() {
        let try_move = |state: &mut State<'_>| try_keep_folds(state, place);
        is_changed |=
            state.steps_left > 0 && state.attempt(LocalMove::KeepStatistics, &[place], None, try_move);
    }
    is_changed
}

/// Tries each value that is not kept, in the order they are made; returns whether any is kept from then on.
pub(super) fn keep(state: &mut State<'_>) -> bool {
    let mut is_changed = false;
    for &node in state.problem.fusion.order() {
        is_changed |= state.steps_left > 0 && try_keep(state, node);
    }
    is_changed
}

/// The state in which the results of the folds of each stage of a segment are kept, made by a segment of their own: `None`
/// for one stage.
pub(super) fn with_stages_apart<'a>(state: &State<'a>, place: usize) -> Option<State<'a>> {
    let stages = stages(state, place);
    let mut other = state.clone();
    let mut is_split = |vals: &Vec<Val>| {
        let change = other.split(place, vals);
        other.make_if(change, |_, _| true)
    };
    let is_apart = stages.len() > 1 && stages.iter().all(&mut is_split);
    is_apart.then_some(other)
}

/// The results of the folds of each stage of a kernel that it uses again, if they may be made elsewhere.
fn stages(state: &State<'_>, place: usize) -> Vec<Vec<Val>> {
    let SearchProblem { graph, legality, .. } = state.problem;
    let segment = &state.segments[place];
    if segment.made.is_empty() {
        return Vec::new();
    }
    let answer = legality.of(graph, segment.view(&state.problem));
    let Ok(Engine::Kernel(witness)) = &*answer else { return Vec::new() };
    let mut stages: BTreeMap<u32, Vec<Val>> = BTreeMap::new();
    let may_be_made = |&val: &Val| may_be_made(state, place, val);
    for fold in witness.folds.iter().filter(|fold| !fold.terminal) {
        let used = used(state, fold.node, |val| may_be_made(&val));
        stages.entry(fold.stage).or_default().extend(used.into_iter().filter(may_be_made));
    }
    stages.into_values().filter(|vals| !vals.is_empty()).collect()
}

/// Keeps the results of all folds of one stage of a kernel that it uses again; a new segment makes them, including those
/// that the kernel made.
fn try_keep_folds(state: &mut State<'_>, place: usize) -> bool {
    stages(state, place).into_iter().any(|vals| {
        let followed = with_followers(state, place, &vals);
        state.improve(state.split(place, &followed))
            || (followed != vals && state.improve(state.split(place, &vals)))
            || state.improve(state.split(place, &with_shared(state, place, &followed)))
    })
}

/// Folds, and all that the segment computes from them and from nothing larger than they: if those stayed, workers could
/// divide only the axes that they have.
fn with_followers(state: &State<'_>, place: usize, folds: &[Val]) -> Vec<Val> {
    let SearchProblem { graph, fusion, .. } = state.problem;
    let elements = |val: Val| state.pricing.amounts.of(val).elements;
    let most = folds.iter().map(|&fold| elements(fold)).max().unwrap_or(0);
    let follows = |val: &&Val| {
        let is_input = |other: Val| folds.contains(&other) || state.kept.contains(&other);
        let cone = segment_cone(graph, fusion, &[**val], |other| other != **val && is_input(other));
        let is_small = |node: &Node| elements((*node).into()) <= most;
        !folds.contains(val)
            && cone.order().iter().all(is_small)
            && cone.inputs().iter().any(|input| folds.contains(input))
    };
    let followers = state.segments[place].made.iter().filter(follows).copied();
    folds.iter().copied().chain(followers).collect()
}

/// Folds, and the values that they share as sources with other values of a segment.
fn with_shared(state: &State<'_>, place: usize, folds: &[Val]) -> Vec<Val> {
    let SearchProblem { graph, fusion, .. } = state.problem;
    let view = segment_view(graph, fusion, folds, |val| state.kept.contains(&val));
    let rest = &state.segments[place];
    let is_rest = |user: &Node| rest.contains(*user) && !view.contains(*user);
    let is_shared = |val: &Val| state.may_be_kept(*val) && fusion.uses(*val).iter().any(is_rest);
    let shared = view.order().iter().flat_map(|&node| graph.results(node)).filter(is_shared);
    let mut vals: Vec<Val> = shared.chain(folds.iter().copied()).collect();
    vals.sort_unstable();
    vals.dedup();
    vals
}

/// Whether another segment may make a value that this one computes or makes.
fn may_be_made(state: &State<'_>, place: usize, val: Val) -> bool {
    state.may_be_kept(val) || state.segments[place].made.contains(&val)
}

/// The results of a node that something needs: of a fold as its users see them.
pub(super) fn used(state: &State<'_>, node: Node, may_be_made: impl Fn(Val) -> bool) -> Vec<Val> {
    let SearchProblem { graph, fusion, .. } = state.problem;
    let is_fold = graph.node(node).op.is_fold();
    let used = graph.results(node).filter(|&val| !fusion.uses(val).is_empty());
    used.map(|val| if is_fold { statistic(state, val, &may_be_made) } else { val }).collect()
}

/// The value for which a fold's result is used: with the reduced axes put back, then by ops with scalars, as long as it has
/// no other users and the results may be made. For a sum its mean, for a variance its inverse root.
fn statistic(state: &State<'_>, folded: Val, may_be_made: impl Fn(Val) -> bool) -> Val {
    let SearchProblem { graph, fusion, .. } = state.problem;
    let next = |&val: &Val| {
        let [user] = fusion.uses(val) else { return None };
        let is_scalar = |&other: &Val| other == val || graph.shape(other).is_empty();
        let is_same = match graph.node(*user).op {
            TensorOp::Broadcast(_) => true,
            TensorOp::Map(_) | TensorOp::Cast(_) => graph.node(*user).operands.iter().all(is_scalar),
            _ => false,
        };
        Some(Val::from(*user)).filter(|_| is_same && !fusion.is_output(val))
    };
    let known = std::iter::successors(Some(folded), next);
    known.filter(|&val| val == folded || may_be_made(val)).last().unwrap_or(folded)
}

/// Keeps the used results of a node: made by a segment that computes it, alone or with the other values of that, or, in
/// small fusions, a statistic by one that reads the same tensors.
fn try_keep(state: &mut State<'_>, node: Node) -> bool {
    let vals = used(state, node, |val| state.may_be_kept(val));
    if vals.is_empty() || !vals.iter().all(|&val| state.may_be_kept(val)) {
        return false;
    }
    let is_fold = state.problem.graph.node(node).op.is_fold();
    let computes = |place: &usize| state.segments[*place].computes(vals[0]);
    let computing: Vec<usize> = state.computing(vals[0]).collect();
    let is_small = state.problem.is_small();
    let is_near = |other: &usize| {
        !computes(other) && computing.iter().any(|&place| join::share_tensors(state, place, *other))
    };
    let others: Vec<usize> = match is_small && is_fold {
        true => (0..state.segments.len()).filter(is_near).collect(),
        false => Vec::new(),
    };
    if let ([only], []) = (&computing[..], &others[..])
        && !state.may_pay_to_write(*only, &vals)
    {
        return false;
    }
    state.attempt(LocalMove::Keep, &computing, Some(node.into()), |state| {
        try_keep_in(state, &computing, &others, &vals)
    })
}

/// Keeps values, made by one of the segments that compute them, in large fusions by the first, or of others, or by a new one.
fn try_keep_in(state: &mut State<'_>, computing: &[usize], others: &[usize], vals: &[Val]) -> bool {
    let is_small = state.problem.is_small();
    let computing = if is_small { computing } else { &computing[..1.min(computing.len())] };
    computing.iter().chain(others).any(|&place| {
        let made = vec![state.with(place, vals)];
        state.improve(Change { made, kept: vals.to_vec(), dropped: Vec::new() })
    }) || computing.iter().any(|&place| {
        state.improve(state.split(place, vals))
            || (is_small && state.improve(state.split_before(place, vals)))
    })
}
