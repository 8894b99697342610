//! The states of folds and scans: how they begin, take elements and are combined, and how they give the result. Long folds
//! of f32 continue in f64 after each block of elements: those states are their totals.

use ir::graph::{Graph, Node, TensorOp};
use kernel::{Accumulator, Value};
use ops::{DType, Monoid, Scalar, Totals};

use crate::emitter::{Arithmetic, Emitter};

/// The states of a fold or scan: how they begin, and how they take elements.
#[derive(Clone, Copy)]
pub(crate) struct States<'a> {
    graph: &'a Graph,
    node: Node,
    monoid: &'a Monoid,
}

impl<'a> States<'a> {
    /// The states of a node that is a fold or a scan.
    pub fn of(graph: &'a Graph, node: Node) -> States<'a> {
        match &graph.node(node).op {
            TensorOp::Fold { monoid, .. } | TensorOp::Scan { monoid, .. } => States { graph, node, monoid },
            _ => unreachable!("{node} is neither a fold nor a scan"),
        }
    }

    /// What the fold or scan computes.
    pub fn monoid(&self) -> &'a Monoid {
        self.monoid
    }

    fn operands(&self) -> Vec<DType> {
        self.graph.node(self.node).operands.iter().map(|&operand| self.graph.dtype(operand)).collect()
    }

    /// How a long fold continues after each block.
    pub fn totals(&self) -> Totals {
        self.monoid.totals(&self.operands())
    }

    /// Whether totals are wider than the states of a block.
    pub fn widens(&self) -> bool {
        self.totals() != Totals::Same
    }

    /// The dtypes of totals that are left to the combine step: a sum is rounded once.
    pub fn partial_dtypes(&self) -> Vec<DType> {
        let of_lanes = self.totals() == Totals::OfLanes;
        let dtypes = self.monoid.state_dtypes(&self.operands());
        dtypes.into_iter().map(|dtype| if of_lanes { DType::F64 } else { dtype }).collect()
    }

    /// The initial states of a block.
    pub fn identity(&self) -> Vec<Scalar> {
        self.monoid.identity(&self.operands()).to_vec()
    }

    /// The initial totals.
    pub fn total_identity(&self) -> Vec<Scalar> {
        let widened = |scalar: Scalar| if self.widens() { scalar.cast(DType::F64) } else { scalar };
        self.identity().into_iter().map(widened).collect()
    }

    /// The states of a block or totals after one more element.
    pub fn step(&self, emitter: &mut Emitter<'_>, states: &[Value], element: &[Value]) -> Vec<Value> {
        let element = self.widened(emitter, states, element);
        self.monoid.step(&mut arithmetic(emitter, states), states, &element)
    }

    /// [`States::step`] of states that have taken an element.
    pub fn next(&self, emitter: &mut Emitter<'_>, states: &[Value], element: &[Value]) -> Vec<Value> {
        let element = self.widened(emitter, states, element);
        self.monoid.next(&mut arithmetic(emitter, states), states, &element)
    }

    /// The states after several more elements.
    pub fn take(&self, emitter: &mut Emitter<'_>, states: &[Value], elements: &[Vec<Value>]) -> Vec<Value> {
        let rescaled = self.monoid.rescaled().filter(|_| elements.len() > 1);
        let Some(rescaled) = rescaled else { return self.step(emitter, states, &elements[0]) };
        let dtypes = self.operands();
        let ones: Vec<Value> = dtypes.iter().map(|&dtype| emitter.constant(Scalar::one(dtype))).collect();
        let is_one = |state: usize| elements.iter().all(|element| element[state] == ones[state]);
        let are_one: Vec<bool> = (0..dtypes.len()).map(is_one).collect();
        rescaled.take(&mut arithmetic(emitter, states), &dtypes, (states, elements), &are_one)
    }

    /// States together with others, which may be narrower.
    pub fn combine(&self, emitter: &mut Emitter<'_>, left: &[Value], right: &[Value]) -> Vec<Value> {
        let right = self.widened(emitter, left, right);
        self.monoid.combine(&mut arithmetic(emitter, left), left, &right)
    }

    /// Values in the dtype of states, if the states of a fold are wider.
    fn widened(&self, emitter: &mut Emitter<'_>, states: &[Value], values: &[Value]) -> Vec<Value> {
        let dtype = emitter.builder.dtype(states[0]);
        let widened = |&value: &Value| if self.widens() { emitter.cast(value, dtype) } else { value };
        values.iter().map(widened).collect()
    }

    /// The results of a fold or scan that ends with these states.
    pub fn finish(&self, emitter: &mut Emitter<'_>, states: &[Value]) -> Vec<Value> {
        let results = self.monoid.finish(&mut arithmetic(emitter, states), states);
        let dtypes = self.monoid.result_dtypes(&self.operands());
        results.into_iter().zip(dtypes).map(|(result, dtype)| emitter.cast(result, dtype)).collect()
    }

    /// Whether results are states.
    pub fn is_finished(&self) -> bool {
        self.monoid.results() == self.monoid.states()
    }

    /// Takes one more element into accumulators; returns what they then hold.
    pub fn advance(
        &self,
        emitter: &mut Emitter<'_>,
        accumulators: &[Accumulator],
        element: &[Value],
    ) -> Vec<Value> {
        let states: Vec<Value> = accumulators.iter().map(|&acc| emitter.builder.get(acc)).collect();
        let new = self.step(emitter, &states, element);
        accumulators.iter().zip(&new).for_each(|(&acc, &state)| emitter.builder.set(acc, state));
        new
    }
}

/// The arithmetic of the dtype that states have.
fn arithmetic<'e, 'a>(emitter: &'e mut Emitter<'a>, states: &[Value]) -> Arithmetic<'e, 'a> {
    let dtype = emitter.builder.dtype(states[0]);
    Arithmetic { emitter, dtype }
}
