//! Computes moments of rows in two passes, if the second finds the row at hand, in a GPU's registers or a CPU's L1: the sum,
//! then the deviations from about the mean and their squares. That takes three sums and one division per row, whereas states
//! of moments take a select, a counter and shifts per element, and a combine per lane or thread.
//!
//! The first mean is rounded, and of equal elements it is off by a few units in the last place. Deviations are then
//! multiples of such a unit, which add up exactly: their mean corrects the first, and the remainder of the squares is zero
//! (Chan, Golub and LeVeque 1983, corrected two-pass algorithm).
//!
//! Elements may be divided by their number before they are added up, so that no sum leaves the range of f32. Otherwise such
//! a sum makes mean and variance NaN, where states of moments stay finite. Leaves alone folds along other axes than the last
//! ones, long rows, and f64.

use index::{Expr, Facts};
use ir::graph::{Axes, Fusion, Graph, Node, TensorOp, Val, ValMap, rewrite};
use ops::{DType, Monoid, Scalar, ScalarOp};

use super::row_elements;
use crate::passes::node_builder::NodeBuilder;

/// The pass, for rows of `most_bytes` at most; `divides_first`: elements are divided before they are added up.
pub fn two_pass(
    graph: &mut Graph,
    fusion: &Fusion,
    most_bytes: u64,
    divides_first: bool,
) -> (Fusion, ValMap) {
    rewrite(graph, fusion, |graph, facts, node, operands| {
        let (axes, count) = short_rows(graph, fusion.facts(), node, most_bytes)?;
        let nodes = NodeBuilder { graph, facts };
        Some(Moments { nodes, axes, divides_first }.of(operands[0], count))
    })
}

/// The axes of moments of short rows, and how many elements a row has.
fn short_rows(graph: &Graph, facts: &Facts, node: Node, most_bytes: u64) -> Option<(Axes, Expr)> {
    let TensorOp::Fold { monoid: Monoid::Welford, axes } = &graph.node(node).op else { return None };
    let operand = graph.node(node).operands[0];
    let (count, most) = row_elements(graph, facts, operand, axes)?;
    let read = match graph.op(operand) {
        TensorOp::Cast(_) => graph.operands(operand)[0],
        _ => operand,
    };
    let bytes = most.checked_mul(graph.dtype(read).size() as u64);
    let is_short = graph.dtype(operand) == DType::F32 && bytes.is_some_and(|bytes| bytes <= most_bytes);
    is_short.then(|| (axes.clone(), count))
}

/// Moments under construction.
struct Moments<'g> {
    nodes: NodeBuilder<'g>,
    axes: Axes,
    divides_first: bool,
}

impl Moments<'_> {
    /// Mean, squared deviations from it and count of rows of `count` elements.
    fn of(&mut self, x: Val, count: Expr) -> Vec<Val> {
        let any = self.size(Expr::max(&count, &Expr::one()));
        let share = self.nodes.map(ScalarOp::Reciprocal, &[any]);
        let about = self.first_mean(x, share);
        let subtrahend = self.nodes.keepdim(about, &self.axes, x);
        let deviation = self.nodes.map(ScalarOp::Sub, &[x, subtrahend]);
        let square = self.nodes.map(ScalarOp::Mul, &[deviation, deviation]);
        let (sum, squares) = (self.sum(deviation), self.sum(square));
        let off = self.nodes.map(ScalarOp::Div, &[sum, any]);
        // Deviations from an infinite mean do not exist, and those beyond the range of f32 are infinite.
        let known = if self.divides_first { self.nodes.map(ScalarOp::Sub, &[off, off]) } else { off };
        let is_known = self.nodes.map(ScalarOp::Eq, &[known, known]);
        let corrected = self.nodes.map(ScalarOp::Add, &[about, off]);
        let mean = self.nodes.map(ScalarOp::Where, &[is_known, corrected, about]);
        let m2 = self.about_mean([sum, squares, off, any]);
        let m2 =
            if self.divides_first { self.nodes.map(ScalarOp::Where, &[is_known, m2, squares]) } else { m2 };
        let counts = self.counts(count, mean);
        vec![mean, m2, counts]
    }

    /// The mean, as accurate as one pass gives it.
    fn first_mean(&mut self, x: Val, share: Val) -> Val {
        if self.divides_first {
            let part = self.nodes.map(ScalarOp::Mul, &[x, share]);
            return self.sum(part);
        }
        let total = self.sum(x);
        self.nodes.map(ScalarOp::Mul, &[total, share])
    }

    /// The count for each row.
    fn counts(&mut self, count: Expr, of_rows: Val) -> Val {
        let sizes = self.nodes.graph.shape(of_rows).clone();
        let count = self.size(count);
        let one = self.nodes.add(TensorOp::Broadcast(sizes.iter().map(|_| true).collect()), &[count]);
        self.nodes.add(TensorOp::Expand(sizes), &[one])
    }

    /// `squares - sum * off`, where `off` is the rounded quotient of sum and count: the difference is corrected for that.
    fn about_mean(&mut self, [sum, squares, off, count]: [Val; 4]) -> Val {
        let negated = self.nodes.map(ScalarOp::Neg, &[off]);
        let lost = self.nodes.map(ScalarOp::MulAdd, &[negated, count, sum]);
        let rest = self.nodes.map(ScalarOp::MulAdd, &[negated, sum, squares]);
        let rest = self.nodes.map(ScalarOp::MulAdd, &[negated, lost, rest]);
        let zero = self.nodes.constant(Scalar::zero(DType::F32));
        self.nodes.map(ScalarOp::Maximum, &[rest, zero])
    }

    fn size(&mut self, size: Expr) -> Val {
        match size.as_const() {
            Some(size) => self.nodes.constant(Scalar::from_i64(DType::F32, size)),
            None => {
                let size = self.nodes.add(TensorOp::Size(size), &[]);
                self.nodes.cast(size, DType::F32)
            }
        }
    }

    fn sum(&mut self, operand: Val) -> Val {
        self.nodes.fold(Monoid::Sum, &self.axes, operand)
    }
}
