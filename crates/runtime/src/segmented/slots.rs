//! The slots of a call: holders of the values between segments, who fills them, and when they are freed.

use std::rc::Rc;

use index::Expr;
use ir::array::{Array, ArrayView, Layout};
use ir::definition::Definition;
use ir::graph::{Sizes, Val};
use ir::layout::LayoutClass;
use ops::{DType, Scalar};
use rustc_hash::FxHashMap;

use super::account::{OwnMemory, Piece};
use super::in_place::Writing;
use super::late_copies::LateCopy;
use super::parts::{SegmentDefinition, SegmentInput, in_words};
use crate::inputs::declared_layouts;
use crate::{CompileOptions, Error, Executable, Tensor};

#[derive(Debug)]
pub(super) struct Segment {
    /// Its number in the order in which they run.
    pub number: usize,
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

/// The contents of a slot.
pub(super) enum Held {
    Nothing,
    /// The input of this number, with this layout.
    Input(usize, Layout),
    /// A tensor with this layout; several slots may hold it.
    Own(Rc<Tensor>, Layout),
}

impl Segment {
    /// An error of a call on inputs of these layouts. A schedule that does not fit them fits others: it was checked before.
    pub fn in_words<'l>(&self, error: Error, layouts: impl Iterator<Item = &'l Layout>) -> Error {
        let error = match in_words(self.number, error) {
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

    /// Its inputs.
    pub fn views<'v>(
        &self,
        held: &'v [Held],
        given: &[ArrayView<'v>],
        scalars: &'v [Array],
    ) -> Vec<ArrayView<'v>> {
        let mut scalars = scalars.iter();
        let view = |source: &Source| match source {
            Source::Slot(slot) => held[*slot].view(given),
            Source::Size(_) => scalars.next().expect("one for each size").view(),
        };
        self.inputs.iter().map(view).collect()
    }
}

impl From<Tensor> for Held {
    fn from(tensor: Tensor) -> Held {
        let layout = tensor.layout().clone();
        Held::Own(Rc::new(tensor), layout)
    }
}

impl OwnMemory for Held {
    fn own(&self) -> Option<Piece> {
        match self {
            Held::Nothing | Held::Input(..) => None,
            Held::Own(tensor, _) => tensor.own(),
        }
    }
}

impl Held {
    /// The start and the layout of its memory, unless it is a view of an input.
    pub fn own_place(&self) -> Option<(usize, Layout)> {
        match self {
            Held::Own(tensor, layout) => Some((tensor.as_ptr() as usize, layout.clone())),
            Held::Nothing | Held::Input(..) => None,
        }
    }

    /// Moves the tensor out, if no other slot holds it; the slot is empty then.
    pub fn take(&mut self) -> Option<Tensor> {
        match std::mem::replace(self, Held::Nothing) {
            Held::Own(tensor, layout) => match Rc::try_unwrap(tensor) {
                Ok(tensor) => return Some(tensor.relaid(layout)),
                Err(tensor) => *self = Held::Own(tensor, layout),
            },
            other => *self = other,
        }
        None
    }

    /// The same memory with another layout, if that covers all of it: a view of a part would keep the rest alive.
    pub fn shown_as(&self, view: &ArrayView<'_>) -> Option<Held> {
        let Held::Own(tensor, _) = self else { return None };
        let bytes = view.layout().distinct().numel()?.checked_mul(view.dtype().size())?;
        let is_all = view.dtype() == tensor.dtype() && bytes == tensor.as_bytes().len();
        is_all.then(|| Held::Own(Rc::clone(tensor), view.layout().clone()))
    }

    /// The held array, or the input that it is a view of.
    pub fn view<'v>(&'v self, given: &[ArrayView<'v>]) -> ArrayView<'v> {
        match self {
            Held::Input(place, layout) => {
                given[*place].relaid(layout.clone()).expect("view ops reach no further")
            }
            Held::Own(tensor, layout) => {
                tensor.view().relaid(layout.clone()).expect("view ops reach no further")
            }
            Held::Nothing => unreachable!("what is freed was read for the last time"),
        }
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
