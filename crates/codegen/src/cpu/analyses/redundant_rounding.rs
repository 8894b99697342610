//! Lossless roundings: a value that came from a half type, and since then only changed its sign or was selected among such
//! values, is rounded to that type and widened again unchanged.

use std::collections::BTreeMap;

use kernel::{Kernel, Stmt, Value};
use ops::{DType, ScalarOp};

/// The casts to f32 that undo such a rounding.
#[derive(Default)]
pub(crate) struct RedundantRoundings {
    /// The value that each of them restores.
    undone: BTreeMap<Value, Value>,
    /// For values that a narrower type represents, that type.
    held: BTreeMap<Value, DType>,
    /// For values that were rounded without loss, the value before the rounding.
    rounded_from: BTreeMap<Value, Value>,
}

impl RedundantRoundings {
    /// Those of a kernel.
    pub(crate) fn of(kernel: &Kernel) -> RedundantRoundings {
        let mut found = RedundantRoundings::default();
        found.body(kernel, &kernel.body);
        found
    }

    /// The value of f32 that a cast restores.
    pub(crate) fn undone(&self, cast: Value) -> Option<Value> {
        self.undone.get(&cast).copied()
    }

    fn body(&mut self, kernel: &Kernel, body: &[Stmt]) {
        for statement in body {
            match statement {
                Stmt::Apply { value, op, args } => self.apply(*value, *op, args),
                Stmt::Cast { value, arg } => self.cast(kernel, *value, *arg),
                Stmt::For(for_loop) => self.body(kernel, &for_loop.body),
                _ => {}
            }
        }
    }

    fn apply(&mut self, value: Value, op: ScalarOp, args: &[Value]) {
        let chosen = match op {
            ScalarOp::Neg | ScalarOp::Abs | ScalarOp::Maximum | ScalarOp::Minimum => args,
            ScalarOp::Where => &args[1..],
            _ => return,
        };
        let first = self.held.get(&chosen[0]).copied();
        let held = first.filter(|_| chosen.iter().all(|arg| self.held.get(arg).copied() == first));
        self.held.extend(held.map(|dtype| (value, dtype)));
    }

    fn cast(&mut self, kernel: &Kernel, value: Value, arg: Value) {
        match (kernel.values[arg], kernel.values[value]) {
            (from @ (DType::BF16 | DType::F16), DType::F32) => {
                self.held.insert(value, from);
                let known = self.rounded_from.get(&arg).copied();
                self.undone.extend(known.map(|known| (value, known)));
            }
            (DType::F32, to) if self.held.get(&arg) == Some(&to) => {
                self.rounded_from.insert(value, arg);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::parse;

    use super::*;

    #[test]
    fn what_a_half_type_holds_is_given_back() {
        let kernel = parse(include_str!("redundant_rounding.kernel"));
        let found = RedundantRoundings::of(&kernel.expect("it is a kernel"));
        let value = Value::from_u32;
        assert_eq!(found.undone(value(4)), Some(value(2)));
        assert_eq!([1, 7, 9].map(|cast| found.undone(value(cast))), [None; 3]);
    }
}
