//! The minimum that a kernel reads of a value from which it needs something: all of it, as much as one slice takes, or
//! nothing where gathers take elements, as they may take one again and again.

use ir::graph::{Fusion, TensorOp, Val};
use rustc_hash::FxHashMap;

use crate::cost::Amounts;

/// The elements of values that a kernel may read in part.
pub(super) struct MinReads(FxHashMap<Val, u64>);

impl MinReads {
    /// For the kernels of a fusion.
    pub(super) fn of(amounts: &Amounts<'_>, fusion: &Fusion) -> MinReads {
        let mut minimum = MinReads(FxHashMap::default());
        for &node in fusion.order().iter().rev() {
            let data = amounts.graph.node(node);
            let result = |val: Val| (minimum.elements(amounts, val), amounts.of(val).elements);
            let needed = amounts.graph.results(node).map(result).min();
            let Some((needed, whole)) = needed else { continue };
            let for_operand = |(k, &operand): (usize, &Val)| {
                let own = amounts.of(operand).elements;
                let elements = match data.op {
                    ref op if op.needs_whole_operands() => own,
                    TensorOp::Gather(_) if k == 0 => 0,
                    TensorOp::Slice { .. } => needed,
                    // What is needed may be the elements that come from elsewhere.
                    TensorOp::Pad { .. } | TensorOp::Cat(_) => {
                        needed.saturating_sub(whole.saturating_sub(own))
                    }
                    _ if needed == whole => own,
                    _ => needed / whole.div_ceil(own.max(1)).max(1),
                };
                (operand, elements.min(own))
            };
            let of_operands: Vec<(Val, u64)> = data.operands.iter().enumerate().map(for_operand).collect();
            for (operand, elements) in of_operands {
                if elements < amounts.of(operand).elements {
                    let known = minimum.0.entry(operand).or_insert(elements);
                    *known = elements.min(*known);
                }
            }
        }
        minimum
    }

    /// Bytes of a value.
    pub(super) fn bytes(&self, amounts: &Amounts<'_>, val: Val) -> u64 {
        match self.0.get(&val) {
            Some(elements) => elements.saturating_mul(amounts.graph.dtype(val).size() as u64),
            None => amounts.of(val).bytes,
        }
    }

    fn elements(&self, amounts: &Amounts<'_>, val: Val) -> u64 {
        self.0.get(&val).copied().unwrap_or_else(|| amounts.of(val).elements)
    }
}
