//! A call of segments, which run in order; then outputs are returned, and written to inputs.

use ir::array::{Array, Layout};
use ir::graph::Sizes;

use super::account::{Account, own_bytes};
use super::destinations::CallerMemory;
use super::engine::{ArgumentOf, Engine, Input, SpaceOf};
use super::executable::SegmentedExecutable;
use super::held::Held;
use super::slots::{Segment, Source};
use crate::call::{Done, Finished};
use crate::destination::{OutputForm, Place};
use crate::device::{AddressSpace, Device, TensorOf, WriteTarget};
use crate::executable::CallMode;
use crate::{CallOptions, Error};

/// A call of segments.
pub(super) struct CallOfSegments<'c, E: Engine> {
    pub chain: &'c SegmentedExecutable,
    pub engine: &'c E,
    pub options: &'c CallOptions,
    pub inputs: &'c [Input<'c, SpaceOf<E>>],
    /// For each output the input that it is written to, if it is.
    pub targets: Vec<Option<WriteTarget<'c, SpaceOf<E>>>>,
    /// The contents of the slots.
    pub held: Vec<Held<SpaceOf<E>>>,
    mode: CallMode,
    account: Account,
}

impl<'c, E: Engine> CallOfSegments<'c, E> {
    /// A call on these inputs.
    ///
    /// # Errors
    /// For an input that is to be written to and may not be.
    pub fn new(
        chain: &'c SegmentedExecutable,
        engine: &'c E,
        options: &'c CallOptions,
        inputs: &'c [Input<'c, SpaceOf<E>>],
        mode: CallMode,
    ) -> Result<Self, Error> {
        let targets = chain.targets(inputs, mode.writes)?;
        let given =
            inputs.iter().enumerate().map(|(place, input)| Held::Input(place, input.form().1.clone()));
        let held = given.chain((inputs.len()..chain.slots).map(|_| Held::Nothing)).collect();
        let account = Account::new(mode.is_timed);
        Ok(CallOfSegments { chain, engine, options, inputs, targets, held, mode, account })
    }

    /// Runs the segments for these sizes; returned outputs go to the memory of the caller's that is given for them.
    ///
    /// # Errors
    /// Those of the segments, and of the memory that is given.
    pub fn run<P: Place<ArgumentOf<'c, E>>>(
        mut self,
        sizes: &Sizes,
        memory: Option<&'c CallerMemory<ArgumentOf<'c, E>, P>>,
    ) -> Result<Finished<SpaceOf<E>>, Error> {
        for (place, segment) in self.chain.segments.iter().enumerate() {
            self.options.interrupt.check()?;
            let scalars = segment.scalars(sizes)?;
            let is_last = place + 1 == self.chain.segments.len();
            // After the first write to an input nothing may fail that could have failed before.
            let may_write = is_last || memory.is_none_or(|memory| memory.is_checked);
            let mode = CallMode { writes: self.mode.writes && may_write, ..self.mode };
            let made = self.segment(segment, &scalars, memory.filter(|_| is_last), mode)?;
            self.account.hold(|| own_bytes(self.held.iter().chain(&made)));
            segment.outputs.iter().zip(made).for_each(|(&slot, made)| self.held[slot] = made);
            segment.freed.iter().for_each(|&slot| self.held[slot] = Held::Nothing);
        }
        let written = self.written()?;
        self.account.waiting = own_bytes(&written);
        let mut outputs = self.given_back()?;
        if let Some(memory) = memory {
            self.write_destinations(&mut outputs, memory)?;
        }
        for (target, tensor) in self.targets.iter().flatten().zip(&written) {
            let Held::Own(tensor, _) = tensor else { continue };
            let device = self.engine.device();
            let copy = || device.copy(target.open_at_end(), &SpaceOf::<E>::view(tensor));
            self.account.copy(device, SpaceOf::<E>::piece(tensor).1, copy)?;
        }
        Ok((outputs, self.account.report))
    }

    /// Runs one segment.
    fn segment<P: Place<ArgumentOf<'c, E>>>(
        &mut self,
        segment: &Segment,
        scalars: &[Array],
        memory: Option<&'c CallerMemory<ArgumentOf<'c, E>, P>>,
        mode: CallMode,
    ) -> Result<Vec<Held<SpaceOf<E>>>, Error> {
        let mode = CallMode { writes: mode.writes && segment.may_write(&self.held, self.inputs), ..mode };
        let target = |output: usize| segment.target(output, mode.writes);
        let is_target = |slot: usize| (0..segment.outputs.len()).any(|place| target(place) == Some(slot));
        let mut scalars = scalars.iter();
        let input = |source: &Source| match source {
            Source::Slot(slot) if is_target(*slot) => self.inputs[*slot].again(),
            Source::Slot(slot) => self.held[*slot].input(self.inputs),
            Source::Size(_) => Input::Host(scalars.next().expect("one for each size").view()),
        };
        let inputs: Vec<Input<'_, SpaceOf<E>>> = segment.inputs.iter().map(input).collect();
        let place =
            memory.map(|memory| |forms: &[OutputForm]| self.placed(segment, mode.writes, forms, memory));
        let called = self.engine.call(&segment.executable, self.options, &inputs, place, mode);
        let (outputs, did) =
            called.map_err(|error| segment.in_words(error, inputs.iter().map(|input| input.form().1)))?;
        // An output that the segment wrote to an input is not among the returned ones.
        let mut outputs = outputs.into_iter();
        let hold = |place: usize| match target(place) {
            Some(input) => Ok(self.held_input(input)),
            None => self.hold(outputs.next().expect("one for each that is given back"), segment, &inputs),
        };
        let made = (0..segment.outputs.len()).map(hold).collect();
        if mode.is_timed {
            self.account.add(&segment.name, did, own_bytes(&self.held));
        }
        made
    }

    /// A whole input.
    pub fn held_input(&self, input: usize) -> Held<SpaceOf<E>> {
        Held::Input(input, self.inputs[input].form().1.clone())
    }

    /// The holder of an output of a segment that was called on these inputs.
    fn hold(
        &self,
        output: Done<SpaceOf<E>>,
        segment: &Segment,
        inputs: &[Input<'_, SpaceOf<E>>],
    ) -> Result<Held<SpaceOf<E>>, Error> {
        match output {
            Done::Made(tensor) => Ok(Held::made(tensor)),
            Done::Placed => Ok(Held::Placed),
            Done::Viewed(input, layout) => {
                let shared = match segment.inputs[input] {
                    Source::Slot(slot) => self.held[slot].shown_as(&layout),
                    Source::Size(_) => None,
                };
                let copied = || self.copied(&inputs[input].relaid(layout)).map(Held::made);
                shared.map_or_else(copied, Ok)
            }
        }
    }

    /// For each in-place output the tensor that is yet to be written; nothing if a segment has written it. A value in the
    /// memory of an input is copied, as another in-place output may be written there, and so is a value that is also
    /// returned.
    fn written(&mut self) -> Result<Vec<Held<SpaceOf<E>>>, Error> {
        let chain = self.chain;
        let mut written = Vec::new();
        for (place, output) in chain.definition.fusion.outputs().iter().enumerate() {
            let Some(input) = output.alias.filter(|_| self.targets[place].is_some()) else { continue };
            let (input, slot) = (input as usize, chain.outputs[place]);
            let mut others = (0..self.targets.len()).filter(|&other| chain.outputs[other] == slot);
            let is_needed = others.any(|other| other > place || self.targets[other].is_none());
            let taken = if is_needed { None } else { self.held[slot].take() };
            written.push(match (taken, &self.held[slot]) {
                (Some(tensor), _) => Held::made(tensor),
                (None, Held::Input(place, layout))
                    if *place == input && layout == self.inputs[input].form().1 =>
                {
                    Held::Nothing
                }
                (None, held) => Held::made(self.copied(&held.input(self.inputs))?),
            });
            self.account.hold(|| own_bytes(&self.held) + own_bytes(&written));
            if !is_needed {
                self.held[slot] = Held::Nothing;
            }
        }
        Ok(written)
    }

    /// The returned outputs; views of inputs are copied if the caller may not see the input. Copies come first, so that held
    /// tensors can then be moved out.
    fn given_back(&mut self) -> Result<Vec<Done<SpaceOf<E>>>, Error> {
        let chain = self.chain;
        let (moved, others) = chain.moved(&self.returned(), |slot| self.held[slot].own_place());
        let mut back: Vec<(usize, Done<SpaceOf<E>>)> = Vec::new();
        for (number, &output) in others.iter().enumerate() {
            back.push((output, self.output(output)?));
            self.account.hold(|| own_bytes(&self.held) + own_bytes(back.iter().map(|(_, output)| output)));
            let slot = chain.outputs[output];
            let mut later = others[number + 1..].iter().chain(&moved);
            if !later.any(|&later| chain.outputs[later] == slot) {
                self.held[slot] = Held::Nothing;
            }
        }
        for output in moved {
            let tensor = self.held[chain.outputs[output]].take().expect("it is held with the layout");
            back.push((output, Done::Made(tensor)));
        }
        back.sort_by_key(|(output, _)| *output);
        Ok(back.into_iter().map(|(_, output)| output).collect())
    }

    /// The numbers of the outputs that are returned.
    pub fn returned(&self) -> Vec<usize> {
        (0..self.targets.len()).filter(|&output| self.targets[output].is_none()).collect()
    }

    /// A returned output that is not moved out of its slot.
    fn output(&self, output: usize) -> Result<Done<SpaceOf<E>>, Error> {
        Ok(match &self.held[self.chain.outputs[output]] {
            Held::Placed => Done::Placed,
            Held::Input(input, layout) if self.is_seen(*input) => Done::Viewed(*input, layout.clone()),
            held @ Held::Own(..) if self.chain.definition.fusion.outputs()[output].order.is_empty() => {
                Done::Made(self.copied(&held.input(self.inputs))?)
            }
            shared => {
                let input = shared.input(self.inputs);
                let layout = self.chain.layout(output, &input.form().1.sizes);
                Done::Made(self.copied_to(&input, layout)?)
            }
        })
    }

    /// Whether an output may be a view of an input: not of an array of the host on another device, nor in memory that is
    /// written to.
    pub fn is_seen(&self, input: usize) -> bool {
        let mut targets = self.targets.iter().flatten();
        let footprint = self.inputs[input].footprint();
        footprint.is_some_and(|own| !targets.any(|target| target.footprint().overlaps(&own)))
    }

    /// Writes returned outputs to the memory that is given for them.
    fn write_destinations<P: Place<ArgumentOf<'c, E>>>(
        &self,
        outputs: &mut [Done<SpaceOf<E>>],
        memory: &'c CallerMemory<ArgumentOf<'c, E>, P>,
    ) -> Result<(), Error> {
        if !outputs.is_empty() && outputs.iter().all(|output| matches!(output, Done::Placed)) {
            return Ok(());
        }
        let destinations =
            self.destinations(memory, || outputs.iter().map(|output| self.form(output)).collect())?;
        let device = self.engine.device();
        for (output, destination) in outputs.iter_mut().zip(&destinations) {
            let Some(destination) = destination else { continue };
            match output {
                Done::Placed => continue,
                Done::Made(tensor) => device.copy(destination.open_at_end(), &SpaceOf::<E>::view(tensor))?,
                Done::Viewed(input, layout) => match self.inputs[*input].relaid(layout.clone()) {
                    Input::Device(argument) => {
                        device.copy(destination.open_at_end(), &SpaceOf::<E>::argument_view(&argument))?
                    }
                    Input::Host(_) => unreachable!("an array of the host was copied"),
                },
            }
            *output = Done::Placed;
        }
        Ok(())
    }

    /// The form of an output that is in no memory of the caller's.
    fn form(&self, output: &Done<SpaceOf<E>>) -> OutputForm {
        let (dtype, layout, input) = match output {
            Done::Made(tensor) => {
                let (dtype, layout) = SpaceOf::<E>::tensor_form(tensor);
                (dtype, layout, None)
            }
            Done::Viewed(input, layout) => (self.inputs[*input].form().0, layout, Some(*input)),
            Done::Placed => unreachable!("nothing was placed yet"),
        };
        OutputForm { dtype, layout: Layout { offset: 0, ..layout.clone() }, input }
    }

    /// A row-major copy in which an expanded axis counts once: it takes no more memory than the source of the view.
    fn copied(&self, input: &Input<'_, SpaceOf<E>>) -> Result<TensorOf<E::Device>, Error> {
        let (_, layout) = input.form();
        let distinct = layout.distinct();
        let dense = Layout::dense(&distinct.sizes);
        let copy = self.copied_to(&input.relaid(distinct), dense)?;
        let mut copied = SpaceOf::<E>::tensor_form(&copy).1.clone();
        for (axis, stride) in layout.strides.iter().enumerate().filter(|(_, stride)| **stride == 0) {
            (copied.sizes[axis], copied.strides[axis]) = (layout.sizes[axis], *stride);
        }
        Ok(SpaceOf::<E>::tensor_relaid(copy, copied))
    }

    /// A copy in this layout; of an array of the host in its own.
    fn copied_to(&self, input: &Input<'_, SpaceOf<E>>, layout: Layout) -> Result<TensorOf<E::Device>, Error> {
        match input {
            Input::Host(view) => self.engine.uploaded(view),
            Input::Device(argument) => {
                let device = self.engine.device();
                let mut copy = device.allocate(input.form().0, layout)?;
                device.copy(SpaceOf::<E>::view_mut(&mut copy), &SpaceOf::<E>::argument_view(argument))?;
                Ok(copy)
            }
        }
    }
}
