//! What a call returns when its steps are done, and what it then writes to inputs.

use cranelift_entity::SecondaryMap;
use ir::array::Layout;

use super::Call;
use crate::Error;
use crate::destination::OutputForm;
use crate::device::{AddressSpace, Device, SlotContents, TensorOf, WriteTarget};
use crate::tensor::bytes_of;
use execution::{Returned, Slot, ViewOp};

/// An output of a finished call.
pub(crate) enum Done<S: AddressSpace> {
    /// In memory of the call.
    Made(S::Tensor),
    /// In the input of this number, with this layout.
    Viewed(usize, Layout),
    /// In the caller's memory for it.
    Placed,
}

/// An input that an output is written to, if the call may.
pub(crate) fn written<'t, 'a, S: AddressSpace>(
    targets: &'t [Option<WriteTarget<'a, S>>],
    input: usize,
) -> Option<&'t WriteTarget<'a, S>> {
    targets.get(input)?.as_ref()
}

impl<'c, 'a, D: Device> Call<'c, 'a, D> {
    /// The outputs that are returned.
    pub(super) fn outputs(&mut self) -> Result<Vec<Done<D::Space>>, Error> {
        // Collecting results moves the outputs often, since a fallible iterator has no length.
        let mut outputs = Vec::with_capacity(self.plan.outputs.len());
        for output in self.given_back() {
            outputs.push(self.output(output)?);
        }
        Ok(outputs)
    }

    fn given_back(&self) -> impl Iterator<Item = &'c Returned> + use<'c, 'a, D> {
        let (plan, targets) = (self.plan, self.targets);
        let is_written =
            |output: &Returned| output.alias.is_some_and(|input| written(targets, input).is_some());
        plan.outputs.iter().filter(move |output| !is_written(output))
    }

    /// Bytes of the copies of inputs that may not be viewed.
    pub(super) fn copied_bytes(&self) -> usize {
        let bytes = |output: &Returned| {
            let SlotContents::Input(view) = &self.memory[output.slot] else { return 0 };
            match output.input {
                Some(input) if !self.visible[input] => {
                    let (dtype, layout) = D::Space::form(view);
                    bytes_of(dtype, &self.changed(output, layout).sizes).unwrap_or(usize::MAX)
                }
                _ => 0,
            }
        };
        self.given_back().map(bytes).fold(0, usize::saturating_add)
    }

    /// The layout of an output whose slot has this one.
    fn changed(&self, output: &Returned, layout: &Layout) -> Layout {
        let apply = |layout: Layout, view_op: &ViewOp| view_op.apply(&layout, &self.extents.formulas);
        output.view_ops.iter().fold(layout.clone(), apply)
    }

    /// An output that is returned: a view becomes a copy if the input may not be viewed.
    fn output(&mut self, output: &Returned) -> Result<Done<D::Space>, Error> {
        if let Some((input, target)) = self.twin(output) {
            return Ok(Done::Viewed(input, target.footprint().layout.clone()));
        }
        match &self.memory[output.slot] {
            SlotContents::Target(_) => return Ok(Done::Placed),
            SlotContents::Own(_) => return Ok(Done::Made(self.take(output))),
            _ => {}
        }
        let layout = self.changed(output, self.memory[output.slot].form().1);
        let input = output.input.expect("only inputs are seen as such");
        if self.visible[input] {
            return Ok(Done::Viewed(input, layout));
        }
        let viewed = D::Space::relaid(&self.memory[output.slot].view(), layout);
        let (dtype, layout) = D::Space::form(&viewed);
        let mut copy = self.device.allocate(dtype, Layout::dense(&layout.sizes))?;
        self.device.copy(D::Space::view_mut(&mut copy), &viewed)?;
        Ok(Done::Made(copy))
    }

    /// The tensor of an output, which leaves the call.
    fn take(&mut self, output: &Returned) -> TensorOf<D> {
        let relaid = !output.view_ops.is_empty();
        let layout = relaid.then(|| self.changed(output, self.memory[output.slot].form().1));
        let taken = std::mem::replace(&mut self.memory[output.slot], SlotContents::Nothing);
        let SlotContents::Own(tensor) = taken else { unreachable!("asked for tensors of the call alone") };
        match layout {
            Some(layout) => D::Space::tensor_relaid(tensor, layout),
            None => tensor,
        }
    }

    /// The input that holds an output after the call as well, unless something else is written there later.
    fn twin(&self, output: &Returned) -> Option<(usize, &'c WriteTarget<'a, D::Space>)> {
        let input = output.twin?;
        let target = written(self.targets, input)?;
        let mut others = self.targets.iter().enumerate().filter(|(other, _)| *other != input);
        let mut is_overwritten = || {
            others.any(|(_, other)| {
                other.as_ref().is_some_and(|other| other.footprint().overlaps(&target.footprint()))
            })
        };
        // No other argument shares the memory of a target that kernels write.
        (target.is_direct() || !is_overwritten()).then_some((input, target))
    }

    /// The forms of the outputs that are returned.
    pub fn forms(&self) -> Vec<OutputForm> {
        self.given_back().map(|output| self.form(output)).collect()
    }

    fn form(&self, output: &Returned) -> OutputForm {
        let dtype = self.plan.slots[output.slot].dtype;
        let visible = output.input.filter(|&input| self.visible[input]);
        let input = self.twin(output).map_or(visible, |(input, _)| Some(input));
        let layout = match (self.twin(output), output.input) {
            (Some((_, target)), _) => target.footprint().layout.clone(),
            (None, None) => self.changed(output, &self.layout(output.slot)),
            (None, Some(input)) => {
                let layout = self.changed(output, self.memory[output.slot].form().1);
                if self.visible[input] { layout } else { Layout::dense(&layout.sizes) }
            }
        };
        OutputForm { dtype, layout: Layout { offset: 0, ..layout }, input }
    }

    /// The slots that are made directly in the caller's memory, each with that.
    pub(super) fn made_directly(
        &self,
        destinations: &'c [Option<WriteTarget<'a, D::Space>>],
    ) -> SecondaryMap<Slot, Option<&'c WriteTarget<'a, D::Space>>> {
        let mut direct = SecondaryMap::new();
        for (output, destination) in self.given_back().zip(destinations) {
            let is_made = output.input.is_none() && output.view_ops.is_empty();
            if let Some(target) = destination.as_ref().filter(|target| is_made && target.is_direct()) {
                direct[output.slot] = Some(target);
            }
        }
        direct
    }

    /// Writes the outputs that are not yet in the caller's memory.
    pub(super) fn write_destinations(&self, done: &mut [Done<D::Space>]) -> Result<(), Error> {
        for (done, destination) in done.iter_mut().zip(self.destinations) {
            let Some(destination) = destination else { continue };
            match done {
                Done::Placed => {}
                Done::Made(tensor) => self.device.copy(destination.open_at_end(), &D::Space::view(tensor))?,
                Done::Viewed(input, layout) => {
                    // The input now holds the value of its twin.
                    let written = written(self.targets, *input).map(WriteTarget::open_at_end);
                    let input = match &written {
                        Some(target) => D::Space::read(target),
                        None => self.memory[self.plan.inputs[*input]].view(),
                    };
                    let viewed = D::Space::relaid(&input, layout.clone());
                    self.device.copy(destination.open_at_end(), &viewed)?;
                }
            }
            *done = Done::Placed;
        }
        Ok(())
    }

    /// Writes the in-place outputs that no kernel has stored to their inputs.
    pub(super) fn write_targets(&mut self) -> Result<(), Error> {
        for output in &self.plan.outputs {
            let Some(target) = output.alias.and_then(|input| written(self.targets, input)) else { continue };
            if let SlotContents::Own(tensor) = &self.memory[output.slot] {
                self.device.copy(target.open_at_end(), &D::Space::view(tensor))?;
            }
        }
        Ok(())
    }
}
