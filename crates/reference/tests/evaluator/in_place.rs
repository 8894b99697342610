//! Results that reuse the memory of an operand equal those whose operands are kept.

use super::*;

/// Elements and bounds of the results of `build` on an inexact and an exact number, with the operands kept or not.
fn results(dtype: DType, keeps: bool, build: &impl Fn(&mut Program, [Val; 3]) -> Val) -> [Vec<u64>; 2] {
    let (rows, columns) = (150_usize, 230);
    let mut p = Program::default();
    let sizes = [rows as i64, columns as i64];
    let given = p.input(DType::F32, &sizes);
    let root = p.map(ScalarOp::Exp, &[given]);
    let [inexact, exact] = [root, given].map(|val| {
        let cast = if dtype == DType::F32 { val } else { p.cast(dtype, val) };
        p.map(ScalarOp::Neg, &[cast])
    });
    let row = p.add(TensorOp::Slice { starts: exprs(&[0, 0]), sizes: exprs(&[1, sizes[1]]) }, &[inexact]);
    let row = p.map(ScalarOp::Abs, &[row]);
    let result = build(&mut p, [inexact, exact, row]);
    let outputs = if keeps { vec![result, inexact, exact, row] } else { vec![result] };
    let input = array(&[rows, columns], &Random(5).floats(rows * columns));
    let out = &p.run(&outputs, &[input.view()])[0];
    [reals(out), bounds(out)].map(|numbers| numbers.into_iter().map(f64::to_bits).collect())
}

fn check(what: &str, build: impl Fn(&mut Program, [Val; 3]) -> Val) {
    for dtype in [DType::F32, DType::F64] {
        let [kept, replaced] = [true, false].map(|keeps| results(dtype, keeps, &build));
        assert!(kept == replaced, "{what} of {dtype}");
    }
}

#[test]
fn memory_of_an_operand_takes_the_results() {
    check("a sum of an inexact one", |p, [x, y, _]| p.map(ScalarOp::Add, &[x, y]));
    check("a sum of an exact one", |p, [x, y, _]| p.map(ScalarOp::Sub, &[y, x]));
    check("a square", |p, [x, ..]| p.map(ScalarOp::Mul, &[x, x]));
    check("a product with a row", |p, [x, _, row]| p.map(ScalarOp::Mul, &[row, x]));
    check("a function", |p, [x, ..]| p.map(ScalarOp::Tanh, &[x]));
    check("a function of a row", |p, [_, _, row]| p.map(ScalarOp::Sqrt, &[row]));
    check("a comparison", |p, [x, y, _]| {
        let less = p.map(ScalarOp::Lt, &[x, y]);
        p.map(ScalarOp::Where, &[less, y, x])
    });
    check("a cast to short integers", |p, [x, ..]| p.cast(DType::I32, x));
    check("a cast to long integers", |p, [x, ..]| p.cast(DType::I64, x));
    check("what is transposed", |p, [x, y, _]| {
        let transposed =
            |p: &mut Program, val| p.add(TensorOp::Permute([1, 0].into_iter().collect()), &[val]);
        let (x, y) = (transposed(p, x), transposed(p, y));
        p.map(ScalarOp::Add, &[x, y])
    });
    check("what is seen twice", |p, [x, y, _]| {
        let part = |p: &mut Program, start: i64, val| {
            let (starts, sizes) = (exprs(&[start, 0]), exprs(&[75, 230]));
            p.add(TensorOp::Slice { starts, sizes }, &[val])
        };
        let (first, second, other) = (part(p, 0, x), part(p, 75, x), part(p, 10, y));
        let sum = p.map(ScalarOp::Add, &[first, second]);
        p.map(ScalarOp::Mul, &[other, sum])
    });
}
