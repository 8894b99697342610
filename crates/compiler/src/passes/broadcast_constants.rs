//! Moves broadcasts of values computed from constants to where the computation begins: the broadcast of a minimum of an iota
//! becomes the minimum of the broadcast of the iota.
//!
//! Equal nodes are one, so a value that is broadcast along rows in one place and along columns in another, such as a count
//! of neighbours, would have two axes in one loop. Constants are computed where they are used: each use then has its own
//! value. Leaves alone values that are kept in memory, and boundaries of the definition.

use index::Facts;
use ir::graph::{Fusion, Graph, TensorOp, Val, ValMap, rewrite};
use ops::ScalarOp;
use rustc_hash::{FxHashMap, FxHashSet};

use super::PassContext;

/// The pass.
pub fn broadcast_constants(graph: &mut Graph, context: &PassContext<'_>) -> (Fusion, ValMap) {
    let fusion = context.fusion;
    let is_in_memory =
        |val: Val| fusion.is_input(val) || fusion.is_output(val) || context.kept.contains(&val);
    let mut constants: FxHashSet<Val> = FxHashSet::default();
    rewrite(graph, fusion, |graph, facts, node, operands| {
        let op = graph.node(node).op.clone();
        let is_computed = match op {
            TensorOp::Map(scalar_op) => scalar_op != ScalarOp::SegmentSet,
            TensorOp::Cast(_) => true,
            _ => false,
        };
        let begins = matches!(op, TensorOp::Constant(_) | TensorOp::Size(_) | TensorOp::Iota(_));
        let is_constant = begins || (is_computed && operands.iter().all(|val| constants.contains(val)));
        if is_constant && !graph.results(node).any(is_in_memory) {
            let same = graph.add(op, operands, facts).expect("equal types are accepted again");
            constants.extend(graph.results(same));
            return Some(graph.results(same).collect());
        }
        let TensorOp::Broadcast(_) = op else { return None };
        let mut broadcast =
            Broadcast { graph, facts, op, constants: &constants, known: FxHashMap::default() };
        Some(vec![broadcast.of(operands[0])])
    })
}

/// A broadcast that is moved.
struct Broadcast<'g> {
    graph: &'g mut Graph,
    facts: &'g mut Facts,
    op: TensorOp,
    constants: &'g FxHashSet<Val>,
    /// The values that replace others.
    known: FxHashMap<Val, Val>,
}

impl Broadcast<'_> {
    /// The broadcast of a value; a scalar operand of an op stays a scalar.
    fn of(&mut self, val: Val) -> Val {
        if let Some(&known) = self.known.get(&val) {
            return known;
        }
        let is_scalar = |graph: &Graph, val: Val| graph.shape(val).is_empty();
        let is_computed = matches!(self.graph.op(val), TensorOp::Map(_) | TensorOp::Cast(_));
        let is_moved = is_computed && self.constants.contains(&val) && !is_scalar(self.graph, val);
        let (op, operands) = match is_moved {
            false => (self.op.clone(), vec![val]),
            true => {
                let operands = self.graph.operands(val).to_vec();
                let moved = operands.into_iter().map(|operand| match is_scalar(self.graph, operand) {
                    true => operand,
                    false => self.of(operand),
                });
                let moved = moved.collect();
                (self.graph.op(val).clone(), moved)
            }
        };
        let made = self.graph.add(op, &operands, self.facts).expect("an op takes what is broadcast").into();
        self.known.insert(val, made);
        made
    }
}
