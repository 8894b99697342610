//! What a block of a legal group keeps, whatever its schedule: the states of folds over axes that workers do not
//! divide.

use index::Expr;
use ir::graph::{Fusion, Graph, Node, TensorOp};
use ops::{DType, Totals};
use scheduler::hints::Hints;
use scheduler::legal::{Rejection, Witness};

/// Rejects a group of which a block would keep more bytes than it has.
///
/// # Errors
/// The fold that is one too many.
pub(super) fn reject_kept(
    graph: &Graph,
    view: &Fusion,
    witness: &Witness,
    (hints, most): &(Hints, u64),
) -> Result<(), Rejection> {
    let bytes = kept_bytes(graph, view, witness, hints);
    if bytes <= *most {
        return Ok(());
    }
    let val = witness.folds.last().map_or(view.outputs()[0].val, |fold| fold.node.into());
    let reason = format!("would keep {bytes} bytes of folds in a block, which has {most}");
    Err(Rejection { val, reason, is_monotone: false })
}

/// Bytes that a block keeps of folds at most, where sizes without a bound are up to twice what is expected, as calls
/// with others have variants of their own.
fn kept_bytes(graph: &Graph, view: &Fusion, witness: &Witness, hints: &Hints) -> u64 {
    let mut bytes = 0_u64;
    for fold in &witness.folds {
        let kept = fold.kept_axes().filter(|axis| !witness.workers.contains(axis));
        let kept = kept.fold(Expr::one(), |n, axis| n * witness.space.size(axis).clone());
        let most = view.facts().bounds(&view.facts().normalize(&kept)).hi();
        let most = most.and_then(|most| u64::try_from(most).ok()).unwrap_or_else(|| 2 * hints.value(&kept));
        let of_one = state_bytes(graph, fold.node, fold.reduced.len() > 1);
        bytes = bytes.saturating_add(if most == 1 { 0 } else { most.saturating_mul(of_one) });
    }
    bytes
}

/// Bytes of the states of one result of a fold, with those of the totals of long folds if they are wanted.
fn state_bytes(graph: &Graph, fold: Node, with_totals: bool) -> u64 {
    let TensorOp::Fold { monoid, .. } = &graph.node(fold).op else { return 0 };
    let operands: Vec<DType> =
        graph.node(fold).operands.iter().map(|&operand| graph.dtype(operand)).collect();
    let dtypes = monoid.state_dtypes(&operands);
    let totals = if with_totals && monoid.totals(&operands) != Totals::Same { 8 * dtypes.len() } else { 0 };
    (dtypes.iter().map(|dtype| dtype.size()).sum::<usize>() + totals) as u64
}
