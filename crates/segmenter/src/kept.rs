//! What a block of a legal group keeps under any schedule: the states of folds over axes that workers do not divide.

use index::Expr;
use ir::graph::{Fusion, Graph, Node, TensorOp};
use ops::{DType, Totals};
use scheduler::hints::Hints;
use scheduler::legal::{Fold, Rejection, Witness};
use target::gpu::MAX_PARTIAL_ROWS;

/// The limits on what a block keeps.
#[derive(Clone, Debug)]
pub(super) struct Limit {
    /// The expected sizes, and the upper bounds for all calls.
    pub hints: Hints,
    /// Bytes of memory that a block has.
    pub block_bytes: u64,
    /// Elements up to which a fold's rows are not divided.
    pub grain: u64,
}

/// Rejects a group whose blocks would keep more bytes than they have.
///
/// # Errors
/// Names the last fold of the group.
pub(super) fn check_kept_bytes(
    graph: &Graph,
    view: &Fusion,
    witness: &Witness,
    limit: &Limit,
) -> Result<(), Rejection> {
    let (bytes, most) = (kept_bytes(graph, view, witness, limit), limit.block_bytes);
    if bytes <= most {
        return Ok(());
    }
    let val = witness.folds.last().map_or(view.outputs()[0].val, |fold| fold.node.into());
    let reason = format!("would keep {bytes} bytes of folds in a block, which has {most}");
    Err(Rejection { val, reason, is_monotone: false })
}

/// The most bytes that a block keeps for folds, where sizes without a bound may be up to twice the expected ones.
fn kept_bytes(graph: &Graph, view: &Fusion, witness: &Witness, limit: &Limit) -> u64 {
    let hints = &limit.hints;
    let mut bytes = 0_u64;
    for fold in &witness.folds {
        let kept = fold.kept_axes().filter(|axis| !witness.workers.contains(axis));
        let kept = kept.fold(Expr::one(), |n, axis| n * witness.space.size(axis).clone());
        let most = hints.most(view.facts(), &kept).unwrap_or_else(|| 2 * hints.value(&kept));
        let of_one = state_bytes(graph, fold.node, may_be_long(witness, fold, limit));
        // A single result is in registers.
        bytes = bytes.saturating_add(if most == 1 { 0 } else { most.saturating_mul(of_one) });
    }
    bytes
}

/// Whether the sums of a fold may need totals in f64: if it reduces several axes, or one of unknown size that is expected to
/// be short, which blocks may then not divide.
fn may_be_long(witness: &Witness, fold: &Fold, Limit { hints, grain, .. }: &Limit) -> bool {
    let [axis] = fold.reduced[..] else { return true };
    let rows = witness.space.size(axis);
    let all = witness.order.iter().map(|&axis| hints.value(witness.space.size(axis)));
    let is_little = || all.fold(1, u64::saturating_mul) <= *grain;
    rows.as_const().is_none()
        && hints.value(rows) <= MAX_PARTIAL_ROWS
        && (witness.workers.len() > 1 || is_little())
}

/// Bytes of the states of one result of a fold, including those of the totals of long folds if `with_totals`.
fn state_bytes(graph: &Graph, fold: Node, with_totals: bool) -> u64 {
    let TensorOp::Fold { monoid, .. } = &graph.node(fold).op else { return 0 };
    let operands: Vec<DType> =
        graph.node(fold).operands.iter().map(|&operand| graph.dtype(operand)).collect();
    let dtypes = monoid.state_dtypes(&operands);
    let totals = if with_totals && monoid.totals(&operands) != Totals::Same { 8 * dtypes.len() } else { 0 };
    (dtypes.iter().map(|dtype| dtype.size()).sum::<usize>() + totals) as u64
}
