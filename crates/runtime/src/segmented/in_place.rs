//! Outputs that are written to inputs. The segment that makes one writes it while it runs, if no later segment reads the old
//! contents or can reject anything; the others are written after all segments. So after an error inputs have their old
//! contents, except as [`Error::may_have_written`] tells.

use std::sync::Arc;

use ir::definition::Definition;
use ir::graph::{Fusion, Output as GivenBack, TensorOp, Val};

use super::engine::Input;
use super::executable::SegmentedExecutable;
use super::held::Held;
use super::parts::{SegmentDefinition, SegmentInput};
use super::slots::Segment;
use crate::Error;
use crate::device::{AddressSpace, WriteTarget};

/// The outputs that a segment writes to inputs of the whole definition.
#[derive(Debug, Default)]
pub(super) struct Writing {
    /// For each output the number of the input of the whole definition, or `None`; empty if it writes to no input.
    targets: Vec<Option<usize>>,
    /// For each output the number of the segment's own input for it.
    aliases: Vec<Option<u32>>,
}

impl Writing {
    /// The outputs that a segment may write itself: to inputs that it takes and that no later segment takes and the whole
    /// does not return, if no later segment rejects anything.
    pub fn of(whole: &Definition, segment: &SegmentDefinition, later: &[SegmentDefinition]) -> Writing {
        let own = |input: usize| {
            let val = SegmentInput::Val(whole.fusion.inputs()[input]);
            segment.inputs.iter().position(|taken| *taken == val).map(|place| place as u32)
        };
        let target = |&val: &Val| target(whole, val, later).filter(|&input| own(input).is_some());
        let targets: Vec<Option<usize>> = segment.outputs.iter().map(target).collect();
        match targets.iter().any(Option::is_some) {
            true => Writing { aliases: targets.iter().map(|input| input.and_then(own)).collect(), targets },
            false => Writing::default(),
        }
    }

    /// The number of the input of the whole definition that an output may be written to.
    pub fn target(&self, output: usize) -> Option<usize> {
        self.targets.get(output).copied().flatten()
    }

    /// The definition of the segment, with its outputs written to its inputs.
    pub fn written(&self, definition: Definition) -> Definition {
        if self.targets.is_empty() {
            return definition;
        }
        let Definition { graph, fusion, .. } = &definition;
        let given = |(output, &alias): (&GivenBack, &Option<u32>)| match alias {
            Some(_) => GivenBack { alias, ..GivenBack::from(output.val) },
            None => output.clone(),
        };
        let outputs = fusion.outputs().iter().zip(&self.aliases).map(given).collect();
        let facts = Arc::clone(fusion.facts());
        let fusion = Fusion::new(graph, fusion.inputs().to_vec(), outputs, facts)
            .expect("the same view, written to inputs that it has");
        Definition { fusion, ..definition }
    }
}

/// The number of the input of the whole definition that a value may be written to when it is made.
fn target(whole: &Definition, val: Val, later: &[SegmentDefinition]) -> Option<usize> {
    let given_back = |val: Val| whole.fusion.outputs().iter().filter(move |output| output.val == val);
    let mut inputs = given_back(val).filter_map(|output| output.alias);
    let input = inputs.next().filter(|_| inputs.next().is_none())? as usize;
    let old = whole.fusion.inputs()[input];
    let is_free = given_back(old).next().is_none() && !later.iter().any(|later| later.takes(old));
    (is_free && !later.iter().any(SegmentDefinition::may_reject)).then_some(input)
}

impl SegmentDefinition {
    /// Adds the inputs that it may write to but does not read.
    pub(super) fn take_targets(&mut self, whole: &Definition, later: &[SegmentDefinition]) {
        for place in 0..self.outputs.len() {
            let Some(input) = target(whole, self.outputs[place], later) else { continue };
            let old = whole.fusion.inputs()[input];
            if !self.takes(old) {
                self.take_like(place, whole.graph.op(old));
                self.inputs.push(SegmentInput::Val(old));
            }
        }
    }

    /// Adds an input for an output to the definition, with the layout that the input of the whole definition is declared
    /// with.
    fn take_like(&mut self, output: usize, declared: &TensorOp) {
        let TensorOp::Input { layout, .. } = declared else {
            unreachable!("an input of the whole definition")
        };
        let (mut graph, fusion) = self.definition.graph.fork(&self.definition.fusion);
        let (mut inputs, outputs) = (fusion.inputs().to_vec(), fusion.outputs().to_vec());
        let ty = graph.ty(outputs[output].val).clone();
        let mut facts = Arc::clone(fusion.facts());
        let op = TensorOp::Input { ordinal: inputs.len() as u32, ty, layout: layout.clone() };
        let input = graph.add(op, &[], Arc::make_mut(&mut facts)).expect("an input has no operands");
        inputs.push(input.into());
        let fusion = Fusion::new(&graph, inputs, outputs, facts).expect("the view, with one more input");
        (self.definition.graph, self.definition.fusion) = (graph, fusion);
    }
}

impl Segment {
    /// Whether it may write to inputs of the call while it runs: they overlap no others, and nothing else holds a view of
    /// them.
    pub fn may_write<S: AddressSpace>(&self, held: &[Held<S>], inputs: &[Input<'_, S>]) -> bool {
        let alone = |target: usize| {
            let others = inputs.iter().enumerate().filter(|(other, _)| *other != target);
            let mut footprints = others.filter_map(|(_, other)| other.footprint());
            let mut viewing = held.iter().enumerate().filter(|(slot, _)| *slot != target);
            let footprint = inputs[target].footprint();
            footprint.is_some_and(|own| !footprints.any(|other| other.overlaps(&own)))
                && !viewing.any(|(_, held)| matches!(held, Held::Input(place, _) if *place == target))
        };
        !self.writing.targets.is_empty() && self.writing.targets.iter().flatten().all(|&target| alone(target))
    }

    /// The number of the call's input that it writes an output to, if it writes in-place outputs.
    pub fn target(&self, output: usize, writes: bool) -> Option<usize> {
        self.writing.target(output).filter(|_| writes)
    }

    /// The same for the output of a slot.
    pub fn target_of(&self, slot: usize, writes: bool) -> Option<usize> {
        let output = self.outputs.iter().position(|&output| output == slot)?;
        self.target(output, writes)
    }

    /// The slots of the outputs that a call returns.
    pub fn given_back(&self, writes: bool) -> impl Iterator<Item = usize> {
        let is_back = move |&output: &usize| self.target(output, writes).is_none();
        (0..self.outputs.len()).filter(is_back).map(|output| self.outputs[output])
    }
}

impl SegmentedExecutable {
    /// For each output the input that it is written to, if there is one and the call writes.
    ///
    /// # Errors
    /// For an input that may not be written to.
    pub(super) fn targets<'c, S: AddressSpace>(
        &self,
        inputs: &'c [Input<'c, S>],
        writes: bool,
    ) -> Result<Vec<Option<WriteTarget<'c, S>>>, Error> {
        let target = |alias: u32| {
            let name = || self.signature.input_name(alias as usize).to_owned();
            match &inputs[alias as usize] {
                Input::Device(argument) => WriteTarget::checked(argument, false, name),
                Input::Host(_) => Err(Error::ReadOnly { input: name() }),
            }
        };
        let outputs = self.definition.fusion.outputs().iter();
        outputs.map(|output| output.alias.filter(|_| writes).map(target).transpose()).collect()
    }
}
