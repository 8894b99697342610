//! The values that kernels read from memory in any segmentation, the bytes of each, and the nodes that they are read for.

use fixedbitset::FixedBitSet;
use ir::graph::{Fusion, Graph, Node, TensorOp, Val};
use rustc_hash::{FxHashMap, FxHashSet};

use super::components::{Component, Components};
use super::forced::Forced;
use crate::cost::{Amounts, ExpectedReads};

/// The values that kernels read in any segmentation, ascending, with the bytes that they need of each.
pub(super) fn compulsory_bytes(amounts: &Amounts<'_>, fusion: &Fusion, forced: &Forced) -> Vec<(Val, u64)> {
    // What several kernels read of a value for its uses is at least what one reads for all of them.
    let needs = ExpectedReads::of(amounts, fusion);
    let needed = computed_by_kernels(amounts.graph, fusion);
    let users = |val: Val| -> Vec<Node> {
        fusion.uses(val).iter().copied().filter(|user| needed.contains(user)).collect()
    };
    let mut sources: Vec<Val> = fusion.inputs().iter().chain(&forced.sources).copied().collect();
    sources.sort_unstable();
    sources.dedup();
    let read = sources.into_iter().map(|val| (val, users(val))).filter(|(_, users)| !users.is_empty());
    read.map(|(val, users)| (val, needs.bytes_for(val, &users))).collect()
}

/// A value that kernels read in any segmentation.
#[derive(Clone, Copy)]
pub(super) struct CompulsoryRead {
    val: Val,
    /// The connected component that it belongs to.
    pub component: Option<Component>,
    /// The bytes that kernels need of it.
    pub bytes: u64,
}

/// The values that kernels read in any segmentation.
pub(super) struct CompulsoryReads {
    /// By value, ascending.
    all: Vec<CompulsoryRead>,
    /// Those that are read for a node, by their places: by its kernel, and by those before.
    before: FxHashMap<Node, FixedBitSet>,
}

impl CompulsoryReads {
    pub(super) fn of(
        graph: &Graph,
        fusion: &Fusion,
        bytes: &[(Val, u64)],
        components: &Components<'_>,
    ) -> CompulsoryReads {
        let read =
            |&(val, bytes): &(Val, u64)| CompulsoryRead { val, component: components.of_val(val), bytes };
        let all = bytes.iter().map(read).collect();
        let mut compulsory = CompulsoryReads { all, before: FxHashMap::default() };
        for &node in fusion.order() {
            let before = compulsory.find(graph, node);
            compulsory.before.insert(node, before);
        }
        compulsory
    }

    /// All of them.
    pub(super) fn all(&self) -> &[CompulsoryRead] {
        &self.all
    }

    /// Bytes of a component's reads for a node.
    pub(super) fn bytes_before(&self, node: Node, component: Option<Component>) -> u64 {
        let before = self.before.get(&node).into_iter().flat_map(FixedBitSet::ones);
        let reads = before.map(|place| self.all[place]).filter(|read| read.component == component);
        reads.map(|read| read.bytes).fold(0, u64::saturating_add)
    }

    fn find(&self, graph: &Graph, node: Node) -> FixedBitSet {
        let mut found = FixedBitSet::with_capacity(self.all.len());
        let data = graph.node(node);
        for operand in &data.operands {
            if let Some(before) = self.before.get(&operand.node) {
                found.union_with(before);
            }
            // No kernel reads the operands of an external op.
            let place = self.all.binary_search_by_key(operand, |read| read.val);
            if let (Ok(place), false) = (place, matches!(data.op, TensorOp::External(_))) {
                found.insert(place);
            }
        }
        found
    }
}

/// The nodes that kernels compute in any segmentation: not those of libraries, nor views for them alone.
fn computed_by_kernels(graph: &Graph, fusion: &Fusion) -> FxHashSet<Node> {
    let mut needed: FxHashSet<Node> = FxHashSet::default();
    for &node in fusion.order().iter().rev() {
        let op = &graph.node(node).op;
        let is_given = graph
            .results(node)
            .any(|val| fusion.is_output(val) || fusion.uses(val).iter().any(|user| needed.contains(user)));
        if !matches!(op, TensorOp::External(_)) && (!op.is_view() || is_given) {
            needed.insert(node);
        }
    }
    needed
}
