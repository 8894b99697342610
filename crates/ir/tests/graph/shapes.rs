//! The shape rule of each tensor op, and the messages of its rejections.

use ferrofuse_ir::graph::{TensorOp, Val};
use index::Expr;
use ops::{DType, Monoid, Scalar, ScalarOp};
use smallvec::smallvec;

use super::Build;

/// The type of an op on operands, or why it is rejected.
fn check(b: &mut Build, op: TensorOp, operands: &[Val], expected: &str) {
    let given = match b.graph.add(op, operands, &mut b.facts) {
        Ok(node) => {
            b.graph.results(node).map(|val| b.graph.ty(val).to_string()).collect::<Vec<_>>().join(", ")
        }
        Err(error) => error.to_string(),
    };
    assert_eq!(given, expected);
}

fn sizes(sizes: &[i64]) -> smallvec::SmallVec<[Expr; 4]> {
    sizes.iter().map(|&size| Expr::constant(size)).collect()
}

#[test]
fn elementwise_ops_broadcast_axes_of_size_one_only() {
    let mut b = Build::default();
    let (x, row) = (b.input(&[Some(3), Some(4)]), b.input(&[Some(1), Some(4)]));
    let (vector, scalar) = (b.input(&[Some(4)]), b.constant(2.0));
    check(&mut b, TensorOp::Map(ScalarOp::Add), &[x, row], "f32[3, 4]");
    check(&mut b, TensorOp::Map(ScalarOp::Add), &[x, scalar], "f32[3, 4]");
    check(&mut b, TensorOp::Map(ScalarOp::Lt), &[x, row], "bool[3, 4]");
    check(&mut b, TensorOp::Map(ScalarOp::Add), &[x, vector], "rank 1 where rank 2 was expected");
    check(&mut b, TensorOp::Map(ScalarOp::Add), &[x], "expected 2 operands, got 1");
}

#[test]
fn no_arithmetic_in_storage_types() {
    let mut b = Build::default();
    let x = b.input(&[Some(3)]);
    let half = b.add(TensorOp::Cast(DType::BF16), &[x]);
    check(&mut b, TensorOp::Map(ScalarOp::Neg), &[half], "no arithmetic in bf16: cast to f32 first");
    check(&mut b, TensorOp::Map(ScalarOp::Set), &[half], "bf16[3]");
    let fold = TensorOp::Fold { monoid: Monoid::Sum, axes: smallvec![0] };
    check(&mut b, fold, &[half], "no arithmetic in bf16: cast to f32 first");
}

#[test]
fn moves() {
    let mut b = Build::default();
    let x = b.input(&[Some(3), Some(4)]);
    check(&mut b, TensorOp::Broadcast(smallvec![true, false, false]), &[x], "f32[1, 3, 4]");
    check(&mut b, TensorOp::Broadcast(smallvec![true, false]), &[x], "rank 1 where rank 2 was expected");
    check(&mut b, TensorOp::Permute(smallvec![1, 0]), &[x], "f32[4, 3]");
    check(
        &mut b,
        TensorOp::Permute(smallvec![1, 1]),
        &[x],
        "axis 1 is out of range for rank 2, or named twice",
    );
    check(&mut b, TensorOp::Reshape(sizes(&[2, 6])), &[x], "f32[2, 6]");
    check(&mut b, TensorOp::Reshape(sizes(&[5, 2])), &[x], "cannot reshape 12 elements into 10");
    check(&mut b, TensorOp::Expand(sizes(&[3, 5])), &[x], "axis 1: size 4 does not match size 5");
    check(&mut b, TensorOp::Squeeze(smallvec![0]), &[x], "axis 0 has size 3, expected 1");
    let one = b.input(&[Some(1), Some(4)]);
    check(&mut b, TensorOp::Expand(sizes(&[7, 4])), &[one], "f32[7, 4]");
    check(&mut b, TensorOp::Squeeze(smallvec![0]), &[one], "f32[4]");
}

#[test]
fn parts() {
    let mut b = Build::default();
    let (x, y, fill) = (b.input(&[Some(3), Some(4)]), b.input(&[Some(2), Some(4)]), b.constant(0.0));
    check(&mut b, TensorOp::Slice { starts: sizes(&[1, 0]), sizes: sizes(&[2, 4]) }, &[x], "f32[2, 4]");
    check(&mut b, TensorOp::Cat(0), &[x, y], "f32[5, 4]");
    check(&mut b, TensorOp::Cat(1), &[x, y], "axis 0: size 3 does not match size 2");
    check(&mut b, TensorOp::Pad { before: sizes(&[0, 1]), after: sizes(&[0, -2]) }, &[x, fill], "f32[3, 3]");
    let cropped = TensorOp::Pad { before: sizes(&[-4, 0]), after: sizes(&[0, 0]) };
    check(&mut b, cropped, &[x, fill], "axis 0 would have the negative size -1");
}

#[test]
fn folds_and_factories() {
    let mut b = Build::default();
    let x = b.input(&[Some(3), None]);
    check(&mut b, TensorOp::Fold { monoid: Monoid::Max, axes: smallvec![1] }, &[x], "f32[3]");
    check(
        &mut b,
        TensorOp::Fold { monoid: Monoid::Welford, axes: smallvec![0] },
        &[x],
        "f32[i0], f32[i0], f32[i0]",
    );
    let out = TensorOp::Fold { monoid: Monoid::Sum, axes: smallvec![2] };
    check(&mut b, out, &[x], "axis 2 is out of range for rank 2, or named twice");
    let (start, step) = (Scalar::from_i64(DType::I64, 0), Scalar::from_i64(DType::I64, 2));
    let (start, step) = (b.add(TensorOp::Constant(start), &[]), b.add(TensorOp::Constant(step), &[]));
    check(&mut b, TensorOp::Iota(Expr::constant(5)), &[start, step], "i64[5]");
}
