//! Values that are cheaper to recompute than to write and read. A minimum cut finds the values to keep instead: the
//! statistics of a normalised tensor, for example. If it finds none with fewer bytes, the value is recomputed wherever it is
//! read.

use ir::graph::{TensorOp, Val};
use rustc_hash::{FxHashMap, FxHashSet};

use super::segment::Segment;
use super::state::{Change, State};
use super::tried::LocalMove;
use crate::flow_network::FlowNetwork;

/// Tries each kept value, in the order they are made, repeatedly until none can be replaced or dropped. None is tried twice
/// between two changes.
pub(super) fn exchange(state: &mut State<'_>) {
    let mut rejected: FxHashSet<Val> = FxHashSet::default();
    let mut is_changed = true;
    while std::mem::take(&mut is_changed) {
        for (_, val) in state.made() {
            if rejected.contains(&val) {
                continue;
            }
            if try_exchange(state, val) {
                is_changed = true;
                rejected.clear();
            } else {
                rejected.insert(val);
            }
        }
    }
}

/// The place of the segment that makes a value, if the value may be computed where it is read.
fn droppable(state: &State<'_>, val: Val) -> Option<usize> {
    let op = state.problem.graph.op(val);
    let is_computed = !matches!(op, TensorOp::External(_)) && !op.is_boundary();
    if !is_computed || !state.is_free(val) {
        return None;
    }
    state.places.maker(val)
}

/// Tries to keep fewer bytes instead of a value; if there are none, to drop it.
fn try_exchange(state: &mut State<'_>, val: Val) -> bool {
    let Some(maker) = droppable(state, val) else { return false };
    let around: Vec<usize> = [&[maker], state.places.readers(val)].concat();
    state.attempt(LocalMove::Exchange, &around, Some(val), |state| {
        let change = replacing(state, val).or_else(|| dropping(state, val));
        change.is_some_and(|change| state.improve(change))
    })
}

/// The change that no longer keeps a value.
pub(super) fn dropping(state: &State<'_>, val: Val) -> Option<Change> {
    let made = vec![state.without(droppable(state, val)?, val)];
    Some(Change { made, kept: Vec::new(), dropped: vec![val] })
}

/// The change that keeps, instead of a value, what its readers compute it from: each made by the first segment that computes
/// it.
pub(super) fn replacing(state: &State<'_>, val: Val) -> Option<Change> {
    let place = droppable(state, val)?;
    let instead = cut_before(state, val);
    if instead.contains(&val) {
        return None;
    }
    let first = |val: Val| state.computing(val).next();
    let mut made: FxHashMap<usize, Vec<Val>> = FxHashMap::from_iter([state.without(place, val)]);
    for &kept in &instead {
        let maker = first(kept)?;
        made.entry(maker).or_insert_with(|| state.segments[maker].made.clone()).push(kept);
    }
    Some(Change { made: made.into_iter().collect(), kept: instead, dropped: vec![val] })
}

/// The values with the fewest bytes from which a value's readers compute it, repeating no fold or scan: a minimum cut
/// between those and the values in memory. Returns those of the cut that are not in memory yet.
fn cut_before(state: &State<'_>, val: Val) -> Vec<Val> {
    let graph = state.problem.graph;
    let readers: Vec<&Segment> =
        state.places.readers(val).iter().map(|&place| &*state.segments[place]).collect();
    let in_memory = |val: Val| state.problem.fusion.is_input(val) || state.kept.contains(&val);
    let weight = |val: Val| {
        let reads = readers.iter().filter(|segment| !segment.reads(val)).count();
        let accesses = reads + usize::from(!in_memory(val));
        state.pricing.amounts.of(val).bytes.saturating_mul(accesses as u64)
    };
    let mut network = FlowNetwork::default();
    let sink = network.vertex(state.pricing.amounts.of(val).bytes.saturating_mul(1 + readers.len() as u64));
    let mut vertices: FxHashMap<Val, usize> = FxHashMap::from_iter([(val, sink)]);
    let mut vals = vec![val];
    let mut stack = vec![val];
    while let Some(user) = stack.pop() {
        for &operand in graph.operands(user) {
            let vertex = *vertices.entry(operand).or_insert_with(|| {
                let vertex = network.vertex(weight(operand));
                if in_memory(operand) || graph.op(operand).needs_whole_operands() {
                    network.source(vertex)
                } else {
                    stack.push(operand)
                }
                vals.push(operand);
                vertex
            });
            network.arc(vertex, vertices[&user]);
        }
    }
    let in_cut = network.minimum_cut(sink).into_iter().map(|vertex| vals[vertex]);
    in_cut.filter(|&kept| kept == val || !in_memory(kept)).collect()
}
