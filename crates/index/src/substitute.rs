//! Rebuilding an expression with other atoms. What is changed goes through the simplifying constructors again; what is not
//! is not copied.

use super::{Atom, Expr, Sym, Term};

impl Expr {
    /// Puts an expression for each symbol for which `value` gives one, all at once.
    pub fn substitute(&self, value: &dyn Fn(Sym) -> Option<Expr>) -> Expr {
        self.map_atoms(&mut |atom| atom.substitute(value))
    }

    /// Puts another divisor for each, innermost first.
    pub fn map_divisors(&self, divisor: &dyn Fn(Expr) -> Expr) -> Expr {
        self.map_atoms(&mut |atom| atom.map_divisors(divisor))
    }

    /// Puts an expression for each atom at the top level of the sum, where `map` gives another.
    pub(super) fn map_atoms(&self, map: &mut dyn FnMut(&Atom) -> Option<Expr>) -> Expr {
        let mut kept = Vec::new();
        let mut products = Vec::new();
        for term in self.terms() {
            match term.map_atoms(map) {
                Some(product) => products.push(product),
                None => kept.push(term),
            }
        }
        if products.is_empty() {
            return self.clone();
        }
        if products.iter().any(Expr::is_overflow) {
            return Expr::overflow();
        }
        Expr::sum_of(kept.into_iter().chain(products.iter().flat_map(Expr::terms)))
    }
}

impl Term {
    /// The term with other atoms; `None` where `map` gives no other for any of them.
    fn map_atoms(&self, map: &mut dyn FnMut(&Atom) -> Option<Expr>) -> Option<Expr> {
        let others: Vec<Option<Expr>> = self.monomial.factors().iter().map(|(atom, _)| map(atom)).collect();
        if others.iter().all(Option::is_none) {
            return None;
        }
        let factors =
            self.monomial.factors().iter().zip(others).map(|((atom, power), other)| {
                other.unwrap_or_else(|| Expr::from_atom(atom.clone())).pow(*power)
            });
        Some(factors.fold(Expr::constant(self.coefficient), |product, factor| product * factor))
    }
}

impl Atom {
    /// Another atom in its place, unless none of its symbols has a value.
    fn substitute(&self, value: &dyn Fn(Sym) -> Option<Expr>) -> Option<Expr> {
        match self {
            Atom::Sym(sym) => value(*sym),
            _ => self.map_operands(&|e| e.substitute(value), &|e| e.substitute(value)),
        }
    }

    fn map_divisors(&self, divisor: &dyn Fn(Expr) -> Expr) -> Option<Expr> {
        let part = |e: &Expr| e.map_divisors(divisor);
        let second = |e: &Expr| match self {
            Atom::FloorDiv(..) | Atom::Mod(..) => divisor(part(e)),
            _ => part(e),
        };
        self.map_operands(&part, &second)
    }

    /// What comes of other operands; `None` for a symbol, and where they are the same.
    fn map_operands(&self, first: &dyn Fn(&Expr) -> Expr, second: &dyn Fn(&Expr) -> Expr) -> Option<Expr> {
        let (a, b) = self.operands()?;
        let operands = (first(a), second(b));
        (operands != (a.clone(), b.clone())).then(|| self.rebuilt(&operands.0, &operands.1))
    }

    /// The same form of other operands, simplified by its constructor.
    fn rebuilt(&self, a: &Expr, b: &Expr) -> Expr {
        match self {
            Atom::Sym(sym) => Expr::sym(*sym),
            Atom::FloorDiv(..) => a.floor_div(b),
            Atom::Mod(..) => a.modulo(b),
            Atom::Min(..) => a.min(b),
            Atom::Max(..) => a.max(b),
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
