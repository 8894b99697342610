//! The slots of a call: holders of the values between segments, who fills them, and when they are freed.

use index::Expr;
use ir::array::{Array, Layout};
use ir::definition::Definition;
use ir::graph::{Sizes, Val};
use ir::layout::LayoutClass;
use ops::{DType, Scalar};
use rustc_hash::FxHashMap;

use super::in_place::Writing;
use super::late_copies::LateCopy;
use super::parts::{SegmentDefinition, SegmentInput, in_words};
use crate::inputs::declared_layouts;
use crate::{CompileOptions, Error, Executable};

#[derive(Debug)]
pub(super) struct Segment {
    /// Its number in the order in which they run.
    pub number: usize,
    pub name: String,
    pub executable: Executable,
    /// For each tensor that it takes its name in the whole definition, and the layout that its schedule was checked for;
    /// empty without a schedule.
    declared: Vec<Option<(String, LayoutClass)>>,
    pub inputs: Vec<Source>,
    pub outputs: Vec<usize>,
    /// The slots that nothing needs after it.
    pub freed: Vec<usize>,
    /// The outputs that it writes to inputs.
    pub writing: Writing,
}

#[derive(Debug)]
pub(super) enum Source {
    Slot(usize),
    Size(Expr),
}

impl Source {
    fn as_size(&self) -> Option<&Expr> {
        match self {
            Source::Size(size) => Some(size),
            Source::Slot(_) => None,
        }
    }

    fn as_slot(&self) -> Option<usize> {
        match self {
            Source::Slot(slot) => Some(*slot),
            Source::Size(_) => None,
        }
    }
}

impl Segment {
    /// An error of a call on inputs of these layouts. A schedule that does not fit them fits others: it was checked before.
    pub fn in_words<'l>(&self, error: Error, layouts: impl Iterator<Item = &'l Layout>) -> Error {
        let error = match in_words(&self.name, error) {
            Error::Plan(error) if error.is_of_schedule() => error,
            error => return error,
        };
        let other = |(declared, layout): (&Option<(String, LayoutClass)>, &Layout)| {
            let (name, declared) = declared.as_ref()?;
            let is_other = LayoutClass::from(layout) != *declared;
            is_other.then(|| format!("{name} of strides {:?}", layout.strides))
        };
        let others: Vec<String> = self.declared.iter().zip(layouts).filter_map(other).collect();
        match others.is_empty() {
            true => error.into(),
            false => Error::ScheduleOfCall { others: others.join(" and "), error },
        }
    }

    /// The sizes among its inputs, in order.
    pub fn scalars(&self, sizes: &Sizes) -> Result<Vec<Array>, Error> {
        let array = |size: &Expr| Ok(Array::full(Scalar::from_i64(DType::I64, sizes.value(size)?), &[])?);
        self.inputs.iter().filter_map(Source::as_size).map(array).collect()
    }
}

/// The numbers of the slots that hold values of a definition.
pub(super) struct Slots {
    pub numbers: FxHashMap<Val, usize>,
}

impl Slots {
    /// The slots of the inputs, which come first.
    pub fn of(definition: &Definition) -> Slots {
        let inputs = definition.fusion.inputs().iter().enumerate();
        Slots { numbers: inputs.map(|(place, &val)| (val, place)).collect() }
    }

    /// Adds a segment and resolves its inputs; later ones may read its outputs.
    pub fn segment(
        &mut self,
        definition: &Definition,
        segment: SegmentDefinition,
        writing: Writing,
        options: &CompileOptions,
    ) -> Result<Segment, Error> {
        let source = |input: &SegmentInput| match input {
            SegmentInput::Val(val) => Source::Slot(self.numbers[val]),
            SegmentInput::Size(size) => Source::Size(size.clone()),
        };
        let inputs = segment.inputs.iter().map(source).collect();
        let declared = if segment.schedule.is_some() { declared(definition, &segment) } else { Vec::new() };
        let outputs = segment.outputs.iter().map(|&val| self.made(val)).collect();
        let options = segment.options(options)?;
        let executable = Executable::by_size(writing.written(segment.definition), options);
        Ok(Segment {
            number: segment.number,
            name: segment.name,
            executable,
            declared,
            inputs,
            outputs,
            freed: Vec::new(),
            writing,
        })
    }

    /// Assigns a copy the slot of its source.
    pub fn share(&mut self, (copy, of): LateCopy) {
        let slot = self.numbers[&of];
        self.numbers.insert(copy, slot);
    }

    fn made(&mut self, val: Val) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(val).or_insert(next)
    }
}

/// For each tensor that a segment takes its name in the whole definition, and its declared layout.
fn declared(definition: &Definition, segment: &SegmentDefinition) -> Vec<Option<(String, LayoutClass)>> {
    let (inputs, signature) = (definition.fusion.inputs(), definition.signature());
    let name = |val: Val| match inputs.iter().position(|&input| input == val) {
        Some(place) => signature.input_name(place).to_owned(),
        None => definition.record.in_words(val),
    };
    let declared = |(layout, input): (LayoutClass, &SegmentInput)| match input {
        SegmentInput::Val(val) => Some((name(*val), layout)),
        SegmentInput::Size(_) => None,
    };
    declared_layouts(&segment.definition).into_iter().zip(&segment.inputs).map(declared).collect()
}

/// Each slot is freed by the last segment that makes or reads it, except those of outputs.
pub(super) fn free_after_last_use(segments: &mut [Segment], outputs: &[usize]) {
    let mut seen: Vec<usize> = outputs.to_vec();
    for segment in segments.iter_mut().rev() {
        let read = segment.inputs.iter().filter_map(Source::as_slot);
        let touched: Vec<usize> = read.chain(segment.outputs.iter().copied()).collect();
        for slot in touched {
            if !seen.contains(&slot) {
                seen.push(slot);
                segment.freed.push(slot);
            }
        }
    }
}
