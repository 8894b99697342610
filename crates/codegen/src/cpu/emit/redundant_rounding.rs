//! Roundings that lose nothing: what came from a half type and has since at most changed its sign, or was chosen from such,
//! is rounded to that type and widened again as it is.

use ir::kernel::Value;
use ops::{DType, ScalarOp};

use super::Emitter;
use super::operand::Operand;

/// What is known of a value.
#[derive(Clone, Copy, Default)]
pub(super) struct Rounding {
    /// A type that holds it, though it be wider.
    held: Option<DType>,
    /// The wider value that it was rounded from, where that lost nothing.
    rounded_from: Option<Operand>,
}

impl Emitter<'_> {
    /// Notes what the result of an op is known to be.
    pub(super) fn note_op(&mut self, value: Value, op: ScalarOp, args: &[Value]) {
        let chosen = match op {
            ScalarOp::Neg | ScalarOp::Abs | ScalarOp::Maximum | ScalarOp::Minimum => args,
            ScalarOp::Where => &args[1..],
            _ => return,
        };
        let first = self.roundings[chosen[0]].held;
        let held = first.filter(|_| chosen.iter().all(|&arg| self.roundings[arg].held == first));
        self.roundings[value] = Rounding { held, rounded_from: None };
    }

    /// Notes what the result of a cast is known to be.
    pub(super) fn note_cast(&mut self, value: Value, arg: Value) {
        let (from, to) = (self.kernel.values[arg], self.kernel.values[value]);
        self.roundings[value] = match (from, to) {
            (DType::BF16 | DType::F16, DType::F32) => Rounding { held: Some(from), rounded_from: None },
            (DType::F32, _) if self.roundings[arg].held == Some(to) => {
                Rounding { held: None, rounded_from: Some(self.value(arg)) }
            }
            _ => Rounding::default(),
        };
    }

    /// What a cast to f32 gives back, where its operand was such before and lost nothing.
    pub(super) fn undone(&self, arg: Value, to: DType) -> Option<Operand> {
        self.roundings[arg].rounded_from.filter(|_| to == DType::F32)
    }
}
