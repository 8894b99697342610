//! How passes change a program: they append nodes and return a new view with a map from old values to new ones.
//!
//! The old view stays valid, so keeping it undoes the pass. A mapped value is equal to the old one in value, shape and
//! dtype.

use std::sync::Arc;

use index::Facts;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::container::Graph;
use super::fusion::Fusion;
use super::node::{Node, Val};

/// Old values and the new values equal to them.
#[derive(Clone, Debug, Default)]
pub struct ValMap {
    map: IndexMap<Val, Val, FxBuildHasher>,
}

impl ValMap {
    /// An empty map.
    pub fn new() -> ValMap {
        ValMap::default()
    }

    /// What a value became.
    pub fn get(&self, old: Val) -> Option<Val> {
        self.map.get(&old).copied()
    }

    /// Records what a value became.
    pub fn insert(&mut self, old: Val, new: Val) {
        self.map.insert(old, new);
    }

    /// All pairs, in the order they were recorded.
    pub fn iter(&self) -> impl Iterator<Item = (Val, Val)> {
        self.map.iter().map(|(&old, &new)| (old, new))
    }

    /// Changes the map to first this one, then `later`.
    pub fn compose(&mut self, later: &ValMap) {
        self.map.retain(|_, val| later.get(*val).map(|new| *val = new).is_some());
    }
}

/// Rewrites a view node by node, operands first. `rule` gets a node and its current operands, and returns the values that
/// replace the node's results, or `None` to keep the op.
pub fn rewrite(
    graph: &mut Graph,
    fusion: &Fusion,
    mut rule: impl FnMut(&mut Graph, &mut Facts, Node, &[Val]) -> Option<Vec<Val>>,
) -> (Fusion, ValMap) {
    fusion.assert_of(graph);
    let mut facts = Facts::clone(fusion.facts());
    let mut map = ValMap::new();
    for &input in fusion.inputs() {
        map.insert(input, input);
    }
    for &node in fusion.order() {
        let moved = |val: Val| map.get(val).expect("operands come before users");
        let operands: SmallVec<[Val; 3]> = graph.node(node).operands.iter().map(|&val| moved(val)).collect();
        let results: SmallVec<[Val; 3]> = match rule(graph, &mut facts, node, &operands) {
            Some(results) => results.into(),
            None if operands == graph.node(node).operands => graph.results(node).collect(),
            None => {
                let form = graph.node(node).op.clone();
                let copy = graph.add(form, &operands, &mut facts).expect("equal types are accepted again");
                graph.results(copy).collect()
            }
        };
        for (old, new) in graph.results(node).zip(results) {
            map.map.entry(old).or_insert(new);
        }
    }
    let moved = |val: Val| map.get(val).expect("a view holds what its outputs reach");
    let outputs = fusion.outputs().iter().map(|o| o.moved(moved(o.val))).collect();
    let view = Fusion::new(graph, fusion.inputs().to_vec(), outputs, Arc::new(facts))
        .expect("the rewritten view reaches the same inputs");
    (view, map)
}
