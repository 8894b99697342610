//! Segments on tensors of a GPU, in the order of the caller's stream: values between them stay on the GPU.
//!
//! In-place outputs are written after all segments were enqueued, so that every segment reads the old contents of inputs.

use std::sync::Arc;

use cuda::Stream;
use ir::array::{Array, Footprint, Layout};

use super::account::{Account, OwnMemory, Piece, own_bytes};
use super::executable::SegmentedExecutable;
use super::placed_on_gpu::{Given, Placing};
use super::slots::{Segment, Source};
use crate::cuda::{CudaDevice, GpuArgument, GpuMemory, GpuTensor};
use crate::destination::OutputForm;
use crate::device::WriteTarget;
use crate::executable::{bound_on_gpu, located_on_gpu, unplaced};
use crate::{CallOptions, CallReport, Error, GpuInput, GpuOutput};

/// The contents of a slot.
pub(super) enum HeldOnGpu {
    Nothing,
    /// The input of this number, with this layout.
    Input(usize, Layout),
    Own(GpuTensor),
    /// An output that is in memory of the caller's.
    Placed,
}

/// A call of segments on a GPU.
#[derive(Clone, Copy)]
pub(super) struct CallOfSegments<'c> {
    pub chain: &'c SegmentedExecutable,
    device: &'c CudaDevice,
    pub stream: &'c Arc<Stream>,
    pub inputs: &'c [GpuInput<'c>],
}

impl SegmentedExecutable {
    /// As [`Executable::run_on_gpu_into`](crate::Executable::run_on_gpu_into), but `place` is called after all segments but
    /// the last were enqueued: the last writes its outputs there, the other outputs are copied.
    ///
    /// # Errors
    /// As [`Executable::run_on_gpu_into`](crate::Executable::run_on_gpu_into).
    pub fn run_on_gpu_into<'d>(
        &self,
        options: &CallOptions,
        stream: &Arc<Stream>,
        inputs: &[GpuInput<'_>],
        place: impl FnOnce(&[OutputForm]) -> Result<Vec<Option<GpuArgument<'d>>>, Error>,
    ) -> Result<Vec<GpuOutput>, Error> {
        self.on_gpu(options, stream, inputs, place, &mut Account::default())
    }

    /// The same, with the time of each step by the GPU's clock; waits for the work.
    ///
    /// # Errors
    /// As [`SegmentedExecutable::run_on_gpu_into`].
    pub fn run_on_gpu_timed<'d>(
        &self,
        options: &CallOptions,
        stream: &Arc<Stream>,
        inputs: &[GpuInput<'_>],
        place: impl FnOnce(&[OutputForm]) -> Result<Vec<Option<GpuArgument<'d>>>, Error>,
    ) -> Result<(Vec<GpuOutput>, CallReport), Error> {
        let mut account = Account::timed();
        let outputs = self.on_gpu(options, stream, inputs, place, &mut account)?;
        Ok((outputs, account.report))
    }

    fn on_gpu<'d>(
        &self,
        options: &CallOptions,
        stream: &Arc<Stream>,
        inputs: &[GpuInput<'_>],
        place: impl FnOnce(&[OutputForm]) -> Result<Vec<Option<GpuArgument<'d>>>, Error>,
        account: &mut Account,
    ) -> Result<Vec<GpuOutput>, Error> {
        let device = self.options.opened_gpu()?;
        let call = CallOfSegments { chain: self, device: &device, stream, inputs };
        let done = call.targets().and_then(|targets| {
            let given = Given::new(place);
            let held = call.segments(options, &targets, &given, account)?;
            call.outputs(held, &targets, &given, account)
        });
        done.map_err(|error| located_on_gpu(error, &self.definition, inputs))
    }
}

impl<'c> CallOfSegments<'c> {
    /// Enqueues the segments on the stream.
    fn segments<'d, P: Placing<'d>>(
        &self,
        options: &CallOptions,
        targets: &[Option<WriteTarget<'_, GpuMemory>>],
        destinations: &Given<'d, P>,
        account: &mut Account,
    ) -> Result<Vec<HeldOnGpu>, Error> {
        let chain = self.chain;
        let sizes = chain.with_seeds(options, bound_on_gpu(&chain.signature, self.inputs)?);
        let form = |input: &GpuInput<'_>| input.form().1.clone();
        let given = self.inputs.iter().enumerate().map(|(place, input)| HeldOnGpu::Input(place, form(input)));
        let mut held: Vec<HeldOnGpu> =
            given.chain((self.inputs.len()..chain.slots).map(|_| HeldOnGpu::Nothing)).collect();
        for (place, segment) in chain.segments.iter().enumerate() {
            options.interrupt.check()?;
            let scalars = segment.scalars(&sizes)?;
            let in_place = |forms: &[OutputForm]| match place + 1 == chain.segments.len() {
                true => self.placed(segment, forms, &held, targets, destinations),
                false => unplaced(forms),
            };
            let outputs = self.segment(segment, options, &held, &scalars, in_place, account)?;
            account.hold(|| own_bytes(&held) + own_bytes(&outputs));
            segment.outputs.iter().zip(outputs).for_each(|(&slot, made)| held[slot] = made);
            segment.freed.iter().for_each(|&slot| held[slot] = HeldOnGpu::Nothing);
        }
        Ok(held)
    }

    /// Enqueues one segment on the stream.
    fn segment<'d>(
        &self,
        segment: &Segment,
        options: &CallOptions,
        held: &[HeldOnGpu],
        scalars: &[Array],
        place: impl Placing<'d>,
        account: &mut Account,
    ) -> Result<Vec<HeldOnGpu>, Error> {
        let mut sizes = scalars.iter();
        let targets = &segment.writing.targets;
        // A segment writes to a copy, which becomes the output: others may still read the input.
        let is_target = |slot: usize| targets.contains(&Some(slot));
        let copy = |source: &Source| match source {
            Source::Slot(slot) if is_target(*slot) => self.copied(&held[*slot].input(self.inputs)).map(Some),
            Source::Slot(_) | Source::Size(_) => Ok(None),
        };
        let mut copies =
            segment.inputs.iter().map(copy).collect::<Result<Vec<Option<GpuTensor>>, Error>>()?;
        let copied = own_bytes(&copies);
        let mut given: Vec<GpuInput<'_>> = Vec::with_capacity(segment.inputs.len());
        for (source, copy) in segment.inputs.iter().zip(&mut copies) {
            given.push(match (source, copy) {
                (_, Some(copy)) => GpuInput::Tensor(copy.argument()),
                (Source::Slot(slot), None) => held[*slot].input(self.inputs),
                (Source::Size(_), None) => GpuInput::Host(sizes.next().expect("one for each size").view()),
            });
        }
        let in_words = |error| segment.in_words(error, given.iter().map(|input| input.form().1));
        let outputs = match account.is_timed {
            false => {
                let run = segment.executable.run_segment_on_gpu(options, self.stream, &given, place);
                run.map_err(in_words)?
            }
            true => {
                let run = segment.executable.run_on_gpu_timed(options, self.stream, &given, place);
                let (outputs, did) = run.map_err(in_words)?;
                account.add(segment.number, did, own_bytes(held) + copied);
                outputs
            }
        };
        let hold = |output| match output {
            GpuOutput::Made(tensor) => Ok(HeldOnGpu::Own(tensor)),
            GpuOutput::View { input, layout } => match segment.inputs[input] {
                Source::Slot(slot) if let HeldOnGpu::Input(place, _) = held[slot] => {
                    Ok(HeldOnGpu::Input(place, layout))
                }
                // Memory of the chain itself, which it frees.
                _ => self.copied(&given[input].relaid(layout)).map(HeldOnGpu::Own),
            },
            GpuOutput::Placed => Ok(HeldOnGpu::Placed),
        };
        // An output that the segment wrote to an input is not among the returned ones.
        let mut outputs = outputs.into_iter();
        let mut made = Vec::new();
        for place in 0..segment.outputs.len() {
            made.push(match targets.get(place).copied().flatten() {
                Some(target) => Err(target),
                None => Ok(hold(outputs.next().expect("one for each that is given back"))?),
            });
        }
        drop(given);
        let mut written = |target: usize| {
            let is_it = |source: &Source| matches!(source, Source::Slot(slot) if *slot == target);
            let place = segment.inputs.iter().position(is_it).expect("a segment takes what it writes to");
            HeldOnGpu::Own(copies[place].take().expect("it was copied"))
        };
        Ok(made.into_iter().map(|made| made.unwrap_or_else(&mut written)).collect())
    }

    /// Returns the outputs of the definition, then writes to inputs.
    fn outputs<'d, P: Placing<'d>>(
        &self,
        mut held: Vec<HeldOnGpu>,
        targets: &[Option<WriteTarget<'_, GpuMemory>>],
        destinations: &Given<'d, P>,
        account: &mut Account,
    ) -> Result<Vec<GpuOutput>, Error> {
        let written = self.written(&mut held, account)?;
        account.waiting = own_bytes(&written);
        let outputs: Vec<usize> = (0..targets.len()).filter(|&output| targets[output].is_none()).collect();
        let (moved, others) = self.chain.moved(&outputs, |slot| held[slot].own_place());
        let mut given: Vec<(usize, GpuOutput)> = Vec::new();
        for (number, &output) in others.iter().enumerate() {
            given.push((output, self.given_back(output, targets, &held)?));
            account.hold(|| own_bytes(&held) + own_bytes(given.iter().map(|(_, output)| output)));
            let slot = self.chain.outputs[output];
            let mut later = others[number + 1..].iter().chain(&moved);
            if !later.any(|&later| self.chain.outputs[later] == slot) {
                held[slot] = HeldOnGpu::Nothing;
            }
        }
        let take = |&output: &usize| {
            let tensor = held[self.chain.outputs[output]].take();
            (output, GpuOutput::Made(tensor.expect("it is held with the layout")))
        };
        given.extend(moved.iter().map(take));
        given.sort_by_key(|(output, _)| *output);
        let mut back: Vec<GpuOutput> = given.into_iter().map(|(_, output)| output).collect();
        let forms = || back.iter().map(|output| self.form(output)).collect();
        let destinations = self.destinations(destinations, forms)?;
        for (output, destination) in back.iter_mut().zip(destinations) {
            if let (Some(destination), Some(tensor)) = (destination, self.tensor(output)) {
                self.copy(&destination, &tensor)?;
                *output = GpuOutput::Placed;
            }
        }
        for (target, tensor) in targets.iter().flatten().zip(&written) {
            if let Some(tensor) = tensor {
                self.copy(target, &GpuInput::Tensor(tensor.shared()))?;
            }
        }
        Ok(back)
    }

    /// For each output the input that it is written to, if there is one.
    fn targets(&self) -> Result<Vec<Option<WriteTarget<'c, GpuMemory>>>, Error> {
        let target = |alias: u32| {
            let name = || self.chain.signature.input_name(alias as usize).to_owned();
            match &self.inputs[alias as usize] {
                GpuInput::Tensor(argument) => WriteTarget::checked(argument, false, name),
                GpuInput::Host(_) => Err(Error::ReadOnly { input: name() }),
            }
        };
        let outputs = self.chain.definition.fusion.outputs().iter();
        outputs.map(|output| output.alias.map(target).transpose()).collect()
    }

    /// For each in-place output the tensor that is to be written; `None` if the input holds it already. A value in the
    /// memory of an input is copied, as another output may be written there.
    fn written(
        &self,
        held: &mut [HeldOnGpu],
        account: &mut Account,
    ) -> Result<Vec<Option<GpuTensor>>, Error> {
        let slots = &self.chain.outputs;
        let mut written = Vec::new();
        for (output, &slot) in self.chain.definition.fusion.outputs().iter().zip(slots) {
            let Some(input) = output.alias.map(|alias| alias as usize) else { continue };
            let is_alone = slots.iter().filter(|other| **other == slot).count() == 1;
            written.push(match &held[slot] {
                HeldOnGpu::Input(place, layout)
                    if *place == input && layout == self.inputs[input].form().1 =>
                {
                    None
                }
                HeldOnGpu::Own(_) if is_alone => held[slot].take(),
                held => Some(self.copied(&held.input(self.inputs))?),
            });
            account.hold(|| own_bytes(&*held) + own_bytes(&written));
        }
        Ok(written)
    }

    /// A returned output that is not moved out of a slot; views of inputs that are written to are copied.
    fn given_back(
        &self,
        output: usize,
        targets: &[Option<WriteTarget<'_, GpuMemory>>],
        held: &[HeldOnGpu],
    ) -> Result<GpuOutput, Error> {
        let slot = self.chain.outputs[output];
        match &held[slot] {
            HeldOnGpu::Placed => Ok(GpuOutput::Placed),
            HeldOnGpu::Input(input, layout) if self.is_seen(*input, targets) => {
                Ok(GpuOutput::View { input: *input, layout: layout.clone() })
            }
            shared => {
                let layout = |sizes: &[usize]| self.chain.layout(output, sizes);
                self.copied_to(&shared.input(self.inputs), layout).map(GpuOutput::Made)
            }
        }
    }

    /// Whether an output may be a view of an input: not of one on the host or in memory that is written to, which is copied.
    pub(super) fn is_seen(&self, input: usize, targets: &[Option<WriteTarget<'_, GpuMemory>>]) -> bool {
        let is_apart =
            |own: Footprint<'_>| !targets.iter().flatten().any(|target| target.footprint().overlaps(&own));
        self.inputs[input].footprint().is_some_and(is_apart)
    }

    fn form(&self, output: &GpuOutput) -> OutputForm {
        let tensor = self.tensor(output).expect("nothing was placed yet");
        let (dtype, layout) = tensor.form();
        let input = match output {
            GpuOutput::View { input, .. } => Some(*input),
            GpuOutput::Made(_) | GpuOutput::Placed => None,
        };
        OutputForm { dtype, layout: Layout { offset: 0, ..layout.clone() }, input }
    }

    /// The tensor of an output that is not yet at its destination.
    fn tensor<'o>(&'o self, output: &'o GpuOutput) -> Option<GpuInput<'o>> {
        match output {
            GpuOutput::Made(tensor) => Some(GpuInput::Tensor(tensor.shared())),
            GpuOutput::View { input, layout } => Some(self.inputs[*input].relaid(layout.clone())),
            GpuOutput::Placed => None,
        }
    }

    /// A row-major copy.
    fn copied(&self, input: &GpuInput<'_>) -> Result<GpuTensor, Error> {
        self.copied_to(input, Layout::dense)
    }

    /// A copy with the layout for its sizes; for an input of the host, which is row-major, a copy with its layout.
    fn copied_to(
        &self,
        input: &GpuInput<'_>,
        layout_of: impl Fn(&[usize]) -> Layout,
    ) -> Result<GpuTensor, Error> {
        match input {
            GpuInput::Tensor(argument) => {
                let (dtype, layout) = argument.form();
                let copy = GpuTensor::allocate(self.stream, dtype, layout_of(&layout.sizes))?;
                let (to, from) = (copy.shared(), argument.view());
                self.device.copy(self.stream, &to.view().0, &from.0)?;
                Ok(copy)
            }
            GpuInput::Host(view) => GpuTensor::of_host(self.stream, view),
        }
    }

    /// Copies a tensor to memory of the caller's.
    fn copy(&self, target: &WriteTarget<'_, GpuMemory>, input: &GpuInput<'_>) -> Result<(), Error> {
        let copy = |argument: &GpuArgument<'_>| {
            let (to, from) = (target.open_at_end(), argument.view());
            self.device.copy(self.stream, &to.0, &from.0)
        };
        match input {
            GpuInput::Tensor(argument) => copy(argument),
            GpuInput::Host(view) => copy(&GpuTensor::of_host(self.stream, view)?.shared()),
        }
    }
}

impl HeldOnGpu {
    /// The contents, as an input of a segment.
    pub fn input<'h>(&'h self, inputs: &'h [GpuInput<'h>]) -> GpuInput<'h> {
        match self {
            HeldOnGpu::Input(place, layout) => inputs[*place].relaid(layout.clone()),
            HeldOnGpu::Own(tensor) => GpuInput::Tensor(tensor.shared()),
            HeldOnGpu::Nothing | HeldOnGpu::Placed => {
                unreachable!("what is freed, or placed by the last segment, was read for the last time")
            }
        }
    }

    /// The start and the layout of its memory, unless it is a view of an input.
    fn own_place(&self) -> Option<(usize, Layout)> {
        match self {
            HeldOnGpu::Own(tensor) => Some((tensor.address() as usize, tensor.shared().form().1.clone())),
            HeldOnGpu::Nothing | HeldOnGpu::Placed | HeldOnGpu::Input(..) => None,
        }
    }

    /// Moves the tensor out; the slot is empty then.
    fn take(&mut self) -> Option<GpuTensor> {
        match std::mem::replace(self, HeldOnGpu::Nothing) {
            HeldOnGpu::Own(tensor) => Some(tensor),
            other => {
                *self = other;
                None
            }
        }
    }
}

impl OwnMemory for GpuTensor {
    fn own(&self) -> Option<Piece> {
        Some((self.address() as usize, self.bytes()))
    }
}

impl OwnMemory for GpuOutput {
    fn own(&self) -> Option<Piece> {
        match self {
            GpuOutput::Made(tensor) => tensor.own(),
            GpuOutput::View { .. } | GpuOutput::Placed => None,
        }
    }
}

impl OwnMemory for HeldOnGpu {
    fn own(&self) -> Option<Piece> {
        match self {
            HeldOnGpu::Nothing | HeldOnGpu::Placed | HeldOnGpu::Input(..) => None,
            HeldOnGpu::Own(tensor) => tensor.own(),
        }
    }
}
