//! An executable of segments.

use ir::array::{ArrayView, Layout};
use ir::definition::Definition;
use ir::graph::{InputSignature, Sizes};
use rustc_hash::{FxHashMap, FxHashSet};

use super::fit::require_segments;
use super::in_place::Writing;
use super::late_copies::LateCopy;
use super::parts::SegmentDefinition;
use super::slots::{Segment, Slots, free_after_last_use};
use crate::destination::OutputForm;
use crate::{CallOptions, CompileOptions, Error, Executable, Machine};

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
    /// [`Error::Segment`] for a segment that needs a value that no earlier one makes, or whose inputs or outputs have not the
    /// types of the definition's values; [`Error::Missing`] for an output that no segment makes; [`Error::Plan`] for a
    /// schedule that does not fit its segment.
    pub fn from_segments(
        definition: Definition,
        segments: impl IntoIterator<Item: Into<SegmentDefinition>>,
        options: CompileOptions,
    ) -> Result<SegmentedExecutable, Error> {
        let segments: Vec<SegmentDefinition> = segments.into_iter().map(Into::into).collect();
        require_segments(&definition, &segments)?;
        let segments = segments.into_iter().map(|segment| segment.without_copies(&definition));
        let (mut segments, copies): (Vec<SegmentDefinition>, Vec<Vec<LateCopy>>) = segments.unzip();
        // Inputs that are only written to would be copied to another device.
        for place in (0..segments.len()).filter(|_| !options.executor.kind().is_on_gpu()) {
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

    /// Their numbers, in the same order. A segment that makes nothing but copies has no executable.
    pub fn numbers(&self) -> impl Iterator<Item = usize> {
        self.segments.iter().map(|segment| segment.number)
    }

    /// The forms of the returned outputs, as if they were row-major.
    pub(super) fn dense_forms(&self, inputs: &[ArrayView<'_>]) -> Result<Vec<OutputForm>, Error> {
        let sizes = self.signature.bind(inputs, &[])?;
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

    /// These sizes, with the values of seeds.
    pub(super) fn with_seeds(&self, options: &CallOptions, mut sizes: Sizes) -> Sizes {
        let draws = self.definition.draws;
        if draws > 0 {
            let stream = options.stream.unwrap_or_else(|| self.options.generator.take(draws));
            stream.symbols(&self.definition.graph).for_each(|(sym, value)| sizes.set(sym, value));
        }
        sizes
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
}
