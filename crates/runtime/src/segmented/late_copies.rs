//! Outputs that a segment could only copy to: of a value that it takes or gives back as well, or in an order of axes that a
//! library does not compute. They are copied when all segments are done, as in a call of the whole, so that both are in memory only
//! then; segments that read one read the other.

use std::sync::Arc;

use compiler::outputs::{copied_from, sees_operand};
use ir::definition::Definition;
use ir::graph::{Axes, Fusion, Output, TensorOp, Val};

use super::parts::{SegmentDefinition, SegmentInput};

/// A value of the whole definition that is a copy of another.
pub(super) type LateCopy = (Val, Val);

impl SegmentDefinition {
    /// The segment without such copies, and which values are copies of what it gives back.
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

    /// The places of outputs that are given back row-major for now, and of those that are copies, with what they are copies of.
    fn copies(&self, whole: &Definition) -> (Vec<usize>, Vec<(usize, Val)>) {
        let Definition { graph, fusion, .. } = &self.definition;
        let outputs = fusion.outputs();
        let sources: Vec<Val> = outputs.iter().map(|output| copied_from(graph, fusion, output.val)).collect();
        let given = |place: usize| {
            whole.fusion.outputs().iter().filter(move |output| output.val == self.outputs[place])
        };
        let is_written = |place: usize| given(place).any(|output| output.alias.is_some());
        let is_of_library = |place: usize| matches!(graph.op(sources[place]), TensorOp::External(_));
        // The first that the whole gives back, or else that is row-major: the others are copies of it.
        let of = |copy: usize| {
            let alike = || (0..outputs.len()).filter(|&of| sources[of] == sources[copy] && !is_written(of));
            let given_back = alike().find(|&of| given(of).next().is_some() && !is_of_library(of));
            let first = given_back.or_else(|| alike().find(|&of| outputs[of].order.is_empty()));
            let first = first.filter(|&first| first != copy && is_made(graph.op(sources[copy])));
            first.map(|first| self.outputs[first])
        };
        // What a segment before this one made.
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

/// Whether a value is in memory of its own, rather than seen in that of another.
fn is_made(op: &TensorOp) -> bool {
    !matches!(op, TensorOp::Input { .. }) && !sees_operand(op)
}
