//! Segments of many similar parts that share no tensor: each part becomes a segment. One launch still runs them all, with a
//! kernel as long as one part.

use ir::graph::{Fusion, Graph, TensorOp, Val};

use segmenter::DisjointSets;

/// The values that a segment makes, by parts that neither read nor write each other's tensors. An output that is written to
/// the memory of an input belongs to the part that reads the input.
pub(crate) fn parts(graph: &Graph, fusion: &Fusion, view: &Fusion) -> Vec<Vec<Val>> {
    let mut sets = DisjointSets::default();
    for &node in view.order() {
        for &operand in graph.node(node).operands.iter().filter(|&&operand| is_owned(graph, view, operand)) {
            graph.results(node).for_each(|val| sets.unite(val, operand));
        }
    }
    for output in fusion.outputs() {
        if let Some(input) = output.alias {
            sets.unite(output.val, fusion.inputs()[input as usize]);
        }
    }
    let mut parts: Vec<(Val, Vec<Val>)> = Vec::new();
    for output in view.outputs() {
        let root = sets.root(output.val);
        match parts.iter_mut().find(|(other, _)| *other == root) {
            Some((_, part)) => part.push(output.val),
            None => parts.push((root, vec![output.val])),
        }
    }
    parts.into_iter().map(|(_, part)| part).collect()
}

/// Whether parts that read a value are one: each may have its own scalar inputs and constants.
fn is_owned(graph: &Graph, view: &Fusion, val: Val) -> bool {
    let is_number = view.is_input(val) && graph.ty(val).rank() == 0;
    !is_number && !matches!(graph.op(val), TensorOp::Constant(_) | TensorOp::Size(_))
}
