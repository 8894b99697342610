//! Memory of the caller's for the outputs of a call: checked against the outputs' forms before anything runs.

use ir::array::{Dims, Layout};
use ops::DType;
use smallvec::SmallVec;

use crate::Error;
use crate::device::{AddressSpace, WriteTarget};
use crate::host::HostMemory;
use ir::array::{Argument, Footprint, shared};

/// The form of an output: its dtype, its sizes, and its strides in elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputForm {
    /// Element type.
    pub dtype: DType,
    /// Sizes and strides; the offset is zero.
    pub layout: Layout,
    /// The number of the input that it is a view of, if it is one.
    pub input: Option<usize>,
}

/// Decides where outputs of these forms go: returns an argument for each, or `None` for one that the call allocates or views.
/// Errors end the call.
pub trait Place<A>: FnOnce(&[OutputForm]) -> Result<Vec<Option<A>>, Error> {}

impl<A, P: FnOnce(&[OutputForm]) -> Result<Vec<Option<A>>, Error>> Place<A> for P {}

/// No memory of the caller's, for outputs of these forms.
pub(crate) fn unplaced<A>(forms: &[OutputForm]) -> Result<Vec<Option<A>>, Error> {
    Ok(forms.iter().map(|_| None).collect())
}

/// Memory of the caller's for each returned output; `None` if the call makes or views it.
pub(crate) type Destinations<'a, S> = SmallVec<[Option<WriteTarget<'a, S>>; 4]>;

/// The memory that outputs of these forms are written to. Kernels write there directly if it has the output's layout;
/// otherwise the output is copied there at the end of the call.
///
/// # Errors
/// For too few or too many, another dtype or other sizes, memory for reading, and memory that overlaps an argument's or
/// another output's.
pub(crate) fn checked<'a, S: AddressSpace>(
    destinations: impl ExactSizeIterator<Item = Option<&'a S::Argument<'a>>>,
    forms: &[OutputForm],
    arguments: &[Footprint<'_>],
) -> Result<Destinations<'a, S>, Error> {
    if destinations.len() != forms.len() {
        let (expected, given) = (forms.len(), destinations.len());
        return Err(Error::Destinations { expected, given });
    }
    let destinations: SmallVec<[Option<&S::Argument<'a>>; 4]> = destinations.collect();
    let footprints = arguments.iter().copied().map(Some);
    let shared = shared(footprints.chain(destinations.iter().map(|given| Some(S::footprint((*given)?)))));
    let mut checked: Destinations<'a, S> = SmallVec::new();
    for (place, (destination, form)) in destinations.into_iter().zip(forms).enumerate() {
        let Some(argument) = destination else {
            checked.push(None);
            continue;
        };
        let own = S::footprint(argument);
        let rejected = |problem: String| Error::Destination { place, problem };
        if own.dtype != form.dtype || own.layout.sizes != form.layout.sizes {
            let expected = described(form.dtype, &form.layout.sizes);
            let given = described(own.dtype, &own.layout.sizes);
            return Err(rejected(format!("expected {expected}, got {given}")));
        }
        if shared[arguments.len() + place]
            && let Some(other) = overlapping::<S>(&own, arguments, &checked)
        {
            return Err(rejected(format!("its memory overlaps that of {other}")));
        }
        let is_direct = is_laid_out_as(&own, &form.layout, S::alignment(own.dtype));
        checked.push(Some(WriteTarget::checked(argument, is_direct, || format!("out[{place}]"))?));
    }
    Ok(checked)
}

/// The first argument or earlier destination that overlaps one.
fn overlapping<S: AddressSpace>(
    own: &Footprint<'_>,
    arguments: &[Footprint<'_>],
    earlier: &[Option<WriteTarget<'_, S>>],
) -> Option<String> {
    let overlaps = |other: &Option<WriteTarget<'_, S>>| {
        other.as_ref().is_some_and(|other| other.footprint().overlaps(own))
    };
    let input = arguments.iter().position(|argument| argument.overlaps(own));
    let of_input = input.map(|input| format!("input {input}"));
    of_input.or_else(|| Some(format!("out[{}]", earlier.iter().position(overlaps)?)))
}

/// [`checked`] for arrays of the host, one for each output.
pub(crate) fn placed<'a>(
    destinations: &'a [Argument<'a>],
    forms: &[OutputForm],
    arguments: &[Argument<'_>],
) -> Result<Destinations<'a, HostMemory>, Error> {
    let footprints: SmallVec<[Footprint<'_>; 8]> = arguments.iter().map(Argument::footprint).collect();
    checked(destinations.iter().map(Some), forms, &footprints)
}

/// Whether a kernel can make a tensor of this layout there.
fn is_laid_out_as(own: &Footprint<'_>, layout: &Layout, alignment: usize) -> bool {
    let mut axes = layout.sizes.iter().zip(layout.strides.iter().zip(&own.layout.strides));
    own.start().is_multiple_of(alignment) && axes.all(|(&size, (stride, own))| size <= 1 || stride == own)
}

fn described(dtype: DType, sizes: &Dims) -> String {
    format!("{dtype}{:?}", sizes.as_slice())
}
