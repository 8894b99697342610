//! Moves expansions towards the outputs: functions of repeated elements are computed once and then repeated.
//!
//! An op on operands that all repeat along an axis repeats along it too, so an output of it keeps stride 0 there, as
//! nvFuser's outputs do, and less is written. An input that is declared expanded, and is passed that way, is an expansion of
//! its first elements along these axes. Tensors filled with a scalar count as written in full, as nvFuser's do. Random words
//! depend on the number of their element, which repeats along no axis, so draws stay distinct.

use index::{Expr, Facts};
use ir::graph::{Axes, Fusion, Graph, Node, Shape, TensorOp, Val, ValMap, rewrite};
use ir::layout::{LayoutClass, Stride};
use ops::ScalarOp;
use rustc_hash::FxHashMap;

use super::PassContext;

/// The pass.
pub fn sink_expansions(graph: &mut Graph, context: &PassContext<'_>) -> (Fusion, ValMap) {
    let PassContext { fusion, expanded, .. } = *context;
    let given = fusion.inputs().iter().copied().zip(expanded.iter().cloned());
    let mut viewed: FxHashMap<Val, Axes> = given.filter(|(_, axes)| !axes.is_empty()).collect();
    rewrite(graph, fusion, |graph, facts, node, operands| {
        Sink { graph, facts, viewed: &mut viewed }.sunk(node, operands)
    })
}

/// The axes along which an input is passed expanded, if it is declared so or need not be.
pub(crate) fn expanded_axes(graph: &Graph, input: Val, layout: &LayoutClass, is_declared: bool) -> Axes {
    let (TensorOp::Input { layout: declared, .. }, LayoutClass::Strided(strides)) = (graph.op(input), layout)
    else {
        return Axes::new();
    };
    let counts = |axis: &u8| !is_declared || declared.expanded.contains(axis);
    let comes_so = |axis: &u8| strides[usize::from(*axis)] == Stride::Zero;
    (0..strides.len() as u8).filter(counts).filter(comes_so).collect()
}

/// A graph under construction.
struct Sink<'g> {
    graph: &'g mut Graph,
    facts: &'g mut Facts,
    /// Expanded inputs and views of them, with the axes along which they repeat.
    viewed: &'g mut FxHashMap<Val, Axes>,
}

impl Sink<'_> {
    /// A node's results as expansions of the node applied to its operands before their expansion, if those are smaller.
    fn sunk(&mut self, node: Node, operands: &[Val]) -> Option<Vec<Val>> {
        let op = self.graph.node(node).op.clone();
        if let Some(axes) = self.repeated_axes(&op, operands) {
            let is_computed = matches!(op, TensorOp::Map(_));
            let same = self.add(op, operands).into();
            self.viewed.insert(same, axes);
            let sizes = self.graph.shape(same).clone();
            let first = if is_computed { self.before_expansion(same) } else { same };
            return Some(vec![self.expanded(first, sizes)]);
        }
        let small = self.smaller_operands(&op, operands)?;
        let made = self.add(op, &small);
        let pairs: Vec<(Val, Val)> = self.graph.results(made).zip(self.graph.results(node)).collect();
        let wholes: Vec<Shape> = pairs.iter().map(|&(_, whole)| self.graph.shape(whole).clone()).collect();
        if pairs.iter().zip(&wholes).all(|(&(small, _), whole)| self.has_sizes(small, whole)) {
            return None;
        }
        Some(pairs.iter().zip(wholes).map(|(&(small, _), whole)| self.expanded(small, whole)).collect())
    }

    /// The axes along which a node repeats, if it is a view of an expanded input, or takes a part of its complex numbers.
    fn repeated_axes(&self, op: &TensorOp, operands: &[Val]) -> Option<Axes> {
        let from = self.viewed.get(operands.first()?)?;
        let axes: Axes = match op {
            TensorOp::Map(ScalarOp::Real | ScalarOp::Imag) => from.clone(),
            TensorOp::Permute(order) => places(order.iter().map(|axis| from.contains(axis))),
            TensorOp::Broadcast(new) => {
                let mut old = 0..;
                places(new.iter().map(|&new| !new && old.next().is_some_and(|axis: u8| from.contains(&axis))))
            }
            TensorOp::Squeeze(axes) => {
                let rank = self.graph.shape(operands[0]).len() as u8;
                places((0..rank).filter(|axis| !axes.contains(axis)).map(|axis| from.contains(&axis)))
            }
            _ => return None,
        };
        (!axes.is_empty()).then_some(axes)
    }

    /// A node's operands before they were expanded, if some were and the node may take those instead. Along axes that it
    /// folds all elements count, and folds need operands of one shape.
    fn smaller_operands(&mut self, op: &TensorOp, operands: &[Val]) -> Option<Vec<Val>> {
        let folded = match op {
            TensorOp::Map(_)
            | TensorOp::Cast(_)
            | TensorOp::Permute(_)
            | TensorOp::Broadcast(_)
            | TensorOp::Squeeze(_) => None,
            TensorOp::Fold { axes, .. } => Some(axes),
            _ => return None,
        };
        let small: Vec<Val> = operands.iter().map(|&val| self.before_expansion(val)).collect();
        if small == operands {
            return None;
        }
        let Some(folded) = folded else { return Some(small) };
        let whole = self.graph.shape(operands[0]).clone();
        let size = |(axis, whole): (usize, &Expr)| {
            let first = &self.graph.shape(small[0])[axis];
            let same = |&val: &Val| self.facts.prove_eq(&self.graph.shape(val)[axis], first);
            let is_smaller = !folded.contains(&(axis as u8)) && small.iter().all(same);
            if is_smaller { first.clone() } else { whole.clone() }
        };
        let sizes: Shape = whole.iter().enumerate().map(size).collect();
        Some(small.into_iter().map(|val| self.expanded(val, sizes.clone())).collect())
    }

    /// A value before it was expanded; for an expanded input, its first elements.
    fn before_expansion(&mut self, val: Val) -> Val {
        let val = before_expansion(self.graph, val);
        let Some(axes) = self.viewed.get(&val) else { return val };
        let shape = self.graph.shape(val);
        let first = |(axis, size): (usize, &Expr)| {
            if axes.contains(&(axis as u8)) { Expr::one() } else { size.clone() }
        };
        let sizes = shape.iter().enumerate().map(first).collect();
        let starts = shape.iter().map(|_| Expr::zero()).collect();
        self.add(TensorOp::Slice { starts, sizes }, &[val]).into()
    }

    /// A value repeated to these sizes.
    fn expanded(&mut self, small: Val, sizes: Shape) -> Val {
        if self.has_sizes(small, &sizes) {
            return small;
        }
        self.add(TensorOp::Expand(sizes), &[small]).into()
    }

    /// Whether a value is known to have these sizes, under any names.
    fn has_sizes(&self, val: Val, sizes: &Shape) -> bool {
        self.graph.shape(val).iter().zip(sizes).all(|(has, size)| self.facts.prove_eq(has, size))
    }

    fn add(&mut self, op: TensorOp, operands: &[Val]) -> Node {
        self.graph.add(op, operands, self.facts).expect("what takes the expanded takes what is expanded")
    }
}

/// The places where a flag is true.
fn places(flags: impl Iterator<Item = bool>) -> Axes {
    flags.enumerate().filter(|(_, flag)| *flag).map(|(place, _)| place as u8).collect()
}

/// A value before it was expanded, unless it is a scalar that fills a tensor.
pub fn before_expansion(graph: &Graph, mut val: Val) -> Val {
    while matches!(graph.op(val), TensorOp::Expand(_)) && !is_filled(graph, val) {
        val = graph.operands(val)[0];
    }
    val
}

/// Whether all elements are one scalar.
fn is_filled(graph: &Graph, mut val: Val) -> bool {
    while let TensorOp::Broadcast(_) | TensorOp::Expand(_) = graph.op(val) {
        val = graph.operands(val)[0];
    }
    graph.shape(val).is_empty()
}
