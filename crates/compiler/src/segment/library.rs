//! Groups that a library of the machine runs: one node that it computes, and how that node sees its operands.
//!
//! Besides the node such a group has only what strides can say (permutes, broadcasts, expansions, squeezes) between its
//! inputs and the node's operands, so nothing is computed that no library call computes.

use index::Expr;
use ir::graph::{Form, Fusion, Graph, Library, Node, Val};
use ops::Scalar;

/// A node that a library computes, with its operands.
#[derive(Clone, Debug)]
pub struct LibraryCall {
    /// The node.
    pub node: Node,
    /// What it computes.
    pub op: Library,
    /// Its operands, in order.
    pub operands: Vec<Seen>,
}

/// A tensor as an operand sees it.
#[derive(Clone, Debug)]
pub struct Seen {
    /// What is seen.
    pub source: Source,
    /// Nodes that change how it is seen, the first one first.
    pub changes: Vec<Node>,
}

/// Where the elements of an operand are.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// In the input with this number.
    Input(usize),
    /// They are this constant.
    Constant(Scalar),
    /// They are this size.
    Size(Expr),
}

/// The library call that a group is, if it is one.
pub fn library_call(graph: &Graph, view: &Fusion) -> Option<LibraryCall> {
    let mut nodes = library_nodes(graph, view);
    let (node, op) = nodes.next().filter(|_| nodes.next().is_none())?;
    let made_by_it =
        view.outputs().iter().all(|output| output.val.node == node && !view.is_input(output.val));
    let operands =
        graph.node(node).operands.iter().map(|&val| seen(graph, view, val)).collect::<Option<_>>()?;
    made_by_it.then(|| LibraryCall { node, op: op.clone(), operands })
}

/// The nodes of a group that a library computes.
pub(super) fn library_nodes<'g>(
    graph: &'g Graph,
    view: &'g Fusion,
) -> impl Iterator<Item = (Node, &'g Library)> {
    view.order().iter().filter_map(|&node| match &graph.node(node).form {
        Form::Library(op) => Some((node, op)),
        _ => None,
    })
}

/// Whether a form changes nothing but how its operand is seen.
pub(crate) fn is_change_of_sight(form: &Form) -> bool {
    matches!(form, Form::Permute(_) | Form::Broadcast(_) | Form::Expand(_) | Form::Squeeze(_))
}

fn seen(graph: &Graph, view: &Fusion, mut val: Val) -> Option<Seen> {
    let mut changes = Vec::new();
    let source = loop {
        if let Some(place) = view.input_place(val) {
            break Source::Input(place);
        }
        match graph.form(val) {
            Form::Constant(scalar) => break Source::Constant(*scalar),
            Form::Size(size) => break Source::Size(size.clone()),
            form if is_change_of_sight(form) => {
                changes.push(val.node);
                val = graph.operands(val)[0];
            }
            _ => return None,
        }
    };
    changes.reverse();
    Some(Seen { source, changes })
}
