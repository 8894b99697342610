//! How the axes of a node relate to those of its operands, in any group: computed once for each node of a fusion, and kept
//! for all groups.

use std::sync::Arc;

use cranelift_entity::SecondaryMap;
use index::{Expr, Facts, SizeNumber, SizeTable};
use ir::graph::{Fusion, Graph, Node, TensorOp, Val};
use smallvec::SmallVec;

use super::passage::{Passage, Steps};
use super::places::Sources;

/// The size of each axis of a value; `None` if it is 1, as no loop walks that.
pub(super) type WalkedSizes = SmallVec<[Option<SizeNumber>; 4]>;

/// Which axis of an operand is which axis of the result.
pub type KeptAxes = SmallVec<[(u8, u8); 4]>;

/// The axes of a node.
#[derive(Clone, Debug)]
pub(super) struct NodeAxes {
    pub operands: SmallVec<[OperandAxes; 2]>,
    pub results: SmallVec<[WalkedSizes; 1]>,
    pub role: Role,
}

/// The axes of an operand of a node.
#[derive(Clone, Debug)]
pub(super) struct OperandAxes {
    pub sizes: WalkedSizes,
    pub kept: KeptAxes,
    /// Whether these are the axes of the one result, each in its place, as with elementwise ops.
    pub is_same: bool,
    pub passage: Passage,
}

/// The role of axes in a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Fold,
    /// Along this axis.
    Scan(u8),
    /// The node broadcasts an iota. An iota can be computed at any index, so one may number both rows and columns; folds and
    /// scans of it walk its axis.
    BroadcastIota,
    /// Operands may be read at other indices than the loops'.
    IndexMap,
    /// The same, unless both sides have the same atoms.
    Reshape,
    /// The axes of operands are those of the result, or gone, or new.
    Other,
}

/// What is known about the sizes and the axes of nodes of one fusion.
#[derive(Debug)]
pub struct AxisTable {
    pub(super) sizes: SizeTable,
    pub(super) nodes: KnownNodes,
    pub(super) sources: Sources,
    steps: Steps,
}

/// What is known of nodes.
#[derive(Debug, Default)]
pub(super) struct KnownNodes(SecondaryMap<Node, Option<Box<NodeAxes>>>);

impl KnownNodes {
    /// What is known of a node that was found.
    #[inline]
    pub fn of(&self, node: Node) -> &NodeAxes {
        self.0[node].as_deref().expect("the nodes of a group are found before they are united")
    }
}

impl AxisTable {
    /// Nothing is known.
    pub fn new(facts: &Arc<Facts>) -> AxisTable {
        let (nodes, sources, steps) = (KnownNodes::default(), Sources::default(), Steps::default());
        AxisTable { sizes: SizeTable::new(facts), nodes, sources, steps }
    }

    /// Whether it may serve a view with these facts.
    pub fn is_about(&self, facts: &Arc<Facts>) -> bool {
        Arc::ptr_eq(self.sizes.facts(), facts)
    }

    /// Computes what is known about the nodes of a group.
    pub(super) fn find_all(&mut self, graph: &Graph, view: &Fusion) {
        for &node in view.order() {
            self.node(graph, node);
        }
    }

    /// What is known of a node.
    pub(super) fn node(&mut self, graph: &Graph, node: Node) -> &NodeAxes {
        if self.nodes.0[node].is_none() {
            self.nodes.0[node] = Some(Box::new(self.find(graph, node)));
        }
        self.nodes.of(node)
    }

    fn find(&mut self, graph: &Graph, node: Node) -> NodeAxes {
        let data = graph.node(node);
        let results: SmallVec<[WalkedSizes; 1]> =
            graph.results(node).map(|val| self.walked_sizes(graph, val)).collect();
        let sizes: Vec<WalkedSizes> =
            data.operands.iter().map(|&val| self.walked_sizes(graph, val)).collect();
        let role = role(graph, node);
        let operands = sizes.into_iter().enumerate().map(|(k, sizes)| {
            let kept = kept_axes(graph, &data.op, k, data.operands[k], node.into(), &mut self.sizes);
            let is_same = matches!(&results[..], [result] if sizes == *result)
                && role != Role::BroadcastIota
                && kept.len() == sizes.len()
                && kept.iter().all(|(from, to)| from == to);
            let passage = self.steps.passage(graph, node, k);
            OperandAxes { sizes, kept, is_same, passage }
        });
        let operands = operands.collect();
        NodeAxes { operands, results, role }
    }

    fn walked_sizes(&mut self, graph: &Graph, val: Val) -> WalkedSizes {
        if let Some(known) = &self.nodes.0[val.node] {
            return known.results[usize::from(val.result)].clone();
        }
        let sizes = graph.shape(val).iter();
        sizes.map(|size| (!size.is_one()).then(|| self.sizes.number(size))).collect()
    }
}

fn role(graph: &Graph, node: Node) -> Role {
    let data = graph.node(node);
    match data.op {
        TensorOp::Fold { .. } => Role::Fold,
        TensorOp::Scan { axis, .. } => Role::Scan(axis),
        TensorOp::Broadcast(_) if matches!(graph.op(data.operands[0]), TensorOp::Iota(_)) => {
            Role::BroadcastIota
        }
        TensorOp::Slice { .. } | TensorOp::Pad { .. } | TensorOp::Cat(_) | TensorOp::Gather(_) => {
            Role::IndexMap
        }
        TensorOp::Reshape(_) => Role::Reshape,
        _ => Role::Other,
    }
}

/// Which axis of operand `k` is which axis of the result, for one op.
pub fn kept_axes(
    graph: &Graph,
    op: &TensorOp,
    k: usize,
    operand: Val,
    result: Val,
    known: &mut SizeTable,
) -> KeptAxes {
    let rank = graph.ty(operand).rank() as u8;
    let same = || (0..rank).map(|axis| (axis, axis));
    match op {
        TensorOp::Map(_) if rank == 0 => KeptAxes::new(),
        TensorOp::Map(_) | TensorOp::Cast(_) | TensorOp::Expand(_) | TensorOp::Scan { .. } => {
            same().collect()
        }
        TensorOp::Broadcast(new) => {
            let old = new.iter().enumerate().filter(|(_, new)| !**new).map(|(axis, _)| axis as u8);
            (0..rank).zip(old).collect()
        }
        TensorOp::Squeeze(axes) => (0..rank).filter(|axis| !axes.contains(axis)).zip(0..).collect(),
        TensorOp::Fold { axes, .. } => (0..rank).filter(|axis| !axes.contains(axis)).zip(0..).collect(),
        TensorOp::Permute(order) => order.iter().copied().zip(0..).collect(),
        TensorOp::Slice { starts, sizes } => same()
            .filter(|&(axis, _)| {
                let axis = axis as usize;
                let (size, whole) = (&sizes[axis], &graph.shape(operand)[axis]);
                let is_equal = known.are_all_equal(std::slice::from_ref(size), std::slice::from_ref(whole));
                starts[axis].is_zero() && is_equal && is_alike(size, whole)
            })
            .collect(),
        TensorOp::Pad { before, after } => same()
            .filter(|&(axis, _)| before[axis as usize].is_zero() && after[axis as usize].is_zero())
            .collect(),
        TensorOp::Gather(gathered) if k == 0 => same().filter(|(axis, _)| axis != gathered).collect(),
        TensorOp::Gather(_) => same().collect(),
        TensorOp::Cat(cat) => same().filter(|(axis, _)| axis != cat).collect(),
        TensorOp::Reshape(_) => {
            let groups = known.axis_groups_of(graph.shape(operand), graph.shape(result));
            let single = groups.iter().filter(|group| group.from.len() == 1 && group.to.len() == 1);
            let places = single.map(|group| (group.from.start, group.to.start));
            let alike = |&(from, to): &(usize, usize)| {
                is_alike(&graph.shape(operand)[from], &graph.shape(result)[to])
            };
            places.filter(alike).map(|(from, to)| (from as u8, to as u8)).collect()
        }
        TensorOp::Input { .. }
        | TensorOp::Constant(_)
        | TensorOp::Size(_)
        | TensorOp::Iota(_)
        | TensorOp::External(_) => KeptAxes::new(),
    }
}

/// Whether two equal sizes are both written as 1, or neither is: an axis written as 1 has no loop and may be dropped.
fn is_alike(left: &Expr, right: &Expr) -> bool {
    left.is_one() == right.is_one()
}
