//! Breakpoints: the indices along an axis at which index maps change: the ends of the operands of a cat, and of the operand
//! of a pad.
//!
//! Takes a group and its space, returns indices over the sizes of the graph. Between two neighbouring breakpoints an index
//! map of that axis is one shift, so a loop that is cut there needs no predicate per element.

use index::Expr;
use ir::graph::{Fusion, Graph, Node, TensorOp, Val};

use super::{Axis, Space};

/// The breakpoints of cats and pads of the group strictly within an axis, ascending. Those whose order does not follow from
/// the facts are left out. The search stops after `most`: ordering them takes a proof for each pair.
pub fn breakpoints(graph: &Graph, view: &Fusion, space: &Space, axis: Axis, most: usize) -> Vec<Expr> {
    let (facts, size) = (view.facts(), space.size(axis));
    let mut breakpoints: Vec<Expr> = Vec::new();
    for breakpoint in view.order().iter().flat_map(|&node| ends(graph, view, space, node, axis)) {
        if breakpoints.len() > most {
            break;
        }
        let breakpoint = facts.normalize(&breakpoint);
        let is_before = |known: &Expr| facts.prove_le(known, &breakpoint);
        // The ends of a cat come in order.
        let place = match breakpoints.last() {
            Some(last) if is_before(last) => breakpoints.len(),
            _ => breakpoints.iter().take_while(|known| is_before(known)).count(),
        };
        let (low, high) =
            (place.checked_sub(1).map(|low| &breakpoints[low]), breakpoints.get(place).unwrap_or(size));
        let is_new =
            low.is_none_or(|low| !facts.prove_eq(low, &breakpoint)) && !facts.prove_eq(high, &breakpoint);
        let is_within = facts.prove_le(&Expr::zero(), &breakpoint) && facts.prove_le(&breakpoint, high);
        if is_new && is_within && !breakpoint.is_zero() {
            breakpoints.insert(place, breakpoint);
        }
    }
    breakpoints
}

/// The ends of the operands of a node along an axis that a loop walks.
fn ends(graph: &Graph, view: &Fusion, space: &Space, node: Node, axis: Axis) -> Vec<Expr> {
    let data = graph.node(node);
    let own = space.axes_of(node.into());
    let walked = |place: usize| own[place].as_slice() == [axis];
    let size = |operand: usize, place: usize| graph.shape(data.operands[operand])[place].clone();
    match &data.op {
        TensorOp::Cat(place) if walked(usize::from(*place)) => {
            let mut end = Expr::zero();
            let parts = concatenated(graph, view, node, *place).into_iter();
            parts
                .map(|part| {
                    end = end.clone() + graph.shape(part)[usize::from(*place)].clone();
                    end.clone()
                })
                .collect()
        }
        TensorOp::Pad { before, .. } => {
            let padded = (0..before.len()).filter(|&place| walked(place));
            padded.flat_map(|place| [before[place].clone(), before[place].clone() + size(0, place)]).collect()
        }
        _ => Vec::new(),
    }
}

/// The operands of a cat, with cats of the group along the same axis flattened.
pub fn concatenated(graph: &Graph, view: &Fusion, node: Node, place: u8) -> Vec<Val> {
    let operands = graph.node(node).operands.iter();
    let is_nested =
        |val: Val| !view.is_input(val) && matches!(graph.op(val), TensorOp::Cat(own) if *own == place);
    operands
        .flat_map(|&val| if is_nested(val) { concatenated(graph, view, val.node, place) } else { vec![val] })
        .collect()
}
