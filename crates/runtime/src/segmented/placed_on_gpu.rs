//! The destinations of outputs of segments on a GPU: memory of the caller's is requested before the last segment is
//! enqueued, so that this one writes there directly. Takes the contents of slots and the forms of the segment's outputs;
//! writes nothing.

use std::cell::{Cell, OnceCell};

use ir::array::{Footprint, Layout};

use super::on_gpu::{CallOfSegments, HeldOnGpu};
use super::slots::{Segment, Source};
use crate::cuda::{GpuArgument, GpuMemory};
use crate::destination::{Destinations, OutputForm, checked};
use crate::device::WriteTarget;
use crate::executable::require_placed;
use crate::{Error, GpuInput};

/// A function that returns the destinations of outputs of these forms.
pub(super) trait Placing<'d>:
    FnOnce(&[OutputForm]) -> Result<Vec<Option<GpuArgument<'d>>>, Error>
{
}

impl<'d, P: FnOnce(&[OutputForm]) -> Result<Vec<Option<GpuArgument<'d>>>, Error>> Placing<'d> for P {}

/// Memory of the caller's, which is requested once.
pub(super) struct Given<'d, P> {
    place: Cell<Option<P>>,
    asked: OnceCell<Asked<'d>>,
}

struct Asked<'d> {
    forms: Vec<OutputForm>,
    destinations: Vec<Option<GpuArgument<'d>>>,
}

impl<'d, P: Placing<'d>> Given<'d, P> {
    /// The memory that `place` returns when it is called.
    pub fn new(place: P) -> Self {
        Given { place: Cell::new(Some(place)), asked: OnceCell::new() }
    }

    fn asked(&self, forms: impl FnOnce() -> Vec<OutputForm>) -> Result<&Asked<'d>, Error> {
        if let Some(place) = self.place.take() {
            let forms = forms();
            let destinations = place(&forms)?;
            return Ok(self.asked.get_or_init(|| Asked { forms, destinations }));
        }
        Ok(self.asked.get().expect("an error ended the call"))
    }
}

impl CallOfSegments<'_> {
    /// The memory that outputs are written to; requested for these forms, if it was not requested before.
    pub(super) fn destinations<'g, 'd: 'g, P: Placing<'d>>(
        &self,
        given: &'g Given<'d, P>,
        forms: impl FnOnce() -> Vec<OutputForm>,
    ) -> Result<Destinations<'g, GpuMemory>, Error> {
        let Asked { forms, destinations } = given.asked(forms)?;
        if self.stream.is_capturing()? {
            require_placed(forms, destinations)?;
        }
        let footprints: Vec<Footprint<'_>> = self.inputs.iter().filter_map(GpuInput::footprint).collect();
        checked::<GpuMemory>(destinations.iter().map(Option::as_ref), forms, &footprints)
    }

    /// The destinations of the last segment's outputs, which have these forms.
    pub(super) fn placed<'g, 'd: 'g, P: Placing<'d>>(
        &self,
        segment: &Segment,
        forms: &[OutputForm],
        held: &[HeldOnGpu],
        targets: &[Option<WriteTarget<'_, GpuMemory>>],
        given: &'g Given<'d, P>,
    ) -> Result<Vec<Option<GpuArgument<'g>>>, Error> {
        let made = || segment.given_back().zip(forms);
        let back: Vec<usize> = (0..targets.len()).filter(|&output| targets[output].is_none()).collect();
        let form = |&output: &usize| {
            let slot = self.chain.outputs[output];
            let (form, input) = match made().find(|(own, _)| *own == slot) {
                Some((_, form)) => (form.clone(), form.input.map(|own| input_of(&segment.inputs[own], held))),
                None => self.held_form(&held[slot]),
            };
            self.whole_form(output, form, input, targets)
        };
        self.destinations(given, || back.iter().map(form).collect())?;
        let Asked { destinations, .. } = given.asked(Vec::new)?;
        let place = |(slot, form): (usize, &OutputForm)| {
            let mut outputs = (0..targets.len()).filter(|&output| self.chain.outputs[output] == slot);
            let output = outputs.next().filter(|_| outputs.next().is_none())?;
            let number = back.iter().position(|&own| own == output)?;
            let is_new = form.input.is_none() && matches!(held[slot], HeldOnGpu::Nothing);
            destinations[number].as_ref().filter(|_| is_new).map(GpuArgument::again)
        };
        Ok(made().map(place).collect())
    }

    /// The form of a slot's contents, and the input that it is a view of, if it is one.
    fn held_form(&self, held: &HeldOnGpu) -> (OutputForm, Option<Option<usize>>) {
        let input = match held {
            HeldOnGpu::Input(input, _) => Some(Some(*input)),
            HeldOnGpu::Own(_) | HeldOnGpu::Nothing | HeldOnGpu::Placed => None,
        };
        let tensor = held.input(self.inputs);
        let (dtype, layout) = tensor.form();
        (OutputForm { dtype, layout: layout.clone(), input: None }, input)
    }

    /// The form of an output of the whole: a view of an input if it can be returned as one, else a separate tensor.
    fn whole_form(
        &self,
        output: usize,
        OutputForm { dtype, layout, .. }: OutputForm,
        view_of: Option<Option<usize>>,
        targets: &[Option<WriteTarget<'_, GpuMemory>>],
    ) -> OutputForm {
        let input = view_of.flatten().filter(|&input| self.is_seen(input, targets));
        let keeps = input.is_some() || view_of.is_none() && self.chain.has_layout(output, &layout);
        let layout = if keeps { layout } else { self.chain.layout(output, &layout.sizes) };
        OutputForm { dtype, layout: Layout { offset: 0, ..layout }, input }
    }
}

impl Segment {
    /// The slots of the outputs that a call returns.
    fn given_back(&self) -> impl Iterator<Item = usize> {
        let is_written = |place: usize| self.writing.targets.get(place).copied().flatten().is_some();
        (0..self.outputs.len()).filter(move |&place| !is_written(place)).map(|place| self.outputs[place])
    }
}

/// The number of the whole's input in whose memory a segment's input is.
fn input_of(source: &Source, held: &[HeldOnGpu]) -> Option<usize> {
    match source {
        Source::Slot(slot) => match held[*slot] {
            HeldOnGpu::Input(input, _) => Some(input),
            HeldOnGpu::Own(_) | HeldOnGpu::Nothing | HeldOnGpu::Placed => None,
        },
        Source::Size(_) => None,
    }
}
