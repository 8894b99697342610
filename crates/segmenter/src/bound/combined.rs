//! The nodes that combine the result of a fold, or a value that is in memory in any case, with others. The first kernel that
//! computes such a node needs all of them: where a chain of segments ends in it, what these are computed from is read for it,
//! or computed again.

use ir::graph::{Fusion, Graph, Node, TensorOp, Val};
use rustc_hash::{FxHashMap, FxHashSet};

use super::components::{Component, Components};
use super::forced::Forced;
use crate::axis_classes::{AxisClasses, Class};

/// These nodes of a fusion, as far as they have all axes of their component: then a kernel divides no other.
pub(super) fn combined(
    graph: &Graph,
    fusion: &Fusion,
    forced: &Forced,
    classes: &AxisClasses,
    components: &Components<'_>,
) -> FxHashSet<Node> {
    let axes = |node: Node| classes.of_val(graph, node.into()).collect::<FxHashSet<Class>>();
    let mut all_axes: FxHashMap<Option<Component>, FxHashSet<Class>> = FxHashMap::default();
    for &node in fusion.order() {
        all_axes.entry(components.of_node(node)).or_default().extend(axes(node));
    }
    let [mut found, mut alone]: [FxHashSet<Node>; 2] = Default::default();
    for &node in fusion.order() {
        let is_source = graph.results(node).any(|val| forced.sources.contains(&val));
        let operands = operands(graph, node);
        let follows = operands.iter().any(|operand| alone.contains(operand));
        if graph.node(node).op.is_fold() || is_source || follows && operands.len() == 1 {
            alone.insert(node);
        } else if follows && all_axes[&components.of_node(node)] == axes(node) {
            found.insert(node);
        }
    }
    found
}

/// The nodes that a node's operands come from, each once, without constants.
fn operands(graph: &Graph, node: Node) -> Vec<Node> {
    let is_constant = |val: &Val| matches!(graph.op(*val), TensorOp::Constant(_) | TensorOp::Size(_));
    let operands = graph.node(node).operands.iter().filter(|val| !is_constant(val));
    let mut nodes: Vec<Node> = operands.map(|val| val.node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}
