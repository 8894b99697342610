//! Nodes that are recomputed wherever they are used: those computed elementwise from constants alone that neither leave the
//! fusion nor are read from memory by an external op or across a boundary.

use ir::graph::{Fusion, Graph, Node, TensorOp, Val};
use rustc_hash::FxHashSet;
use scheduler::legal::external_nodes;

/// The free nodes of a fusion; some inputs may count as constants.
pub(super) fn free_nodes(
    graph: &Graph,
    fusion: &Fusion,
    is_constant: impl Fn(Val) -> bool,
) -> FxHashSet<Node> {
    let in_memory = read_or_made_by_external_ops(graph, fusion);
    let mut free: FxHashSet<Node> = FxHashSet::default();
    for &node in fusion.order() {
        let operands = &graph.node(node).operands;
        let is_free =
            |val: &Val| if fusion.is_input(*val) { is_constant(*val) } else { free.contains(&val.node) };
        let from_constants = operands.iter().all(is_free);
        let leaves = || graph.results(node).any(|val| fusion.is_output(val));
        let folds = matches!(graph.node(node).op, TensorOp::Fold { .. } | TensorOp::Scan { .. });
        if from_constants && !folds && !is_boundary(graph, node) && !in_memory.contains(&node) && !leaves() {
            free.insert(node);
        }
    }
    free
}

/// Whether a definition or a pass asks for the node's result in memory.
fn is_boundary(graph: &Graph, node: Node) -> bool {
    graph.node(node).op.is_boundary()
}

/// The external ops, and the nodes whose results they read, even if those depend on constants only. Constants themselves
/// need no memory.
fn read_or_made_by_external_ops(graph: &Graph, fusion: &Fusion) -> FxHashSet<Node> {
    let mut found: FxHashSet<Node> = FxHashSet::default();
    for (node, _) in external_nodes(graph, fusion) {
        found.insert(node);
        let mut stack: Vec<Val> = graph.node(node).operands.to_vec();
        while let Some(val) = stack.pop() {
            match graph.op(val) {
                TensorOp::Constant(_) | TensorOp::Size(_) => {}
                op if op.is_view() => stack.extend(graph.operands(val)),
                _ => {
                    found.insert(val.node);
                }
            }
        }
    }
    found
}
