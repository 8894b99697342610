//! Inputs for the definitions: reproducible numbers in any dtype, and the same numbers with other strides.

use ferrofuse::{Array, ArrayView, DType, Definition, Scalar};
use ir::array::Layout;

use crate::definitions::Case;

/// Numbers between -2 and 2 from a seed.
pub fn random(dtype: DType, sizes: &[usize], seed: u64) -> Array {
    let mut array = Array::zeros(dtype, sizes).expect("small");
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for element in array.as_mut_bytes().chunks_exact_mut(dtype.size()) {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let number = (state >> 40) as f64 / f64::from(1 << 22) - 2.0;
        let bits =
            Scalar::from_f64(dtype, if dtype.is_float() { number } else { (number * 8.0).trunc() }).bits();
        let width = element.len();
        element.copy_from_slice(&bits.to_le_bytes()[..width]);
    }
    array
}

/// The inputs of a case at a size.
pub fn inputs(case: &Case, definition: &Definition, rows: usize, columns: usize) -> Vec<Array> {
    let size = |axis: &str| if axis == "R" { rows } else { columns };
    let shapes = case.inputs.iter().map(|shape| shape.split_whitespace().map(size).collect::<Vec<usize>>());
    let dtypes = definition.fusion.inputs().iter().map(|&val| definition.graph.dtype(val));
    let seeds = 1..;
    shapes.zip(dtypes).zip(seeds).map(|((shape, dtype), seed)| random(dtype, &shape, seed)).collect()
}

pub fn views(arrays: &[Array]) -> Vec<ArrayView<'_>> {
    arrays.iter().map(Array::view).collect()
}

/// Layouts of a tensor other than dense.
#[derive(Clone, Copy, Debug)]
pub enum Strange {
    /// The last axis outermost.
    Transposed,
    /// Rows longer than the tensor's.
    Padded,
    /// Every axis walked backward.
    Reversed,
    /// All indices of the first axis share their elements.
    Expanded,
    /// Not aligned to the element.
    Odd,
}

impl Strange {
    pub const ALL: [Strange; 5] =
        [Strange::Transposed, Strange::Padded, Strange::Reversed, Strange::Expanded, Strange::Odd];
}

/// Memory for a tensor with an unusual layout, filled with numbers.
pub struct StrangeArray {
    memory: Vec<u8>,
    start: usize,
    dtype: DType,
    sizes: Vec<usize>,
    strides: Vec<isize>,
}

impl StrangeArray {
    pub fn new(strange: Strange, dtype: DType, sizes: &[usize], seed: u64) -> StrangeArray {
        let padded: Vec<usize> = sizes.iter().map(|size| size + 3).collect();
        let dense = random(dtype, &padded, seed);
        let mut strides: Vec<isize> = Layout::dense(&padded).strides.to_vec();
        let (mut start, mut memory) = (0, dense.as_bytes().to_vec());
        match strange {
            Strange::Transposed => {
                let reversed: Vec<usize> = padded.iter().rev().copied().collect();
                strides = Layout::dense(&reversed).strides.iter().rev().copied().collect();
            }
            Strange::Padded => {}
            Strange::Reversed => {
                start = memory.len() - dtype.size();
                strides.iter_mut().for_each(|stride| *stride = -*stride);
            }
            Strange::Expanded => strides.iter_mut().take(1).for_each(|stride| *stride = 0),
            Strange::Odd => {
                memory.insert(0, 0);
                start = 1;
            }
        }
        StrangeArray { memory, start, dtype, sizes: sizes.to_vec(), strides }
    }

    pub fn view(&self) -> ArrayView<'_> {
        ArrayView::new(&self.memory, self.start, self.dtype, &self.sizes, &self.strides).expect("inside")
    }
}
