//! Sums and differences that take one of their products unrounded, in one instruction where it exists.
//!
//! That removes one rounding, so results differ between machines: where two products cancel, another remainder is left. So
//! it is done only where a half type hides the difference: everything computed from the sum is rounded to one, and nothing
//! before that distinguishes almost equal numbers, as comparisons and roundings to integers do.

use ir::graph::{Fusion, Graph, Node, TensorOp, Val};
use ops::{DType, ScalarOp, Spread};
use rustc_hash::FxHashSet;

use super::Cheaper;

/// The sums of a view that take a product unrounded, and which of their operands it is.
pub(super) fn fused(graph: &Graph, fusion: &Fusion, kept: &FxHashSet<Val>) -> Vec<(Node, Cheaper)> {
    let hidden = hidden(graph, fusion);
    let sums = fusion.order().iter().filter(|&&node| hidden.contains(&node));
    let fused = |&node: &Node| Some((node, Cheaper::Fused { product: product(graph, fusion, node, kept)? }));
    sums.filter_map(fused).collect()
}

/// The nodes whose results are rounded to a half type before they are observed.
fn hidden(graph: &Graph, fusion: &Fusion) -> FxHashSet<Node> {
    let mut hidden = FxHashSet::default();
    for &node in fusion.order().iter().rev() {
        let hides = |user: &Node| match &graph.node(*user).op {
            TensorOp::Cast(DType::BF16 | DType::F16) => true,
            TensorOp::Cast(to) => to.is_float() && hidden.contains(user),
            TensorOp::Map(op) => is_continuous(*op) && hidden.contains(user),
            TensorOp::External(_) | TensorOp::Gather(_) => false,
            _ => hidden.contains(user),
        };
        let unseen = |val: Val| !fusion.is_output(val) && fusion.uses(val).iter().all(hides);
        if graph.results(node).all(unseen) {
            hidden.insert(node);
        }
    }
    hidden
}

/// Whether a small error of an operand stays small, except at poles.
fn is_continuous(op: ScalarOp) -> bool {
    let jumps =
        matches!(op.row().spread, Spread::Comparison | Spread::Exact | Spread::Remainder | Spread::Angle);
    !jumps && !matches!(op, ScalarOp::Floor | ScalarOp::Ceil | ScalarOp::Round | ScalarOp::Trunc)
}

/// Which operand of a sum or difference of f32 is a product with as many elements that nothing else uses.
fn product(graph: &Graph, fusion: &Fusion, node: Node, kept: &FxHashSet<Val>) -> Option<usize> {
    let sum = Val::from(node);
    let (TensorOp::Map(ScalarOp::Add | ScalarOp::Sub), DType::F32) = (graph.op(sum), graph.dtype(sum)) else {
        return None;
    };
    let fits = |val: Val| {
        matches!(graph.op(val), TensorOp::Map(ScalarOp::Mul))
            && !fusion.is_input(val)
            && !fusion.is_output(val)
            && !kept.contains(&val)
            && fusion.uses(val).len() == 1
            && has_all_axes_of(graph, val, sum)
    };
    let &[a, b] = graph.operands(sum) else { return None };
    if a == b { None } else { [a, b].into_iter().position(fits) }
}

/// Whether an operand is repeated along no axis of a result.
fn has_all_axes_of(graph: &Graph, operand: Val, result: Val) -> bool {
    let (own, all) = (graph.shape(operand), graph.shape(result));
    own.len() == all.len() && own.iter().zip(all).all(|(own, all)| own.is_one() == all.is_one())
}
