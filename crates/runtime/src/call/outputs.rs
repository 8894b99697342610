//! What a call gives back when its steps are done, and what it writes to inputs then.

use ir::array::Layout;

use super::Call;
use crate::destination::OutputForm;
use crate::memory::{SlotContents, WriteTarget};
use crate::plan::{Change, Returned, Slot};
use crate::tensor::bytes_of;
use crate::{Error, Tensor};

/// An output of a call that is done.
pub(crate) enum Done {
    /// In memory of the call.
    Made(Tensor),
    /// In the input of this number, which lies under it like this.
    Viewed(usize, Layout),
    /// In the memory of the caller's that was given for it.
    Placed,
}

/// An input that an output is written to, if the call may.
fn written<'t, 'a>(targets: &'t [Option<WriteTarget<'a>>], input: usize) -> Option<&'t WriteTarget<'a>> {
    targets.get(input)?.as_ref()
}

impl<'a> Call<'a> {
    /// The outputs that are given back.
    pub(super) fn outputs(&mut self) -> Result<Vec<Done>, Error> {
        self.given_back().map(|output| self.output(output)).collect()
    }

    fn given_back(&self) -> impl Iterator<Item = &'a Returned> + use<'a> {
        let (plan, targets) = (self.plan, self.targets);
        let is_written =
            |output: &Returned| output.alias.is_some_and(|input| written(targets, input).is_some());
        plan.outputs.iter().filter(move |output| !is_written(output))
    }

    /// Bytes of the copies that are made of inputs which may not be seen.
    pub(super) fn copied_bytes(&self) -> usize {
        let bytes = |output: &Returned| match (&self.memory[output.slot], self.viewed_input(output)) {
            (SlotContents::Input(view), Some(input)) if !self.visible[input] => {
                bytes_of(view.dtype(), &self.changed(output, view.layout()).sizes).unwrap_or(usize::MAX)
            }
            _ => 0,
        };
        self.given_back().map(bytes).fold(0, usize::saturating_add)
    }

    /// The number of the input that an output is a view of.
    fn viewed_input(&self, output: &Returned) -> Option<usize> {
        self.plan.inputs.iter().position(|&slot| slot == output.slot)
    }

    /// The layout of an output whose slot has this one.
    fn changed(&self, output: &Returned, layout: &Layout) -> Layout {
        let change = |layout: Layout, change: &Change| change.of(&layout, &self.extents.formulas);
        output.changes.iter().fold(layout.clone(), change)
    }

    /// An output that is given back: a view is a copy where the input may not be seen.
    fn output(&mut self, output: &Returned) -> Result<Done, Error> {
        if let Some((input, target)) = self.twin(output) {
            return Ok(Done::Viewed(input, target.argument().view().layout().clone()));
        }
        let view = match &self.memory[output.slot] {
            SlotContents::Input(view) => view,
            SlotContents::Own(tensor) => {
                let layout = (!output.changes.is_empty()).then(|| self.changed(output, tensor.layout()));
                let taken = std::mem::replace(&mut self.memory[output.slot], SlotContents::Nothing);
                let SlotContents::Own(tensor) = taken else { unreachable!("as just seen") };
                return Ok(Done::Made(match layout {
                    Some(layout) => tensor.relaid(layout),
                    None => tensor,
                }));
            }
            SlotContents::Target(_) => return Ok(Done::Placed),
            SlotContents::Nothing => unreachable!("outputs are inputs or memory of the call"),
        };
        let layout = self.changed(output, view.layout());
        let input = self.viewed_input(output).expect("only inputs are seen as such");
        if self.visible[input] {
            return Ok(Done::Viewed(input, layout));
        }
        let viewed = view.relaid(layout).expect("view ops reach no further");
        let mut copy =
            Tensor::allocate(&self.machine.allocator, viewed.dtype(), Layout::dense(viewed.sizes()))?;
        self.copy(&mut copy.view_mut(), &viewed).expect("a copy has the type of its source");
        Ok(Done::Made(copy))
    }

    /// The input that holds an output after the call as well, unless something else is written there later.
    fn twin(&self, output: &Returned) -> Option<(usize, &'a WriteTarget<'a>)> {
        let input = output.twin?;
        let target = written(self.targets, input)?;
        let mut others = self.targets.iter().enumerate().filter(|(other, _)| *other != input);
        let is_overwritten = others.any(|(_, other)| {
            other.as_ref().is_some_and(|other| other.argument().overlaps(target.argument()))
        });
        (!is_overwritten).then_some((input, target))
    }

    /// What the outputs that are given back will be.
    pub fn forms(&self) -> Vec<OutputForm> {
        self.given_back().map(|output| self.form(output)).collect()
    }

    fn form(&self, output: &Returned) -> OutputForm {
        let dtype = self.plan.slots[output.slot].dtype;
        let layout = match (self.twin(output), self.viewed_input(output)) {
            (Some((_, target)), _) => target.argument().view().layout().clone(),
            (None, None) => self.changed(output, &self.layout(output.slot)),
            (None, Some(input)) => {
                let layout = self.changed(output, self.memory[output.slot].view().layout());
                if self.visible[input] { layout } else { Layout::dense(&layout.sizes) }
            }
        };
        OutputForm { dtype, layout: Layout { offset: 0, ..layout } }
    }

    /// The caller's memory in which a slot is made at once.
    pub(super) fn destination(&self, slot: Slot) -> Option<&'a WriteTarget<'a>> {
        let mut outputs = self.given_back().zip(self.destinations);
        let is_made = |(output, _): &(&Returned, _)| output.slot == slot && output.changes.is_empty();
        outputs.find(is_made).map(|(_, destination)| destination).filter(|given| given.is_direct())
    }

    /// Writes the outputs that are not yet where the caller wants them.
    pub(super) fn write_destinations(&self, done: &[Done]) {
        for (done, destination) in done.iter().zip(self.destinations) {
            match done {
                Done::Placed => {}
                Done::Made(tensor) => destination.write(&tensor.view(), &self.workers()),
                Done::Viewed(input, layout) => {
                    let input = match written(self.targets, *input) {
                        Some(target) => target.argument().view(),
                        None => self.memory[self.plan.inputs[*input]].view(),
                    };
                    let viewed = input.relaid(layout.clone()).expect("view ops reach no further");
                    destination.write(&viewed, &self.workers());
                }
            }
        }
    }

    /// Writes the in-place outputs that no kernel has stored where they belong.
    pub(super) fn write_targets(&mut self) {
        for output in &self.plan.outputs {
            let Some(target) = output.alias.and_then(|input| written(self.targets, input)) else { continue };
            if let SlotContents::Own(tensor) = &self.memory[output.slot] {
                target.write(&tensor.view(), &self.workers());
            }
        }
    }
}
