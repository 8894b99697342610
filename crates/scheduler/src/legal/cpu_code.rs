//! How much code each op is on a CPU, in statements: the lines of LLVM IR that it becomes.

use ir::graph::{Graph, Node, TensorOp};
use ops::{Approximation, CpuSpelling, DType, Polynomial, ScalarOp, Totals};

/// Statements of a fold or scan that keeps one dtype.
const FOLD: u64 = 8;

/// Statements with which a fold begins, takes an element and ends: more if it continues in f64 after each block. 32 row sums
/// took 1.0 ms each to compile on Zen 4 and column sums 4.4 ms, row variances 6.5 ms and column variances 27 ms, largest
/// elements 1.2 and 1.9 ms.
pub(super) fn of_fold(graph: &Graph, node: Node) -> u64 {
    let TensorOp::Fold { monoid, .. } = &graph.node(node).op else { return FOLD };
    let operands = graph.node(node).operands.iter().map(|&operand| graph.dtype(operand));
    match monoid.totals(&operands.collect::<Vec<DType>>()) {
        Totals::Same => FOLD,
        Totals::OfBlocks => 2 * FOLD,
        Totals::OfLanes => 8 * FOLD,
    }
}

/// Statements for reading an input or writing an output: each has an address, and libLLVM compares it with every other.
pub(super) const ACCESS: u64 = 4;

/// The statements of a node at one index, without its operands'.
pub(super) fn weight(graph: &Graph, node: Node) -> u64 {
    let data = graph.node(node);
    let is_padded = |(before, after): &(&index::Expr, &index::Expr)| !before.is_zero() || !after.is_zero();
    match &data.op {
        TensorOp::Constant(_) | TensorOp::Size(_) | TensorOp::Input { .. } | TensorOp::External(_) => 0,
        TensorOp::Permute(_)
        | TensorOp::Broadcast(_)
        | TensorOp::Expand(_)
        | TensorOp::Squeeze(_)
        | TensorOp::Slice { .. } => 0,
        TensorOp::Map(op) => of_scalar_op(*op, graph.dtype(node.into())),
        TensorOp::Cast(DType::F8E4M3 | DType::F8E5M2 | DType::F8E8M0) => 8,
        TensorOp::Cast(_) => 1,
        TensorOp::Reshape(_) => 1,
        TensorOp::Pad { before, after } => 1 + 5 * before.iter().zip(after).filter(is_padded).count() as u64,
        TensorOp::Cat(_) => 6 * data.operands.len() as u64,
        TensorOp::Gather(_) => 10,
        TensorOp::Iota(_) => 4,
        TensorOp::Scan { .. } => FOLD,
        TensorOp::Fold { .. } => of_fold(graph, node),
    }
}

/// Statements of an op that is a call: of libm, or of a draw, which is outlined in kernels with many. Polynomials are
/// outlined there too, but count in full: with larger groups `mixed_10000` of the corpus moved 15 % fewer bytes and took 6 %
/// longer.
const CALL: u64 = 4;

/// The statements of a primitive.
fn of_scalar_op(op: ScalarOp, dtype: DType) -> u64 {
    match op.row().cpu.of(dtype) {
        _ if op.moves_bits() => 0,
        Some(CpuSpelling::Polynomial(Polynomial::Pow)) if dtype == DType::F64 => 50,
        Some(CpuSpelling::Polynomial(Polynomial::Pow)) => 25,
        Some(CpuSpelling::Polynomial(Polynomial::Exp | Polynomial::Exp2)) => 5,
        Some(CpuSpelling::Polynomial(Polynomial::Sin | Polynomial::Cos | Polynomial::Tan)) => 33,
        Some(CpuSpelling::Polynomial(Polynomial::Lgamma)) => 50,
        Some(CpuSpelling::Polynomial(_)) => 12,
        Some(CpuSpelling::Philox | CpuSpelling::Call { .. }) => CALL,
        Some(CpuSpelling::Remainder { .. }) => 8,
        Some(CpuSpelling::Approximate(Approximation::MulAdd)) => 1,
        Some(CpuSpelling::Approximate(_) | CpuSpelling::Guarded(..)) => 4,
        Some(CpuSpelling::Expansion(_)) => 2,
        _ => 1,
    }
}
