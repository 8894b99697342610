//! The text of a view: one line a node, for people and for file tests. It has no parser; definitions have.

use std::fmt::{self, Display, Write};

use index::Expr;

use super::container::Graph;
use super::fusion::Fusion;
use super::node::{Form, Type, Val};

/// A view as text: inputs, nodes in order, outputs, each value with its type.
pub fn dump(graph: &Graph, view: &Fusion) -> String {
    let mut text = String::new();
    for &input in view.inputs() {
        let _ = writeln!(text, "{input} = {} : {}", form(graph, input), graph.ty(input));
    }
    for &node in view.order() {
        let results: Vec<Val> = graph.results(node).collect();
        let names: Vec<String> = results.iter().map(|val| val.to_string()).collect();
        let types: Vec<String> = results.iter().map(|&val| graph.ty(val).to_string()).collect();
        let line = form(graph, node.into());
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

/// One node's right-hand side: the form's name, its attributes, its operands.
fn form(graph: &Graph, val: Val) -> String {
    let attributes = match graph.form(val) {
        Form::Input { ordinal, .. } => format!("input {ordinal}"),
        Form::Constant(scalar) => format!("constant {scalar}"),
        Form::Size(size) => format!("size {size}"),
        Form::Map(prim) => prim.name().to_owned(),
        Form::Cast(dtype) => format!("cast {dtype}"),
        Form::Broadcast(new) => {
            let flags: Vec<&str> = new.iter().map(|&new| if new { "new" } else { "old" }).collect();
            format!("broadcast [{}]", flags.join(", "))
        }
        Form::Expand(sizes) => format!("expand {}", list(sizes)),
        Form::Squeeze(axes) => format!("squeeze {}", list(axes)),
        Form::Reshape(sizes) => format!("reshape {}", list(sizes)),
        Form::Permute(order) => format!("permute {}", list(order)),
        Form::Slice { starts, sizes } => format!("slice from {} size {}", list(starts), list(sizes)),
        Form::Pad { before, after } => format!("pad before {} after {}", list(before), list(after)),
        Form::Cat(axis) => format!("cat {axis}"),
        Form::Fold { monoid, axes } => format!("fold {} {}", monoid, list(axes)),
        Form::Scan { monoid, axis } => format!("scan {} {axis}", monoid),
        Form::Gather(axis) => format!("gather {axis}"),
        Form::Iota(length) => format!("iota {length}"),
        Form::Library(library) => library.to_string(),
    };
    let operands: Vec<String> = graph.operands(val).iter().map(|val| val.to_string()).collect();
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
