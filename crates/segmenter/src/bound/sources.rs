//! Which values kernels read from memory whatever the segmentation, how many bytes of each, and for which nodes.

use ir::graph::{Fusion, Graph, Node, TensorOp, Val};
use rustc_hash::{FxHashMap, FxHashSet};
use scheduler::hints::Hints;

use super::forced::Forced;
use crate::cost::InputReads;
use crate::external::is_view_op;

/// A set of sources, a bit for each.
type SourceSet = Box<[u64]>;

/// The values that kernels read whatever the segmentation.
pub(super) struct Sources {
    /// Each with the bytes that kernels need of it.
    all: Vec<(Val, u64)>,
    /// Those that are read for a node: by the kernel which computes it, and by those before.
    before: FxHashMap<Node, SourceSet>,
}

impl Sources {
    pub(super) fn of(graph: &Graph, fusion: &Fusion, hints: &Hints, forced: &Forced) -> Sources {
        let reads = InputReads::of(graph, fusion);
        let bytes =
            |val: Val| hints.value(&fusion.facts().normalize(&reads.bytes(val, graph.ty(val).bytes())));
        let all: Vec<(Val, u64)> =
            read_by_kernels(graph, fusion, forced).into_iter().map(|val| (val, bytes(val))).collect();
        let mut sources = Sources { all, before: FxHashMap::default() };
        for &node in fusion.order() {
            let before = sources.find(graph, node);
            sources.before.insert(node, before);
        }
        sources
    }

    /// All of them.
    pub(super) fn all(&self) -> &[(Val, u64)] {
        &self.all
    }

    /// Those that are read for a node.
    pub(super) fn before(&self, node: Node) -> impl Iterator<Item = (Val, u64)> + '_ {
        let set = self.before.get(&node);
        let is_before =
            move |number: usize| set.is_some_and(|set| set[number / 64] >> (number % 64) & 1 == 1);
        self.all.iter().enumerate().filter(move |(number, _)| is_before(*number)).map(|(_, &source)| source)
    }

    fn find(&self, graph: &Graph, node: Node) -> SourceSet {
        let mut found: SourceSet = vec![0; self.all.len().div_ceil(64)].into();
        let data = graph.node(node);
        for operand in &data.operands {
            if let Some(before) = self.before.get(&operand.node) {
                found.iter_mut().zip(before).for_each(|(found, before)| *found |= before);
            }
            // What an external op reads no kernel does.
            let number = self.all.binary_search_by_key(operand, |&(val, _)| val);
            if let (Ok(number), false) = (number, matches!(data.op, TensorOp::External(_))) {
                found[number / 64] |= 1 << (number % 64);
            }
        }
        found
    }
}

/// The inputs and what is cut that some kernel needs, ascending.
fn read_by_kernels(graph: &Graph, fusion: &Fusion, forced: &Forced) -> Vec<Val> {
    let mut needed: FxHashSet<Node> = FxHashSet::default();
    for &node in fusion.order().iter().rev() {
        let op = &graph.node(node).op;
        let is_given = graph
            .results(node)
            .any(|val| fusion.is_output(val) || fusion.uses(val).iter().any(|user| needed.contains(user)));
        if !matches!(op, TensorOp::External(_)) && (!is_view_op(op) || is_given) {
            needed.insert(node);
        }
    }
    let mut sources: Vec<Val> = fusion.inputs().iter().chain(&forced.sources).copied().collect();
    sources.sort_unstable();
    sources.dedup();
    sources.retain(|&val| fusion.uses(val).iter().any(|user| needed.contains(user)));
    sources
}
