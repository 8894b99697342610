//! Which numbers divide an expression, from its coefficients and known multiples.

use super::division::{gcd_or_one, lcm};
use super::{Atom, Expr, Facts};

impl Facts {
    /// A number that certainly divides every value of the expression: 0 for zero itself, otherwise at least 1.
    pub(super) fn divisor(&self, e: &Expr) -> i64 {
        if e.is_overflow() {
            return 1;
        }
        let own = self.divisor_by_terms(e);
        self.compound_multiples().fold(own, |best, (known, multiple)| match e.split_multiple(known) {
            Some((quotient, rest)) if !quotient.is_zero() => {
                let factor = self.divisor_by_terms(&quotient).checked_mul(*multiple).unwrap_or(*multiple);
                lcm(best, gcd_or_one(factor, self.divisor_by_terms(&rest)))
            }
            _ => best,
        })
    }

    /// The divisor that follows from coefficients and symbols. Known compound multiples are ignored: splitting by one adds
    /// its own atoms, which would query it again.
    fn divisor_by_terms(&self, e: &Expr) -> i64 {
        e.terms().iter().fold(0, |common, term| {
            let mut divisor = term.coefficient.checked_abs().unwrap_or(1 << 62);
            for (atom, power) in term.monomial.factors() {
                let factor = self.atom_divisor(atom).checked_pow(*power).unwrap_or(1);
                // If the product overflows, the divisor so far stays valid.
                divisor = divisor.checked_mul(factor).unwrap_or(divisor);
            }
            gcd_or_one(common, divisor)
        })
    }

    fn atom_divisor(&self, atom: &Atom) -> i64 {
        match atom {
            Atom::Sym(sym) => self.multiple(*sym),
            Atom::FloorDiv(x, d) => match (self.divisor_by_terms(x), d.as_const()) {
                (known, Some(d)) if d > 0 && known % d == 0 => (known / d).max(1),
                _ => 1,
            },
            Atom::Mod(a, b) | Atom::Min(a, b) | Atom::Max(a, b) => {
                gcd_or_one(self.divisor_by_terms(a), self.divisor_by_terms(b)).max(1)
            }
        }
    }

    /// True if `e` is `d` times an integer, for expressions that are already normal. Sound, not complete.
    pub(super) fn divides(&self, d: &Expr, e: &Expr) -> bool {
        if e.is_zero() {
            return true;
        }
        if d.is_overflow() || e.is_overflow() {
            return false;
        }
        let by_known_divisor = || {
            let [term] = d.terms() else { return false };
            let product = Expr::from_term(1, term.monomial.clone());
            let Some(quotient) = e.exact_quotient(&product) else { return false };
            self.divisor(&quotient).checked_rem(term.coefficient) == Some(0)
        };
        e.exact_quotient(d).is_some() || by_known_divisor()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sym;
    use super::*;

    #[test]
    fn divisors_follow_sums_products_and_quotients() {
        let (n, m) = (Expr::sym(Sym::from_u32(0)), Expr::sym(Sym::from_u32(1)));
        let mut facts = Facts::new();
        facts.assume_multiple(&n, 12);
        facts.assume_multiple(&(&m + 1), 4);
        assert_eq!(facts.divisor(&(&n * 2 + 8)), 8);
        assert_eq!(facts.divisor(&n.floor_div(&Expr::constant(4))), 3);
        assert_eq!(facts.divisor(&(&n + &m + 1)), 4);
        assert_eq!(facts.divisor(&Expr::min(&n, &(&n * &m))), 12);
        assert!(facts.divides(&(&m * 4), &(&n * &m)));
        assert!(!facts.divides(&(&m * 5), &(&n * &m)));
        assert!(!facts.divides(&Expr::zero(), &n));
    }
}
