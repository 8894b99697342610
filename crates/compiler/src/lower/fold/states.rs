//! The states of folds and scans: how they begin, take elements and come together.

use ir::graph::{Form, Graph, Node};
use ir::kernel::{Accumulator, Stmt, Value};
use ir::ops::Monoid;
use ir::{DType, Scalar};

use crate::lower::emitter::{Arithmetic, Emitter};
use crate::lower::nest::Nest;

/// The states of a fold or scan: how they begin, and how they take elements.
#[derive(Clone, Copy)]
pub(in crate::lower) struct States<'a> {
    graph: &'a Graph,
    node: Node,
    monoid: &'a Monoid,
}

impl<'a> States<'a> {
    pub fn of(graph: &'a Graph, node: Node) -> States<'a> {
        match &graph.node(node).form {
            Form::Fold { monoid, .. } | Form::Scan { monoid, .. } => States { graph, node, monoid },
            _ => unreachable!("{node} is neither a fold nor a scan"),
        }
    }

    fn operands(&self) -> Vec<DType> {
        self.graph.node(self.node).operands.iter().map(|&operand| self.graph.dtype(operand)).collect()
    }

    fn dtypes(&self) -> Vec<DType> {
        self.monoid.state_dtypes(&self.operands()).to_vec()
    }

    pub fn identity(&self) -> Vec<Scalar> {
        self.monoid.identity(&self.operands()).to_vec()
    }

    pub fn step(&self, emitter: &mut Emitter<'_>, states: &[Value], element: &[Value]) -> Vec<Value> {
        self.monoid.step(&mut Arithmetic { emitter, dtype: self.operands()[0] }, states, element)
    }

    fn combine(&self, emitter: &mut Emitter<'_>, left: &[Value], right: &[Value]) -> Vec<Value> {
        self.monoid.combine(&mut Arithmetic { emitter, dtype: self.operands()[0] }, left, right)
    }

    /// Takes one more element into accumulators; gives what they then hold.
    pub fn advance(
        &self,
        emitter: &mut Emitter<'_>,
        accumulators: &[Accumulator],
        element: &[Value],
    ) -> Vec<Value> {
        let states: Vec<Value> = accumulators.iter().map(|&acc| emitter.get(acc)).collect();
        let new = self.step(emitter, &states, element);
        accumulators.iter().zip(&new).for_each(|(&acc, &state)| emitter.set(acc, state));
        new
    }
}

impl<'a> Nest<'a> {
    /// The states of the fold with this number.
    pub fn states(&self, fold: usize) -> States<'a> {
        States::of(self.emitter.group.graph, self.witness().folds[fold].node)
    }

    /// One accumulator for each state of a fold, opened in the innermost body.
    pub fn open_states(&mut self, fold: usize) -> Vec<Accumulator> {
        let identity = self.states(fold).identity();
        identity.into_iter().map(|init| self.emitter.open_accumulator(init)).collect()
    }

    pub fn combine(&mut self, fold: usize, left: &[Value], right: &[Value]) -> Vec<Value> {
        self.states(fold).combine(&mut self.emitter, left, right)
    }

    pub fn reduce(&mut self, fold: usize, accumulators: &[Accumulator]) -> Vec<Value> {
        let states = self.states(fold);
        let values: Vec<Value> =
            states.dtypes().into_iter().map(|dtype| self.emitter.value_here(dtype)).collect();
        self.emitter.push(Stmt::Reduce {
            values: values.clone(),
            monoid: states.monoid.clone(),
            accumulators: accumulators.to_vec(),
        });
        values
    }

    /// The operands of a fold or scan where the loops stand.
    pub fn element(&mut self, node: Node) -> Vec<Value> {
        let group = self.emitter.group;
        let operands = group.graph.node(node).operands.iter().enumerate();
        operands
            .map(|(k, &operand)| {
                let axes = group.witness.space.axes_of_operand(group.graph, group.view, node, k);
                let index = self.index_of(&axes);
                self.pull(operand, &index, None)
            })
            .collect()
    }
}
