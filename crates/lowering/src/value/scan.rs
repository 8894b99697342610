//! Scans that values need, and elements of folds and scans.

use ir::graph::{Node, TensorOp, Val};
use kernel::Value;
use rustc_hash::FxHashSet;

use super::ValueEmitter;
use crate::states::States;

impl ValueEmitter<'_> {
    /// The scans that values need at the current index, operands before users.
    pub fn scans_of(&self, vals: Vec<Val>) -> Vec<Node> {
        let group = self.emitter.group;
        let (mut stack, mut seen, mut scans) = (vals, FxHashSet::default(), Vec::new());
        while let Some(val) = stack.pop() {
            let at_hand = group.view.is_input(val) || self.persists(val);
            if at_hand || group.graph.op(val).is_fold() || !seen.insert(val) {
                continue;
            }
            if self.scanned_by(val.node) && !scans.contains(&val.node) {
                scans.push(val.node);
            }
            stack.extend(group.graph.operands(val).iter().copied());
        }
        scans.sort_unstable();
        scans
    }

    /// Whether a node is a scan whose axis a loop walks.
    fn scanned_by(&self, node: Node) -> bool {
        let group = self.emitter.group;
        match group.graph.node(node).op {
            TensorOp::Scan { axis, .. } => {
                !group.witness.space.axes_of(node.into())[axis as usize].is_empty()
            }
            _ => false,
        }
    }

    /// The operands of a fold or scan at the current index.
    pub fn element(&mut self, node: Node) -> Vec<Value> {
        let group = self.emitter.group;
        let operands = group.graph.node(node).operands.iter().enumerate();
        operands
            .map(|(k, &operand)| {
                let axes = group.witness.space.axes_of_operand(node, k);
                let index = self.index_of(axes);
                self.pull(operand, &index, None)
            })
            .collect()
    }

    /// A scan along an axis of size 1: the element itself as a state.
    pub(super) fn single_scan(&mut self, val: Val) -> Value {
        let states = States::of(self.emitter.group.graph, val.node);
        let identity: Vec<Value> =
            states.identity().into_iter().map(|init| self.emitter.constant(init)).collect();
        let element = self.element(val.node);
        let new = states.step(&mut self.emitter, &identity, &element);
        states.finish(&mut self.emitter, &new)[val.result as usize]
    }
}
