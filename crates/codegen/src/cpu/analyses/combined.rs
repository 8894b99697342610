//! Operations that are fewer instructions together with their only user: the product with an approximate reciprocal is a
//! quotient, and the sum with a power of two takes the power's last factor into one multiply-add. For instruction sets that have
//! neither approximations of reciprocals nor products with powers of two.

use std::collections::{BTreeMap, BTreeSet};

use kernel::{Contractions, Kernel, Stmt, Value};
use ops::{Approximation, CpuSpelling, DType, ExpRange, ScalarOp};

/// What is computed at the user.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Combined {
    /// Of a product with a reciprocal.
    Quotient {
        /// The other factor.
        dividend: Value,
        /// The reciprocal's operand.
        divisor: Value,
    },
    /// Of a sum with a power.
    Sum {
        /// The exponential.
        power: Approximation,
        /// Its operand.
        exponent: Value,
        /// The other operand of the sum.
        addend: Value,
    },
}

/// The combined operations of a kernel.
#[derive(Default)]
pub(crate) struct CombinedOps {
    users: BTreeMap<Value, Combined>,
    taken: BTreeSet<Value>,
}

/// The operations of a body, by their results.
type Applied<'k> = BTreeMap<Value, (ScalarOp, &'k [Value])>;

impl CombinedOps {
    /// Those of a kernel; what `contractions` computes stays as it is.
    pub(crate) fn of(kernel: &Kernel, contractions: &Contractions) -> CombinedOps {
        let mut uses = BTreeMap::new();
        count(&kernel.body, &mut uses);
        let mut search = Search { kernel, contractions, uses, found: CombinedOps::default() };
        search.body(&kernel.body);
        search.found
    }

    /// What a user computes together with an operand.
    pub(crate) fn at(&self, user: Value) -> Option<Combined> {
        self.users.get(&user).copied()
    }

    /// Whether a value is computed at its user.
    pub(crate) fn takes(&self, value: Value) -> bool {
        self.taken.contains(&value)
    }
}

fn count(body: &[Stmt], uses: &mut BTreeMap<Value, usize>) {
    for statement in body {
        statement.used().iter().for_each(|value| *uses.entry(*value).or_default() += 1);
        if let Stmt::For(for_loop) = statement {
            count(&for_loop.body, uses);
        }
    }
}

struct Search<'k> {
    kernel: &'k Kernel,
    contractions: &'k Contractions,
    /// How often values are used, anywhere.
    uses: BTreeMap<Value, usize>,
    found: CombinedOps,
}

impl<'k> Search<'k> {
    fn body(&mut self, body: &'k [Stmt]) {
        let mut applied = Applied::new();
        for statement in body {
            match statement {
                Stmt::For(for_loop) => self.body(&for_loop.body),
                Stmt::Apply { value, op, args } if self.kernel.values[*value] == DType::F32 => {
                    self.user(&applied, *value, *op, args);
                    applied.insert(*value, (*op, args));
                }
                _ => {}
            }
        }
    }

    fn user(&mut self, applied: &Applied<'_>, user: Value, op: ScalarOp, args: &[Value]) {
        let &[a, b] = args else { return };
        if self.contractions.step(user).is_some() || self.contractions.takes(user) {
            return;
        }
        let alone = |operand: &Value| self.uses.get(operand) == Some(&1);
        let combined = |operand: Value, other: Value| {
            let (own, args) = applied.get(&operand)?;
            Some((operand, combined(op, *own, args[0], other)?))
        };
        let found = [(a, b), (b, a)].into_iter().filter(|(operand, _)| alone(operand));
        if let Some((operand, combined)) = found.filter_map(|(a, b)| combined(a, b)).next() {
            self.found.users.insert(user, combined);
            self.found.taken.insert(operand);
        }
    }
}

/// What `user` of `op` of `operand` and of `other` computes at once, if it may.
fn combined(user: ScalarOp, op: ScalarOp, operand: Value, other: Value) -> Option<Combined> {
    // The reciprocal of a subnormal number is infinite, which the quotient need not be.
    if (user, op) == (ScalarOp::Mul, ScalarOp::ReciprocalHalf) {
        return Some(Combined::Quotient { dividend: other, divisor: operand });
    }
    match op.row().cpu.of(DType::F32) {
        Some(CpuSpelling::Approximate(
            power @ (Approximation::Exp(ExpRange::Addend)
            | Approximation::Exp2Half(ExpRange::Addend)
            | Approximation::Exp2Bf16(ExpRange::Addend)),
        )) if user == ScalarOp::Add => Some(Combined::Sum { power, exponent: operand, addend: other }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use kernel::parse;

    use super::*;

    #[test]
    fn operations_with_one_user_are_combined() {
        let kernel = parse(include_str!("combined.kernel")).expect("it is a kernel");
        let found = CombinedOps::of(&kernel, &Contractions::default());
        let value = Value::from_u32;
        let power = Approximation::Exp2Bf16(ExpRange::Addend);
        let sum = Combined::Sum { power, exponent: value(1), addend: value(0) };
        assert_eq!(found.at(value(3)), Some(sum));
        assert_eq!(found.at(value(5)), Some(Combined::Quotient { dividend: value(1), divisor: value(3) }));
        // The second reciprocal has two users, the third may be that of a subnormal number.
        assert_eq!([7, 8, 10].map(|user| found.at(value(user))), [None; 3]);
        assert_eq!([2, 4, 6].map(|operand| found.takes(value(operand))), [true, true, false]);
    }
}
