//! Segments that must follow each other: the fewest possible, and what they read together.
//!
//! A kernel divides its work among workers along an axis that every fold within it has, and that no fold whose result is
//! used inside reduces. So for each axis that the kernel of a value may divide, some folds that the value depends on are in
//! the way. What the kernel reads separates the value from these: at least a minimum cut. A fold in the way is computed by
//! an earlier segment, for which the same holds. The reads of all segments of such a chain add up in any segmentation. A
//! fold in the same kernel may make it read its inputs once more for the value (`sweeps`); these reads add up too. What an
//! earlier segment computed, a later one reads, or computes again. Inspired by the lower bounds of Hong and Kung (1981),
//! which sum over segments too.

use std::cmp::Reverse;

use cranelift_entity::EntityRef;
use fixedbitset::FixedBitSet;
use ir::graph::{Fusion, Graph, Node, TensorOp, Val};
use rustc_hash::{FxHashMap, FxHashSet};
use space::AxisTable;

use super::connections::Connections;
use super::forced::Forced;
use super::moved::{folds_behind_index_maps, has_index_maps};
use super::region::{Origin, Region};
use super::sweeps::Blocks;
use crate::axis_classes::Class;
use crate::cost::Amounts;
use crate::worker_axes::is_large;

/// Edges per node of a fusion that the search for cuts may visit; beyond that, segments count as if they read nothing.
const EDGES_PER_NODE: usize = 256;

/// A lower bound of what a chain of segments does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Chain {
    /// Bytes of the component that it ends in that its segments read, and write for each other.
    pub bytes: u64,
    /// Those that the last segment reads, each value once.
    last: u64,
    /// How many segments it has.
    pub segments: u64,
    /// The node that the last segment computes.
    end: Option<Node>,
}

impl Chain {
    /// What holds if one of the two does.
    fn either(self, other: Chain) -> Chain {
        Chain {
            bytes: self.bytes.min(other.bytes),
            last: self.last.min(other.last),
            segments: self.segments.min(other.segments),
            end: self.end,
        }
    }

    /// What holds if both do.
    fn both(self, other: Chain) -> Chain {
        Chain {
            bytes: self.bytes.max(other.bytes),
            last: self.last.max(other.last),
            segments: self.segments.max(other.segments),
            end: if self.bytes < other.bytes { other.end } else { self.end },
        }
    }
}

/// The axes of a fold.
struct FoldAxes {
    kept: Vec<Class>,
    domain: Vec<Class>,
    /// The blocks of a kernel that uses its result.
    blocks: Blocks,
    /// Whether a kernel needs workers for it: it is large, and some axis that it walks is not scanned.
    needs_workers: bool,
}

/// The chains of a fusion that end in values that its segments make.
pub(super) struct Chains<'a> {
    pub graph: &'a Graph,
    fusion: &'a Fusion,
    amounts: &'a Amounts<'a>,
    pub forced: &'a Forced,
    pub connections: &'a Connections<'a>,
    folds: FxHashMap<Node, FoldAxes>,
    /// How ops map axes; `None` if no op is an index map.
    table: Option<AxisTable>,
    /// Folds that the current node reaches only through index maps.
    moved: FxHashSet<Node>,
    /// Chains that end in the first kernel that computes a node.
    known: FxHashMap<Node, Chain>,
    /// The longest chains that end with the first kernel that computes a node or before.
    reached: FxHashMap<Node, Chain>,
    /// Whether bytes include those that take as long to move as values take to compute again.
    again: bool,
    pub budget: usize,
}

impl<'a> Chains<'a> {
    pub(super) fn of(
        fusion: &'a Fusion,
        amounts: &'a Amounts<'a>,
        forced: &'a Forced,
        connections: &'a Connections<'a>,
        again: bool,
    ) -> Chains<'a> {
        let graph = amounts.graph;
        let budget = fusion.order().len().saturating_mul(EDGES_PER_NODE);
        let mut chains = Chains {
            graph,
            fusion,
            amounts,
            forced,
            connections,
            folds: FxHashMap::default(),
            table: has_index_maps(graph, fusion).then(|| AxisTable::new(fusion.facts())),
            moved: FxHashSet::default(),
            known: FxHashMap::default(),
            reached: FxHashMap::default(),
            again,
            budget,
        };
        let is_fold = |node: &&Node| graph.node(**node).op.is_fold();
        let folds = fusion.order().iter().filter(is_fold);
        chains.folds = folds.map(|&fold| (fold, chains.axes_of(fold))).collect();
        for &node in fusion.order() {
            let chain = chains.find(node);
            let before = graph.node(node).operands.iter().filter_map(|val| chains.beyond(val.node, node));
            let longest = before.fold(chain.unwrap_or_default(), Chain::both);
            chains.reached.insert(node, longest);
            chains.known.extend(chain.map(|chain| (node, chain)));
        }
        chains
    }

    /// The values that chains end in, with their chains.
    pub(super) fn ends(&self) -> impl Iterator<Item = (Node, Chain)> + '_ {
        self.known.iter().map(|(&node, &chain)| (node, chain))
    }

    /// The chain that ends in the kernel of a node, if that is an end.
    fn find(&mut self, node: Node) -> Option<Chain> {
        let is_made = self.graph.results(node).any(|val| self.forced.written.contains(&val));
        match &self.graph.node(node).op {
            TensorOp::External(_) => {
                let (_, read) = self.forced.external.iter().find(|(external, _)| *external == node)?;
                let before = read.iter().filter_map(|val| self.beyond(val.node, node));
                before.max_by_key(|chain| (chain.bytes, chain.segments))
            }
            TensorOp::Fold { .. } => Some(self.shortest(node)),
            TensorOp::Input { .. } | TensorOp::Constant(_) | TensorOp::Size(_) => None,
            _ => (is_made || self.connections.combined.contains(&node)).then(|| self.shortest(node)),
        }
    }

    /// What the chain of one node means for a node that follows: bytes of another component are none of its own.
    fn beyond(&self, before: Node, node: Node) -> Option<Chain> {
        let chain = *self.reached.get(&before)?;
        let is_same =
            self.connections.components.of_node(before) == self.connections.components.of_node(node);
        Some(if is_same { chain } else { Chain { segments: chain.segments, ..Chain::default() } })
    }

    /// The minimum over the axes that workers may divide, of bytes and of segments.
    fn shortest(&mut self, node: Node) -> Chain {
        self.find_moved(node);
        let divided = self.divisible(node);
        let chains = divided.into_iter().map(|class| self.along(node, class));
        chains.reduce(Chain::either).unwrap_or_default()
    }

    /// Finds the folds that a node reaches only through index maps.
    fn find_moved(&mut self, node: Node) {
        let Some(mut table) = self.table.take() else { return };
        let mut budget = self.budget;
        let is_in_memory = |val: Val| self.is_source(val);
        self.moved = folds_behind_index_maps(self.graph, node, &mut table, &mut budget, is_in_memory);
        self.budget = budget;
        self.table = Some(table);
    }

    /// The axes that a kernel of this node may divide; with `None` if it may need no workers.
    fn divisible(&self, node: Node) -> Vec<Option<Class>> {
        let mut classes: Vec<Class> = match self.graph.node(node).op {
            TensorOp::Fold { .. } => self.folds[&node].domain.clone(),
            _ => self.kept_by_result(node).chain(self.finished(node)).collect(),
        };
        classes.sort_unstable();
        classes.dedup();
        let elements = match self.graph.node(node).op {
            TensorOp::Fold { .. } => self.graph.ty(self.graph.node(node).operands[0]).numel(),
            _ => self.graph.ty(node.into()).numel(),
        };
        let may_be_alone = !is_large(self.fusion, &elements)
            || classes.iter().all(|class| self.connections.scanned.contains(class));
        let alone = may_be_alone.then_some(None);
        classes.into_iter().map(Some).chain(alone).collect()
    }

    fn kept_by_result(&self, node: Node) -> impl Iterator<Item = Class> + '_ {
        self.connections.classes.of_val(self.graph, node.into())
    }

    /// The axes walked by the folds after which a value may be finished: their results have all of its axes.
    fn finished(&self, node: Node) -> Vec<Class> {
        let mut found = Vec::new();
        let mut seen: FxHashSet<Node> = FxHashSet::default();
        let mut stack = vec![node];
        while let Some(next) = stack.pop() {
            if self.graph.node(next).op.is_fold() {
                let FoldAxes { kept, domain, .. } = &self.folds[&next];
                if self.kept_by_result(node).all(|class| kept.contains(&class)) {
                    found.extend(domain);
                }
                continue;
            }
            let operands = self.graph.node(next).operands.iter().filter(|val| !self.is_source(**val));
            stack.extend(operands.map(|val| val.node).filter(|&node| seen.insert(node)));
        }
        found
    }

    /// What a chain does at least if its last kernel computes a node and divides this axis.
    fn along(&mut self, node: Node, class: Option<Class>) -> Chain {
        let once = self.region(node, class, |_| false);
        let once = once.map_or_else(Chain::default, |region| self.through(&region));
        let sweeps = self.folds_swept_before(node);
        if sweeps.is_empty() {
            return once;
        }
        let swept = self.region(node, class, |fold| sweeps.contains(&fold));
        once.both(swept.map_or_else(Chain::default, |region| self.through(&region)))
    }

    /// The region before a node whose kernel divides this axis and contains these folds as earlier sweeps.
    fn region(
        &mut self,
        node: Node,
        class: Option<Class>,
        is_swept: impl Fn(Node) -> bool,
    ) -> Option<Region> {
        let region = Region::of(self, node, |val| self.origin(val, node, class, &is_swept))?;
        self.budget -= region.edges;
        Some(region)
    }

    /// What a chain does at least whose last kernel computes the target of a region.
    fn through(&self, region: &Region) -> Chain {
        let node = region.target;
        let segments_of = |nodes: &FxHashSet<Node>| {
            nodes.iter().filter_map(|node| Some(self.reached.get(node)?.segments)).max()
        };
        let kernels = segments_of(&region.before).map_or(1, |kernels| kernels + 1);
        let segments = kernels.max(segments_of(&region.swept).unwrap_or(1));
        let is_of_component = |other: &&Node| {
            self.connections.components.of_node(**other) == self.connections.components.of_node(node)
        };
        let earlier: Vec<Node> =
            region.before.iter().chain(&region.swept).filter(is_of_component).copied().collect();
        let bytes = self.compulsory(node).max(self.behind(region, &earlier));
        let last = if self.may_be_swept(node) { region.cut(self, |_| 0, |_| false) } else { 0 };
        Chain { bytes, last, segments, end: Some(node) }
    }

    /// Bytes that a segment reads in addition to the longest chain before it. Values that it reads and that are not part of
    /// that chain are written too. Or in addition to what earlier segments read in any case: then it counts all values that
    /// are no inputs as written.
    fn behind(&self, region: &Region, earlier: &[Node]) -> u64 {
        let known = earlier.iter().filter_map(|node| self.reached.get(node));
        let longest = known.max_by_key(|chain| (chain.bytes, Reverse(chain.end)));
        let before = self.computed_before(region);
        let again =
            |val: Val| if before.contains(val.node.index()) { self.bytes_of_computing(val) } else { 0 };
        let read = region.cut(self, again, |val| longest.is_none_or(|chain| Some(val.node) >= chain.end));
        let chain = longest.map_or(0, |chain| chain.bytes);
        let compulsory = earlier.iter().map(|&node| self.compulsory(node)).max().unwrap_or(0);
        // No more is written than is read.
        let beside = if compulsory.saturating_add(read) > chain && longest.is_some() {
            compulsory.saturating_add(region.cut(self, again, |_| true))
        } else {
            0
        };
        chain.saturating_add(read).max(beside)
    }

    /// The nodes that kernels before that of a region's target surely compute, if it counts that this one computes them again.
    /// In a later sweep of one kernel nothing does.
    fn computed_before(&self, region: &Region) -> FixedBitSet {
        let mut found = FixedBitSet::new();
        if !self.again || !region.swept.is_empty() {
            return found;
        }
        let mut stack: Vec<Node> = region.before.iter().copied().collect();
        while let Some(node) = stack.pop() {
            if !found.contains(node.index()) {
                found.grow_and_insert(node.index());
                stack.extend(self.graph.node(node).operands.iter().map(|val| val.node));
            }
        }
        found
    }

    /// The bytes that take as long to move as a value takes to compute, as far as a kernel needs it.
    fn bytes_of_computing(&self, val: Val) -> u64 {
        let target = self.amounts.target;
        let (needed, all) = (self.bytes(val), self.amounts.of(val).bytes);
        let part = needed as f64 / all.max(1) as f64;
        (self.amounts.cycles(val.node) as f64 / target.throughput * part.min(1.0) * target.bandwidth) as u64
    }

    /// Whether a kernel of a fold may read its inputs again, if for the fold it reads only its operands.
    fn may_be_swept(&self, node: Node) -> bool {
        let Some(fold) = self.folds.get(&node) else { return false };
        let bytes = |vals: &mut dyn Iterator<Item = Val>| {
            vals.map(|val| self.amounts.of(val).bytes).fold(0, u64::saturating_add)
        };
        let read = bytes(&mut self.graph.node(node).operands.iter().copied());
        fold.blocks.sweep_again(self.amounts.target, read, bytes(&mut self.forced.written.iter().copied()))
    }

    /// Bytes of a node's component that are read for the node in any segmentation.
    fn compulsory(&self, node: Node) -> u64 {
        self.connections.reads.bytes_before(node, self.connections.components.of_node(node))
    }

    /// The folds that make a kernel which also computes this node from them read its inputs once more: the node has an axis
    /// that no worker divides, and blocks read more than they keep.
    fn folds_swept_before(&self, node: Node) -> FxHashSet<Node> {
        let walked: Vec<Class> = match self.folds.get(&node) {
            Some(fold) => fold.domain.clone(),
            None => self.kept_by_result(node).collect(),
        };
        let written = self.forced.written.iter().filter(|val| val.node == node);
        let written = written.map(|&val| self.bytes(val)).fold(0, u64::saturating_add);
        let is_swept = |(fold, axes): &(&Node, &FoldAxes)| {
            let read = self.known.get(fold).map_or(0, |chain| chain.last);
            let is_inner = walked.iter().any(|class| !axes.kept.contains(class));
            is_inner && axes.blocks.sweep_again(self.amounts.target, read, written)
        };
        self.folds.iter().filter(is_swept).map(|(&fold, _)| fold).filter(|&fold| fold != node).collect()
    }

    /// Whether a fold cannot be in a kernel that computes a node from it and divides this axis.
    fn is_in_the_way(&self, fold: Node, node: Node, class: Option<Class>) -> bool {
        let FoldAxes { kept, domain, needs_workers, .. } = &self.folds[&fold];
        if !needs_workers {
            return false;
        }
        let Some(class) = class else { return true };
        let is_fold = self.graph.node(node).op.is_fold();
        let may_be_terminal = !is_fold && self.kept_by_result(node).all(|class| kept.contains(&class));
        let free = if may_be_terminal { domain } else { kept };
        !free.contains(&class)
    }

    fn axes_of(&self, fold: Node) -> FoldAxes {
        let [kept, reduced] =
            [false, true].map(|is_reduced| self.connections.classes.of_fold(self.graph, fold, is_reduced));
        let domain = [&kept[..], &reduced].concat();
        let is_large = is_large(self.fusion, &self.graph.ty(self.graph.node(fold).operands[0]).numel());
        let is_scanned = domain.iter().all(|class| self.connections.scanned.contains(class));
        let blocks = Blocks::of(self.amounts, &self.connections.classes, &self.connections.columns, fold);
        FoldAxes { kept, domain, blocks, needs_workers: is_large && !is_scanned }
    }

    /// Whether a value is in memory for every kernel that needs it.
    fn is_source(&self, val: Val) -> bool {
        self.fusion.is_input(val) || self.forced.sources.contains(&val)
    }

    /// How a kernel that computes a target and divides this axis gets a value.
    pub(super) fn origin(
        &self,
        val: Val,
        target: Node,
        class: Option<Class>,
        is_swept: impl Fn(Node) -> bool,
    ) -> Origin {
        let is_fold = self.folds.contains_key(&val.node);
        match () {
            () if self.fusion.is_input(val) => Origin::Input,
            () if self.is_source(val) => Origin::Before,
            () if is_fold && self.moved.contains(&val.node) => Origin::Before,
            () if is_fold && self.is_in_the_way(val.node, target, class) => Origin::Before,
            () if is_fold && is_swept(val.node) => Origin::Swept,
            () => Origin::Computed,
        }
    }

    pub(super) fn bytes(&self, val: Val) -> u64 {
        self.connections.min_reads.bytes(self.amounts, val)
    }
}
