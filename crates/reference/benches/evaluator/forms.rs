//! The forms other than scalar ops: movement, gathers, folds, scans and what libraries compute.

use index::Expr;
use ir::graph::{Form, Library, Val};
use ops::{DType, Monoid, Prim};

use crate::program::Program;
use crate::{COUNT, Report, goal};

/// Rows and columns of what is timed.
const SIDE: usize = 1 << 10;
/// Rows, columns and terms of products of matrices.
const MATRIX: usize = 512;

fn size<C: FromIterator<Expr>>(sizes: &[usize]) -> C {
    sizes.iter().map(|&size| Expr::constant(size as i64)).collect()
}

pub fn forms(report: &Report) {
    moved(report);
    gathered(report);
    folded(report);
    searched(report);
    multiplied(report);
    report.line("complex of parts c64", goal::SIMPLE, COUNT, |p, inexact| {
        let parts = [0, 1].map(|_| p.operand(DType::F32, &[COUNT], inexact));
        p.measure(Form::Map(Prim::Complex), &parts);
    });
    for prim in [Prim::Real, Prim::Imag] {
        report.line(&format!("{} c64, made", prim.name()), goal::SIMPLE, COUNT, |p, inexact| {
            let parts = [0, 1].map(|_| p.operand(DType::F32, &[COUNT], inexact));
            let whole = p.add(Form::Map(Prim::Complex), &parts);
            p.measure(Form::Map(prim), &[whole]);
        });
    }
}

fn moved(report: &Report) {
    for dtype in [DType::F32, DType::BF16, DType::F64, DType::Bool] {
        report.line(&format!("reshape of a permute {dtype}"), goal::SIMPLE, COUNT, |p, inexact| {
            let x = p.operand(dtype, &[SIDE, SIDE], inexact);
            let turned = p.add(Form::Permute([1, 0].into_iter().collect()), &[x]);
            p.measure(Form::Reshape(size(&[COUNT])), &[turned]);
        });
        report.line(&format!("pad {dtype}"), goal::SIMPLE, COUNT, |p, inexact| {
            let x = p.operand(dtype, &[SIDE, SIDE], inexact);
            let fill = p.constant(dtype, 1.0);
            let widths = || size(&[1, 1]);
            p.measure(Form::Pad { before: widths(), after: widths() }, &[x, fill]);
        });
        report.line(&format!("cat {dtype}"), goal::SIMPLE, COUNT, |p, inexact| {
            let parts = [0, 1].map(|_| p.operand(dtype, &[SIDE, SIDE / 2], inexact));
            p.measure(Form::Cat(1), &parts);
        });
    }
    report.line("add f32 of a permute", goal::SIMPLE, COUNT, |p, inexact| {
        let x = p.operand(DType::F32, &[SIDE, SIDE], inexact);
        let turned = p.add(Form::Permute([1, 0].into_iter().collect()), &[x]);
        p.measure(Form::Map(Prim::Add), &[x, turned]);
    });
    report.line("add f32 of rows and columns", goal::SIMPLE, COUNT, |p, inexact| {
        let row = p.operand(DType::F32, &[1, SIDE], inexact);
        let column = p.operand(DType::F32, &[SIDE, 1], inexact);
        p.measure(Form::Map(Prim::Add), &[row, column]);
    });
    for dtype in [DType::F32, DType::F64, DType::I64] {
        report.line(&format!("iota {dtype}"), goal::SIMPLE, COUNT, |p, _| {
            let (start, step) = (p.constant(dtype, 1.0), p.constant(dtype, 3.0));
            p.measure(Form::Iota(Expr::constant(COUNT as i64)), &[start, step]);
        });
    }
}

fn gathered(report: &Report) {
    report.line("gather of rows f32", goal::SIMPLE, COUNT, |p, inexact| {
        let x = p.operand(DType::F32, &[64, SIDE], inexact);
        let index = p.operand(DType::I64, &[SIDE, 1], false);
        p.measure(Form::Gather(0), &[x, index]);
    });
    report.line("gather of elements f32", goal::SIMPLE, COUNT, |p, inexact| {
        let x = p.operand(DType::F32, &[SIDE, SIDE], inexact);
        let index = p.operand(DType::I64, &[SIDE, SIDE], false);
        p.measure(Form::Gather(1), &[x, index]);
    });
    report.line("scatter f32", goal::SIMPLE, COUNT, |p, inexact| {
        let x = p.operand(DType::F32, &[SIDE, SIDE], inexact);
        let index = p.operand(DType::I64, &[SIDE, SIDE], false);
        let src = p.operand(DType::F32, &[SIDE, SIDE], inexact);
        p.measure(Form::Library(Library::Scatter(1)), &[x, index, src]);
    });
}

fn folded(report: &Report) {
    for dtype in [DType::F32, DType::BF16, DType::F64, DType::I64, DType::Bool] {
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
                        p.measure(Form::Fold { monoid: monoid.clone(), axes }, &operands);
                    },
                );
            }
            for axis in [0, 1] {
                report.line(
                    &format!("scan {} {dtype} along {axis}", monoid.name()),
                    goal::SIMPLE,
                    COUNT,
                    |p, inexact| {
                        let operands = operands(p, monoid, dtype, inexact);
                        p.measure(Form::Scan { monoid: monoid.clone(), axis }, &operands);
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
        report.line(&format!("argsort {dtype}, lines of 1024"), goal::SIMPLE, COUNT, |p, inexact| {
            let x = p.operand(dtype, &[SIDE, SIDE], inexact);
            p.measure(Form::Library(Library::Argsort { axis: 1, descending: false }), &[x]);
        });
        report.line(&format!("topk {dtype}, 8 of 1024"), goal::SIMPLE, COUNT, |p, inexact| {
            let x = p.operand(dtype, &[SIDE, SIDE], inexact);
            let topk = Library::TopK { axis: 1, k: Expr::constant(8), largest: true };
            p.measure(Form::Library(topk), &[x]);
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
                p.measure(Form::Library(Library::Matmul(dtype)), &[a, b]);
            },
        );
    }
}
