//! The tensor ops other than scalar ops: movement, gathers, folds, scans and external ops.

use index::Expr;
use ir::graph::{ExternalOp, TensorOp, Val};
use ops::{DType, Monoid, ScalarOp};

use crate::program::Program;
use crate::{COUNT, Report, goal};

/// Rows and columns of what is timed.
const SIDE: usize = 1 << 10;
/// Rows, columns and terms of products of matrices.
const MATRIX: usize = 512;

fn size<C: FromIterator<Expr>>(sizes: &[usize]) -> C {
    sizes.iter().map(|&size| Expr::constant(size as i64)).collect()
}

pub fn tensor_ops(report: &Report) {
    moved(report);
    gathered(report);
    folded(report);
    searched(report);
    multiplied(report);
    report.line("complex of parts c64", goal::SIMPLE, COUNT, |p, inexact| {
        let parts = [0, 1].map(|_| p.operand(DType::F32, &[COUNT], inexact));
        p.measure(TensorOp::Map(ScalarOp::Complex), &parts);
    });
    for op in [ScalarOp::Real, ScalarOp::Imag] {
        report.line(&format!("{} c64, made", op.name()), goal::SIMPLE, COUNT, |p, inexact| {
            let parts = [0, 1].map(|_| p.operand(DType::F32, &[COUNT], inexact));
            let whole = p.add(TensorOp::Map(ScalarOp::Complex), &parts);
            p.before(whole);
            p.measure(TensorOp::Map(op), &[whole]);
        });
    }
}

fn moved(report: &Report) {
    for dtype in [DType::F32, DType::BF16, DType::F64, DType::Bool] {
        report.line(&format!("reshape of a permute {dtype}"), goal::SIMPLE, COUNT, |p, inexact| {
            let x = p.operand(dtype, &[SIDE, SIDE], inexact);
            let transposed = p.add(TensorOp::Permute([1, 0].into_iter().collect()), &[x]);
            p.measure(TensorOp::Reshape(size(&[COUNT])), &[transposed]);
        });
        report.line(&format!("pad {dtype}"), goal::SIMPLE, COUNT, |p, inexact| {
            let x = p.operand(dtype, &[SIDE, SIDE], inexact);
            let fill = p.constant(dtype, 1.0);
            let widths = || size(&[1, 1]);
            p.measure(TensorOp::Pad { before: widths(), after: widths() }, &[x, fill]);
        });
        report.line(&format!("cat {dtype}"), goal::SIMPLE, COUNT, |p, inexact| {
            let parts = [0, 1].map(|_| p.operand(dtype, &[SIDE, SIDE / 2], inexact));
            p.measure(TensorOp::Cat(1), &parts);
        });
    }
    report.line("add f32 of a permute", goal::SIMPLE, COUNT, |p, inexact| {
        let x = p.operand(DType::F32, &[SIDE, SIDE], inexact);
        let transposed = p.add(TensorOp::Permute([1, 0].into_iter().collect()), &[x]);
        p.measure(TensorOp::Map(ScalarOp::Add), &[x, transposed]);
    });
    report.line("add f32 of rows and columns", goal::SIMPLE, COUNT, |p, inexact| {
        let row = p.operand(DType::F32, &[1, SIDE], inexact);
        let column = p.operand(DType::F32, &[SIDE, 1], inexact);
        p.measure(TensorOp::Map(ScalarOp::Add), &[row, column]);
    });
    for dtype in [DType::F32, DType::F64, DType::I64] {
        report.line(&format!("iota {dtype}"), goal::SIMPLE, COUNT, |p, _| {
            let (start, step) = (p.constant(dtype, 1.0), p.constant(dtype, 3.0));
            p.measure(TensorOp::Iota(Expr::constant(COUNT as i64)), &[start, step]);
        });
    }
}

fn gathered(report: &Report) {
    report.line("gather of rows f32", goal::SIMPLE, COUNT, |p, inexact| {
        let x = p.operand(DType::F32, &[64, SIDE], inexact);
        let index = p.operand(DType::I64, &[SIDE, 1], false);
        p.measure(TensorOp::Gather(0), &[x, index]);
    });
    report.line("gather of elements f32", goal::SIMPLE, COUNT, |p, inexact| {
        let x = p.operand(DType::F32, &[SIDE, SIDE], inexact);
        let index = p.operand(DType::I64, &[SIDE, SIDE], false);
        p.measure(TensorOp::Gather(1), &[x, index]);
    });
    report.line("scatter f32", goal::SIMPLE, COUNT, |p, inexact| {
        let x = p.operand(DType::F32, &[SIDE, SIDE], inexact);
        let index = p.operand(DType::I64, &[SIDE, SIDE], false);
        let src = p.operand(DType::F32, &[SIDE, SIDE], inexact);
        p.measure(TensorOp::External(ExternalOp::Scatter(1)), &[x, index, src]);
    });
}

/// bf16 is stored only: what folds it casts it first.
fn folded(report: &Report) {
    for dtype in [DType::F32, DType::F64, DType::I64, DType::Bool] {
        for monoid in Monoid::NAMED {
            if *monoid == Monoid::Welford && !dtype.is_float() {
                continue;
            }
            for (over, axes) in [("rows", &[1_u8][..]), ("columns", &[0]), ("all", &[0, 1])] {
                report.line(
                    &format!("{} {dtype} over {over}", monoid.name()),
                    goal::SIMPLE,
                    COUNT,
                    |p, inexact| {
                        let operands = operands(p, monoid, dtype, inexact);
                        let axes = axes.iter().copied().collect();
                        p.measure(TensorOp::Fold { monoid: monoid.clone(), axes }, &operands);
                    },
                );
            }
            for axis in [0, 1] {
                report.line(
                    &format!("scan {} {dtype} along {axis}", monoid.name()),
                    goal::of_results(monoid.results()),
                    COUNT,
                    |p, inexact| {
                        let operands = operands(p, monoid, dtype, inexact);
                        p.measure(TensorOp::Scan { monoid: monoid.clone(), axis }, &operands);
                    },
                );
            }
        }
    }
}

/// What a fold takes: elements, and their indices where it asks for them.
fn operands(p: &mut Program, monoid: &Monoid, dtype: DType, inexact: bool) -> Vec<Val> {
    let mut operands = vec![p.operand(dtype, &[SIDE, SIDE], inexact)];
    if matches!(monoid, Monoid::Argmax | Monoid::Argmin) {
        operands.push(p.operand(DType::I64, &[SIDE, SIDE], false));
    }
    operands
}

fn searched(report: &Report) {
    for dtype in [DType::F32, DType::I64] {
        report.line(&format!("argsort {dtype}, lines of 1024"), goal::of_sort(SIDE), COUNT, |p, inexact| {
            let x = p.operand(dtype, &[SIDE, SIDE], inexact);
            p.measure(TensorOp::External(ExternalOp::Argsort { axis: 1, descending: false }), &[x]);
        });
        report.line(&format!("topk {dtype}, 8 of 1024"), goal::of_sort(8), COUNT, |p, inexact| {
            let x = p.operand(dtype, &[SIDE, SIDE], inexact);
            let topk = ExternalOp::TopK { axis: 1, k: Expr::constant(8), largest: true };
            p.measure(TensorOp::External(topk), &[x]);
        });
    }
}

/// Nanoseconds a multiply-add.
fn multiplied(report: &Report) {
    for dtype in [DType::F32, DType::BF16, DType::F64] {
        report.line(
            &format!("matmul {dtype}, a multiply-add"),
            goal::PRODUCT,
            MATRIX.pow(3),
            |p, inexact| {
                let [a, b] = [0, 1].map(|_| p.operand(dtype, &[MATRIX, MATRIX], inexact));
                p.measure(TensorOp::External(ExternalOp::Matmul(dtype)), &[a, b]);
            },
        );
    }
}
