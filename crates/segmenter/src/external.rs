//! External ops: a group of one node that no kernel computes, and the views that are its operands.
//!
//! Besides the node such a group has only ops that strides can express (permutes, broadcasts, expansions, squeezes) between
//! its inputs and the node's operands, so only the external op computes anything.

use index::Expr;
use ir::graph::{ExternalOp, Fusion, Graph, Node, TensorOp, Val};
use ops::Scalar;
use scheduler::legal::external_nodes;

/// An external op's node, with its operands.
#[derive(Clone, Debug)]
pub struct ExternalCall {
    pub node: Node,
    pub op: ExternalOp,
    pub operands: Vec<ViewedOperand>,
}

/// An operand as a view of a tensor.
#[derive(Clone, Debug)]
pub struct ViewedOperand {
    /// The tensor that is viewed.
    pub source: Source,
    /// The view ops, in order.
    pub view_ops: Vec<Node>,
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

/// The external op that a group is, if it is one.
pub fn external_call(graph: &Graph, view: &Fusion) -> Option<ExternalCall> {
    let mut nodes = external_nodes(graph, view);
    let (node, op) = nodes.next().filter(|_| nodes.next().is_none())?;
    let made_by_it =
        view.outputs().iter().all(|output| output.val.node == node && !view.is_input(output.val));
    let operands =
        graph.node(node).operands.iter().map(|&val| viewed(graph, view, val)).collect::<Option<_>>()?;
    made_by_it.then(|| ExternalCall { node, op: op.clone(), operands })
}

fn viewed(graph: &Graph, view: &Fusion, mut val: Val) -> Option<ViewedOperand> {
    let mut view_ops = Vec::new();
    let source = loop {
        if let Some(place) = view.input_place(val) {
            break Source::Input(place);
        }
        match graph.op(val) {
            TensorOp::Constant(scalar) => break Source::Constant(*scalar),
            TensorOp::Size(size) => break Source::Size(size.clone()),
            tensor_op if tensor_op.is_view() => {
                view_ops.push(val.node);
                val = graph.operands(val)[0];
            }
            _ => return None,
        }
    };
    view_ops.reverse();
    Some(ViewedOperand { source, view_ops })
}
