//! Products of matrices: one call of cuBLASLt if it can read the operands' layouts, in the order of the stream.

use ferrofuse::{CallOptions, CompileOptions, DType, Executable, Executor, GpuOutput, define};
use ferrofuse_testing::stand_in;
use ir::array::{Array, Layout, StridedArray};

use crate::matrices::{dense, libraries, numbers, tensor};
use crate::tensors::{argument, downloaded, executable, on_gpu, stream, uploaded};

/// Asserts that a GPU computes the evaluator's result of `matmul(a, b)`.
fn check(dtype: DType, a: &StridedArray, b: &StridedArray) {
    let [of_a, of_b] = [a, b].map(|array| tensor(dtype, array.view().sizes()));
    let text =
        format!("def f(fd):\n    a = {of_a}\n    b = {of_b}\n    fd.add_output(fd.ops.matmul(a, b))\n");
    libraries(&text, &[a.view(), b.view()]);
}

/// The axes of a dense array in another order.
fn permuted<const RANK: usize>(sizes: [usize; RANK], order: [usize; RANK]) -> StridedArray {
    let layout = Layout::dense(&sizes).permuted(order);
    StridedArray::new(numbers(DType::F32, &sizes, 3), layout).expect("fits")
}

#[test]
fn types_and_shapes() {
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        check(dtype, &dense(dtype, &[5, 7], 0), &dense(dtype, &[7, 3], 1));
        check(dtype, &dense(dtype, &[1, 16], 0), &dense(dtype, &[16, 1], 1));
    }
    let float = |sizes: &[usize]| dense(DType::F32, sizes, 2);
    check(DType::F32, &float(&[2, 3, 4, 5]), &float(&[2, 3, 5, 6]));
    check(DType::F32, &float(&[2, 3, 4, 5]), &float(&[1, 3, 5, 6]));
    check(DType::F32, &float(&[2, 3, 4, 5]), &float(&[5, 6]));
    check(DType::F32, &float(&[5, 3, 4, 5]), &float(&[1, 3, 5, 6]));
    check(DType::F32, &float(&[2, 1, 3, 4, 5]), &float(&[2, 4, 1, 5, 6]));
    // No products to add, and no results.
    check(DType::F32, &float(&[4, 0]), &float(&[0, 6]));
    check(DType::F32, &float(&[0, 4]), &float(&[4, 6]));
}

#[test]
fn operands_lie_in_any_way() {
    let b = dense(DType::F32, &[5, 6], 1);
    check(DType::F32, &permuted([5, 4], [1, 0]), &b);
    check(DType::F32, &dense(DType::F32, &[4, 5], 1), &permuted([6, 5], [1, 0]));
    // Heads between rows; rows with gaps; columns with gaps, which need a copy; one row for all.
    check(DType::F32, &permuted([2, 4, 3, 5], [0, 2, 1, 3]), &dense(DType::F32, &[2, 3, 5, 6], 1));
    let strided = |strides: [isize; 2], offset| {
        let layout =
            Layout { offset, sizes: [4, 5].into_iter().collect(), strides: strides.into_iter().collect() };
        StridedArray::new(numbers(DType::F32, &[90], 5), layout).expect("fits")
    };
    for (strides, offset) in [([9, 1], 3), ([11, 2], 0), ([0, 1], 1), ([-9, 1], 40), ([1, 0], 0)] {
        check(DType::F32, &strided(strides, offset), &b);
    }
}

#[test]
fn groups() {
    let text = "
def f(fd):
    a = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.BFloat16)
    b = fd.define_tensor(shape=[-1, -1, -1], contiguity=[True, True, True], dtype=DataType.BFloat16)
    ends = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Int)
    fd.add_output(fd.ops.grouped_mm(a, b, ends))
";
    let (a, b) = (numbers(DType::BF16, &[9, 4], 0), numbers(DType::BF16, &[3, 4, 5], 1));
    for ends in [[2_i64, 2, 9], [1, 4, 7]] {
        let ends = Array::from_slice(&[3], &ends).expect("memory");
        let inputs = [a.view(), b.view(), ends.view()];
        let options = CompileOptions { executor: Executor::Evaluator, ..CompileOptions::default() };
        let definition = || define(text).expect("defines");
        let expected = Executable::by_size(definition(), options).run(&inputs).expect("the evaluator runs");
        let made = on_gpu(definition()).run(&inputs).expect("the GPU runs");
        let [expected, made] = [expected, made].map(|outputs| outputs[0].to_array().expect("memory"));
        assert_eq!(made.as_bytes(), expected.as_bytes());
    }
    let ends = Array::from_slice(&[3], &[2_i64, 1, 9]).expect("memory");
    let error = on_gpu(define(text).expect("defines")).run(&[a.view(), b.view(), ends.view()]);
    let error = error.expect_err("a group that ends before it begins").to_string();
    assert!(error.contains("grouped_mm"), "{error}");
}

/// The host does not wait: the product is ordered by the stream.
#[test]
fn a_product_is_work_of_the_stream() {
    let executable = executable("    fd.add_output(fd.ops.relu(fd.ops.matmul(x, y)))\n");
    let stream = stream();
    let (x, y) = (uploaded(&stream, &[1.0, -2.0, 4.0, 3.0]), uploaded(&stream, &[5.0, 6.0, 7.0, 8.0]));
    let square = Layout::dense(&[2, 2]);
    let inputs = [argument(&x, 0, square.clone(), false), argument(&y, 0, square, false)];
    executable.run_on_gpu(&CallOptions::default(), &stream, &inputs).expect("compiles and runs");
    stream.synchronize().expect("runs");
    let outputs = executable.run_on_gpu(&CallOptions::default(), &stream, &inputs).expect("runs");
    let [GpuOutput::Made(product)] = &outputs[..] else { panic!("it is made") };
    assert!(stand_in::count("pending") >= 2, "product and kernel wait in the stream");
    assert_eq!(downloaded(&stream, product.address(), 4), [0.0, 0.0, 41.0, 48.0]);
}
