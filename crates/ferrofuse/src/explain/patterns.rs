//! The result of planning for the composites of a definition: the segments that compute each, whether a library or a kernel
//! computes its product of matrices, and why.

use compiler::{Plan, ShallowProduct};
use ir::definition::Definition;
use ir::graph::{Fusion, TaskData, TensorOp, Val};
use serde::{Deserialize, Serialize};

use super::ValueNames;
use super::groups::computing;

/// A composite, and how it is computed.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct PatternExplanation {
    /// The op that the user wrote.
    pub name: String,
    /// Its results.
    pub outputs: Vec<String>,
    /// The segments that compute ops of it, in the order they run.
    pub segments: Vec<String>,
    /// For a composite with a product of matrices, what computes the product and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// Which graph pass lost it, and how; its values are computed nevertheless.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<String>,
}

/// The composites in the order in which they were written.
pub(super) fn patterns(definition: &Definition, plan: &Plan, names: &ValueNames) -> Vec<PatternExplanation> {
    let pattern = |((_, written), became): ((_, &TaskData), &Result<_, String>)| {
        let name = |val: Val| names.of(plan.map.get(val).unwrap_or(val));
        let outputs = written.view.outputs().iter().map(|output| name(output.val)).collect();
        let view = became.as_ref().ok().map(|&task| &plan.tasks.get(task).view);
        PatternExplanation {
            name: written.name.clone(),
            outputs,
            segments: view.map_or_else(Vec::new, |view| computing(plan, view)),
            product: view.and_then(|view| product(plan, view)),
            dropped: became.as_ref().err().cloned(),
        }
    };
    definition.tasks.patterns().zip(&plan.patterns).map(pattern).collect()
}

/// What computes the product of matrices of a composite, and why.
fn product(plan: &Plan, view: &Fusion) -> Option<String> {
    let became = |val: Val| {
        let later = &plan.steps[plan.products.steps_before..];
        later.iter().fold(val, |val, step| step.map.get(val).unwrap_or(val))
    };
    if let Some(judged) = plan.products.each.iter().find(|product| view.contains(became(product.val).node)) {
        return Some(in_words(judged));
    }
    let is_product = |op: &TensorOp| matches!(op, TensorOp::External(op) if op.is_product());
    let multiplies = view.order().iter().any(|&node| is_product(&plan.graph.node(node).op));
    multiplies.then(|| "a library multiplies: only shallow products are taken apart".to_owned())
}

fn in_words(product: &ShallowProduct) -> String {
    let [library, kernel] = [product.library, product.kernel].map(|seconds| 1e6 * seconds);
    match product.is_decomposed() {
        true => format!("a kernel multiplies: {kernel:.1} us for the whole, with a library {library:.1} us"),
        false => format!("a library multiplies: {library:.1} us for the whole, with a kernel {kernel:.1} us"),
    }
}

impl PatternExplanation {
    /// Whether it is worth reporting: a library computes it, or several segments, or a pass lost it.
    pub(super) fn is_notable(&self) -> bool {
        self.product.is_some() || self.dropped.is_some()
    }

    /// As a line: which segments compute it, and how.
    pub(super) fn line(&self) -> String {
        let made = match (&self.dropped, &self.segments[..]) {
            (Some(reason), _) => format!("is taken apart, as {reason}"),
            (None, []) => "no segment makes it".to_owned(),
            (None, segments) => format!("in {}", segments.join(", ")),
        };
        let product = self.product.as_ref().map_or(String::new(), |product| format!("; {product}"));
        format!("pattern {} -> {}: {made}{product}", self.name, self.outputs.join(", "))
    }
}
