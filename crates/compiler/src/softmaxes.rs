//! Whether the maximum and the sum of a softmax are one fold (`passes::fold_online`): if that is faster under the cost model,
//! which counts that elements are read once then, and rescaled.

use ir::graph::{Node, Val};

use crate::passes::{SoftmaxFolds, Step};

/// The softmaxes whose elements are not at hand for a second fold, and the decision for each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Softmaxes {
    /// The folds, before the pass.
    pub all: Vec<SoftmaxFolds>,
    /// Those that are one fold.
    pub online: Vec<SoftmaxFolds>,
    /// The cost model's seconds for the whole fusion if none is.
    pub apart: f64,
    /// The same as decided.
    pub decided: f64,
    /// How many steps come before the pass.
    pub steps_before: usize,
}

impl Softmaxes {
    /// What the pass and those after it made of a fold; `steps` are those of the plan.
    pub fn became(&self, steps: &[Step], fold: Node) -> Val {
        let later = &steps[self.steps_before..];
        later.iter().fold(fold.into(), |val, step| step.map.get(val).unwrap_or(val))
    }
}
