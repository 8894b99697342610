//! Data to run definitions on: the `inputs` list of a definition file, drawn with a seed.

mod draw;

use ferrofuse::{Definition, Hints, LayoutClass};
use frontend::text::{InputSpec, TensorSpec};
use ir::array::{Array, ArrayError, Dims, Layout, StridedArray, Strides};
use ir::graph::{Sizes, SymbolSource};

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

/// The values of size symbols in the specs that are known: sizes of tensors, and scalars; the first occurrence of a symbol
/// counts.
pub fn sizes_of<'s>(
    definition: &Definition,
    specs: impl IntoIterator<Item = Option<&'s InputSpec>>,
) -> Sizes {
    let mut known = Sizes::default();
    for (ordinal, (&val, spec)) in (0..).zip(definition.fusion.inputs().iter().zip(specs)) {
        match spec {
            Some(InputSpec::Tensor(spec)) => known.observe(definition.graph.shape(val), &spec.sizes),
            Some(InputSpec::Scalar(scalar)) => {
                let symbol = definition.graph.symbol_of(&SymbolSource::ScalarInput { ordinal });
                if let Some(symbol) = symbol.filter(|&symbol| known.get(symbol).is_none()) {
                    known.set(symbol, scalar.as_i64());
                }
            }
            None => {}
        }
    }
    known
}

/// The compiler's facts about these specs: sizes to decide for, and the layout of each input.
pub fn facts_of(definition: &Definition, specs: &[InputSpec]) -> (Hints, Vec<LayoutClass>) {
    let sizes = sizes_of(definition, specs.iter().map(Some));
    (Hints::new(sizes.known()), specs.iter().map(layout_class).collect())
}

/// The layout of an input with this spec.
pub fn layout_class(spec: &InputSpec) -> LayoutClass {
    match spec {
        InputSpec::Tensor(spec) => LayoutClass::of(&spec.sizes, &spec.strides),
        InputSpec::Scalar(_) => LayoutClass::Dense,
    }
}
