//! The time that a group takes to compute as one kernel: counted as in `code`, but each node by the elements of its result
//! and the time of its instructions.

use ir::graph::{Fusion, Graph, Node, TensorOp, Val};
use rustc_hash::FxHashMap;
use scheduler::cycles::{OpCycles, scans_memory};
use scheduler::hints::Hints;
use scheduler::legal::{Count, Weights, Witness, is_short_when_cut};

use super::amounts::Amounts;
use super::repeats::Repeats;

/// Cycles of a fold for each vector of elements, if it loads and stores its result for each one in a kernel that takes one
/// after the other: the largest of each column beside running sums of rows took 2 ms more for 2^21 elements (Xeon).
const FOLDED_BESIDE_SCAN: u64 = 170;

/// The cycles of a group as a kernel: those of its nodes, and of folds that a scan keeps from the lanes.
pub(super) fn cycles(amounts: &Amounts<'_>, view: &Fusion, witness: &Witness) -> u64 {
    let graph = amounts.graph;
    let is_scalar = view.order().iter().any(|&node| scans_memory(graph, node));
    let scanned = witness.scanned.filter(|_| is_scalar);
    let beside = witness.folds.iter().filter(|fold| scanned.is_some_and(|axis| fold.keeps(axis)));
    let folded = beside.map(|fold| graph.node(fold.node).operands[0]);
    let cycles = folded.map(|val| amounts.of(val).elements.saturating_mul(FOLDED_BESIDE_SCAN));
    cycles.fold(cycles_of_nodes(amounts, view, witness), u64::saturating_add)
}

/// The fewest cycles of a group: for each element that it computes those of a vector of them. A value counts once for each
/// index map through which it is read, as if all values that several stages need were kept in scratch. Broadcast values
/// count by the elements before the broadcast, as often as outer loops compute them (`repeats`).
fn cycles_of_nodes(amounts: &Amounts<'_>, view: &Fusion, witness: &Witness) -> u64 {
    let graph = amounts.graph;
    let repeats = Repeats::of(amounts, view, witness);
    if !witness.space.has_index_maps() {
        let cycles =
            view.order().iter().enumerate().map(|(position, &node)| repeats.cycles(amounts, position, node));
        return cycles.fold(0, u64::saturating_add);
    }
    let cycles = |node: Node| {
        let position = witness.space.position(node).expect("a node of the group");
        repeats.cycles(amounts, position, node)
    };
    let folded = witness.folds.iter().flat_map(|fold| graph.node(fold.node).operands.iter().copied());
    let roots: Vec<Val> = folded.chain(witness.stores.iter().map(|store| store.val)).collect();
    let rolls = |node: Node| (0..graph.node(node).operands.len()).any(|k| is_roll(graph, node, k));
    let is_cut = !view.order().iter().any(|&node| rolls(node))
        || is_short_when_cut(graph, view, &witness.space, &roots);
    let part = |node: Node, k: usize| match is_cut || !is_roll(graph, node, k) {
        true => part(amounts, node, k),
        // Each element of the cat chooses between them.
        false => elements(amounts, node.into()) / elements(amounts, graph.node(node).operands[k]),
    };
    let mut count =
        Count::new(graph, view, &witness.space, Weights { node: &cycles, access: 0, part: &part });
    let folds = witness.folds.iter().map(|fold| cycles(fold.node));
    folds.fold(count.nest(&roots, u64::MAX), u64::saturating_add)
}

/// The fewest cycles of a kernel: of each node once; 0 if an index map may ask for only a part of a node's result, or for an
/// external op.
pub(super) fn min_cycles(amounts: &Amounts<'_>, nodes: &[Node]) -> u64 {
    let is_partial = |node: &&Node| {
        matches!(
            amounts.graph.node(**node).op,
            TensorOp::Slice { .. } | TensorOp::Gather(_) | TensorOp::Cat(_) | TensorOp::External(_)
        )
    };
    if nodes.iter().any(|node| is_partial(&node)) { 0 } else { each_once(amounts, nodes) }
}

/// Cycles of each node once.
fn each_once(amounts: &Amounts<'_>, nodes: &[Node]) -> u64 {
    nodes.iter().map(|&node| amounts.cycles(node)).fold(0, u64::saturating_add)
}

/// The cycles of any segmentation of a fusion: of each value once, as far as something needs it.
pub(crate) fn cycles_once(amounts: &Amounts<'_>, fusion: &Fusion) -> u64 {
    let needed = needed_parts(amounts, fusion);
    let cycles = |node: &Node| (amounts.cycles(*node) as f64 * needed[node]) as u64;
    fusion.order().iter().map(cycles).fold(0, u64::saturating_add)
}

/// The part of each node's elements that any segmentation computes.
pub(crate) fn needed_parts(amounts: &Amounts<'_>, fusion: &Fusion) -> FxHashMap<Node, f64> {
    let graph = amounts.graph;
    let outputs = fusion.outputs().iter().map(|output| (output.val.node, 1.0));
    let mut needed: FxHashMap<Node, f64> = outputs.collect();
    for &node in fusion.order().iter().rev() {
        let data = graph.node(node);
        let own = *needed.entry(node).or_insert(1.0);
        let is_whole = data.op.needs_whole_operands();
        for (k, operand) in data.operands.iter().enumerate() {
            let asked = if is_whole { 1.0 } else { own * part(amounts, node, k).min(1.0) };
            let known = needed.entry(operand.node).or_insert(0.0);
            *known = known.max(asked);
        }
    }
    needed
}

/// The multiple of an operand's elements that a node asks for: a part, if it slices or gathers.
pub(crate) fn part(amounts: &Amounts<'_>, node: Node, k: usize) -> f64 {
    let graph = amounts.graph;
    let operand = graph.node(node).operands[k];
    let ratio = || elements(amounts, node.into()) / elements(amounts, operand);
    match graph.node(node).op {
        TensorOp::Slice { .. } => ratio().min(1.0),
        TensorOp::Gather(_) if k == 0 => ratio().min(1.0),
        _ => 1.0,
    }
}

fn elements(amounts: &Amounts<'_>, val: Val) -> f64 {
    amounts.of(val).elements.max(1) as f64
}

/// Whether operand `k` of a cat is a slice: the cat may roll a tensor.
fn is_roll(graph: &Graph, node: Node, k: usize) -> bool {
    let data = graph.node(node);
    matches!(data.op, TensorOp::Cat(_)) && matches!(graph.op(data.operands[k]), TensorOp::Slice { .. })
}

/// Cycles of a node: a fold takes the elements of its operand, all others make those of their result.
pub(super) fn of_node(graph: &Graph, node: Node, hints: &Hints, ops: &OpCycles) -> u64 {
    let counted = match graph.node(node).op {
        TensorOp::Fold { .. } => graph.node(node).operands[0],
        _ => node.into(),
    };
    hints.elements(graph.shape(counted)).saturating_mul(ops.of_node(graph, node))
}
