//! Outlining: an op that a kernel has many of is a function of the module, which each of them calls.
//!
//! Written out each time they would be most of a kernel's code, of which libLLVM makes one in 2 to 25 ms. A call takes
//! little beside what they compute: chains of ten ran up to 5 % longer (`tanh`), of sines, logarithms and erf 2 % at most.

use ir::kernel::Stmt;
use ops::{CpuSpelling, DType, Polynomial, ScalarOp};

use super::operand::Operand;
use super::writer::Writer;

/// The most instances of an op in a kernel that are written out, each where it stands.
const WRITTEN_OUT: usize = 4;

/// The ops of a kernel that are functions of its module.
#[derive(Clone, Debug, Default)]
pub(super) struct Outlined {
    ops: Vec<ScalarOp>,
}

impl Outlined {
    /// Those that the body of a kernel has many of.
    pub(super) fn of(body: &[Stmt]) -> Outlined {
        let mut counts = Vec::new();
        count(body, &mut counts);
        let many = counts.into_iter().filter(|(_, instances)| *instances > WRITTEN_OUT);
        Outlined { ops: many.map(|(op, _)| op).collect() }
    }
}

/// Instances of each op that is long enough.
fn count(body: &[Stmt], counts: &mut Vec<(ScalarOp, usize)>) {
    for statement in body {
        match statement {
            Stmt::Apply { op, .. } if is_long(*op) => {
                match counts.iter_mut().find(|(known, _)| known == op) {
                    Some((_, instances)) => *instances += 1,
                    None => counts.push((*op, 1)),
                }
            }
            Stmt::For(for_loop) => count(&for_loop.body, counts),
            _ => {}
        }
    }
}

/// Whether the code of an op is much longer than a call. A power's is not, where the exponent is a constant.
fn is_long(op: ScalarOp) -> bool {
    match op.row().cpu.of(DType::F32).or(op.row().cpu.of(DType::I64)) {
        Some(CpuSpelling::Polynomial(Polynomial::Exp | Polynomial::Exp2 | Polynomial::Pow)) => false,
        Some(CpuSpelling::Polynomial(_)) => true,
        Some(CpuSpelling::Philox) => true,
        _ => false,
    }
}

/// An op by its instructions, where it stands or in a function of the module.
pub(super) fn outlined(
    w: &mut Writer<'_>,
    op: ScalarOp,
    args: &[Operand],
    write: impl FnOnce(&mut Writer<'_>, &[Operand]) -> Operand,
) -> Operand {
    if !w.outlined.ops.contains(&op) {
        return write(w, args);
    }
    w.call_own(op.name(), args, |w, args| write(w, args))
}
