//! Data to run definitions on: the `inputs` list of a definition file, drawn with a seed.

mod draw;

use ferrofuse::{Definition, Hints};
use frontend::text::{InputSpec, TensorSpec};
use ir::array::{Array, ArrayError, Dims, Layout, StridedArray, Strides};
use ir::graph::Sizes;

/// The input number `place` according to its spec; the same seed and place give the same elements on every machine.
///
/// # Errors
/// When there is no memory for it, or the spec reaches outside its own storage.
pub fn draw(spec: &InputSpec, seed: u64, place: usize) -> Result<StridedArray, ArrayError> {
    match spec {
        InputSpec::Scalar(scalar) => Array::full(*scalar, &[]).map(StridedArray::from),
        InputSpec::Tensor(spec) => {
            let storage = draw::draw(spec.dtype, spec.storage as usize, spec.distribution, (seed, place))?;
            StridedArray::new(storage, layout(spec))
        }
    }
}

fn layout(spec: &TensorSpec) -> Layout {
    Layout {
        offset: spec.offset as isize,
        sizes: spec.sizes.iter().map(|&size| size as usize).collect::<Dims>(),
        strides: spec.strides.iter().map(|&stride| stride as isize).collect::<Strides>(),
    }
}

/// The values of size symbols in these specs; the first occurrence of a symbol counts.
pub fn sizes_of(definition: &Definition, specs: &[InputSpec]) -> Sizes {
    let mut known = Sizes::default();
    for (&val, spec) in definition.fusion.inputs().iter().zip(specs) {
        if let InputSpec::Tensor(spec) = spec {
            known.observe(definition.graph.shape(val), &spec.sizes);
        }
    }
    known
}

/// The compiler's facts about these specs: sizes to decide for, and the layout of each input.
pub fn facts_of(definition: &Definition, specs: &[InputSpec]) -> (Hints, Vec<ferrofuse::LayoutClass>) {
    let layout = |spec: &InputSpec| match spec {
        InputSpec::Tensor(spec) => ferrofuse::LayoutClass::of(&spec.sizes, &spec.strides),
        InputSpec::Scalar(_) => ferrofuse::LayoutClass::Dense,
    };
    (Hints::new(sizes_of(definition, specs).known()), specs.iter().map(layout).collect())
}
