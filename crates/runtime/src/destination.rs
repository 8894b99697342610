//! Memory of the caller's for the outputs of a call: checked against what the outputs will be, before anything runs.

use ir::array::{Dims, Layout};
use ops::DType;
use smallvec::SmallVec;

use crate::Error;
use crate::argument::Argument;
use crate::device::WriteTarget;
use crate::host::HostMemory;

/// What an output of a call will be: its dtype, its sizes, and its strides in elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputForm {
    /// Element type.
    pub dtype: DType,
    /// Sizes and strides; the offset is zero.
    pub layout: Layout,
}

/// Memory of the caller's, one for each output that is given back.
pub(crate) type Destinations<'a> = SmallVec<[WriteTarget<'a, HostMemory>; 4]>;

/// The memory that outputs of these forms are written to. Kernels write there at once where it is laid out as the output;
/// else the output is copied there when the call is done.
///
/// # Errors
/// For too few or too many, another dtype or other sizes, memory for reading, and memory that overlaps an argument's or
/// another output's.
pub(crate) fn checked<'a>(
    destinations: &'a [Argument<'a>],
    forms: &[OutputForm],
    arguments: &[Argument<'_>],
) -> Result<Destinations<'a>, Error> {
    if destinations.len() != forms.len() {
        let (expected, given) = (forms.len(), destinations.len());
        return Err(Error::Destinations { expected, given });
    }
    let mut checked = SmallVec::new();
    for (place, (destination, form)) in destinations.iter().zip(forms).enumerate() {
        let rejected = |problem: String| Error::Destination { place, problem };
        if !is_for(destination, form) {
            let (dtype, layout) = destination.form();
            let (expected, given) =
                (described(form.dtype, &form.layout.sizes), described(dtype, &layout.sizes));
            return Err(rejected(format!("expected {expected}, got {given}")));
        }
        if let Some(input) =
            arguments.iter().position(|argument| argument.footprint().overlaps(&destination.footprint()))
        {
            return Err(rejected(format!("its memory overlaps that of input {input}")));
        }
        if let Some(other) = destinations[..place]
            .iter()
            .position(|other| other.footprint().overlaps(&destination.footprint()))
        {
            return Err(rejected(format!("its memory overlaps that of out[{other}]")));
        }
        let is_direct = is_laid_out_as(destination, &form.layout);
        checked.push(WriteTarget::checked(destination, is_direct, || format!("out[{place}]"))?);
    }
    Ok(checked)
}

fn is_for(destination: &Argument<'_>, form: &OutputForm) -> bool {
    let (dtype, layout) = destination.form();
    dtype == form.dtype && layout.sizes == form.layout.sizes
}

/// Whether a kernel that makes a tensor of this layout can make it there. Kernels want elements aligned to their size.
fn is_laid_out_as(destination: &Argument<'_>, layout: &Layout) -> bool {
    let (dtype, own) = destination.form();
    let mut axes = layout.sizes.iter().zip(layout.strides.iter().zip(&own.strides));
    let is_aligned = (destination.start() as usize).is_multiple_of(dtype.real().size());
    is_aligned && axes.all(|(&size, (stride, own))| size <= 1 || stride == own)
}

fn described(dtype: DType, sizes: &Dims) -> String {
    format!("{dtype}{:?}", sizes.as_slice())
}
