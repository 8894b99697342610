//! Matrices of exact numbers, and whether a GPU computes the evaluator's results from them.

use ferrofuse::{CompileOptions, DType, Executable, Executor, Scalar, define};
use ir::array::{Array, ArrayView, Layout, StridedArray};

use crate::tensors::on_gpu;

/// Numbers of small magnitude, so that every product and sum is exact in f32.
pub fn numbers(dtype: DType, sizes: &[usize], seed: usize) -> Array {
    let mut array = Array::zeros(dtype, sizes).expect("memory");
    for (place, element) in array.as_mut_bytes().chunks_exact_mut(dtype.size()).enumerate() {
        let number = ((place * 7 + seed) % 11) as f64 - 5.0;
        element.copy_from_slice(&Scalar::from_f64(dtype, number).bits().to_le_bytes()[..dtype.size()]);
    }
    array
}

/// A tensor without gaps.
pub fn dense(dtype: DType, sizes: &[usize], seed: usize) -> StridedArray {
    StridedArray::new(numbers(dtype, sizes, seed), Layout::dense(sizes)).expect("fits")
}

/// The declaration of an input that may have any strides. An axis of size 1 is one that is repeated.
pub fn tensor(dtype: DType, sizes: &[usize]) -> String {
    let of_python = match dtype {
        DType::F16 => "DataType.Half",
        DType::BF16 => "DataType.BFloat16",
        DType::F32 => "DataType.Float",
        _ => "DataType.Double",
    };
    let listed = |one: &str, other: &str| {
        let words: Vec<&str> = sizes.iter().map(|&size| if size == 1 { one } else { other }).collect();
        words.join(", ")
    };
    let (sizes, gaps) = (listed("1", "-1"), listed("None", "False"));
    format!("fd.define_tensor(shape=[{sizes}], contiguity=[{gaps}], dtype={of_python})")
}

/// Compares the outputs of a definition on a GPU, byte by byte, with the evaluator's; returns the ops that libraries ran.
pub fn libraries(text: &str, inputs: &[ArrayView<'_>]) -> Vec<&'static str> {
    let definition = || define(text).expect("defines");
    let options = CompileOptions { executor: Executor::Evaluator, ..CompileOptions::default() };
    let expected = Executable::by_size(definition(), options).run(inputs).expect("the evaluator runs");
    let executable = on_gpu(definition());
    let made = executable.run(inputs).expect("the GPU runs");
    assert_eq!(made.len(), expected.len());
    for (made, expected) in made.iter().zip(expected.iter()) {
        let [expected, made] = [expected, made].map(|output| output.to_array().expect("memory"));
        let layouts: Vec<&Layout> = inputs.iter().map(ArrayView::layout).collect();
        assert_eq!(made.as_bytes(), expected.as_bytes(), "{layouts:?}\n{text}");
    }
    let variant = executable.latest().expect("it was called");
    variant.report.segments.iter().filter_map(|segment| segment.library).collect()
}
