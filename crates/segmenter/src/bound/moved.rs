//! Folds that a kernel cannot compute for a node, as all paths to them go through index maps that read the fold's result at
//! other indices than the loops' (`scheduler::legal::moved`).

use ir::graph::{Fusion, Graph, Node, TensorOp, Val};
use rustc_hash::FxHashSet;
use space::{AxisTable, Moved, is_index_map};

/// The folds before a node that it reaches only through index maps; none where that takes too many steps. Paths end at
/// values that are in memory.
pub(super) fn folds_behind_index_maps(
    graph: &Graph,
    node: Node,
    table: &mut AxisTable,
    budget: &mut usize,
    is_in_memory: impl Fn(Val) -> bool,
) -> FxHashSet<Node> {
    let [mut moved_folds, mut others]: [FxHashSet<Node>; 2] = Default::default();
    let mut seen: FxHashSet<(Val, Moved)> = FxHashSet::default();
    let mut stack: Vec<(Node, Moved)> = vec![(node, Moved::new())];
    while let Some((node, moved)) = stack.pop() {
        for (k, &operand) in graph.node(node).operands.iter().enumerate() {
            let Some(left) = budget.checked_sub(1) else { return FxHashSet::default() };
            *budget = left;
            let stands = moved.is_empty() && !is_index_map(graph, node, k);
            let moved = if stands { Moved::new() } else { table.moved(graph, node, k, &moved) };
            if is_in_memory(operand) || !seen.insert((operand, moved.clone())) {
                continue;
            }
            match (graph.op(operand), moved.is_empty()) {
                (TensorOp::Fold { .. }, false) => _ = moved_folds.insert(operand.node),
                (TensorOp::Fold { .. }, true) => {
                    others.insert(operand.node);
                    stack.push((operand.node, moved));
                }
                _ => stack.push((operand.node, moved)),
            }
        }
    }
    moved_folds.retain(|fold| !others.contains(fold));
    moved_folds
}

/// Whether some op reads an operand at other indices than the loops'.
pub(super) fn has_index_maps(graph: &Graph, fusion: &Fusion) -> bool {
    let reads_elsewhere =
        |&node: &Node| (0..graph.node(node).operands.len()).any(|k| is_index_map(graph, node, k));
    fusion.order().iter().any(reads_elsewhere)
}
