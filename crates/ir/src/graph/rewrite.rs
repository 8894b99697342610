//! How passes change a program: they append nodes and return a new view with a map from old values to new ones.
//!
//! The old view stays valid, so keeping it undoes the pass. A mapped value is equal to the old one in value, shape and
//! dtype.

use std::sync::Arc;

use cranelift_entity::SecondaryMap;
use index::Facts;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::container::Graph;
use super::fusion::Fusion;
use super::node::{Node, Val};

/// Old values and the new values equal to them.
#[derive(Clone, Debug, Default)]
pub struct ValMap {
    /// Pairs, in the order they were recorded.
    pairs: Vec<(Val, Val)>,
    /// The pair of each node's first result, counted from one.
    first: SecondaryMap<Node, u32>,
    /// The pairs of further results.
    further: FxHashMap<Val, u32>,
}

impl ValMap {
    /// An empty map.
    pub fn new() -> ValMap {
        ValMap::default()
    }

    /// What a value became.
    pub fn get(&self, old: Val) -> Option<Val> {
        Some(self.pairs[self.place(old)?].1)
    }

    /// Records what a value became.
    pub fn insert(&mut self, old: Val, new: Val) {
        match self.place(old) {
            Some(place) => self.pairs[place].1 = new,
            None => self.add(old, new),
        }
    }

    /// All pairs, in the order they were recorded.
    pub fn iter(&self) -> impl Iterator<Item = (Val, Val)> {
        self.pairs.iter().copied()
    }

    /// Changes the map to first this one, then `later`.
    pub fn compose(&mut self, later: &ValMap) {
        let count = self.pairs.len();
        self.pairs.retain_mut(|(_, val)| later.get(*val).map(|new| *val = new).is_some());
        if self.pairs.len() < count {
            let left = std::mem::take(self).pairs;
            left.into_iter().for_each(|(old, new)| self.add(old, new));
        }
    }

    /// Where the pair of a value is.
    fn place(&self, old: Val) -> Option<usize> {
        let counted = match old.result {
            0 => self.first[old.node],
            _ => *self.further.get(&old)?,
        };
        counted.checked_sub(1).map(|place| place as usize)
    }

    /// Records what a value became of which nothing is recorded yet.
    fn add(&mut self, old: Val, new: Val) {
        self.pairs.push((old, new));
        let counted = self.pairs.len() as u32;
        match old.result {
            0 => self.first[old.node] = counted,
            _ => drop(self.further.insert(old, counted)),
        }
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
    map.pairs.reserve(fusion.inputs().len() + fusion.order().len());
    let mut is_same = true;
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
            if map.place(old).is_none() {
                map.add(old, new);
                is_same &= old == new;
            }
        }
    }
    if is_same {
        return (fusion.clone().with_facts(facts), map);
    }
    let moved = |val: Val| map.get(val).expect("a view holds what its outputs reach");
    let outputs = fusion.outputs().iter().map(|o| o.moved(moved(o.val))).collect();
    let view = Fusion::new(graph, fusion.inputs().to_vec(), outputs, Arc::new(facts))
        .expect("the rewritten view reaches the same inputs");
    (view, map)
}
