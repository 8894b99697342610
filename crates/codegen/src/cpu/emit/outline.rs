//! Outlining: an op with many instances in a kernel is one function of the module, and each instance calls it.
//!
//! Inline, these ops would be most of a kernel's code, and libLLVM takes 2 to 25 ms to compile one instance. The call costs
//! little at run time: chains of ten ran up to 5 % longer (`tanh`), those of sines, logarithms and erf at most 2 %.

use kernel::Stmt;
use ops::{CpuSpelling, DType, Polynomial, ScalarOp};

use super::operand::Operand;
use super::writer::Writer;

/// The most instances of an op in a kernel that are inline.
const INLINE: usize = 4;

/// The ops of a kernel that are functions of its module.
#[derive(Clone, Debug, Default)]
pub(super) struct Outlined {
    ops: Vec<ScalarOp>,
}

impl Outlined {
    /// Those with many instances in the body of a kernel.
    pub(super) fn of(body: &[Stmt]) -> Outlined {
        let mut counts = Vec::new();
        count(body, &mut counts);
        let many = counts.into_iter().filter(|(_, instances)| *instances > INLINE);
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

/// Whether the code of an op is much longer than a call. That of a power with a small whole exponent is not, and stays inline.
fn is_long(op: ScalarOp) -> bool {
    match op.row().cpu.of(DType::F32).or(op.row().cpu.of(DType::I64)) {
        Some(CpuSpelling::Polynomial(Polynomial::Exp | Polynomial::Exp2)) => false,
        Some(CpuSpelling::Polynomial(_)) => true,
        Some(CpuSpelling::Philox | CpuSpelling::Remainder { .. }) => true,
        _ => false,
    }
}

/// The instructions of an op, inline or in a function of the module that is called.
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
