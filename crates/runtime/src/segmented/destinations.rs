//! Memory of the caller's for outputs: it is requested before the last segment runs, so that this one writes there directly.
//! Takes the contents of slots and the forms of the segment's outputs; writes nothing.

use std::cell::{Cell, OnceCell};

use ir::array::{Footprint, Layout};

use super::call::CallOfSegments;
use super::engine::{ArgumentOf, Engine, Input, SpaceOf};
use super::held::Held;
use super::slots::{Segment, Source};
use crate::Error;
use crate::destination::{Destinations, OutputForm, Place, checked};
use crate::device::AddressSpace;

/// Memory of the caller's, which is requested once.
pub(super) struct CallerMemory<A, P> {
    place: Cell<Option<P>>,
    requested: OnceCell<Requested<A>>,
    /// Whether it was checked against the outputs before the call, so that requesting it does not fail.
    pub is_checked: bool,
}

struct Requested<A> {
    forms: Vec<OutputForm>,
    destinations: Vec<Option<A>>,
}

impl<A, P: Place<A>> CallerMemory<A, P> {
    /// The memory that `place` returns when it is called.
    pub fn new(place: P, is_checked: bool) -> Self {
        CallerMemory { place: Cell::new(Some(place)), requested: OnceCell::new(), is_checked }
    }

    fn requested(&self, forms: impl FnOnce() -> Vec<OutputForm>) -> Result<&Requested<A>, Error> {
        if let Some(place) = self.place.take() {
            let forms = forms();
            let destinations = place(&forms)?;
            return Ok(self.requested.get_or_init(|| Requested { forms, destinations }));
        }
        Ok(self.requested.get().expect("it was requested before, without an error"))
    }
}

impl<'c, E: Engine> CallOfSegments<'c, E> {
    /// The memory that outputs are written to; requested for these forms, if it was not requested before.
    pub(super) fn destinations<P: Place<ArgumentOf<'c, E>>>(
        &self,
        memory: &'c CallerMemory<ArgumentOf<'c, E>, P>,
        forms: impl FnOnce() -> Vec<OutputForm>,
    ) -> Result<Destinations<'c, SpaceOf<E>>, Error> {
        let Requested { forms, destinations } = memory.requested(forms)?;
        self.engine.check_placed(forms, destinations)?;
        let footprints: Vec<Footprint<'_>> = self.inputs.iter().filter_map(Input::footprint).collect();
        checked::<SpaceOf<E>>(destinations.iter().map(Option::as_ref), forms, &footprints)
    }

    /// The destinations of the last segment's returned outputs, which have these forms.
    pub(super) fn placed<P: Place<ArgumentOf<'c, E>>>(
        &self,
        segment: &Segment,
        writes: bool,
        forms: &[OutputForm],
        memory: &'c CallerMemory<ArgumentOf<'c, E>, P>,
    ) -> Result<Vec<Option<ArgumentOf<'c, E>>>, Error> {
        let made = || segment.given_back(writes).zip(forms);
        let back = self.returned();
        let form = |&output: &usize| {
            let slot = self.chain.outputs[output];
            let written = segment.target_of(slot, writes).map(|input| self.held_input(input));
            let (form, input) = match made().find(|(own, _)| *own == slot) {
                Some((_, form)) => (form.clone(), form.input.map(|own| self.input_of(&segment.inputs[own]))),
                None => self.held_form(written.as_ref().unwrap_or(&self.held[slot])),
            };
            self.whole_form(output, form, input)
        };
        self.destinations(memory, || back.iter().map(form).collect())?;
        let Requested { destinations, .. } = memory.requested(Vec::new)?;
        let place = |(slot, form): (usize, &OutputForm)| {
            let mut outputs = (0..self.targets.len()).filter(|&output| self.chain.outputs[output] == slot);
            let output = outputs.next().filter(|_| outputs.next().is_none())?;
            let number = back.iter().position(|&own| own == output)?;
            let is_new = form.input.is_none() && matches!(self.held[slot], Held::Nothing);
            destinations[number].as_ref().filter(|_| is_new).map(SpaceOf::<E>::again)
        };
        Ok(made().map(place).collect())
    }

    /// The form of a slot's contents, and the input that it is a view of, if it is one.
    fn held_form(&self, held: &Held<SpaceOf<E>>) -> (OutputForm, Option<Option<usize>>) {
        let input = held.input_number().map(Some);
        let contents = held.input(self.inputs);
        let (dtype, layout) = contents.form();
        (OutputForm { dtype, layout: layout.clone(), input: None }, input)
    }

    /// The form of an output of the whole: a view of an input if it can be returned as one, else a separate tensor.
    fn whole_form(
        &self,
        output: usize,
        OutputForm { dtype, layout, .. }: OutputForm,
        view_of: Option<Option<usize>>,
    ) -> OutputForm {
        let input = view_of.flatten().filter(|&input| self.is_seen(input));
        let keeps = input.is_some() || view_of.is_none() && self.chain.has_layout(output, &layout);
        let layout = if keeps { layout } else { self.chain.layout(output, &layout.sizes) };
        OutputForm { dtype, layout: Layout { offset: 0, ..layout }, input }
    }

    /// The number of the whole's input in whose memory a segment's input is.
    fn input_of(&self, source: &Source) -> Option<usize> {
        match source {
            Source::Slot(slot) => self.held[*slot].input_number(),
            Source::Size(_) => None,
        }
    }
}
