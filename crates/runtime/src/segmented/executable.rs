//! An executable of segments: calls them in order, gives back what the whole definition does.

use ir::array::{ArrayView, Layout};
use ir::definition::Definition;
use ir::graph::{InputSignature, Sizes};
use reference::evaluate::copy;

use super::account::Account;
use super::parts::SegmentDefinition;
use super::slots::{Held, Segment, Slots, Source, free_after_last_use};
use crate::argument::Argument;
use crate::destination::{OutputForm, placed};
use crate::device::WriteTarget;
use crate::host::HostMemory;
use crate::located::located;
use crate::{CallOptions, CallReport, CompileOptions, Error, Executable, Machine, Output, Outputs, Tensor};

/// A definition ready to be called segment by segment.
#[derive(Debug)]
pub struct SegmentedExecutable {
    definition: Definition,
    options: CompileOptions,
    signature: InputSignature,
    /// How many values are held: the inputs, and what segments make.
    slots: usize,
    segments: Vec<Segment>,
    /// The slot of each output.
    outputs: Vec<usize>,
}

impl SegmentedExecutable {
    /// The segments of a definition, in the order in which they run. They are compiled when they are first called; a schedule
    /// is checked at once. `options.plan` is of no account: segments are the plan.
    ///
    /// # Errors
    /// [`Error::Plan`] for a schedule that does not fit its segment.
    ///
    /// # Panics
    /// When a segment needs what none before it makes, or no segment makes an output: a bug of the caller.
    pub fn new(
        definition: Definition,
        segments: Vec<SegmentDefinition>,
        options: CompileOptions,
    ) -> Result<SegmentedExecutable, Error> {
        let mut slots = Slots::of(&definition);
        let mut made = Vec::new();
        for segment in segments {
            made.push(slots.segment(segment, &options)?);
        }
        let outputs: Vec<usize> =
            definition.fusion.outputs().iter().map(|output| slots.numbers[&output.val]).collect();
        free_after_last_use(&mut made, &outputs);
        let (signature, slots) = (definition.signature(), slots.numbers.len());
        Ok(SegmentedExecutable { definition, options, signature, slots, segments: made, outputs })
    }

    /// The whole definition.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// The executables of the segments, in the order they run.
    pub fn segments(&self) -> impl Iterator<Item = &Executable> {
        self.segments.iter().map(|segment| &segment.executable)
    }

    /// Calls the segments. It changes no input: outputs that are to be written to inputs are given back like the others.
    ///
    /// # Errors
    /// As [`Executable::run_with`].
    pub fn run_with<'a>(
        &self,
        options: &CallOptions,
        inputs: &[ArrayView<'a>],
    ) -> Result<Outputs<'a>, Error> {
        let located = |error| located(error, &self.definition, inputs);
        let mut held = self.steps(options, inputs, &mut Account::default()).map_err(located)?;
        let visible = vec![true; inputs.len()];
        let given = (0..self.outputs.len()).collect::<Vec<_>>();
        self.given_back(&given, &mut held, inputs, &visible)
    }

    /// As [`Executable::run_into`]: outputs are copied there when all segments are done.
    ///
    /// # Errors
    /// As [`Executable::run_into`].
    pub fn run_into<'a>(
        &self,
        options: &CallOptions,
        arguments: &'a mut [Argument<'_>],
        destinations: &'a mut [Argument<'_>],
    ) -> Result<(), Error> {
        let (arguments, destinations): (&'a [_], &'a [_]) = (arguments, destinations);
        let forms = self.dense_forms(arguments)?;
        let checked = placed(destinations, &forms, arguments)?;
        let outputs = self.in_place(options, arguments, &mut Account::default())?;
        let workers = self.machine(options).workers(&options.interrupt);
        for (destination, output) in checked.iter().flatten().zip(&*outputs) {
            copy(&mut destination.open_at_end(), &output.view(), &workers)
                .expect("the destinations were checked");
        }
        Ok(())
    }

    /// What is given back, as if it were row-major.
    fn dense_forms(&self, arguments: &[Argument<'_>]) -> Result<Vec<OutputForm>, Error> {
        let views: Vec<ArrayView<'_>> = arguments.iter().map(Argument::view).collect();
        let sizes = self.signature.bind(&views, &[])?;
        let graph = &self.definition.graph;
        let given_back = self.definition.fusion.outputs().iter().filter(|output| output.alias.is_none());
        let forms = given_back.map(|output| {
            let shape: Result<Vec<usize>, _> =
                graph.shape(output.val).iter().map(|size| sizes.size(size)).collect();
            Ok(OutputForm { dtype: graph.dtype(output.val), layout: Layout::dense(&shape?), input: None })
        });
        forms.collect()
    }

    /// The machine of a call.
    fn machine<'m>(&'m self, options: &'m CallOptions) -> &'m Machine {
        options.machine.as_ref().unwrap_or(&self.options.machine)
    }

    /// Calls the segments and writes in-place outputs to the inputs that they are for when all are done.
    ///
    /// # Errors
    /// As [`Executable::run_in_place_with`].
    pub fn run_in_place_with<'a>(
        &self,
        options: &CallOptions,
        arguments: &'a mut [Argument<'_>],
    ) -> Result<Outputs<'a>, Error> {
        self.in_place(options, arguments, &mut Account::default())
    }

    /// [`SegmentedExecutable::run_in_place_with`], and where the time went: of the steps of all segments, and of the copies of
    /// in-place outputs.
    ///
    /// # Errors
    /// As [`Executable::run_in_place_with`].
    pub fn run_in_place_timed<'a>(
        &self,
        options: &CallOptions,
        arguments: &'a mut [Argument<'_>],
    ) -> Result<(Outputs<'a>, CallReport), Error> {
        let mut account = Account::timed();
        let outputs = self.in_place(options, arguments, &mut account)?;
        Ok((outputs, account.report))
    }

    fn in_place<'a>(
        &self,
        options: &CallOptions,
        arguments: &'a [Argument<'_>],
        account: &mut Account,
    ) -> Result<Outputs<'a>, Error> {
        let views: Vec<ArrayView<'a>> = arguments.iter().map(Argument::view).collect();
        let targets = self.targets(arguments)?;
        let located = |error| located(error, &self.definition, &views);
        let mut held = self.steps(options, &views, account).map_err(located)?;
        let is_seen = |argument: &Argument<'_>| {
            !targets.iter().flatten().any(|target| target.footprint().overlaps(&argument.footprint()))
        };
        let visible: Vec<bool> = arguments.iter().map(is_seen).collect();
        let back: Vec<usize> = (0..targets.len()).filter(|&place| targets[place].is_none()).collect();
        let written = self.written(&targets, &held, &views)?;
        let outputs = self.given_back(&back, &mut held, &views, &visible)?;
        let workers = self.machine(options).workers(&options.interrupt);
        for (target, tensor) in targets.iter().flatten().zip(&written) {
            account.copy(tensor.as_bytes().len(), || {
                copy(&mut target.open_at_end(), &tensor.view(), &workers)
                    .expect("the signature checked the sizes of input and output");
            });
        }
        Ok(outputs)
    }

    /// For each output the argument that it is written to, if it is.
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

    /// Copies of what is written to inputs: it may be in memory that another such output is written to.
    fn written(
        &self,
        targets: &[Option<WriteTarget<'_, HostMemory>>],
        held: &[Held],
        given: &[ArrayView<'_>],
    ) -> Result<Vec<Tensor>, Error> {
        let slots = self.outputs.iter().zip(targets).filter(|(_, target)| target.is_some());
        slots.map(|(&slot, _)| self.copied(&held[slot].view(given))).collect()
    }

    /// Runs the segments.
    fn steps(
        &self,
        options: &CallOptions,
        given: &[ArrayView<'_>],
        account: &mut Account,
    ) -> Result<Vec<Held>, Error> {
        let sizes = self.sizes(options, given)?;
        let mut held: Vec<Held> = given
            .iter()
            .enumerate()
            .map(|(place, view)| Held::Input(place, view.layout().clone()))
            .chain((given.len()..self.slots).map(|_| Held::Nothing))
            .collect();
        for segment in &self.segments {
            options.interrupt.check()?;
            let made = self.step(segment, options, &held, given, &sizes, account)?;
            segment.outputs.iter().zip(made).for_each(|(&slot, made)| held[slot] = made);
            segment.freed.iter().for_each(|&slot| held[slot] = Held::Nothing);
        }
        Ok(held)
    }

    /// The values of the size symbols, and those of seeds.
    fn sizes(&self, options: &CallOptions, given: &[ArrayView<'_>]) -> Result<Sizes, Error> {
        let mut sizes = self.signature.bind(given, &[])?;
        let draws = self.definition.draws;
        if draws > 0 {
            let stream = options.stream.unwrap_or_else(|| self.options.generator.take(draws));
            stream.symbols(&self.definition.graph).for_each(|(sym, value)| sizes.set(sym, value));
        }
        Ok(sizes)
    }

    /// Runs one segment.
    fn step(
        &self,
        segment: &Segment,
        options: &CallOptions,
        held: &[Held],
        given: &[ArrayView<'_>],
        sizes: &Sizes,
        account: &mut Account,
    ) -> Result<Vec<Held>, Error> {
        let scalars = segment.scalars(sizes)?;
        let views = segment.views(held, given, &scalars);
        let outputs = match account.is_timed {
            false => segment.executable.run_with(options, &views)?,
            true => {
                let timed = segment.executable.run_timed_with(options, &views)?;
                account.add(segment.number, timed, held)
            }
        };
        let held = |output: Output<'_>| match output {
            Output::Made(tensor) => Ok(Held::Own(tensor)),
            Output::View { input, view } => match segment.inputs[input] {
                Source::Slot(slot) if let Held::Input(place, _) = held[slot] => {
                    Ok(Held::Input(place, view.layout().clone()))
                }
                // Memory of the chain itself, which is freed.
                _ => self.copied(&view).map(Held::Own),
            },
        };
        outputs.into_iter().map(held).collect()
    }

    /// The outputs of these numbers; views of inputs are copied where the input may not be seen.
    fn given_back<'a>(
        &self,
        outputs: &[usize],
        held: &mut [Held],
        given: &[ArrayView<'a>],
        visible: &[bool],
    ) -> Result<Outputs<'a>, Error> {
        let mut back = Vec::new();
        for (place, &output) in outputs.iter().enumerate() {
            let slot = self.outputs[output];
            let is_again = outputs[place + 1..].iter().any(|&later| self.outputs[later] == slot);
            back.push(match &held[slot] {
                Held::Input(input, layout) if visible[*input] => {
                    let view = given[*input].relaid(layout.clone()).expect("view ops reach no further");
                    Output::View { input: *input, view }
                }
                Held::Own(_) if !is_again => match std::mem::replace(&mut held[slot], Held::Nothing) {
                    Held::Own(tensor) => Output::Made(tensor),
                    _ => unreachable!("as just seen"),
                },
                shared => Output::Made(self.copied(&shared.view(given))?),
            });
        }
        Ok(Outputs { outputs: back })
    }

    /// A row-major copy.
    fn copied(&self, view: &ArrayView<'_>) -> Result<Tensor, Error> {
        let machine = &self.options.machine;
        let mut tensor = Tensor::allocate(machine.allocator(), view.dtype(), Layout::dense(view.sizes()))?;
        copy(&mut tensor.view_mut(), view, &machine.workers(&Default::default()))?;
        Ok(tensor)
    }
}
