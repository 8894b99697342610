//! Stores of values: of a value itself, or of the two parts of a complex one, side by side.

use index::Expr;
use ir::graph::{TensorOp, Val};
use kernel::Value;
use ops::{Scalar, ScalarOp};

use super::ValueEmitter;
use scheduler::legal::Store;

impl ValueEmitter<'_> {
    /// Computes a stored value at the current index and stores it.
    pub fn store(&mut self, number: usize) {
        let store: &Store = &self.witness().stores[number];
        let index = self.index_of(&store.axes);
        self.store_value(number, store.val, &index);
    }

    /// Computes the stored value of this number at an index and stores it. Prefetches come in between.
    pub fn store_value(&mut self, number: usize, val: Val, index: &[Expr]) {
        let parts = self.pull_parts(val, index);
        self.before_stores();
        let (buffer, position) = self.emitter.store_address(number, val, index);
        for (place, part) in parts.into_iter().enumerate() {
            self.store_element(buffer, position.clone() + Expr::constant(place as i64), part);
        }
    }

    /// What is stored for a value at an index: itself, or the parts of a complex one, which may be expanded.
    fn pull_parts(&mut self, val: Val, index: &[Expr]) -> Vec<Value> {
        let (graph, view) = (self.emitter.group.graph, self.emitter.group.view);
        match graph.op(val) {
            _ if !graph.dtype(val).is_complex() => vec![self.pull(val, index, None)],
            _ if view.is_input(val) => {
                (0..2).map(|part| self.part_of_input(val, part, index, None)).collect()
            }
            TensorOp::Expand(_) => {
                let small = graph.operands(val)[0];
                self.pull_parts(small, &self.aligned(small, index))
            }
            TensorOp::Map(ScalarOp::Complex) => {
                let parts = graph.operands(val).iter();
                parts.map(|&part| self.pull(part, &self.aligned(part, index), None)).collect()
            }
            op => unreachable!("{val}: {op:?} is done with the parts of complex numbers"),
        }
    }

    /// A part of an element of a complex input.
    pub(super) fn part_of_input(
        &mut self,
        input: Val,
        place: i64,
        index: &[Expr],
        guard: Option<Value>,
    ) -> Value {
        let group = self.emitter.group;
        if self.is_empty(input) {
            return self.emitter.constant(Scalar::zero(group.graph.dtype(input).real()));
        }
        let number = group.view.input_place(input);
        let number = number.expect("complex values have parts of their own, or are inputs");
        let (buffer, position) = self.emitter.input_address(number, index);
        self.emitter.load_buffer(buffer, position + Expr::constant(place), guard)
    }
}
