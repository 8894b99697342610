//! Whether folds by lambdas are distributed over their states (`passes::distribute`): where that is faster by the cost model,
//! which counts that their elements are read twice where they do not stay in a cache.

use ir::graph::Node;

/// The folds by lambdas that can be distributed, and what was decided for all of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distribution {
    /// The folds, before passes.
    pub folds: Vec<Node>,
    /// Seconds that the cost model expects of the whole fusion if their lambdas combine.
    pub lambda: f64,
    /// And if each state is a fold of its own.
    pub distributed: f64,
}

impl Distribution {
    /// Whether each state is a fold of its own.
    pub fn is_distributed(&self) -> bool {
        self.distributed < self.lambda
    }
}
