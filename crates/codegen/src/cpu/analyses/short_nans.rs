//! Values whose NaNs have nothing in the lower half of their bits: rounding these as integers carries nothing into their upper
//! half, so a cast to bf16 need not look for them. Values of bf16 are such, and arithmetic keeps the bits of a NaN or makes
//! its own, which has none there.

use std::collections::BTreeSet;

use kernel::{Accumulator, Kernel, Place, Scratch, Stmt, Value};
use ops::{DType, Monoid, Scalar, ScalarOp};

/// The values of f32 and f64 whose NaNs may be otherwise.
#[derive(Default)]
pub(crate) struct ShortNans {
    values: BTreeSet<Value>,
    accumulators: BTreeSet<Accumulator>,
    scratch: BTreeSet<Scratch>,
}

impl ShortNans {
    /// Those of a kernel.
    pub(crate) fn of(kernel: &Kernel) -> ShortNans {
        let mut others = ShortNans::default();
        // Loops carry values in accumulators and scratch: until these stay as they are.
        loop {
            let before = others.count();
            others.body(kernel, &kernel.body);
            if others.count() == before {
                return others;
            }
        }
    }

    /// Whether all NaNs of a value are short.
    pub(crate) fn has(&self, value: Value) -> bool {
        !self.values.contains(&value)
    }

    fn count(&self) -> [usize; 3] {
        [self.values.len(), self.accumulators.len(), self.scratch.len()]
    }

    fn body(&mut self, kernel: &Kernel, body: &[Stmt]) {
        for statement in body {
            if let Stmt::For(for_loop) = statement {
                self.body(kernel, &for_loop.body);
            }
            match statement {
                Stmt::Set { accumulator, value } | Stmt::Open { accumulator, init: value }
                    if !self.has(*value) =>
                {
                    self.accumulators.insert(*accumulator);
                }
                Stmt::Store { place: Place::Scratch(scratch), value, .. } if !self.has(*value) => {
                    self.scratch.insert(*scratch);
                }
                Stmt::Fetch { scratch, .. } => {
                    self.scratch.insert(*scratch);
                }
                _ if self.makes_others(kernel, statement) => self.values.extend(statement.defined()),
                _ => {}
            }
        }
    }

    /// Whether a statement makes values of f32 or f64 with other NaNs.
    fn makes_others(&self, kernel: &Kernel, statement: &Stmt) -> bool {
        let is_wide = |value: &Value| matches!(kernel.values[*value], DType::F32 | DType::F64);
        if !statement.defined().iter().any(is_wide) {
            return false;
        }
        let are_short = |values: &[Value]| values.iter().all(|value| self.has(*value));
        match statement {
            Stmt::Apply { op, args, .. } => !(is_arithmetic(*op) && are_short(args)),
            Stmt::Cast { arg, .. } => match kernel.values[*arg] {
                DType::F32 | DType::F64 => !self.has(*arg),
                from => from.is_float() && from != DType::BF16,
            },
            Stmt::Const { constant, .. } => !is_short(*constant),
            Stmt::Load { place: Place::Scratch(scratch), .. } => self.scratch.contains(scratch),
            Stmt::Get { accumulator, .. } => self.accumulators.contains(accumulator),
            Stmt::Reduce { monoid, accumulators, .. } => {
                matches!(monoid, Monoid::Lambda(_))
                    || accumulators.iter().any(|accumulator| self.accumulators.contains(accumulator))
            }
            Stmt::Index { .. } => false,
            _ => true,
        }
    }
}

/// Whether a constant is a number, or a NaN of bf16.
fn is_short(constant: Scalar) -> bool {
    let single = constant.cast(DType::F32);
    !constant.as_f64().is_nan() || single.bits() & 0xffff == 0
}

/// Whether the code of an op is arithmetic of floats throughout, or selects among its operands.
fn is_arithmetic(op: ScalarOp) -> bool {
    use ScalarOp::{
        Abs, Add, Div, Maximum, Minimum, Mul, MulAdd, Neg, Reciprocal, ReciprocalHalf, ReciprocalSigned,
        Rsqrt, Sqrt, Sub, Tanh, Where,
    };
    let is_listed = matches!(
        op,
        Abs | Add
            | Div
            | Maximum
            | Minimum
            | Mul
            | MulAdd
            | Neg
            | Reciprocal
            | ReciprocalHalf
            | ReciprocalSigned
            | Rsqrt
            | Sqrt
            | Sub
            | Tanh
            | Where
    );
    is_listed || op.is_exp() || op.is_short_exp2()
}

#[cfg(test)]
mod tests {
    use kernel::parse;

    use super::*;

    fn short(first: &str, op: &str) -> bool {
        let text = include_str!("short_nans.kernel").replace("FIRST", first).replace("OP", op);
        let kernel = parse(&text).expect("it is a kernel");
        ShortNans::of(&kernel).has(Value::from_u32(5))
    }

    #[test]
    fn arithmetic_on_bf16_keeps_them() {
        assert!(short("bf16", "exp_nonpositive"));
        assert!(!short("f32", "exp_nonpositive"));
        assert!(!short("f16", "exp_nonpositive"));
        assert!(!short("bf16", "log"));
    }
}
