//! Facts that are asked again and again about much the same expressions, as those of an open loop are.

use super::known::Known;
use super::{Contradiction, Expr, Facts, Sym};

/// Facts with what was found out under them until something new is assumed. Its answers are those of [`Facts`].
pub struct Prover {
    /// Ranges and inequalities.
    facts: Facts,
    known: Known,
}

impl Default for Prover {
    fn default() -> Prover {
        Prover { facts: Facts::new(), known: Known::anywhere() }
    }
}

impl Prover {
    /// What is known inside a loop whose variable is at least `begin` and less than `end`, which mention sizes and variables
    /// of loops around it, none of them negative. For loops that are known not to run nothing is noted, as anything would
    /// follow from it.
    pub fn in_loop(&self, var: Sym, begin: &Expr, end: &Expr) -> Prover {
        let mut facts = self.facts.clone();
        for size in begin.symbols().into_iter().chain(end.symbols()) {
            facts.assume_range(size, 0, None);
        }
        let (ends, index) = ((begin.as_const(), end.as_const()), Expr::sym(var));
        match ends {
            (Some(begin), Some(end)) if begin < end => facts.assume_range(var, begin.max(0), end - 1),
            (Some(_), Some(_)) => {}
            _ => facts.assume_range(var, 0, None),
        }
        let within = |value: &dyn Fn(Sym) -> Option<i64>| {
            facts.ranges().all(|(sym, range)| value(sym).is_some_and(|value| range.contains(value.into())))
        };
        let known = self.known.with_variable(var, begin, end).restricted(within);
        let mut inside = Prover { facts, known };
        if !matches!(ends, (Some(_), Some(_))) {
            // Contradictions are ignored; the facts are then fewer, not wrong.
            let _ = inside.assume_le(begin, &index);
            let _ = inside.assume_le(&(index + 1), end);
        }
        inside
    }

    /// Assumes that the first expression is at most the second, unless that is impossible.
    ///
    /// # Errors
    /// When the facts exclude it.
    pub fn assume_le(&mut self, a: &Expr, b: &Expr) -> Result<(), Contradiction> {
        self.facts.assume_le_knowing(a, b, &self.known)?;
        let slack = b - a;
        self.known = self.known.restricted(|value| slack.eval(value).is_ok_and(|slack| slack >= 0));
        Ok(())
    }

    /// A simpler expression that has the same value wherever the facts hold and the given one has a value.
    pub fn normalize(&self, e: &Expr) -> Expr {
        self.facts.normalize_knowing(e, &self.known)
    }

    /// True if the first is proved to be at most the second.
    pub fn prove_le(&self, a: &Expr, b: &Expr) -> bool {
        let slack = self.normalize(&(b - a));
        self.known.is_nonnegative(&slack, || self.facts.is_nonnegative(&slack))
    }

    /// True if the first is proved to be less than the second.
    pub fn prove_lt(&self, a: &Expr, b: &Expr) -> bool {
        self.prove_le(&(a + 1), b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::{AlgebraWork, counted};

    #[test]
    fn loops_know_their_variables() {
        let (row, column) = (Sym::from_u32(2), Sym::from_u32(3));
        let outer = Prover::default().in_loop(row, &Expr::zero(), &Expr::read("i0"));
        let mut inner = outer.in_loop(column, &Expr::read("min(512, i1)"), &Expr::read("i1"));
        assert!(inner.prove_lt(&Expr::read("i2*i1 + i3"), &Expr::read("i0*i1")));
        assert!(inner.prove_le(&Expr::read("min(512, i1)"), &Expr::read("i3")));
        assert!(
            !inner.prove_le(&Expr::read("512"), &Expr::read("i3"))
                && !outer.prove_le(&Expr::one(), &Expr::read("i3"))
        );
        assert!(inner.assume_le(&Expr::read("2*i2"), &Expr::read("i3")).is_ok());
        assert!(inner.prove_le(&Expr::read("4*i2"), &Expr::read("2*i3")));
        assert!(
            Prover::default()
                .in_loop(row, &Expr::read("1"), &Expr::read("2"))
                .assume_le(&Expr::read("4"), &Expr::read("i2"))
                .is_err()
        );
    }

    #[test]
    #[cfg_attr(not(debug_assertions), ignore = "the algebra counts its work in debug builds")]
    fn bounds_of_a_loop_are_proved_once_for_all_copies_in_it() {
        let var = Sym::from_u32(3);
        let begin = "max(0, 32*(i2 % ((min(1024, i1) + 31) // 32)))";
        let inside = Prover::default().in_loop(var, &Expr::read(begin), &Expr::read("min(1024, i1)"));
        let ask = |copy: i64| {
            let at = Expr::read(begin) + Expr::sym(var) * 8 + copy;
            counted(AlgebraWork::Asked, || assert!(!inside.prove_le(&Expr::read("min(512, i1)"), &at)))
        };
        let (first, second) = (ask(0), ask(1));
        assert!(second <= 1 && second <= first, "{first} and {second}");
    }
}
