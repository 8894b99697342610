//! Products with a bias: one call of cuBLASLt, which adds it before it rounds.

use ferrofuse::DType;
use ir::array::{Layout, StridedArray};

use crate::matrices::{dense, libraries, numbers, tensor};

/// The ops that libraries run for a definition of `x`, `w` and `b`.
fn of(dtype: DType, body: &str, [x, w, b]: [&StridedArray; 3]) -> Vec<&'static str> {
    let [of_x, of_w, of_b] = [x, w, b].map(|array| tensor(dtype, array.view().sizes()));
    let text = format!("def f(fd):\n    x = {of_x}\n    w = {of_w}\n    b = {of_b}\n{body}");
    libraries(&text, &[x.view(), w.view(), b.view()])
}

const LINEAR: &str = "    fd.add_output(fd.ops.linear(x, w, b))\n";

#[test]
fn types_and_shapes() {
    for dtype in [DType::F16, DType::BF16, DType::F32] {
        let (w, b) = (dense(dtype, &[3, 7], 1), dense(dtype, &[3], 2));
        for sizes in [&[5, 7][..], &[2, 5, 7], &[2, 3, 4, 7]] {
            assert_eq!(of(dtype, LINEAR, [&dense(dtype, sizes, 0), &w, &b]), ["linear"], "{dtype} {sizes:?}");
        }
    }
    // In f64 a kernel adds it.
    let double = |sizes: &[usize]| dense(DType::F64, sizes, 1);
    assert_eq!(of(DType::F64, LINEAR, [&double(&[5, 7]), &double(&[3, 7]), &double(&[3])]), ["matmul"]);
    // No products to add, and no results.
    let float = |sizes: &[usize]| dense(DType::F32, sizes, 1);
    assert_eq!(of(DType::F32, LINEAR, [&float(&[4, 0]), &float(&[6, 0]), &float(&[6])]), ["linear"]);
    assert_eq!(of(DType::F32, LINEAR, [&float(&[0, 4]), &float(&[6, 4]), &float(&[6])]), ["linear"]);
}

#[test]
fn operands_lie_in_any_way() {
    let dtype = DType::BF16;
    let strided = |offset: isize, sizes: &[usize], strides: &[isize]| {
        let (sizes, strides) = (sizes.iter().copied().collect(), strides.iter().copied().collect());
        StridedArray::new(numbers(dtype, &[90], 5), Layout { offset, sizes, strides }).expect("fits")
    };
    let x = dense(dtype, &[5, 4], 0);
    for w in [strided(0, &[3, 4], &[4, 1]), strided(1, &[3, 4], &[1, 5]), strided(2, &[3, 4], &[9, 2])] {
        for b in [strided(1, &[3], &[1]), strided(0, &[3], &[3]), strided(8, &[3], &[-2])] {
            assert_eq!(of(dtype, LINEAR, [&x, &w, &b]), ["linear"]);
        }
    }
}

#[test]
fn what_stands_before_and_behind_stays_in_kernels() {
    let (x, w, b) =
        (dense(DType::BF16, &[8, 4], 0), dense(DType::BF16, &[6, 4], 1), dense(DType::BF16, &[6], 2));
    let around = "    y = fd.ops.relu(fd.ops.linear(fd.ops.cast(fd.ops.neg(x), dtype=DataType.BFloat16), w, fd.ops.cast(fd.ops.abs(b), dtype=DataType.BFloat16)))\n    fd.add_output(y)\n";
    assert_eq!(of(DType::BF16, around, [&x, &w, &b]), ["linear"]);
    let twice =
        "    y = fd.ops.linear(fd.ops.linear(x, w, b), fd.ops.permute(w, [1, 0]))\n    fd.add_output(y)\n";
    assert_eq!(of(DType::BF16, twice, [&x, &w, &b]), ["linear", "matmul"]);
}

#[test]
fn products_that_are_used_elsewhere_stay() {
    let (x, w, b) =
        (dense(DType::F32, &[8, 4], 0), dense(DType::F32, &[4, 6], 1), dense(DType::F32, &[6], 2));
    let sum =
        "    p = fd.ops.matmul(x, w)\n    s = p + fd.ops.broadcast(b, [True, False])\n    fd.add_output(s)\n";
    assert_eq!(of(DType::F32, sum, [&x, &w, &b]), ["linear"]);
    let product = format!("{sum}    fd.add_output(p)\n");
    assert_eq!(of(DType::F32, &product, [&x, &w, &b]), ["matmul"]);
    let used = format!("{sum}    fd.add_output(fd.ops.sum(p, dims=[0]))\n");
    assert_eq!(of(DType::F32, &used, [&x, &w, &b]), ["matmul"]);
    // A bias of one element for all columns, and a column that is added to each column.
    let single = dense(DType::F32, &[1], 2);
    assert_eq!(of(DType::F32, sum, [&x, &w, &single]), ["matmul"]);
    let column = "    s = fd.ops.matmul(x, w) + fd.ops.broadcast(b, [False, True])\n    fd.add_output(s)\n";
    assert_eq!(of(DType::F32, column, [&x, &w, &dense(DType::F32, &[8], 2)]), ["matmul"]);
}

#[test]
fn a_product_outside_a_group_stays_there() {
    let (x, w, b) =
        (dense(DType::F32, &[8, 4], 0), dense(DType::F32, &[4, 6], 1), dense(DType::F32, &[6], 2));
    let group = "    p = fd.ops.matmul(x, w)
    with fd.group(\"tail\", stay=True):
        y = fd.ops.relu(p + fd.ops.broadcast(b, [True, False]))
    fd.add_output(y)
";
    assert_eq!(of(DType::F32, group, [&x, &w, &b]), ["matmul"]);
}
