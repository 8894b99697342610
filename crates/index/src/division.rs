//! Floor division, modulo and polynomial long division. Simplifications here hold for all values of the symbols; those that
//! need a fact (a divisor that is not zero, a remainder in range) are in `normalize.rs`.

use super::{Atom, Expr, Monomial, Term};

impl Expr {
    /// The quotient rounded to minus infinity. Division by zero is an error only at evaluation.
    pub fn floor_div(&self, divisor: &Expr) -> Expr {
        if self.is_overflow() || divisor.is_overflow() {
            return Expr::overflow();
        }
        match divisor.as_const() {
            Some(1) => self.clone(),
            Some(c @ 2..) => {
                let (quotient, residue) = self.split_constant(c);
                quotient + residue_div(&residue, c)
            }
            Some(i64::MIN..=-1) if !(-self).is_overflow() && !(-divisor).is_overflow() => {
                (-self).floor_div(&-divisor)
            }
            _ => Expr::from_atom(Atom::FloorDiv(self.clone(), divisor.clone())),
        }
    }

    /// The remainder of the floor division; it has the sign of the divisor.
    pub fn modulo(&self, divisor: &Expr) -> Expr {
        if self.is_overflow() || divisor.is_overflow() {
            return Expr::overflow();
        }
        match divisor.as_const() {
            Some(1) => Expr::zero(),
            Some(c @ 2..) => residue_mod(&self.split_constant(c).1, c),
            Some(i64::MIN..=-1) if !(-self).is_overflow() && !(-divisor).is_overflow() => {
                -((-self).modulo(&-divisor))
            }
            _ => Expr::from_atom(Atom::Mod(self.clone(), divisor.clone())),
        }
    }

    /// The quotient rounded to plus infinity: `(n + 3) // 4` for a positive constant, `-((-n) // d)` otherwise.
    pub fn ceil_div(&self, divisor: &Expr) -> Expr {
        match divisor.as_const() {
            Some(c @ 1..) => (self + (c - 1)).floor_div(divisor),
            _ => -((-self).floor_div(divisor)),
        }
    }

    /// Writes the expression as `quotient * divisor + remainder` for a constant divisor, at least 1. The remainder's
    /// constant is in `0..divisor`, its other coefficients are smaller than the divisor.
    pub(super) fn split_constant(&self, divisor: i64) -> (Expr, Expr) {
        let (mut quotient, mut remainder) = (vec![], vec![]);
        for Term { monomial, coefficient } in self.terms() {
            let (q, r) = if monomial.is_one() {
                (coefficient.div_euclid(divisor), coefficient.rem_euclid(divisor))
            } else {
                (coefficient / divisor, coefficient % divisor)
            };
            quotient.push((monomial.clone(), i128::from(q)));
            remainder.push((monomial.clone(), i128::from(r)));
        }
        (Expr::from_terms(quotient), Expr::from_terms(remainder))
    }

    /// Writes the expression as `quotient * divisor + remainder` by polynomial long division, where only whole
    /// multiples of the divisor's highest term are taken. `None` for a zero divisor and on overflow.
    pub(super) fn split_multiple(&self, divisor: &Expr) -> Option<(Expr, Expr)> {
        let lead = divisor.terms().first()?;
        if divisor.terms().len() == 1 {
            return self.split_by_term(lead);
        }
        let (mut quotient, mut remainder, mut rest) = (Expr::zero(), Expr::zero(), self.clone());
        while let Some(term) = rest.terms().first() {
            let head = Expr::from_term(term.coefficient, term.monomial.clone());
            match term.over(lead) {
                Some(Term { monomial, coefficient }) => {
                    let step = Expr::from_term(coefficient, monomial);
                    rest = rest - &step * divisor;
                    quotient = quotient + step;
                }
                None => {
                    rest = rest - &head;
                    remainder = remainder + head;
                }
            }
        }
        (!quotient.is_overflow() && !rest.is_overflow() && !remainder.is_overflow())
            .then_some((quotient, remainder))
    }

    /// Terms that one term divides, divided, and the others: no step of a long division changes what the next one sees.
    fn split_by_term(&self, divisor: &Term) -> Option<(Expr, Expr)> {
        let (mut quotient, mut remainder) = (Vec::new(), Vec::new());
        for term in self.terms() {
            match term.over(divisor) {
                Some(whole) => quotient.push(whole),
                None => remainder.push(term.clone()),
            }
        }
        let parts = (Expr::sum_of(quotient.iter()), Expr::sum_of(remainder.iter()));
        (!parts.0.is_overflow() && !parts.1.is_overflow()).then_some(parts)
    }

    /// The quotient when the divisor divides the polynomial without remainder.
    pub fn exact_quotient(&self, divisor: &Expr) -> Option<Expr> {
        let lead = divisor.terms().first()?;
        if divisor.terms().len() == 1 {
            return self.exact_quotient_by_term(lead);
        }
        // The order of monomials is kept by products, so the last term of a product is that of the last ones.
        if let (Some(last), Some(of_divisor)) = (self.terms().last(), divisor.terms().last()) {
            last.over(of_divisor)?;
        }
        let (mut quotient, mut rest) = (Expr::zero(), self.clone());
        while let Some(term) = rest.terms().first() {
            // A term that the divisor's highest does not divide would stay.
            let Term { monomial, coefficient } = term.over(lead)?;
            let step = Expr::from_term(coefficient, monomial);
            rest = rest - &step * divisor;
            quotient = quotient + step;
        }
        (!quotient.is_overflow() && !rest.is_overflow()).then_some(quotient)
    }

    fn exact_quotient_by_term(&self, divisor: &Term) -> Option<Expr> {
        let terms: Option<Vec<Term>> = self.terms().iter().map(|term| term.over(divisor)).collect();
        let quotient = Expr::sum_of(terms?.iter());
        (!self.is_overflow() && !quotient.is_overflow()).then_some(quotient)
    }

    /// The largest term that divides every term, with a positive coefficient; `None` for zero and overflow.
    pub(super) fn content(&self) -> Option<Term> {
        self.terms().iter().cloned().reduce(|a, b| a.common(&b)).and_then(|term| term.common(&term).checked())
    }
}

impl Term {
    /// The exact quotient of two terms.
    pub(super) fn over(&self, other: &Term) -> Option<Term> {
        if self.coefficient.checked_rem(other.coefficient)? != 0 {
            return None;
        }
        let coefficient = self.coefficient.checked_div(other.coefficient)?;
        Some(Term { monomial: self.monomial.over(&other.monomial)?, coefficient })
    }

    /// The greatest common divisor of two terms. Its coefficient is zero in the one case that does not fit, when both
    /// coefficients are the smallest `i64`.
    pub(super) fn common(&self, other: &Term) -> Term {
        let coefficient = gcd(self.coefficient, other.coefficient).unwrap_or(0);
        Term { monomial: self.monomial.common(&other.monomial), coefficient }
    }

    fn checked(self) -> Option<Term> {
        (self.coefficient > 0).then_some(self)
    }
}

/// The greatest common divisor, never negative; `None` when it is 2^63.
pub(super) fn gcd(a: i64, b: i64) -> Option<i64> {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).ok()
}

/// The greatest common divisor of two known divisors, or 1 if it is 2^63.
pub(super) fn gcd_or_one(a: i64, b: i64) -> i64 {
    gcd(a, b).unwrap_or(1)
}

/// The least common multiple of two known divisors, or the larger if that overflows.
pub(super) fn lcm(a: i64, b: i64) -> i64 {
    if a == 0 || b == 0 {
        return 0;
    }
    (a / gcd_or_one(a, b)).checked_mul(b).unwrap_or(a.max(b))
}

/// Divides a residue, as `split_constant` leaves it, by the constant: common factors cancel and nested divisions join.
fn residue_div(residue: &Expr, divisor: i64) -> Expr {
    if residue.as_const().is_some() {
        return Expr::zero();
    }
    let common = common_factor(residue, divisor);
    if common > 1 {
        return residue.split_constant(common).0.floor_div(&Expr::constant(divisor / common));
    }
    join_nested(residue, divisor)
        .unwrap_or_else(|| Expr::from_atom(Atom::FloorDiv(residue.clone(), Expr::constant(divisor))))
}

/// `(x // a + k) // c` is `(x + a*k) // (a*c)` for positive constants.
fn join_nested(residue: &Expr, divisor: i64) -> Option<Expr> {
    let shift = residue.constant_term();
    let (x, inner) = match (residue - shift).as_atom()? {
        Atom::FloorDiv(x, a) => (x.clone(), a.as_const().filter(|&a| a > 0)?),
        _ => return None,
    };
    let numerator = x + Expr::constant(shift) * inner;
    let joined = numerator.floor_div(&Expr::constant(inner.checked_mul(divisor)?));
    (!joined.is_overflow()).then_some(joined)
}

/// The residue of a residue: common factors come out, and an inner modulo by a multiple of the divisor vanishes.
fn residue_mod(residue: &Expr, divisor: i64) -> Expr {
    if residue.as_const().is_some() {
        return residue.clone();
    }
    let common = common_factor(residue, divisor);
    if common > 1 {
        let (quotient, rest) = residue.split_constant(common);
        return quotient.modulo(&Expr::constant(divisor / common)) * common + rest;
    }
    match open_inner_mod(residue, divisor) {
        Some(opened) => residue_mod(&opened.split_constant(divisor).1, divisor),
        None => Expr::from_atom(Atom::Mod(residue.clone(), Expr::constant(divisor))),
    }
}

/// Replaces a term `k * (x % a)` by `k * x` where the divisor divides `a`.
fn open_inner_mod(residue: &Expr, divisor: i64) -> Option<Expr> {
    let (coefficient, atom, x) =
        residue.terms().iter().find_map(|term| match term.monomial.as_atom()? {
            atom @ Atom::Mod(x, a) if a.as_const()? % divisor == 0 => Some((term.coefficient, atom, x)),
            _ => None,
        })?;
    let opened = residue + (x - Expr::from_term(1, Monomial::of(atom.clone()))) * coefficient;
    (!opened.is_overflow()).then_some(opened)
}

/// The factor common to the divisor and to all coefficients but the constant's.
fn common_factor(residue: &Expr, divisor: i64) -> i64 {
    let varying = residue.terms().iter().filter(|term| !term.monomial.is_one());
    varying.fold(divisor, |common, term| gcd_or_one(common, term.coefficient))
}

#[cfg(test)]
mod tests {
    use super::super::Sym;
    use super::*;

    fn i(index: u32) -> Expr {
        Expr::sym(Sym::from_u32(index))
    }

    fn c(value: i64) -> Expr {
        Expr::constant(value)
    }

    #[test]
    fn whole_multiples_leave_a_constant_division() {
        assert_eq!((i(0) * 4 + i(1) + 7).floor_div(&c(4)), i(0) + (i(1) + 3).floor_div(&c(4)) + 1);
        assert_eq!((i(0) * 4 + i(1) + 7).modulo(&c(4)), (i(1) + 3).modulo(&c(4)));
        assert_eq!((i(0) * 6 + 3).floor_div(&c(4)), (i(0) + (i(0) + 1).floor_div(&c(2))));
        assert_eq!((i(0) * 6 + 3).modulo(&c(4)), (i(0) + 1).modulo(&c(2)) * 2 + 1);
        assert_eq!((i(0) - 1).floor_div(&c(4)) + 1, i(0).ceil_div(&c(4)));
    }

    #[test]
    fn nested_divisions_join() {
        assert_eq!(i(0).floor_div(&c(4)).floor_div(&c(8)), i(0).floor_div(&c(32)));
        assert_eq!((i(0).floor_div(&c(4)) + 3).floor_div(&c(8)), (i(0) + 12).floor_div(&c(32)));
        assert_eq!(i(0).modulo(&c(32)).modulo(&c(8)), i(0).modulo(&c(8)));
    }

    #[test]
    fn negative_and_extreme_divisors() {
        assert_eq!(c(7).floor_div(&c(-2)), c(-4));
        assert_eq!(c(7).modulo(&c(-2)), c(-1));
        assert_eq!(c(i64::MIN).floor_div(&c(2)), c(i64::MIN / 2));
        let extreme = i(0).floor_div(&c(i64::MIN));
        assert_eq!(extreme.eval(&|_| Some(5)), Ok(-1));
        assert!(c(1).floor_div(&c(0)).eval(&|_| None).is_err());
        assert_eq!(c(i64::MIN).floor_div(&c(-1)).eval(&|_| None).ok(), None);
    }

    #[test]
    fn long_division_finds_polynomial_factors() {
        let (a, b) = (i(0) + 1, i(1) * i(0) - 2);
        assert_eq!((&a * &b).exact_quotient(&a), Some(b.clone()));
        assert_eq!((&a * &b).exact_quotient(&b), Some(a));
        assert_eq!((i(0) + 1).exact_quotient(&i(1)), None);
        assert_eq!(i(0).split_multiple(&Expr::zero()), None);
    }
}
