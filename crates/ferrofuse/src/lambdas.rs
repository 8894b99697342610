//! The lambdas of a definition's folds and scans, each with its body as a definition of its own.

use frontend::define::{DefineError, outline_lambda};
use frontend::text::{NameStyle, print};
use ir::definition::Definition;
use ir::graph::{Graph, Node, TensorOp};
use ops::{Lambda, Monoid, Scalar};

use crate::names::names_in;

/// A lambda by which a fold or a scan combines.
#[derive(Clone, Debug)]
pub struct FoldLambda {
    /// `fold` or `scan`.
    pub op: &'static str,
    /// The states that the fold or scan gives, by their names in the definition.
    pub outputs: Vec<String>,
    /// The initial states of a run.
    pub init: Vec<Scalar>,
    /// Its body, from the states of one run and those of another: it can be printed, run and explained by itself.
    pub definition: Definition,
}

/// The lambdas of a definition, in the order in which their folds and scans run.
///
/// # Errors
/// If a body cannot be written in the definition language.
pub fn lambdas(definition: &Definition) -> Result<Vec<FoldLambda>, DefineError> {
    let (graph, names) = (&definition.graph, names_in(definition));
    let name = |val| names.get(&val).cloned().unwrap_or_else(|| val.to_string());
    let fold_lambda = |(node, op, lambda): (Node, &'static str, &Lambda)| {
        Ok(FoldLambda {
            op,
            outputs: graph.results(node).map(name).collect(),
            init: lambda.identity().to_vec(),
            definition: outline_lambda(lambda)?,
        })
    };
    of_nodes(graph, definition.fusion.order()).map(fold_lambda).collect()
}

/// The folds and scans among nodes that combine by a lambda.
pub(crate) fn of_nodes<'g>(
    graph: &'g Graph,
    nodes: &'g [Node],
) -> impl Iterator<Item = (Node, &'static str, &'g Lambda)> {
    nodes.iter().filter_map(|&node| match &graph.node(node).op {
        TensorOp::Fold { monoid: Monoid::Lambda(lambda), .. } => Some((node, "fold", lambda)),
        TensorOp::Scan { monoid: Monoid::Lambda(lambda), .. } => Some((node, "scan", lambda)),
        _ => None,
    })
}

/// The bodies as text with names of this style, each after a comment that says whose it is.
pub(crate) fn printed(definition: &Definition, names: NameStyle) -> Result<String, DefineError> {
    let text = |lambda: FoldLambda| {
        let init: Vec<String> = lambda.init.iter().map(Scalar::to_string).collect();
        let body = print(&lambda.definition, names);
        format!("# {} -> {} from {}\n{body}", lambda.op, lambda.outputs.join(", "), init.join(", "))
    };
    Ok(lambdas(definition)?.into_iter().map(text).collect::<Vec<_>>().join("\n"))
}
