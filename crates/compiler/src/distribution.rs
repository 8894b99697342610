//! Whether folds by lambdas are distributed over their states (`passes::distribute`): if that is faster under the cost
//! model, which counts that their elements are read twice if they do not stay in a cache.

use ir::graph::Node;

/// The folds by lambdas that can be distributed, and the common decision for all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distribution {
    /// The folds, before passes.
    pub folds: Vec<Node>,
    /// The cost model's seconds for the whole fusion if their lambdas combine.
    pub lambda: f64,
    /// The same if each state is a fold of its own.
    pub distributed: f64,
}

impl Distribution {
    /// Whether each state is a fold of its own.
    pub fn is_distributed(&self) -> bool {
        self.distributed < self.lambda
    }
}
