//! Elements, bytes and cycles of the values of a graph, for a machine and the expected sizes, each computed once: a search
//! asks for those of every group that it considers.

use std::cell::RefCell;

use cranelift_entity::SecondaryMap;
use ir::graph::{Fusion, Graph, Node, TensorOp, Val};
use scheduler::cycles::OpCycles;
use scheduler::hints::Hints;
use smallvec::SmallVec;
use target::Target;

use super::{ExpectedReads, work};

/// The size of a value.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    pub elements: u64,
    pub bytes: u64,
}

/// The sizes of a node's results, and its cycles.
#[derive(Clone, Debug)]
struct OfNode {
    cycles: u64,
    results: SmallVec<[Amount; 1]>,
}

/// The sizes of the values of a graph.
#[derive(Debug)]
pub struct Amounts<'a> {
    pub graph: &'a Graph,
    pub hints: &'a Hints,
    pub target: &'a Target,
    ops: OpCycles,
    nodes: RefCell<SecondaryMap<Node, Option<OfNode>>>,
}

impl<'a> Amounts<'a> {
    /// The amounts for these sizes, on this machine.
    pub fn new(graph: &'a Graph, hints: &'a Hints, target: &'a Target) -> Amounts<'a> {
        Amounts { graph, hints, target, ops: OpCycles::of(target), nodes: RefCell::default() }
    }

    /// The size of a value.
    pub fn of(&self, val: Val) -> Amount {
        self.with(val.node, |known| known.results[usize::from(val.result)])
    }

    /// Cycles of a node, for all elements.
    pub fn cycles(&self, node: Node) -> u64 {
        self.with(node, |known| known.cycles)
    }

    fn with<T>(&self, node: Node, read: impl Fn(&OfNode) -> T) -> T {
        if let Some(known) = &self.nodes.borrow()[node] {
            return read(known);
        }
        let found = self.find(node);
        let answer = read(&found);
        self.nodes.borrow_mut()[node] = Some(found);
        answer
    }

    fn find(&self, node: Node) -> OfNode {
        let Amounts { graph, hints, ops, .. } = self;
        let amount = |val: Val| {
            let ty = graph.ty(val);
            Amount { elements: hints.elements(&ty.shape), bytes: hints.bytes(ty) }
        };
        OfNode {
            cycles: work::of_node(graph, node, hints, ops),
            results: graph.results(node).map(amount).collect(),
        }
    }

    /// Bytes that a group reads.
    pub fn read(&self, view: &Fusion) -> u64 {
        let read = view.inputs().iter().copied().filter(|&val| !view.uses(val).is_empty());
        if self.takes_parts(view.order()) {
            let reads = ExpectedReads::of(self, view);
            return read.map(|val| reads.bytes(val)).fold(0, u64::saturating_add);
        }
        read.map(|val| self.of(val).bytes).fold(0, u64::saturating_add)
    }

    /// Whether some of these nodes are slices or gathers.
    pub fn takes_parts(&self, nodes: &[Node]) -> bool {
        let takes_part = |op: &TensorOp| matches!(op, TensorOp::Slice { .. } | TensorOp::Gather(_));
        nodes.iter().any(|&node| takes_part(&self.graph.node(node).op))
    }

    /// Bytes of values together.
    pub fn bytes(&self, vals: &[Val]) -> u64 {
        vals.iter().map(|&val| self.of(val).bytes).fold(0, u64::saturating_add)
    }

    /// Bytes that a group writes.
    pub fn written(&self, view: &Fusion) -> u64 {
        self.bytes(&super::made(view))
    }
}
