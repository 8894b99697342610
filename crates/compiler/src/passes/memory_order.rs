//! Computes with axes in the order that inputs have in memory, so that loops and intermediates follow it: of images with channels
//! innermost all that is computed has channels innermost.
//!
//! An op whose operands are all permuted in the same way (operands that lack an axis, and scalars, aside) becomes the op on the values
//! before the permutation, and its result is permuted. Outputs and kept values stay as they are; their users read them permuted.

use index::Facts;
use ir::graph::{Axes, Fusion, Graph, Node, Output, Shape, TensorOp, Val, ValMap, rewrite};
use ops::{Monoid, ScalarOp};
use rustc_hash::{FxHashMap, FxHashSet};

use super::before_expansion;

/// The pass, where inputs have these orders in memory, from the outermost axis to the innermost; an empty one is row-major.
/// `None` where none has another. Computed outputs should have orders of their own, or they follow how they are permuted here.
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
    // What is given back and written to an input lies as that does.
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

/// The value that is stored for a value of a definition, given what the passes made of that: the operand of the expansion or of the
/// permutation that they added. A permutation of the definition's own stays.
pub fn in_memory(graph: &Graph, written: Val, became: Val) -> Val {
    let became = before_expansion(graph, became);
    match graph.op(written) {
        TensorOp::Permute(_) => became,
        _ => graph.permuted(became).map_or(became, |source| before_expansion(graph, source)),
    }
}

/// A graph in the making.
struct Reordering<'g> {
    graph: &'g mut Graph,
    facts: &'g mut Facts,
    /// The order in memory of inputs and of what was made of them.
    ordered: &'g mut FxHashMap<Val, Axes>,
    /// Of these those that are in memory as they are.
    stored: &'g FxHashSet<Val>,
}

impl Reordering<'_> {
    /// The results of a node by the same op on operands in the order that they have in memory; `None` where they have none in
    /// common, or the op would be another one.
    fn made(&mut self, node: Node, operands: &[Val]) -> Option<Vec<Val>> {
        let order = self.common_order(node, operands)?;
        let op = self.graph.node(node).op.clone();
        if operands.iter().any(|&operand| self.graph.dtype(operand).is_complex()) {
            return self.part(&op, operands, order);
        }
        // Kernels hold the parts of a complex number, so it is permuted nowhere.
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

    /// A part of a complex input, which kernels take of the input as it is, and which has its order.
    fn part(&mut self, op: &TensorOp, operands: &[Val], order: Axes) -> Option<Vec<Val>> {
        let TensorOp::Map(ScalarOp::Real | ScalarOp::Imag) = op else { return None };
        let part = self.graph.add(op.clone(), operands, self.facts).expect("an op takes what it took").into();
        self.ordered.insert(part, order);
        Some(vec![part])
    }

    /// The order of some operands, where the others are smaller than the result, or scalars.
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

    /// Whether a value lacks an axis that the shape has, be it because it was expanded.
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

    /// A value whose axes are in an order, as they were before.
    fn back(&mut self, val: Val, order: Axes) -> Val {
        let mut before = order.clone();
        order.iter().zip(0..).for_each(|(&axis, place)| before[usize::from(axis)] = place);
        let back = self.permuted(val, before);
        if !order.is_sorted() {
            self.ordered.insert(back, order);
        }
        back
    }

    /// A value permuted; of what is permuted already, and not in memory so, what that is permuted of.
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

/// An op for operands whose axes are in an order, and the order of its results. `None` for ops that have no such form, or whose
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
