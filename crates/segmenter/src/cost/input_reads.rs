//! How much of each input a group reads: all of it, or only what gathers take from it.
//!
//! A gather reads at most one element of its source for each element of its result, so an input that only gathers lead to
//! counts `min(bytes of the input, bytes of the results)`.

use index::Expr;
use ir::graph::{Fusion, Graph, TensorOp, Val};
use rustc_hash::FxHashMap;
use scheduler::hints::Hints;

/// How much a group needs of its values.
#[derive(Clone, Debug)]
pub struct InputReads<'a> {
    graph: &'a Graph,
    view: &'a Fusion,
    /// The most elements needed of a value; `None` where all may be. Nothing is needed of values that are not here.
    elements: FxHashMap<Val, Option<Expr>>,
}

impl<'a> InputReads<'a> {
    /// How much a group needs to make its outputs.
    pub fn of(graph: &'a Graph, view: &'a Fusion) -> InputReads<'a> {
        let mut reads = InputReads { graph, view, elements: FxHashMap::default() };
        view.outputs().iter().for_each(|output| reads.add(output.val, None));
        for &node in view.order().iter().rev() {
            let data = graph.node(node);
            let own = reads.of_results(node.into());
            for (k, &operand) in data.operands.iter().enumerate() {
                reads.add(
                    operand,
                    match (&data.op, &own) {
                        (TensorOp::Fold { .. } | TensorOp::Scan { .. } | TensorOp::External(_), _) => None,
                        (TensorOp::Gather(_), None) if k == 0 => Some(data.results[0].numel()),
                        _ => own.clone(),
                    },
                );
            }
        }
        reads
    }

    /// Bytes of an input that are read, of `whole` in all.
    pub fn bytes(&self, val: Val, whole: Expr) -> Expr {
        match self.elements.get(&val) {
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

    /// The same at expected sizes, at which nothing needs a proof.
    pub fn expected_bytes(&self, val: Val, whole: u64, hints: &Hints) -> u64 {
        match self.elements.get(&val) {
            None => 0,
            Some(None) => whole,
            Some(Some(elements)) => {
                let size = self.graph.dtype(val).size() as u64;
                hints.value(elements).saturating_mul(size).min(whole)
            }
        }
    }

    fn of_results(&self, val: Val) -> Option<Expr> {
        let results = self.graph.results(val.node);
        let needed: Option<Vec<Expr>> =
            results.filter_map(|result| self.elements.get(&result).cloned()).collect();
        needed.map(|needed| needed.into_iter().sum())
    }

    fn add(&mut self, val: Val, elements: Option<Expr>) {
        let known = self.elements.entry(val).or_insert_with(|| Some(Expr::zero()));
        *known = match (known.take(), elements) {
            (Some(known), Some(more)) => Some(known + more),
            _ => None,
        };
    }
}
