//! How much of each input a group reads: all of it, or only what slices and gathers take from it.
//!
//! Each element of their results takes at most one of their source, so an input that only they lead to counts
//! `min(bytes of the input, bytes of the results)`.

use std::ops::Add;

use index::Expr;
use ir::graph::{Fusion, Graph, Node, TensorOp, Val};
use rustc_hash::FxHashMap;

use super::Amounts;

/// Bytes of each input that a group reads, as formulas.
#[derive(Clone, Debug)]
pub struct InputReads<'a> {
    graph: &'a Graph,
    view: &'a Fusion,
    needs: Needs<Expr>,
}

impl<'a> InputReads<'a> {
    /// What a group needs to make its outputs.
    pub fn of(graph: &'a Graph, view: &'a Fusion) -> InputReads<'a> {
        InputReads { graph, view, needs: Needs::of(graph, view, |val| graph.ty(val).numel()) }
    }

    /// Bytes of an input that are read, of `whole` in all.
    pub fn bytes(&self, val: Val, whole: Expr) -> Expr {
        match self.needs.0.get(&val) {
            None => Expr::zero(),
            Some(None) => whole,
            Some(Some(elements)) => {
                let taken = elements.clone() * Expr::constant(self.graph.dtype(val).size() as i64);
                let facts = self.view.facts();
                match (facts.prove_le(&taken, &whole), facts.prove_le(&whole, &taken)) {
                    (true, _) => taken,
                    (_, true) => whole,
                    _ => Expr::min(&taken, &whole),
                }
            }
        }
    }
}

/// The same at expected sizes, at which nothing needs a proof.
#[derive(Debug)]
pub(crate) struct ExpectedReads<'a> {
    amounts: &'a Amounts<'a>,
    needs: Needs<u64>,
}

impl<'a> ExpectedReads<'a> {
    /// What a group needs to make its outputs.
    pub fn of(amounts: &'a Amounts<'a>, view: &Fusion) -> ExpectedReads<'a> {
        ExpectedReads { amounts, needs: Needs::of(amounts.graph, view, |val| amounts.of(val).elements) }
    }

    /// Bytes of an input that are read.
    pub fn bytes(&self, val: Val) -> u64 {
        self.needs.0.get(&val).map_or(0, |&elements| self.bytes_of(val, elements))
    }

    /// Bytes of a value that these nodes read.
    pub fn bytes_for(&self, val: Val, users: &[Node]) -> u64 {
        let mut elements = Some(0);
        for &node in users {
            let operands = self.amounts.graph.node(node).operands.iter().enumerate();
            for (k, _) in operands.filter(|(_, operand)| **operand == val) {
                let own =
                    self.needs.of_operand(self.amounts.graph, node, k, &|val| self.amounts.of(val).elements);
                elements = elements.zip(own).map(|(known, more)| known + more);
            }
        }
        self.bytes_of(val, elements)
    }

    fn bytes_of(&self, val: Val, elements: Option<u64>) -> u64 {
        let whole = self.amounts.of(val).bytes;
        let size = self.amounts.graph.dtype(val).size() as u64;
        elements.map_or(whole, |elements| elements.saturating_mul(size).min(whole))
    }
}

/// The most elements that a group needs of its values; `None` where all may be. Nothing is needed of values that are not here.
#[derive(Clone, Debug)]
struct Needs<N>(FxHashMap<Val, Option<N>>);

impl<N: Clone + Add<Output = N>> Needs<N> {
    /// What a group needs to make its outputs, given the number of elements of a value.
    fn of(graph: &Graph, view: &Fusion, numel: impl Fn(Val) -> N) -> Needs<N> {
        let outputs = view.outputs().iter().map(|output| (output.val, None));
        let mut needs = Needs(outputs.collect());
        for &node in view.order().iter().rev() {
            for (k, &operand) in graph.node(node).operands.iter().enumerate() {
                let more = needs.of_operand(graph, node, k, &numel);
                needs.add(operand, more);
            }
        }
        needs
    }

    /// The elements of an operand that are needed for what is needed of the results.
    fn of_operand(&self, graph: &Graph, node: Node, k: usize, numel: &impl Fn(Val) -> N) -> Option<N> {
        let own = self.of_results(graph, node);
        match graph.node(node).op {
            ref op if op.needs_whole_operands() => None,
            TensorOp::Slice { .. } => own.or_else(|| Some(numel(node.into()))),
            TensorOp::Gather(_) if k == 0 => own.or_else(|| Some(numel(node.into()))),
            _ => own,
        }
    }

    fn of_results(&self, graph: &Graph, node: Node) -> Option<N> {
        let results = graph.results(node).filter_map(|result| self.0.get(&result).cloned());
        results.reduce(|known, more| known.zip(more).map(|(known, more)| known + more)).flatten()
    }

    fn add(&mut self, val: Val, elements: Option<N>) {
        match self.0.get_mut(&val) {
            Some(known) => *known = known.take().zip(elements).map(|(known, more)| known + more),
            None => _ = self.0.insert(val, elements),
        }
    }
}
