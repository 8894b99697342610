//! The result of planning for the lambdas of a definition's folds and scans: the segments that combine by each, whether each
//! state is a separate fold and why, or that the lambda is a built-in fold.

use compiler::Plan;
use ir::definition::Definition;
use ir::graph::{Node, Val};
use serde::{Deserialize, Serialize};

use super::ValueNames;
use crate::lambdas::of_nodes;

/// A lambda, and how it is computed.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct LambdaExplanation {
    /// `fold` or `scan`.
    pub op: String,
    /// The states that it returns.
    pub outputs: Vec<String>,
    /// The segments that compute it after the passes, in the order they run.
    pub segments: Vec<String>,
    /// For a lambda whose states can be separate folds, whether they are and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distribution: Option<String>,
    /// For a lambda that a pass recognizes as a built-in fold, which one and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub built_in: Option<String>,
}

/// The lambdas in the order in which their folds and scans run.
pub(super) fn lambdas(definition: &Definition, plan: &Plan, names: &ValueNames) -> Vec<LambdaExplanation> {
    let graph = &definition.graph;
    let explained = |(node, op, _): (Node, &str, _)| {
        let became: Vec<Val> = graph.results(node).filter_map(|val| plan.map.get(val)).collect();
        let computes = |view: &ir::graph::Fusion| became.iter().any(|val| view.contains(val.node));
        let segments = plan.segments.iter().filter(|segment| computes(&segment.view));
        LambdaExplanation {
            op: op.to_owned(),
            outputs: graph.results(node).map(|val| names.of(plan.map.get(val).unwrap_or(val))).collect(),
            segments: segments.map(|segment| segment.name.clone()).collect(),
            distribution: plan.distribution.folds.contains(&node).then(|| in_words(plan)),
            built_in: plan.recognized(node).map(|monoid| {
                format!("`recognize` takes the fold `{}`: the lambda combines these moments", monoid.name())
            }),
        }
    };
    of_nodes(graph, definition.fusion.order()).map(explained).collect()
}

fn in_words(plan: &Plan) -> String {
    let distribution = &plan.distribution;
    let [lambda, distributed] = [distribution.lambda, distribution.distributed].map(|seconds| 1e6 * seconds);
    match distribution.is_distributed() {
        true => {
            format!(
                "each state is a fold of its own: {distributed:.1} us for the whole, by the lambda {lambda:.1} us"
            )
        }
        false => {
            format!(
                "the lambda combines: {lambda:.1} us for the whole, with a fold for each state {distributed:.1} us"
            )
        }
    }
}

impl LambdaExplanation {
    /// As a line: which segments compute it, and how.
    pub(super) fn line(&self) -> String {
        let decided = self.built_in.iter().chain(&self.distribution);
        let decided: String = decided.map(|how| format!("; {how}")).collect();
        let segments = self.segments.join(", ");
        format!("lambda of {} -> {}: in {segments}{decided}", self.op, self.outputs.join(", "))
    }
}
