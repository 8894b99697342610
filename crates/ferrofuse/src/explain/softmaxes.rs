//! Which softmaxes take their maximum and their sum in one fold, and why.

use compiler::Plan;
use compiler::passes::SoftmaxFolds;
use ir::graph::Node;
use serde::{Deserialize, Serialize};

use super::ValueNames;

/// A softmax whose elements are not at hand for a second fold.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct SoftmaxExplanation {
    /// The maximum of its elements.
    pub maximum: String,
    /// The sum of their exponentials.
    pub sum: String,
    /// Whether they are one fold (online softmax).
    pub online: bool,
    /// Why.
    pub reason: String,
}

/// The softmaxes in the order in which their sums are computed.
pub(super) fn softmaxes(plan: &Plan, names: &ValueNames) -> Vec<SoftmaxExplanation> {
    let softmaxes = &plan.softmaxes;
    let [apart, decided] =
        [softmaxes.apart, softmaxes.decided].map(|seconds| format!("{:.1} us", 1e6 * seconds));
    let name = |fold: Node| names.of(softmaxes.became(&plan.steps, fold));
    let explained = |folds: &SoftmaxFolds| {
        let reason = match softmaxes.online.is_empty() {
            true => format!("{apart} for the whole, and not less with one fold"),
            false => format!("{decided} for the whole, with two folds for each softmax {apart}"),
        };
        let online = softmaxes.online.contains(folds);
        SoftmaxExplanation { maximum: name(folds.maximum), sum: name(folds.sum), online, reason }
    };
    softmaxes.all.iter().map(explained).collect()
}

impl SoftmaxExplanation {
    /// As a line.
    pub(super) fn line(&self) -> String {
        let SoftmaxExplanation { maximum, sum, online, reason } = self;
        let folds = if *online { "one fold (online softmax)" } else { "two folds" };
        format!("softmax of {maximum} and {sum}: {folds}; {reason}")
    }
}
