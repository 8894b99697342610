//! An executable of segments: calls them in order, and returns the outputs of the whole definition.

use ir::array::{Argument, ArrayView, Layout};
use ir::definition::Definition;
use ir::graph::{InputSignature, Sizes};
use rustc_hash::{FxHashMap, FxHashSet};

use super::account::{Account, own_bytes};
use super::in_place::Writing;
use super::late_copies::LateCopy;
use super::parts::SegmentDefinition;
use super::slots::{Held, Segment, Slots, Source, free_after_last_use};
use crate::destination::{OutputForm, placed};
use crate::device::{Device, Host};
use crate::located::located;
use crate::{CallOptions, CallReport, CompileOptions, Error, Executable, Machine, Output, Outputs, Tensor};

/// A definition ready to be called segment by segment.
#[derive(Debug)]
pub struct SegmentedExecutable {
    pub(super) definition: Definition,
    pub(super) options: CompileOptions,
    pub(super) signature: InputSignature,
    /// The number of values that are held: the inputs, and the values that segments make.
    pub(super) slots: usize,
    pub(super) segments: Vec<Segment>,
    /// The slot of each output.
    pub(super) outputs: Vec<usize>,
}

impl Executable {
    /// A definition that runs as these segments, in this order. They are compiled when they are first called; a schedule is
    /// checked at once. `options.plan` is ignored: the segments are the plan.
    ///
    /// # Errors
    /// [`Error::Plan`] for a schedule that does not fit its segment.
    ///
    /// # Panics
    /// When a segment needs a value that no earlier one makes, or no segment makes an output: a bug of the caller.
    pub fn from_segments(
        definition: Definition,
        segments: impl IntoIterator<Item: Into<SegmentDefinition>>,
        options: CompileOptions,
    ) -> Result<SegmentedExecutable, Error> {
        let segments = segments.into_iter().map(|segment| segment.into().without_copies(&definition));
        let (mut segments, copies): (Vec<SegmentDefinition>, Vec<Vec<LateCopy>>) = segments.unzip();
        // Segments on a GPU write to copies: see `on_gpu`.
        for place in (0..segments.len()).filter(|_| !options.executor.is_on_gpu()) {
            let (segment, later) = segments[place..].split_first_mut().expect("it is there");
            segment.take_targets(&definition, later);
        }
        let mut slots = Slots::of(&definition);
        let mut made = Vec::new();
        let writing = |place: usize| Writing::of(&definition, &segments[place], &segments[place + 1..]);
        let writings: Vec<Writing> = (0..segments.len()).map(writing).collect();
        for ((segment, writing), copies) in segments.into_iter().zip(writings).zip(copies) {
            if !segment.outputs.is_empty() {
                made.push(slots.segment(&definition, segment, writing, &options)?);
            }
            copies.into_iter().for_each(|copy| slots.share(copy));
        }
        let outputs: Vec<usize> =
            definition.fusion.outputs().iter().map(|output| slots.numbers[&output.val]).collect();
        free_after_last_use(&mut made, &outputs);
        let (signature, slots) = (definition.signature(), slots.numbers.len());
        Ok(SegmentedExecutable { definition, options, signature, slots, segments: made, outputs })
    }
}

impl SegmentedExecutable {
    /// The whole definition.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// The executables of the segments, in the order they run.
    pub fn segments(&self) -> impl Iterator<Item = &Executable> {
        self.segments.iter().map(|segment| &segment.executable)
    }

    /// Calls the segments. It changes no input: in-place outputs are returned like the others.
    ///
    /// # Errors
    /// As [`Executable::run_with`].
    pub fn run_with<'a>(
        &self,
        options: &CallOptions,
        inputs: &[ArrayView<'a>],
    ) -> Result<Outputs<'a>, Error> {
        let located = |error| located(error, &self.definition, inputs);
        let mut held = self.steps(options, inputs, &[], &mut Account::default()).map_err(located)?;
        let visible = vec![true; inputs.len()];
        let given = (0..self.outputs.len()).collect::<Vec<_>>();
        self.given_back(options, &given, &mut held, inputs, &visible, &mut Account::default())
    }

    /// As [`Executable::run_into`]: outputs are copied there after all segments.
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
        let host = self.host(options);
        for (destination, output) in checked.iter().flatten().zip(&*outputs) {
            host.copy(destination.open_at_end(), &output.view())?;
        }
        Ok(())
    }

    /// The forms of the returned outputs, as if they were row-major.
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
    pub(super) fn machine<'m>(&'m self, options: &'m CallOptions) -> &'m Machine {
        options.machine.as_ref().unwrap_or(&self.options.machine)
    }

    pub(super) fn host<'m>(&'m self, options: &'m CallOptions) -> Host<'m> {
        Host { machine: self.machine(options), interrupt: &options.interrupt }
    }

    /// Calls the segments and writes in-place outputs to their inputs after all segments.
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

    /// [`SegmentedExecutable::run_in_place_with`], with a report of where the time went: in the steps of all segments, and
    /// in copies of in-place outputs.
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

    /// Runs the segments. With `arguments`, of which `given` are views, a segment writes its in-place outputs directly if
    /// it may.
    pub(super) fn steps(
        &self,
        options: &CallOptions,
        given: &[ArrayView<'_>],
        arguments: &[Argument<'_>],
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
            let scalars = segment.scalars(&sizes)?;
            let views = segment.views(&held, given, &scalars);
            let made = match segment.may_write(&held, arguments) {
                true => self.step_in_place(segment, options, &held, views, arguments, account)?,
                false => self.step(segment, options, &held, &views, account)?,
            };
            account.hold(|| own_bytes(held.iter().chain(&made)));
            segment.outputs.iter().zip(made).for_each(|(&slot, made)| held[slot] = made);
            segment.freed.iter().for_each(|&slot| held[slot] = Held::Nothing);
        }
        Ok(held)
    }

    /// The values of the size symbols and of seeds.
    fn sizes(&self, options: &CallOptions, given: &[ArrayView<'_>]) -> Result<Sizes, Error> {
        Ok(self.with_seeds(options, self.signature.bind(given, &[])?))
    }

    /// These sizes, with the values of seeds.
    pub(super) fn with_seeds(&self, options: &CallOptions, mut sizes: Sizes) -> Sizes {
        let draws = self.definition.draws;
        if draws > 0 {
            let stream = options.stream.unwrap_or_else(|| self.options.generator.take(draws));
            stream.symbols(&self.definition.graph).for_each(|(sym, value)| sizes.set(sym, value));
        }
        sizes
    }

    /// Runs one segment.
    fn step(
        &self,
        segment: &Segment,
        options: &CallOptions,
        held: &[Held],
        views: &[ArrayView<'_>],
        account: &mut Account,
    ) -> Result<Vec<Held>, Error> {
        let in_words = |error| segment.in_words(error, views.iter().map(ArrayView::layout));
        let outputs = match account.is_timed {
            false => segment.executable.run_with(options, views).map_err(in_words)?,
            true => {
                let run = segment.executable.run_timed_with(options, views);
                let (outputs, did) = run.map_err(in_words)?;
                account.add(segment.number, did, own_bytes(held));
                outputs
            }
        };
        outputs.into_iter().map(|output| self.hold(options, output, segment, held)).collect()
    }

    /// The holder of an output of a segment.
    pub(super) fn hold(
        &self,
        options: &CallOptions,
        output: Output<'_>,
        segment: &Segment,
        held: &[Held],
    ) -> Result<Held, Error> {
        match output {
            Output::Made(tensor) => Ok(tensor.into()),
            Output::View { input, view } => {
                let shared = match segment.inputs[input] {
                    Source::Slot(slot) => match &held[slot] {
                        Held::Input(place, _) => Some(Held::Input(*place, view.layout().clone())),
                        held => held.shown_as(&view),
                    },
                    Source::Size(_) => None,
                };
                shared.map_or_else(|| self.copied(options, &view).map(Held::from), Ok)
            }
        }
    }

    /// The returned outputs, by these numbers; views of inputs are copied if the caller may not see the input. Copies come
    /// first, so that held tensors can then be moved out.
    pub(super) fn given_back<'a>(
        &self,
        options: &CallOptions,
        outputs: &[usize],
        held: &mut [Held],
        given: &[ArrayView<'a>],
        visible: &[bool],
        account: &mut Account,
    ) -> Result<Outputs<'a>, Error> {
        let (moved, others) = self.moved(outputs, |slot| held[slot].own_place());
        let mut back: Vec<(usize, Output<'a>)> = Vec::new();
        for (number, &output) in others.iter().enumerate() {
            let slot = self.outputs[output];
            let made = match &held[slot] {
                Held::Input(input, layout) if visible[*input] => {
                    let view = given[*input].relaid(layout.clone()).expect("view ops reach no further");
                    Output::View { input: *input, view }
                }
                Held::Own(..) if self.definition.fusion.outputs()[output].order.is_empty() => {
                    Output::Made(self.copied(options, &held[slot].view(given))?)
                }
                shared => {
                    let view = shared.view(given);
                    Output::Made(self.copied_to(options, &view, self.layout(output, view.sizes()))?)
                }
            };
            back.push((output, made));
            account.hold(|| own_bytes(&*held) + own_bytes(back.iter().map(|(_, output)| output)));
            let mut later = others[number + 1..].iter().chain(&moved);
            if !later.any(|&later| self.outputs[later] == slot) {
                held[slot] = Held::Nothing;
            }
        }
        let take = |&output: &usize| {
            (output, Output::Made(held[self.outputs[output]].take().expect("it is held with the layout")))
        };
        back.extend(moved.iter().map(take));
        back.sort_by_key(|(output, _)| *output);
        Ok(Outputs { outputs: back.into_iter().map(|(_, output)| output).collect() })
    }

    /// These outputs in two lists: those that move out of their slots, which is the last output of each piece of memory, and
    /// the others. `own` returns the start and the layout of a slot's memory, unless that is a view of an input.
    pub(super) fn moved(
        &self,
        outputs: &[usize],
        own: impl Fn(usize) -> Option<(usize, Layout)>,
    ) -> (Vec<usize>, Vec<usize>) {
        let memory = |output: usize| {
            let held = own(self.outputs[output]).filter(|(_, layout)| self.has_layout(output, layout));
            held.map(|(start, _)| (start, output))
        };
        // Of the outputs in one piece of memory the map keeps the last.
        debug_assert!(outputs.is_sorted(), "outputs in the order of the definition");
        let last: FxHashMap<usize, usize> = outputs.iter().filter_map(|&output| memory(output)).collect();
        let last: FxHashSet<usize> = last.into_values().collect();
        outputs.iter().partition(|output| last.contains(output))
    }

    /// The layout of an output that has its own memory.
    pub(super) fn layout(&self, output: usize, sizes: &[usize]) -> Layout {
        let order = &self.definition.fusion.outputs()[output].order;
        Layout::ordered(sizes, order.iter().map(|&axis| axis.into()))
    }

    /// Whether an output has the layout that the definition requests, if it requests one.
    pub(super) fn has_layout(&self, output: usize, layout: &Layout) -> bool {
        let is_free = self.definition.fusion.outputs()[output].order.is_empty();
        is_free || self.layout(output, &layout.sizes).strides == layout.strides
    }

    /// A row-major copy in which an expanded axis counts once: it takes no more memory than the source of the view.
    pub(super) fn copied(&self, options: &CallOptions, view: &ArrayView<'_>) -> Result<Tensor, Error> {
        let layout = view.layout();
        let narrow = view.relaid(layout.distinct()).expect("a part of the view");
        let mut dense = Layout::dense(narrow.sizes());
        let copy = self.copied_to(options, &narrow, dense.clone())?;
        for (axis, stride) in layout.strides.iter().enumerate().filter(|(_, stride)| **stride == 0) {
            (dense.sizes[axis], dense.strides[axis]) = (layout.sizes[axis], *stride);
        }
        Ok(copy.relaid(dense))
    }

    fn copied_to(
        &self,
        options: &CallOptions,
        view: &ArrayView<'_>,
        layout: Layout,
    ) -> Result<Tensor, Error> {
        let host = self.host(options);
        let mut tensor = host.allocate(view.dtype(), layout)?;
        host.copy(tensor.view_mut(), view)?;
        Ok(tensor)
    }
}
