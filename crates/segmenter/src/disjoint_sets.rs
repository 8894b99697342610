//! Disjoint sets of values.

use ir::graph::Val;
use rustc_hash::FxHashMap;

/// Disjoint sets of values, each named by its smallest; a value that was never united is a set of its own.
#[derive(Debug, Default)]
pub struct DisjointSets {
    parents: FxHashMap<Val, Val>,
}

impl DisjointSets {
    /// The smallest value of a value's set.
    pub fn root(&self, mut val: Val) -> Val {
        while let Some(&parent) = self.parents.get(&val) {
            val = parent;
        }
        val
    }

    /// Makes the sets of two values one.
    pub fn unite(&mut self, one: Val, other: Val) {
        let (one, other) = (self.root(one), self.root(other));
        if one != other {
            self.parents.insert(one.max(other), one.min(other));
        }
    }
}
