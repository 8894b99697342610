//! Where index maps change course along an axis: the ends of the operands of a cat, and of what a pad surrounds.
//!
//! Takes a group and its space, gives indices over the sizes of the graph. Between two neighbouring seams an index map
//! of that axis is one shift, so a loop that is cut there asks nothing of each element.

use index::Expr;
use ir::graph::{Form, Fusion, Graph, Node};

use super::{Axis, Space};

/// The indices strictly within an axis at which a cat or pad of the group changes course, ascending. Left out are those
/// of which the facts do not tell their order. Of more than `most` no more are looked for: putting them in order takes a proof
/// for each two.
pub fn seams(graph: &Graph, view: &Fusion, space: &Space, axis: Axis, most: usize) -> Vec<Expr> {
    let (facts, size) = (view.facts(), space.size(axis));
    let mut seams: Vec<Expr> = Vec::new();
    for seam in view.order().iter().flat_map(|&node| ends(graph, space, node, axis)) {
        if seams.len() > most {
            break;
        }
        let seam = facts.normalize(&seam);
        let place = seams.iter().take_while(|known| facts.prove_le(known, &seam)).count();
        let (low, high) = (place.checked_sub(1).map(|low| &seams[low]), seams.get(place).unwrap_or(size));
        let is_new = low.is_none_or(|low| !facts.prove_eq(low, &seam)) && !facts.prove_eq(high, &seam);
        let is_within = facts.prove_le(&Expr::zero(), &seam) && facts.prove_le(&seam, high);
        if is_new && is_within && !seam.is_zero() {
            seams.insert(place, seam);
        }
    }
    seams
}

/// The ends of what a node puts together along an axis that a loop walks.
fn ends(graph: &Graph, space: &Space, node: Node, axis: Axis) -> Vec<Expr> {
    let data = graph.node(node);
    let own = space.axes_of(graph, node.into());
    let walked = |place: usize| own[place].as_slice() == [axis];
    let size = |operand: usize, place: usize| graph.shape(data.operands[operand])[place].clone();
    match &data.form {
        Form::Cat(place) if walked(usize::from(*place)) => {
            let mut end = Expr::zero();
            let mut ends = Vec::with_capacity(data.operands.len());
            for operand in 0..data.operands.len() {
                end = end + size(operand, usize::from(*place));
                ends.push(end.clone());
            }
            ends
        }
        Form::Pad { before, .. } => {
            let padded = (0..before.len()).filter(|&place| walked(place));
            padded.flat_map(|place| [before[place].clone(), before[place].clone() + size(0, place)]).collect()
        }
        _ => Vec::new(),
    }
}
