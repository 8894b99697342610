//! Gathers: an index that is data becomes a symbol, and the source is computed at it; a counted index is an expression.
//!
//! An index out of range is reported in the fault word of the gather, and zero replaces it under a false guard, so that
//! nothing beyond a buffer is read and no index overflows. The element's value does not matter then: the call ends in an
//! error.

use index::Expr;
use ir::graph::Val;
use kernel::{Access, Value};
use ops::{DType, Scalar, ScalarOp};

use super::ValueEmitter;
use crate::BufferSource;
use crate::counted::Counted;

impl ValueEmitter<'_> {
    /// The gather `val` at an index of it.
    pub(super) fn gather(&mut self, val: Val, axis: usize, index: &[Expr], guard: Option<Value>) -> Value {
        let graph = self.emitter.group.graph;
        let [source, indices] = graph.operands(val) else { unreachable!("a gather has two operands") };
        if let Some((counted, along)) = Counted::of(graph, self.emitter.group.view.facts(), val) {
            let place = along.map_or_else(Expr::zero, |along| index[along].clone());
            let (start, step) = (self.emitter.size(&counted.start), self.emitter.size(&counted.step));
            return self.pull_along(*source, axis, start + step * place, index, guard);
        }
        let at = self.aligned(*indices, index);
        let found = self.pull(*indices, &at, guard);
        let found = self.emitter.cast(found, DType::I64);
        let size = self.emitter.size(&graph.shape(*source)[axis]);
        let inside = self.in_range(|_| found, &size);
        self.report(val, index, found, inside, guard);
        let zero = self.emitter.constant(Scalar::zero(DType::I64));
        let safe = self.emitter.apply(ScalarOp::Where, &[inside, found, zero]);
        let symbol = self.emitter.bind(|| format!("{val}_at"), safe);
        let inside = self.and(guard, inside);
        self.pull_along(*source, axis, Expr::sym(symbol), index, Some(inside))
    }

    /// The element of a source at an index along an axis, and along the others as in the gather's own index.
    fn pull_along(
        &mut self,
        source: Val,
        axis: usize,
        at: Expr,
        index: &[Expr],
        guard: Option<Value>,
    ) -> Value {
        let is_one = self.emitter.group.graph.shape(source)[axis].is_one();
        let mut place = self.aligned(source, index);
        place[axis] = if is_one { Expr::zero() } else { at };
        self.pull(source, &place, guard)
    }

    /// Reports an index that is out of range. A gather without elements has no fault, though its index may be evaluated
    /// outside the loops that never run.
    fn report(&mut self, val: Val, index: &[Expr], found: Value, inside: Value, guard: Option<Value>) {
        let group = self.emitter.group;
        let outside = self.emitter.apply(ScalarOp::LogicalNot, &[inside]);
        let mut wrong = self.and(guard, outside);
        let depth = self.emitter.builder.body_of(&[wrong], &Expr::zero());
        for (index, size) in index.iter().zip(group.graph.shape(val)) {
            let further_in = self.emitter.builder.body_of(&[], index) > depth;
            if further_in && !group.view.facts().prove_lt(&Expr::zero(), size) {
                let size = self.emitter.size(size);
                let (zero, size) = (self.emitter.index(&Expr::zero()), self.emitter.index(&size));
                let some = self.emitter.apply(ScalarOp::Gt, &[size, zero]);
                wrong = self.and(Some(some), wrong);
            }
        }
        let told = self.fault_word(found);
        let number = self.checked.iter().position(|&known| known == val);
        let word = number.expect("a gather is computed in the view that it is pulled in") as u32;
        let faults = self.emitter.buffer(BufferSource::Faults, DType::I64, Access::Fault);
        self.emitter.fault(faults, word, told, wrong);
    }

    /// The code that reports an index: see [`kernel::index_of_fault`].
    fn fault_word(&mut self, found: Value) -> Value {
        let zero = self.emitter.constant(Scalar::zero(DType::I64));
        let counted = self.emitter.apply(ScalarOp::Ge, &[found, zero]);
        let one = self.emitter.cast(counted, DType::I64);
        self.emitter.apply(ScalarOp::Sub, &[found, one])
    }
}
