//! The text of a view: one line per node, for readers and file tests. It has no parser; definitions have.

use std::fmt::{self, Display, Write};

use index::Expr;

use super::container::Graph;
use super::fusion::Fusion;
use super::node::{TensorOp, Type, Val};

/// A view as text: inputs, nodes in order, outputs, each value with its type.
pub fn dump(graph: &Graph, view: &Fusion) -> String {
    let mut text = String::new();
    for &input in view.inputs() {
        let _ = writeln!(
            text,
            "{input} = {} : {}",
            op_line(graph, input, &|val| val.to_string()),
            graph.ty(input)
        );
    }
    for &node in view.order() {
        let results: Vec<Val> = graph.results(node).collect();
        let names: Vec<String> = results.iter().map(|val| val.to_string()).collect();
        let types: Vec<String> = results.iter().map(|&val| graph.ty(val).to_string()).collect();
        let line = op_line(graph, node.into(), &|val| val.to_string());
        let _ = writeln!(text, "{} = {line} : {}", names.join(", "), types.join(", "));
    }
    for output in view.outputs() {
        let alias = output.alias.map_or(String::new(), |input| format!(" in place of input {input}"));
        let order = if output.order.is_empty() {
            String::new()
        } else {
            format!(" with axes in memory as {}", list(&output.order))
        };
        let _ = writeln!(text, "output {}{alias}{order}", output.val);
    }
    text
}

/// One node's right-hand side: the op's name, its attributes, its operands by these names.
pub fn op_line(graph: &Graph, val: Val, name: &dyn Fn(Val) -> String) -> String {
    let attributes = match graph.op(val) {
        TensorOp::Input { ordinal, .. } => format!("input {ordinal}"),
        TensorOp::Constant(scalar) => format!("constant {scalar}"),
        TensorOp::Size(size) => format!("size {size}"),
        TensorOp::Map(op) => op.name().to_owned(),
        TensorOp::Cast(dtype) => format!("cast {dtype}"),
        TensorOp::Broadcast(new) => {
            let flags: Vec<&str> = new.iter().map(|&new| if new { "new" } else { "old" }).collect();
            format!("broadcast [{}]", flags.join(", "))
        }
        TensorOp::Expand(sizes) => format!("expand {}", list(sizes)),
        TensorOp::Squeeze(axes) => format!("squeeze {}", list(axes)),
        TensorOp::Reshape(sizes) => format!("reshape {}", list(sizes)),
        TensorOp::Permute(order) => format!("permute {}", list(order)),
        TensorOp::Slice { starts, sizes } => format!("slice from {} size {}", list(starts), list(sizes)),
        TensorOp::Pad { before, after } => format!("pad before {} after {}", list(before), list(after)),
        TensorOp::Cat(axis) => format!("cat {axis}"),
        TensorOp::Fold { monoid, axes } => format!("fold {} {}", monoid, list(axes)),
        TensorOp::Scan { monoid, axis } => format!("scan {} {axis}", monoid),
        TensorOp::Gather(axis) => format!("gather {axis}"),
        TensorOp::Iota(length) => format!("iota {length}"),
        TensorOp::External(library) => library.to_string(),
    };
    let operands: Vec<String> = graph.operands(val).iter().map(|&val| name(val)).collect();
    if operands.is_empty() { attributes } else { format!("{attributes} ({})", operands.join(", ")) }
}

fn list<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    format!("[{}]", items.join(", "))
}

impl Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.dtype, list::<&Expr>(&self.shape))
    }
}
