//! The order of axes in memory that outputs take from inputs and from permutations, as in torch and nvFuser.
//!
//! Takes a fusion; returns it with an order for each computed output that follows an input (`inferred`), or otherwise is a
//! permutation of a computed value, so that it has that value's layout. Outputs written to inputs, those with a user's order
//! and those that are inputs stay as they are, except that a row-major order is dropped if the value is row-major anyway. An
//! order is no part of a value's meaning.

mod inferred;

use index::{Expr, Facts, axis_groups};
use ir::graph::{Axes, Fusion, Graph, Node, Output, Shape, TensorOp, Val};
use ir::layout::{LayoutClass, Stride};

use super::view::{View, is_copy, viewed_through};
use inferred::{after_permuted, inferred_order};

/// The fusion with an order for each output that is not row-major.
pub(crate) fn ordered(graph: &Graph, fusion: &Fusion) -> Fusion {
    let after_permuted = after_permuted(graph, fusion);
    let ordered = |output: &Output| {
        if output.alias.is_some() {
            return Output { order: Axes::new(), ..output.clone() };
        }
        let natural = natural_order(graph, fusion, output.val);
        let mut order = output.order.clone();
        if order.is_empty() && natural != Natural::Viewed {
            if after_permuted.contains(&output.val) {
                order = inferred_order(graph, fusion, output).unwrap_or_default();
            }
            if let (true, Natural::Permuted(natural)) = (order.is_empty(), &natural) {
                order = natural.clone();
            }
        }
        // A row-major order is stated only for values whose natural layout is another one.
        if natural == Natural::RowMajor && order.is_sorted() {
            order.clear();
        }
        Output { order, ..output.clone() }
    };
    fusion.clone().with_outputs(fusion.outputs().iter().map(ordered).collect())
}

/// The same fusion with an explicit order for each computed output, so that passes that permute values do not change it.
/// Values that are also written to an input have none: they have that input's layout.
pub(crate) fn with_orders(graph: &Graph, fusion: &Fusion) -> Fusion {
    let ordered = ordered(graph, fusion);
    let with_orders = |output: &Output| {
        let is_written =
            fusion.outputs().iter().any(|other| other.alias.is_some() && other.val == output.val);
        let is_open = output.order.is_empty() && !is_written;
        match is_open && natural_order(graph, fusion, output.val) != Natural::Viewed {
            true => Output { order: (0..graph.shape(output.val).len() as u8).collect(), ..output.clone() },
            false => output.clone(),
        }
    };
    let outputs = ordered.outputs().iter().map(with_orders).collect();
    ordered.with_outputs(outputs)
}

/// The natural layout of a value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Natural {
    /// That of the value it is a view of: an input, or a value before it was expanded.
    Viewed,
    /// Row-major.
    RowMajor,
    /// With its axes in this order in memory, from the outermost to the innermost.
    Permuted(Axes),
}

/// The natural layout of a value, if computed values are row-major. A reshape that joins axes that are not adjacent makes a
/// new value.
pub(crate) fn natural_order(graph: &Graph, fusion: &Fusion, val: Val) -> Natural {
    let view = viewed_through(graph, fusion, val, |op| is_copy(op) || reorders(op));
    let mut is_computed = !is_viewed(graph, fusion, view.source);
    let row_major = |val: Val| (0..graph.shape(val).len() as u8).collect::<Axes>();
    let mut order = row_major(view.source);
    for &node in &view.view_ops {
        order = changed(graph, fusion.facts(), node, &order).unwrap_or_else(|| {
            is_computed = true;
            row_major(node.into())
        });
    }
    let is_real = |axis: &&u8| !fusion.facts().prove_eq(&graph.shape(val)[usize::from(**axis)], &Expr::one());
    match order.iter().filter(is_real).is_sorted() {
        _ if !is_computed => Natural::Viewed,
        true => Natural::RowMajor,
        false => Natural::Permuted(order),
    }
}

/// Whether a view of an input naturally has its axes in this order in memory; an empty order matches any.
pub(super) fn has_order(
    graph: &Graph,
    fusion: &Fusion,
    layouts: &[LayoutClass],
    view: &View,
    order: &Axes,
) -> bool {
    let own = || {
        let layout = layouts.get(fusion.input_place(view.source)?)?;
        let mut own = memory_order(layout, graph.shape(view.source).len() as u8)?;
        for &node in &view.view_ops {
            own = match graph.node(node).op {
                TensorOp::Slice { .. } => own,
                TensorOp::Expand(_) => return None,
                _ => changed(graph, fusion.facts(), node, &own)?,
            };
        }
        Some(own)
    };
    order.is_empty() || own().is_some_and(|own| own == *order)
}

/// The axes of an input from the outermost in memory to the innermost, if that is known.
fn memory_order(layout: &LayoutClass, rank: u8) -> Option<Axes> {
    let axes: Axes = (0..rank).collect();
    match layout {
        LayoutClass::Strided(strides) => match strides[..] {
            [Stride::Any, Stride::One] => Some(axes),
            [Stride::One, Stride::Any] => Some(axes.into_iter().rev().collect()),
            _ => None,
        },
        known => known.in_memory(&axes).map(|order| order.into_iter().collect()),
    }
}

/// Whether a value is an input, a view of one, or expanded.
fn is_viewed(graph: &Graph, fusion: &Fusion, val: Val) -> bool {
    let picks = |op: &TensorOp| matches!(op, TensorOp::Slice { .. }) || is_copy(op) || reorders(op);
    let source = viewed_through(graph, fusion, val, picks).source;
    fusion.is_input(source) || matches!(graph.op(source), TensorOp::Expand(_))
}

/// Ops that leave all elements where they are in memory.
fn reorders(op: &TensorOp) -> bool {
    matches!(op, TensorOp::Permute(_) | TensorOp::Broadcast(_) | TensorOp::Squeeze(_) | TensorOp::Reshape(_))
}

/// The order after a view op; `None` if elements would have to move.
fn changed(graph: &Graph, facts: &Facts, node: Node, order: &Axes) -> Option<Axes> {
    let from = graph.shape(graph.node(node).operands[0]);
    let place = |axis: usize| order.iter().position(|&other| usize::from(other) == axis);
    Some(match &graph.node(node).op {
        TensorOp::Permute(axes) => {
            let now = |old: &u8| axes.iter().position(|axis| axis == old).expect("a permutation") as u8;
            order.iter().map(now).collect()
        }
        TensorOp::Broadcast(new) => {
            let (added, kept): (Vec<u8>, Vec<u8>) =
                (0..new.len() as u8).partition(|&axis| new[usize::from(axis)]);
            added.into_iter().chain(order.iter().map(|&axis| kept[usize::from(axis)])).collect()
        }
        TensorOp::Squeeze(axes) => {
            let kept: Vec<u8> = (0..from.len() as u8).filter(|axis| !axes.contains(axis)).collect();
            let now = |old: &u8| kept.iter().position(|axis| axis == old).map(|axis| axis as u8);
            order.iter().filter_map(now).collect()
        }
        TensorOp::Reshape(sizes) => return reshaped(facts, from, sizes, place),
        op => unreachable!("{op:?} moves elements"),
    })
}

/// The order after a reshape, if the axes of each group with equally many elements are adjacent in it.
fn reshaped(facts: &Facts, from: &Shape, to: &Shape, place: impl Fn(usize) -> Option<usize>) -> Option<Axes> {
    let is_real = |axis: &usize| !facts.prove_eq(&from[*axis], &Expr::one());
    let mut groups = Vec::new();
    for group in axis_groups(from, to, facts) {
        let places: Vec<usize> = group.from.filter(is_real).filter_map(&place).collect();
        if places.windows(2).any(|pair| pair[0] > pair[1]) {
            return None;
        }
        groups.push((places, group.to));
    }
    let mut taken: Vec<usize> = Vec::new();
    groups.sort_by_key(|(places, _)| places.first().copied().unwrap_or(0));
    groups.iter().for_each(|(places, _)| taken.extend(places));
    taken.is_sorted().then(|| groups.into_iter().flat_map(|(_, to)| to).map(|axis| axis as u8).collect())
}
