//! Outputs that are written to inputs. The segment that makes one writes it while it runs, if no later segment reads the old
//! contents or can reject anything; the others are written after all segments. So after an error inputs have their old
//! contents, except as [`Error::may_have_written`] tells.

use std::sync::Arc;

use ir::array::{ArrayView, Layout};
use ir::definition::Definition;
use ir::graph::{Fusion, Output as GivenBack, TensorOp, Val};

use super::account::{Account, own_bytes};
use super::executable::SegmentedExecutable;
use super::parts::{SegmentDefinition, SegmentInput};
use super::slots::{Held, Segment, Source};
use crate::device::{Device, WriteTarget};
use crate::host::HostMemory;
use crate::located::located;
use crate::{CallOptions, Error, Outputs, Tensor};
use ir::array::Argument;

/// The outputs that a segment writes to inputs of the whole definition.
#[derive(Debug, Default)]
pub(super) struct Writing {
    /// For each output the number of the input of the whole definition, or `None`; empty if it writes to no input.
    pub(super) targets: Vec<Option<usize>>,
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
    /// Whether it may write to arguments while it runs: they overlap no others, and nothing else holds a view of them.
    pub fn may_write(&self, held: &[Held], arguments: &[Argument<'_>]) -> bool {
        let alone = |target: usize| {
            let footprint = arguments[target].footprint();
            let mut others = arguments.iter().enumerate().filter(|(other, _)| *other != target);
            let mut viewing = held.iter().enumerate().filter(|(slot, _)| *slot != target);
            others.all(|(_, other)| !other.footprint().overlaps(&footprint))
                && !viewing.any(|(_, held)| matches!(held, Held::Input(place, _) if *place == target))
        };
        !arguments.is_empty()
            && !self.writing.targets.is_empty()
            && self.writing.targets.iter().flatten().all(|&target| alone(target))
    }
}

impl SegmentedExecutable {
    pub(super) fn in_place<'a>(
        &self,
        options: &CallOptions,
        arguments: &'a [Argument<'_>],
        account: &mut Account,
    ) -> Result<Outputs<'a>, Error> {
        let views: Vec<ArrayView<'a>> = arguments.iter().map(Argument::view).collect();
        let targets = self.targets(arguments)?;
        let located = |error| located(error, &self.definition, &views);
        let mut held = self.steps(options, &views, arguments, account).map_err(located)?;
        let is_seen = |argument: &Argument<'_>| {
            !targets.iter().flatten().any(|target| target.footprint().overlaps(&argument.footprint()))
        };
        let visible: Vec<bool> = arguments.iter().map(is_seen).collect();
        let back: Vec<usize> = (0..targets.len()).filter(|&place| targets[place].is_none()).collect();
        let written = self.written(options, &targets, &mut held, &views, &back, account)?;
        account.waiting = own_bytes(&written);
        let outputs = self.given_back(options, &back, &mut held, &views, &visible, account)?;
        let host = self.host(options);
        for (target, tensor) in targets.iter().flatten().zip(&written) {
            let Some(tensor) = tensor else { continue };
            let view = tensor.view();
            account.copy(view.numel() * view.dtype().size(), || host.copy(target.open_at_end(), &view))?;
        }
        Ok(outputs)
    }

    /// For each in-place output the tensor that is yet to be written; `None` if a segment has written it. A value in the
    /// memory of an input is copied, as another in-place output may be written there, and so is a value that is also
    /// returned.
    fn written(
        &self,
        options: &CallOptions,
        targets: &[Option<WriteTarget<'_, HostMemory>>],
        held: &mut [Held],
        given: &[ArrayView<'_>],
        back: &[usize],
        account: &mut Account,
    ) -> Result<Vec<Option<Tensor>>, Error> {
        let mut written = Vec::new();
        for (place, output) in self.definition.fusion.outputs().iter().enumerate() {
            let Some(input) = output.alias.filter(|_| targets[place].is_some()) else { continue };
            let (input, slot) = (input as usize, self.outputs[place]);
            let others =
                (0..self.outputs.len()).filter(|&other| other != place && self.outputs[other] == slot);
            let is_needed = others.into_iter().any(|other| other > place || back.contains(&other));
            let taken = if is_needed { None } else { held[slot].take() };
            written.push(match (taken, &held[slot]) {
                (Some(tensor), _) => Some(tensor),
                (None, Held::Input(place, layout)) if *place == input && layout == given[input].layout() => {
                    None
                }
                (None, held) => Some(self.copied(options, &held.view(given))?),
            });
            account.hold(|| own_bytes(&*held) + own_bytes(&written));
            if !is_needed {
                held[slot] = Held::Nothing;
            }
        }
        Ok(written)
    }

    /// Runs a segment that writes in-place outputs.
    pub(super) fn step_in_place<'v>(
        &self,
        segment: &Segment,
        options: &CallOptions,
        held: &[Held],
        views: Vec<ArrayView<'v>>,
        arguments: &'v [Argument<'v>],
        account: &mut Account,
    ) -> Result<Vec<Held>, Error> {
        let targets = &segment.writing.targets;
        let mut given: Vec<Argument<'v>> = Vec::with_capacity(views.len());
        for (source, view) in segment.inputs.iter().zip(views) {
            given.push(match source {
                Source::Slot(slot) if targets.contains(&Some(*slot)) => arguments[*slot].again(),
                _ => Argument::from(view),
            });
        }
        let layouts: Vec<Layout> = given.iter().map(|argument| argument.form().1.clone()).collect();
        let in_words = |error| segment.in_words(error, layouts.iter());
        let outputs = match account.is_timed {
            false => segment.executable.run_in_place_with(options, &mut given).map_err(in_words)?,
            true => {
                let run = segment.executable.run_in_place_timed(options, &mut given);
                let (outputs, did) = run.map_err(in_words)?;
                account.add(segment.number, did, own_bytes(held));
                outputs
            }
        };
        let mut outputs = outputs.into_iter();
        let hold = |target: &Option<usize>| match target {
            Some(target) => Ok(Held::Input(*target, arguments[*target].form().1.clone())),
            None => {
                self.hold(options, outputs.next().expect("one for each that is given back"), segment, held)
            }
        };
        targets.iter().map(hold).collect()
    }

    /// For each output the argument that it is written to, if there is one.
    fn targets<'a>(
        &self,
        arguments: &'a [Argument<'a>],
    ) -> Result<Vec<Option<WriteTarget<'a, HostMemory>>>, Error> {
        let target = |alias: u32| {
            let place = alias as usize;
            let name = || self.signature.input_name(place).to_owned();
            WriteTarget::checked(&arguments[place], false, name)
        };
        let outputs = self.definition.fusion.outputs().iter();
        outputs.map(|output| output.alias.map(target).transpose()).collect()
    }
}
