//! Interrupts: a scan walks its whole axis within one block, so a block may take seconds. The loop of a scan, and the one
//! over the blocks of a long fold, therefore end early once the call is interrupted. The kernel's results are then dropped.

use kernel::{Accumulator, Loop, LoopKind, Stmt};

use super::operand::{Element, Operand, Type};
use super::{EmitError, Emitter};

/// Whether the iterations of a loop depend on each other: each reads what the previous one set.
pub(super) fn is_sequential(for_loop: &Loop) -> bool {
    fn gets(body: &[Stmt], opened: &mut Vec<Accumulator>) -> bool {
        body.iter().any(|statement| match statement {
            Stmt::Open { accumulator, .. } => {
                opened.push(*accumulator);
                false
            }
            Stmt::Get { accumulator, .. } => !opened.contains(accumulator),
            Stmt::For(inner) => gets(&inner.body, opened),
            _ => false,
        })
    }
    for_loop.kind == LoopKind::Serial && gets(&for_loop.body, &mut Vec::new())
}

/// Whether there is such a loop anywhere.
pub(super) fn has_sequential(body: &[Stmt]) -> bool {
    body.iter().any(|statement| match statement {
        Stmt::For(for_loop) => is_sequential(for_loop) || has_sequential(&for_loop.body),
        _ => false,
    })
}

impl Emitter<'_> {
    /// A loop whose iterations depend on each other.
    pub(super) fn sequential_loop(
        &mut self,
        for_loop: &Loop,
        begin: Operand,
        end: Operand,
    ) -> Result<(), EmitError> {
        let (iteration, open) = self.w.open_loop(begin, end);
        self.iteration(for_loop, iteration)?;
        let condition = self.goes_on();
        self.w.close_loop_while(condition, open, 1);
        Ok(())
    }

    /// Whether the call is not interrupted.
    fn goes_on(&mut self) -> Operand {
        let address = self.interrupt.expect("a kernel with such a loop has the address");
        let byte = Type::scalar(Element::I8);
        let flag = format!("load atomic {byte}, {} monotonic, align 1", address.typed());
        let flag = self.w.instruction(byte, flag);
        self.w.compare("icmp eq", flag, 0)
    }
}
