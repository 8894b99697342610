//! Outputs that a segment could only copy: of a value that it takes or returns as well, or in an order of axes that a
//! library does not compute. They are copied after all segments, as in a call of the whole, so that both are in memory only
//! then; segments that read such a copy read its source.

use std::sync::Arc;

use compiler::outputs::{copied_from, sees_operand};
use ir::definition::Definition;
use ir::graph::{Axes, Fusion, Output, TensorOp, Val};

use super::parts::{SegmentDefinition, SegmentInput};

/// A value of the whole definition that is a copy of another.
pub(super) type LateCopy = (Val, Val);

impl SegmentDefinition {
    /// The segment without such copies, and the values that are copies of its outputs.
    pub(super) fn without_copies(mut self, whole: &Definition) -> (SegmentDefinition, Vec<LateCopy>) {
        let (plain, copies) = self.copies(whole);
        let is_copy = |place: usize| copies.iter().any(|(copy, _)| *copy == place);
        let outputs = self.definition.fusion.outputs().iter().enumerate();
        let left = outputs.filter(|(place, _)| !is_copy(*place)).map(|(place, output)| {
            let order = if plain.contains(&place) { Axes::new() } else { output.order.clone() };
            Output { order, ..output.clone() }
        });
        let left: Vec<Output> = left.collect();
        let late = copies.iter().map(|&(copy, of)| (self.outputs[copy], of)).collect();
        let Definition { graph, fusion, .. } = &self.definition;
        let facts = Arc::clone(fusion.facts());
        let fusion =
            Fusion::new(graph, fusion.inputs().to_vec(), left, facts).expect("the view, or less of it");
        self.definition.fusion = fusion;
        let places = 0..self.outputs.len();
        self.outputs = places.filter(|&place| !is_copy(place)).map(|place| self.outputs[place]).collect();
        (self, late)
    }

    /// The positions of outputs that are row-major for now, and those of copies, each with its source.
    fn copies(&self, whole: &Definition) -> (Vec<usize>, Vec<(usize, Val)>) {
        let Definition { graph, fusion, .. } = &self.definition;
        let outputs = fusion.outputs();
        let sources: Vec<Val> = outputs.iter().map(|output| copied_from(graph, fusion, output.val)).collect();
        let given = |place: usize| {
            whole.fusion.outputs().iter().filter(move |output| output.val == self.outputs[place])
        };
        let is_written = |place: usize| given(place).any(|output| output.alias.is_some());
        let is_of_library = |place: usize| matches!(graph.op(sources[place]), TensorOp::External(_));
        // The source is the first output that the whole returns, or else that is row-major: the others are copies of it.
        let of = |copy: usize| {
            let alike = || (0..outputs.len()).filter(|&of| sources[of] == sources[copy] && !is_written(of));
            let given_back = alike().find(|&of| given(of).next().is_some() && !is_of_library(of));
            let first = given_back.or_else(|| alike().find(|&of| outputs[of].order.is_empty()));
            let first = first.filter(|&first| first != copy && is_made(graph.op(sources[copy])));
            first.map(|first| self.outputs[first])
        };
        // The value of an earlier segment.
        let taken = |copy: usize| match self.inputs.get(fusion.input_place(sources[copy])?)? {
            SegmentInput::Val(val) if self.schedule.is_none() && !whole.fusion.is_input(*val) => Some(*val),
            _ => None,
        };
        let of = |copy: usize| of(copy).or_else(|| taken(copy));
        let others = (0..outputs.len()).filter(|&place| !is_written(place));
        let (copies, others): (Vec<usize>, Vec<usize>) = others.partition(|&place| of(place).is_some());
        let copies = copies.into_iter().filter_map(|copy| Some((copy, of(copy)?)));
        (others.into_iter().filter(|&place| is_of_library(place)).collect(), copies.collect())
    }
}

/// Whether a value has its own memory, rather than being a view.
fn is_made(op: &TensorOp) -> bool {
    !matches!(op, TensorOp::Input { .. }) && !sees_operand(op)
}
