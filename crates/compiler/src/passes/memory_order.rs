//! Permutes computations to the axis order that inputs have in memory, so that loops and intermediates follow it: for images
//! with channels innermost, all computed values have channels innermost.
//!
//! An op whose operands are all permuted in the same way (operands that lack an axis, and scalars, aside) becomes the op on the values
//! before the permutation, and its result is permuted. Outputs and kept values stay as they are; their users read them permuted.

use index::Facts;
use ir::graph::{Axes, Fusion, Graph, Node, Output, Shape, TensorOp, Val, ValMap, rewrite};
use ops::{Monoid, ScalarOp};
use rustc_hash::{FxHashMap, FxHashSet};

use super::before_expansion;

/// The pass, where inputs have these orders in memory, from the outermost axis to the innermost; an empty one is row-major.
/// `None` if all are row-major. Computed outputs should have explicit orders; otherwise they follow the permutations made
/// here.
pub fn memory_order(
    graph: &mut Graph,
    fusion: &Fusion,
    orders: &[Axes],
    kept: &FxHashSet<Val>,
) -> Option<(Fusion, ValMap)> {
    let given = fusion.inputs().iter().copied().zip(orders.iter().cloned());
    let is_permuted = |(val, order): &(Val, Axes)| !order.is_sorted() && !fusion.uses(*val).is_empty();
    let mut ordered: FxHashMap<Val, Axes> = given.filter(is_permuted).collect();
    if ordered.is_empty() {
        return None;
    }
    let mut stored: FxHashSet<Val> = ordered.keys().copied().collect();
    let is_stored = |val: Val| kept.contains(&val) || fusion.is_output(val);
    // An output that is written to an input has that input's layout.
    let gives = |val: Val, is_written: bool| {
        let is_so = |output: &Output| output.val == val && output.alias.is_some() == is_written;
        fusion.outputs().iter().any(is_so)
    };
    let is_shared = |val: Val| fusion.is_output(val) && gives(val, true) && gives(val, false);
    let rewritten = rewrite(graph, fusion, |graph, facts, node, operands| {
        if graph.results(node).any(is_shared) {
            return None;
        }
        let results: Vec<bool> = graph.results(node).map(is_stored).collect();
        let made =
            Reordering { graph, facts, ordered: &mut ordered, stored: &stored }.made(node, operands)?;
        stored.extend(made.iter().zip(results).filter(|(_, is_stored)| *is_stored).map(|(&val, _)| val));
        Some(made)
    });
    Some(rewritten)
}

/// The value that is stored for a value of a definition, given what the passes made of that: the operand of an expansion or
/// permutation that they added. A permutation in the definition itself stays.
pub fn in_memory(graph: &Graph, written: Val, became: Val) -> Val {
    let became = before_expansion(graph, became);
    match graph.op(written) {
        TensorOp::Permute(_) => became,
        _ => graph.permuted(became).map_or(became, |source| before_expansion(graph, source)),
    }
}

/// A graph under construction.
struct Reordering<'g> {
    graph: &'g mut Graph,
    facts: &'g mut Facts,
    /// The memory order of inputs and of values made from them.
    ordered: &'g mut FxHashMap<Val, Axes>,
    /// Those of them that are in memory as they are.
    stored: &'g FxHashSet<Val>,
}

impl Reordering<'_> {
    /// The results of a node from the same op on operands in their memory order; `None` if they have no common order, or if
    /// another op would be needed.
    fn made(&mut self, node: Node, operands: &[Val]) -> Option<Vec<Val>> {
        let order = self.common_order(node, operands)?;
        let op = self.graph.node(node).op.clone();
        if operands.iter().any(|&operand| self.graph.dtype(operand).is_complex()) {
            return self.part(&op, operands, order);
        }
        // Kernels hold only the parts of a complex number, so it is not permuted.
        if self.graph.dtype(node.into()).is_complex() {
            return None;
        }
        if let TensorOp::Permute(axes) = &op {
            let place =
                |axis: &u8| axes.iter().position(|other| other == axis).expect("an axis of the result") as u8;
            let inner = self.in_order(operands[0], &order);
            return Some(vec![self.back(inner, order.iter().map(place).collect())]);
        }
        let (op, order_of_results) = reordered(&op, &order)?;
        let operands: Vec<Val> = operands.iter().map(|&operand| self.in_order(operand, &order)).collect();
        let made =
            self.graph.add(op, &operands, self.facts).expect("an op takes operands that are all permuted");
        let results: Vec<Val> = self.graph.results(made).collect();
        Some(results.into_iter().map(|val| self.back(val, order_of_results.clone())).collect())
    }

    /// A part of a complex input: kernels take it from the unpermuted input, and it has the input's order.
    fn part(&mut self, op: &TensorOp, operands: &[Val], order: Axes) -> Option<Vec<Val>> {
        let TensorOp::Map(ScalarOp::Real | ScalarOp::Imag) = op else { return None };
        let part = self.graph.add(op.clone(), operands, self.facts).expect("an op takes what it took").into();
        self.ordered.insert(part, order);
        Some(vec![part])
    }

    /// The common order of some operands, if the others are smaller than the result, or scalars.
    fn common_order(&self, node: Node, operands: &[Val]) -> Option<Axes> {
        let order = operands.iter().find_map(|operand| self.ordered.get(operand))?;
        let shape = match self.graph.node(node).op {
            TensorOp::Map(_) => self.graph.shape(node.into()),
            _ => self.graph.shape(operands[0]),
        };
        let fits = |&operand: &Val| match self.ordered.get(&operand) {
            Some(other) => other == order,
            None => self.is_smaller(operand, shape),
        };
        operands.iter().all(fits).then(|| order.clone())
    }

    /// Whether a value lacks an axis that the shape has, or has it only by expansion.
    fn is_smaller(&self, mut val: Val, shape: &Shape) -> bool {
        while matches!(self.graph.op(val), TensorOp::Expand(_)) {
            val = self.graph.operands(val)[0];
        }
        let sizes = self.graph.shape(val);
        sizes.is_empty() || sizes.iter().zip(shape).any(|(size, whole)| size.is_one() && !whole.is_one())
    }

    /// A value with its axes in an order; scalars have none.
    fn in_order(&mut self, val: Val, order: &Axes) -> Val {
        match self.graph.shape(val).is_empty() {
            true => val,
            false => self.permuted(val, order.clone()),
        }
    }

    /// The original of a value whose axes were put in an order.
    fn back(&mut self, val: Val, order: Axes) -> Val {
        let mut before = order.clone();
        order.iter().zip(0..).for_each(|(&axis, place)| before[usize::from(axis)] = place);
        let back = self.permuted(val, before);
        if !order.is_sorted() {
            self.ordered.insert(back, order);
        }
        back
    }

    /// The permutation of a value; if that is a permutation not in memory, of its operand.
    fn permuted(&mut self, val: Val, mut order: Axes) -> Val {
        let mut source = val;
        if let (TensorOp::Permute(axes), false) = (self.graph.op(val), self.stored.contains(&val)) {
            order = order.iter().map(|&axis| axes[usize::from(axis)]).collect();
            source = self.graph.operands(val)[0];
        }
        match order.is_sorted() {
            true => source,
            false => {
                self.graph.add(TensorOp::Permute(order), &[source], self.facts).expect("as many axes").into()
            }
        }
    }
}

/// An op for operands with this axis order, and the order of its results. `None` for ops that have no such form, or whose
/// results depend on which axes come first.
fn reordered(op: &TensorOp, order: &Axes) -> Option<(TensorOp, Axes)> {
    let in_order = |sizes: &Shape| order.iter().map(|&axis| sizes[usize::from(axis)].clone()).collect();
    let place =
        |axis: &u8| order.iter().position(|other| other == axis).expect("an axis of the operand") as u8;
    let op = match op {
        TensorOp::Map(_) | TensorOp::Cast(_) => op.clone(),
        TensorOp::Expand(sizes) => TensorOp::Expand(in_order(sizes)),
        TensorOp::Slice { starts, sizes } => {
            TensorOp::Slice { starts: in_order(starts), sizes: in_order(sizes) }
        }
        TensorOp::Pad { before, after } => TensorOp::Pad { before: in_order(before), after: in_order(after) },
        TensorOp::Cat(axis) => TensorOp::Cat(place(axis)),
        TensorOp::Scan { monoid, axis } => TensorOp::Scan { monoid: monoid.clone(), axis: place(axis) },
        TensorOp::Fold { monoid, axes } if !matches!(monoid, Monoid::Lambda(_)) => {
            let mut folded: Axes = axes.iter().map(place).collect();
            folded.sort_unstable();
            let kept: Axes = order.iter().copied().filter(|axis| !axes.contains(axis)).collect();
            let rank = |axis: &u8| kept.iter().filter(|other| *other < axis).count() as u8;
            let result = kept.iter().map(rank).collect();
            return Some((TensorOp::Fold { monoid: monoid.clone(), axes: folded }, result));
        }
        _ => return None,
    };
    Some((op, order.clone()))
}
