//! Data to run definitions on: what the `inputs` list of a definition file says, drawn with a seed.

mod draw;

use ferrofuse::{Definition, Hints};
use ir::array::{Array, ArrayError, ArrayView, Dims, Layout, Strides};
use ir::index::Sym;
use ir::text::{InputSpec, TensorSpec};

/// Elements in memory of their own, seen through a layout.
#[derive(Debug)]
pub struct StridedArray {
    storage: Array,
    layout: Layout,
}

impl StridedArray {
    /// The elements of `storage` through a layout.
    ///
    /// # Errors
    /// When the layout reaches outside the storage.
    pub fn new(storage: Array, layout: Layout) -> Result<StridedArray, ArrayError> {
        storage.view().relaid(layout.clone())?;
        Ok(StridedArray { storage, layout })
    }

    /// The input number `place` as its spec says; the same seed and place give the same elements on every machine.
    ///
    /// # Errors
    /// When there is no memory for it, or the spec reaches outside its own storage.
    pub fn draw(spec: &InputSpec, seed: u64, place: usize) -> Result<StridedArray, ArrayError> {
        match spec {
            InputSpec::Scalar(scalar) => Array::full(*scalar, &[]).map(StridedArray::from),
            InputSpec::Tensor(spec) => {
                let storage =
                    draw::draw(spec.dtype, spec.storage as usize, spec.distribution, (seed, place))?;
                StridedArray::new(storage, layout(spec))
            }
        }
    }

    /// All of it as a view.
    pub fn view(&self) -> ArrayView<'_> {
        self.storage.view().relaid(self.layout.clone()).expect("the layout was checked when this was made")
    }
}

impl From<Array> for StridedArray {
    fn from(storage: Array) -> StridedArray {
        let layout = Layout::dense(storage.sizes());
        StridedArray { storage, layout }
    }
}

fn layout(spec: &TensorSpec) -> Layout {
    Layout {
        offset: 0,
        sizes: spec.sizes.iter().map(|&size| size as usize).collect::<Dims>(),
        strides: spec.strides.iter().map(|&stride| stride as isize).collect::<Strides>(),
    }
}

/// The values of size symbols that inputs of these sizes give; the first input to show a symbol counts.
pub fn known_sizes(definition: &Definition, sizes: &[Vec<i64>]) -> Vec<(Sym, i64)> {
    let mut known: Vec<(Sym, i64)> = Vec::new();
    for (&val, sizes) in definition.fusion.inputs().iter().zip(sizes) {
        for (expr, &size) in definition.graph.shape(val).iter().zip(sizes) {
            let new = expr.as_sym().filter(|symbol| known.iter().all(|(known, _)| known != symbol));
            known.extend(new.map(|symbol| (symbol, size)));
        }
    }
    known
}

/// What the compiler may know of these specs: sizes to decide for, and how each input lies in memory.
pub fn facts_of(definition: &Definition, specs: &[InputSpec]) -> (Hints, Vec<ferrofuse::Layout>) {
    let sizes = |spec: &InputSpec| match spec {
        InputSpec::Tensor(spec) => spec.sizes.clone(),
        InputSpec::Scalar(_) => Vec::new(),
    };
    let layout = |spec: &InputSpec| match spec {
        InputSpec::Tensor(spec) => ferrofuse::Layout::of(&spec.sizes, &spec.strides),
        InputSpec::Scalar(_) => ferrofuse::Layout::Dense,
    };
    let sizes: Vec<Vec<i64>> = specs.iter().map(sizes).collect();
    (Hints::new(known_sizes(definition, &sizes)), specs.iter().map(layout).collect())
}
