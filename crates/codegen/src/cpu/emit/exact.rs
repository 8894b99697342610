//! Roundings that lose nothing: what came from a half type and has since at most changed its sign, or was chosen from such,
//! is rounded to that type and widened again as it is.

use ir::kernel::Value;
use ops::{DType, Prim};

use super::Emitter;
use super::operand::Operand;

/// What is known of a value.
#[derive(Clone, Copy, Default)]
pub(super) struct Exact {
    /// A type that holds it, though it be wider.
    held: Option<DType>,
    /// The wider value that it was rounded from, where that lost nothing.
    rounded_from: Option<Operand>,
}

impl Emitter<'_> {
    /// Notes what the result of an op is known to be.
    pub(super) fn note_op(&mut self, value: Value, op: Prim, args: &[Value]) {
        let chosen = match op {
            Prim::Neg | Prim::Abs | Prim::Maximum | Prim::Minimum => args,
            Prim::Where => &args[1..],
            _ => return,
        };
        let first = self.exact[chosen[0]].held;
        let held = first.filter(|_| chosen.iter().all(|&arg| self.exact[arg].held == first));
        self.exact[value] = Exact { held, rounded_from: None };
    }

    /// Notes what the result of a cast is known to be.
    pub(super) fn note_cast(&mut self, value: Value, arg: Value) {
        let (from, to) = (self.kernel.values[arg], self.kernel.values[value]);
        self.exact[value] = match (from, to) {
            (DType::BF16 | DType::F16, DType::F32) => Exact { held: Some(from), rounded_from: None },
            (DType::F32, _) if self.exact[arg].held == Some(to) => {
                Exact { held: None, rounded_from: Some(self.value(arg)) }
            }
            _ => Exact::default(),
        };
    }

    /// What a cast to f32 gives back, where its operand was such before and lost nothing.
    pub(super) fn undone(&self, arg: Value, to: DType) -> Option<Operand> {
        self.exact[arg].rounded_from.filter(|_| to == DType::F32)
    }
}
