//! Rebuilding an expression with other atoms. Every atom goes through the simplifying constructors again.

use super::{Atom, Expr, Sym};

impl Expr {
    /// Puts an expression for each symbol for which `value` gives one, all at once.
    pub fn substitute(&self, value: &dyn Fn(Sym) -> Option<Expr>) -> Expr {
        self.map_atoms(&mut |atom| atom.substitute(value))
    }

    /// Puts another divisor for each, innermost first.
    pub fn map_divisors(&self, divisor: &dyn Fn(Expr) -> Expr) -> Expr {
        self.map_atoms(&mut |atom| atom.map_divisors(divisor))
    }

    /// Puts an expression for each atom at the top level of the sum.
    pub(super) fn map_atoms(&self, map: &mut dyn FnMut(&Atom) -> Expr) -> Expr {
        if self.is_overflow() {
            return Expr::overflow();
        }
        let mut sum = Expr::zero();
        for term in self.terms() {
            let mut product = Expr::constant(term.coefficient);
            for (atom, power) in term.monomial.factors() {
                product = product * map(atom).pow(*power);
            }
            sum = sum + product;
        }
        sum
    }
}

impl Atom {
    fn substitute(&self, value: &dyn Fn(Sym) -> Option<Expr>) -> Expr {
        let part = |e: &Expr| e.substitute(value);
        match self {
            Atom::Sym(sym) => value(*sym).unwrap_or_else(|| Expr::sym(*sym)),
            Atom::FloorDiv(a, b) => part(a).floor_div(&part(b)),
            Atom::Mod(a, b) => part(a).modulo(&part(b)),
            Atom::Min(a, b) => Expr::min(&part(a), &part(b)),
            Atom::Max(a, b) => Expr::max(&part(a), &part(b)),
        }
    }

    fn map_divisors(&self, divisor: &dyn Fn(Expr) -> Expr) -> Expr {
        let part = |e: &Expr| e.map_divisors(divisor);
        match self {
            Atom::Sym(sym) => Expr::sym(*sym),
            Atom::FloorDiv(a, b) => part(a).floor_div(&divisor(part(b))),
            Atom::Mod(a, b) => part(a).modulo(&divisor(part(b))),
            Atom::Min(a, b) => Expr::min(&part(a), &part(b)),
            Atom::Max(a, b) => Expr::max(&part(a), &part(b)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisors_are_replaced_wherever_they_stand() {
        let [n, size] = [0, 1].map(|number| Expr::sym(Sym::from_u32(number)));
        let quotient = n.floor_div(&n.modulo(&size));
        let safe = quotient.map_divisors(&|divisor| Expr::max(&divisor, &Expr::one()));
        let at = |n, size| safe.eval(&|sym| Some(if sym.as_u32() == 0 { n } else { size }));
        assert_eq!(at(7, 0), Ok(7), "7 // max(1, 7 % max(1, 0))");
        assert_eq!(at(7, 5), Ok(3));
        assert_eq!((n.clone() + size.clone()).map_divisors(&|_| Expr::zero()), n + size);
    }
}
