//! How long a group computes as one kernel, in vector instructions that take a cycle each.
//!
//! Counts as `code` does, but each node by the elements of its result, and by the time that its instructions take. Measured as
//! sums of 8 and of 24 equal functions of a million f32 on Zen 4 with AVX-512, beside the time of a multiplication; pow and
//! calls (of lgamma) as chains. Other dtypes count as f32 does, and GPUs as CPUs do until theirs are measured.

use ir::graph::{Fusion, Graph, Node, TensorOp, Val};
use ops::{CpuSpelling, DType, Polynomial, ScalarOp};

use super::code::{Count, Weights};
use super::witness::Witness;
use crate::hints::Hints;

/// Elements that a group computes at least, each as often as the cycles that a vector of them takes: a value once for each
/// index map through which it is read, as if all that several stages need were kept in scratch. Of what is broadcast the
/// elements before count: loops compute those outside, where they can.
pub(super) fn cycles(graph: &Graph, view: &Fusion, witness: &Witness, hints: &Hints) -> u64 {
    let of_node = |node: Node| {
        let elements = hints.value(&graph.ty(node.into()).numel());
        elements.saturating_mul(weight(graph, node))
    };
    let mut count = Count::new(graph, view, &witness.space, Weights { node: &of_node, access: 0 });
    let folded = witness.folds.iter().flat_map(|fold| graph.node(fold.node).operands.iter().copied());
    let roots: Vec<Val> = folded.chain(witness.stores.iter().map(|store| store.val)).collect();
    count.nest(&roots, u64::MAX)
}

/// Cycles of a vector of a node's elements.
fn weight(graph: &Graph, node: Node) -> u64 {
    let data = graph.node(node);
    match &data.op {
        TensorOp::Map(op) => of_scalar_op(*op, graph.dtype(node.into())),
        TensorOp::Cast(DType::F8E4M3 | DType::F8E5M2 | DType::F8E8M0) => 8,
        TensorOp::Cast(_) | TensorOp::Iota(_) => 1,
        TensorOp::Pad { .. } => 2,
        TensorOp::Cat(_) => data.operands.len() as u64,
        TensorOp::Gather(_) => 10,
        _ => 0,
    }
}

fn of_scalar_op(op: ScalarOp, dtype: DType) -> u64 {
    let spelling = op.row().cpu.of(dtype);
    match op {
        _ if op.moves_bits() => 0,
        ScalarOp::Div | ScalarOp::Reciprocal => 7,
        ScalarOp::Sqrt => 11,
        ScalarOp::Rsqrt => 18,
        ScalarOp::Fmod => 280,
        _ => match spelling {
            Some(CpuSpelling::Polynomial(Polynomial::Exp | Polynomial::Exp2)) => 12,
            Some(CpuSpelling::Polynomial(Polynomial::Sin | Polynomial::Cos | Polynomial::Tan)) => 55,
            Some(CpuSpelling::Polynomial(Polynomial::Pow)) => 60,
            Some(CpuSpelling::Polynomial(_)) => 28,
            Some(CpuSpelling::Philox) => 50,
            Some(CpuSpelling::Call { .. }) => 1400,
            _ => 1,
        },
    }
}
