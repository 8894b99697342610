//! Where an elementwise op reads its operands, and the memory that its results go to.
//!
//! An operand without later users gives its memory to the results, if its elements are in the same order: a block is read
//! before its results are written there. So an op touches less memory, and what it writes is likely in cache.

use ir::array::{ArrayView, Layout, Strides};
use ops::DType;

use super::EvaluateError;
use super::block::{Span, read_int, read_real};
use super::memory::Metered;
use super::value::Strided;
use super::workers::Resources;

/// The elements of the operands of an op, or their errors, each of which may be absent.
pub(super) struct Operands<'a> {
    kept: Vec<Option<Strided<'a>>>,
    /// The operand whose memory the results replace.
    replaced: Option<(usize, DType)>,
}

/// Where blocks of an operand are read.
pub(super) enum Source<'v> {
    /// In memory of their own.
    Kept(ArrayView<'v>),
    /// In the memory that the results of the block go to.
    Replaced(DType),
}

/// Memory for results: values and, if any are computed, bounds.
pub(super) struct Target {
    pub(super) values: Metered,
    pub(super) bounds: Option<Metered>,
}

impl<'a> Operands<'a> {
    /// Operands over these sizes, and the memory of the operand that results of a dtype replace, if any.
    pub(super) fn new(
        mut kept: Vec<Option<Strided<'a>>>,
        core: &[usize],
        dtype: DType,
    ) -> (Operands<'a>, Option<Metered>) {
        let is_replaceable = |operand: &Option<Strided<'a>>| {
            let own = operand.as_ref().and_then(|operand| Some((operand, operand.sole_memory()?)));
            own.is_some_and(|(operand, array)| {
                let layout = over(operand.layout(), core);
                let is_whole = layout.numel() == Some(array.numel()) && layout.is_dense();
                is_whole && array.dtype().size() == dtype.size()
            })
        };
        let place = kept.iter().position(is_replaceable);
        let taken = place.and_then(|place| Some((place, kept[place].take()?.into_memory()?)));
        let replaced = taken.as_ref().map(|(place, memory)| (*place, memory.array().dtype()));
        (Operands { kept, replaced }, taken.map(|(_, memory)| memory.viewed_as(dtype, core)))
    }

    /// Where each operand is read.
    pub(super) fn sources(&self, core: &[usize]) -> Vec<Option<Source<'_>>> {
        let source = |place: usize| match (&self.kept[place], self.replaced) {
            (Some(operand), _) => Some(Source::Kept(operand.view_as(over(operand.layout(), core)))),
            (None, Some((replaced, dtype))) if replaced == place => Some(Source::Replaced(dtype)),
            (None, _) => None,
        };
        (0..self.kept.len()).map(source).collect()
    }
}

impl Source<'_> {
    pub(super) fn dtype(&self) -> DType {
        match self {
            Source::Kept(view) => view.dtype(),
            Source::Replaced(dtype) => *dtype,
        }
    }

    /// A block of elements as doubles.
    pub(super) fn read_real(&self, span: &Span<'_>, out: &mut [f64]) {
        match self {
            Source::Kept(view) => read_real(view, span.start, out),
            Source::Replaced(dtype) => read_real(&span.replaced(*dtype), 0, out),
        }
    }

    /// A block of elements as integers.
    pub(super) fn read_int(&self, span: &Span<'_>, out: &mut [i64]) {
        match self {
            Source::Kept(view) => read_int(view, span.start, out),
            Source::Replaced(dtype) => read_int(&span.replaced(*dtype), 0, out),
        }
    }

    /// A block of errors.
    pub(super) fn read_errors(&self, span: &Span<'_>, out: &mut [f64]) {
        match self {
            Source::Kept(view) => read_real(view, span.start, out),
            Source::Replaced(_) => span.read_bounds(out),
        }
    }
}

impl Target {
    /// Memory for results; allocated where no operand gives its own.
    pub(super) fn new(
        sizes: &[usize],
        dtype: DType,
        bounds: bool,
        [values, errors]: [Option<Metered>; 2],
        resources: &Resources<'_>,
    ) -> Result<Target, EvaluateError> {
        let memory = |own: Option<Metered>, dtype: DType| match own {
            Some(own) => Ok(own),
            None => resources.unwritten(dtype, sizes),
        };
        let values = memory(values, dtype)?;
        let bounds = if bounds { Some(memory(errors, DType::F32)?) } else { None };
        Ok(Target { values, bounds })
    }
}

/// The layout of an operand over the sizes that are computed, with as few axes as can be.
pub(super) fn over(layout: &Layout, core: &[usize]) -> Layout {
    let stride = |axis: usize| match layout.rank() {
        0 => 0,
        _ if layout.sizes[axis] == 1 => 0,
        _ => layout.strides[axis],
    };
    let strides: Strides = (0..core.len()).map(stride).collect();
    Layout { offset: layout.offset, sizes: core.into(), strides }.merged()
}
