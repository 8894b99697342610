//! Garbage collection: a graph reduced to the nodes that live views reach.
//!
//! A new graph with a new epoch is made; the old one stays until its owner drops it.

use std::sync::Arc;

use index::Facts;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::container::Graph;
use super::fusion::Fusion;
use super::node::{Node, Val};
use super::rewrite::ValMap;

impl Graph {
    /// The graph with only the nodes that these views reach, the views in it, and what each value became. Size symbols keep
    /// their ids.
    pub fn collect(&self, live: &[&Fusion]) -> (Graph, Vec<Fusion>, ValMap) {
        let mut kept = Graph::new();
        for source in self.symbols().values() {
            kept.add_symbol(source.clone());
        }
        let mut map = ValMap::new();
        let reached = self.reached(live);
        // Every equality that a view's facts hold was recorded when its nodes were made; all views' facts together
        // let each node be made again.
        let mut facts = distinct_facts(live);
        for (node, data) in self.nodes().filter(|(node, _)| reached.contains(node)) {
            let operands: SmallVec<[Val; 3]> =
                data.operands.iter().map(|&val| map.get(val).expect("operands come before users")).collect();
            let copy = facts
                .iter_mut()
                .find_map(|facts| kept.add(data.op.clone(), &operands, facts).ok())
                .expect("a node that was legal once is legal again");
            for (old, new) in self.results(node).zip(kept.results(copy)) {
                map.insert(old, new);
            }
        }
        let views = live.iter().map(|view| self.move_view(view, &kept, &map)).collect();
        (kept, views, map)
    }

    fn move_view(&self, view: &Fusion, kept: &Graph, map: &ValMap) -> Fusion {
        view.assert_of(self);
        let moved = |val: Val| map.get(val).expect("collected above");
        let outputs = view.outputs().iter().map(|o| o.moved(moved(o.val))).collect();
        let inputs = view.inputs().iter().map(|&val| moved(val)).collect();
        Fusion::new(kept, inputs, outputs, Arc::clone(view.facts())).expect("a moved view stays closed")
    }

    /// Nodes that some view computes, the definitions of their inputs, and everything that these need.
    fn reached(&self, live: &[&Fusion]) -> FxHashSet<Node> {
        let mut seen = FxHashSet::default();
        let starts = live.iter().flat_map(|view| {
            view.inputs().iter().copied().chain(view.outputs().iter().map(|output| output.val))
        });
        let mut stack: Vec<Node> = starts.map(|val| val.node).collect();
        while let Some(node) = stack.pop() {
            if seen.insert(node) {
                stack.extend(self.node(node).operands.iter().map(|val| val.node));
            }
        }
        seen
    }
}

/// The facts of views, many of which share theirs, and none.
fn distinct_facts(live: &[&Fusion]) -> Vec<Facts> {
    let mut seen = FxHashSet::default();
    let distinct = live.iter().map(|view| view.facts()).filter(|facts| seen.insert(Arc::as_ptr(facts)));
    distinct.map(|facts| Facts::clone(facts)).chain([Facts::new()]).collect()
}
