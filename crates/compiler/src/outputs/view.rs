//! Outputs that need no memory of their own: an input, or a value that segments make, under other strides.
//!
//! Takes a fusion and the layouts of its inputs; returns for each output whether it is a view and of what. A permute, slice,
//! broadcast, expansion, squeeze or reshape of an input is one, and so is a permutation or expansion of a computed value; a
//! slice of a computed value is cheaper to compute alone. In-place outputs, those with a user's memory order that the view
//! lacks, and views of inputs that are written to are copies. Nothing is run here.

use index::{Expr, Facts, axis_groups};
use ir::graph::{Fusion, Graph, Node, Output, Shape, TensorOp, Val};
use ir::layout::{LayoutClass, Stride};
use ops::ScalarOp;

use super::order::{Natural, has_order, natural_order};

/// An output as a view of another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The input, or the value that a segment makes.
    pub source: Val,
    /// The view ops, the first one first.
    pub view_ops: Vec<Node>,
}

impl View {
    /// Whether axes are expanded on the way.
    fn repeats(&self, graph: &Graph) -> bool {
        self.view_ops.iter().any(|&node| matches!(graph.node(node).op, TensorOp::Expand(_)))
    }
}

/// For each output of a fusion its view, if it is one.
pub(crate) fn views(graph: &Graph, fusion: &Fusion, layouts: &[LayoutClass]) -> Vec<Option<View>> {
    let view = |output: &Output| {
        if output.alias.is_some() {
            return None;
        }
        let of_input = of_input(graph, fusion, layouts, output.val)
            .filter(|view| has_order(graph, fusion, layouts, view, &output.order));
        of_input.or_else(|| of_computed(graph, fusion, layouts, output))
    };
    without_shared(graph, fusion, fusion.outputs().iter().map(view).collect())
}

/// The views without those of a computed value that is also another output, or the source of another view. No two outputs
/// share memory, so such a view would need a copy: the segment had better write the output as well. Removed one by one, so
/// that the last of several views of a value that is no output stays. Expansions always stay: they write less.
fn without_shared(graph: &Graph, fusion: &Fusion, mut views: Vec<Option<View>>) -> Vec<Option<View>> {
    for place in 0..views.len() {
        let Some(view) = &views[place] else { continue };
        let mut others = views.iter().zip(fusion.outputs()).enumerate().filter(|(other, _)| *other != place);
        let is_shared = others.any(|(_, (other, output))| {
            other.as_ref().map_or(output.val, |other| other.source) == view.source
        });
        if is_shared && !fusion.is_input(view.source) && !view.repeats(graph) {
            views[place] = None;
        }
    }
    views
}

/// The fusion without outputs that are views of inputs: what segments make.
pub(crate) fn computed(graph: &Graph, fusion: &Fusion, views: &[Option<View>]) -> Fusion {
    let made = |(output, view): (&Output, &Option<View>)| match view {
        None => Some(output.clone()),
        Some(View { source, .. }) => (!fusion.is_input(*source)).then(|| Output::from(*source)),
    };
    let outputs = fusion.outputs().iter().zip(views).filter_map(made).collect();
    Fusion::new(graph, fusion.inputs().to_vec(), outputs, fusion.facts().clone())
        .expect("sources of outputs depend on what the outputs do")
}

/// A value as a view of an input that nothing writes to, if strides can express it. Scalars have no memory to view.
fn of_input(graph: &Graph, fusion: &Fusion, layouts: &[LayoutClass], val: Val) -> Option<View> {
    let view = viewed_through(graph, fusion, val, |op| is_copy(op) || sees_operand(op));
    let input = fusion.input_place(view.source)?;
    let is_written = fusion.outputs().iter().any(|output| output.alias == Some(input as u32));
    let shape = graph.shape(view.source);
    if is_written || (shape.is_empty() && !view.view_ops.is_empty()) {
        return None;
    }
    let mut strides = strides(layouts.get(input)?, shape);
    for &node in &view.view_ops {
        strides = changed(graph, fusion.facts(), node, strides)?;
    }
    Some(view)
}

/// A computed value as a view of itself before it was permuted or expanded. Tensors filled with a scalar, and memory orders
/// that a view lacks, are written out. A value that no strides can express, such as a join of permuted axes, is made.
fn of_computed(graph: &Graph, fusion: &Fusion, layouts: &[LayoutClass], output: &Output) -> Option<View> {
    let moves = |op: &TensorOp| is_copy(op) || op.is_view() || matches!(op, TensorOp::Reshape(_));
    let View { mut source, mut view_ops } = viewed_through(graph, fusion, output.val, moves);
    let dense = |val: Val| strides(&LayoutClass::Dense, graph.shape(val));
    let input = fusion.input_place(source);
    let mut lies = input
        .and_then(|input| layouts.get(input))
        .map_or_else(|| dense(source), |layout| strides(layout, graph.shape(source)));
    let mut made = 0;
    for (place, &node) in view_ops.iter().enumerate() {
        lies = changed(graph, fusion.facts(), node, lies).unwrap_or_else(|| {
            (source, made) = (node.into(), place + 1);
            dense(source)
        });
    }
    let view = View { source, view_ops: view_ops.split_off(made) };
    let permutes = view.view_ops.iter().any(|&node| matches!(graph.node(node).op, TensorOp::Permute(_)));
    // A new axis has no stride in a view, but one that follows from the order in a written tensor.
    let adds_axes = view.view_ops.iter().any(|&node| matches!(graph.node(node).op, TensorOp::Broadcast(_)));
    let is_wanted = match view.repeats(graph) {
        true => output.order.is_empty(),
        false => {
            permutes
                && !adds_axes
                && natural_order(graph, fusion, output.val) == Natural::Permuted(output.order.clone())
        }
    };
    let is_made = !fusion.is_input(source) && !graph.shape(source).is_empty();
    (is_made && is_wanted).then_some(view)
}

/// Whether an op's result can be a view of its operand.
pub fn sees_operand(op: &TensorOp) -> bool {
    op.is_view() || matches!(op, TensorOp::Slice { .. } | TensorOp::Reshape(_))
}

/// The value that this one is a copy of, through any number of copies.
pub fn copied_from(graph: &Graph, fusion: &Fusion, val: Val) -> Val {
    viewed_through(graph, fusion, val, is_copy).source
}

/// A copy that the user does not want as a boundary.
pub(crate) fn is_copy(op: &TensorOp) -> bool {
    matches!(op, TensorOp::Map(scalar_op) if scalar_op.moves_bits() && *scalar_op != ScalarOp::SegmentSet)
}

/// A value traced back through nodes of such ops, to an input or to the result of another op.
pub(crate) fn viewed_through(
    graph: &Graph,
    fusion: &Fusion,
    val: Val,
    moves: impl Fn(&TensorOp) -> bool,
) -> View {
    let mut view = View { source: val, view_ops: Vec::new() };
    while !fusion.is_input(view.source) && moves(graph.op(view.source)) {
        if !is_copy(graph.op(view.source)) {
            view.view_ops.push(view.source.node);
        }
        view.source = graph.operands(view.source)[0];
    }
    view.view_ops.reverse();
    view
}

/// The strides of a tensor, as far as they are known.
fn strides(layout: &LayoutClass, shape: &Shape) -> Vec<Option<Expr>> {
    let order: Vec<usize> = match layout {
        LayoutClass::Dense => (0..shape.len()).collect(),
        LayoutClass::Ordered(order) => order.iter().map(|&axis| axis.into()).collect(),
        LayoutClass::Strided(strides) => {
            let known = |stride: &Stride| match stride {
                Stride::Zero => Some(Expr::zero()),
                Stride::One => Some(Expr::one()),
                Stride::Any => None,
            };
            return strides.iter().map(known).collect();
        }
    };
    let mut strides = vec![None; shape.len()];
    let mut step = Expr::one();
    for &axis in order.iter().rev() {
        strides[axis] = Some(step.clone());
        step = step * shape[axis].clone();
    }
    strides
}

/// The strides after a view op, as far as they are known; `None` if no strides express it.
fn changed(
    graph: &Graph,
    facts: &Facts,
    node: Node,
    strides: Vec<Option<Expr>>,
) -> Option<Vec<Option<Expr>>> {
    let from = graph.shape(graph.node(node).operands[0]);
    let mut old = strides.iter().cloned();
    Some(match &graph.node(node).op {
        TensorOp::Permute(order) => order.iter().map(|&axis| strides[usize::from(axis)].clone()).collect(),
        TensorOp::Broadcast(new) => {
            new.iter().map(|&new| if new { Some(Expr::zero()) } else { old.next().flatten() }).collect()
        }
        TensorOp::Squeeze(axes) => {
            let stays = (0..strides.len()).filter(|&axis| !axes.contains(&(axis as u8)));
            stays.map(|axis| strides[axis].clone()).collect()
        }
        TensorOp::Expand(sizes) => {
            let same = |axis: usize| facts.prove_eq(&from[axis], &sizes[axis]);
            (0..sizes.len())
                .map(|axis| if same(axis) { strides[axis].clone() } else { Some(Expr::zero()) })
                .collect()
        }
        TensorOp::Reshape(sizes) => return reshaped(facts, from, &strides, sizes),
        _ => strides,
    })
}

/// The strides after a reshape: an axis may be split at any stride, adjacent axes joined if one stride serves both.
fn reshaped(facts: &Facts, from: &Shape, strides: &[Option<Expr>], to: &Shape) -> Option<Vec<Option<Expr>>> {
    let mut result = vec![None; to.len()];
    for group in axis_groups(from, to, facts) {
        let real: Vec<usize> =
            group.from.clone().filter(|&axis| !facts.prove_eq(&from[axis], &Expr::one())).collect();
        let joined = |pair: &[usize]| match (&strides[pair[0]], &strides[pair[1]]) {
            (Some(outer), Some(inner)) => facts.prove_eq(outer, &(inner.clone() * from[pair[1]].clone())),
            _ => false,
        };
        if !real.windows(2).all(joined) {
            return None;
        }
        let mut step = real.last().map_or(Some(Expr::one()), |&axis| strides[axis].clone());
        for axis in group.to.rev() {
            result[axis] = step.clone();
            step = step.map(|step| step * to[axis].clone());
        }
    }
    Some(result)
}
