//! The canonical sum of products. Gives the type, its constructors, its parts and its limits; arithmetic, division,
//! evaluation and text are in their own files.

mod monomial;

pub use monomial::{Atom, Monomial};

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::Sym;

/// The most terms and atoms of an expression, counted through all nested atoms.
const MAX_SIZE: u32 = 2048;
/// The deepest nesting of atoms in an expression; it limits recursion.
const MAX_DEPTH: u32 = 48;

/// An integer expression over symbols, in canonical form; cheap to clone.
///
/// Equal polynomials are equal values. An expression whose coefficient leaves `i64`, or which grows beyond a few
/// thousand atoms, is [`Expr::overflow`], which absorbs whatever it meets. The order of expressions is total and
/// stable, without further meaning.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Expr(Option<Arc<Sum>>);

/// The terms in descending order of their monomials (the constant last), each coefficient nonzero.
#[derive(PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Sum {
    terms: Vec<Term>,
    size: u32,
    depth: u32,
}

/// A coefficient before a product of atoms.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term {
    /// The product; one for the constant term.
    pub monomial: Monomial,
    /// Never zero within an expression.
    pub coefficient: i64,
}

impl Expr {
    /// The integer itself.
    pub fn constant(value: i64) -> Expr {
        Expr::from_term(value, Monomial::one())
    }

    /// The symbol itself.
    pub fn sym(sym: Sym) -> Expr {
        Expr::from_atom(Atom::Sym(sym))
    }

    /// The constant 0.
    pub fn zero() -> Expr {
        Expr::constant(0)
    }

    /// The constant 1.
    pub fn one() -> Expr {
        Expr::constant(1)
    }

    /// The form of an expression that outgrew the algebra. Its evaluation is an error.
    pub fn overflow() -> Expr {
        Expr(None)
    }

    /// True for the form that outgrew the algebra.
    pub fn is_overflow(&self) -> bool {
        self.0.is_none()
    }

    /// One atom, without simplification of it.
    pub fn from_atom(atom: Atom) -> Expr {
        Expr::from_term(1, Monomial::of(atom))
    }

    /// One term; the zero expression for a zero coefficient.
    pub(crate) fn from_term(coefficient: i64, monomial: Monomial) -> Expr {
        let terms = if coefficient == 0 { vec![] } else { vec![Term { monomial, coefficient }] };
        Expr::from_sorted(terms)
    }

    /// Sums terms in any order; the coefficients may be wide, their sums must fit `i64`.
    pub(crate) fn from_terms(mut terms: Vec<(Monomial, i128)>) -> Expr {
        crate::work::count(crate::work::AlgebraWork::Placed, terms.len());
        terms.sort_by(|a, b| b.0.cmp(&a.0));
        let mut merged: Vec<(Monomial, i128)> = Vec::with_capacity(terms.len());
        for (monomial, coefficient) in terms {
            match merged.last_mut() {
                Some(last) if last.0 == monomial => match last.1.checked_add(coefficient) {
                    Some(sum) => last.1 = sum,
                    None => return Expr::overflow(),
                },
                _ => merged.push((monomial, coefficient)),
            }
        }
        let narrow = |(monomial, wide): (Monomial, i128)| {
            i64::try_from(wide).map(|coefficient| Term { monomial, coefficient })
        };
        match merged.into_iter().filter(|term| term.1 != 0).map(narrow).collect() {
            Ok(terms) => Expr::from_sorted(terms),
            Err(_) => Expr::overflow(),
        }
    }

    /// Wraps terms that are already canonical, rejecting sums that are too large.
    fn from_sorted(terms: Vec<Term>) -> Expr {
        let (mut size, mut depth) = (0u32, 0u32);
        for term in &terms {
            size = size.saturating_add(1);
            for (atom, _) in term.monomial.factors() {
                size = size.saturating_add(1);
                let Some((a, b)) = atom.operands() else { continue };
                let (Expr(Some(a)), Expr(Some(b))) = (a, b) else { return Expr::overflow() };
                size = size.saturating_add(a.size).saturating_add(b.size);
                depth = depth.max(1 + a.depth.max(b.depth));
            }
        }
        if size > MAX_SIZE || depth > MAX_DEPTH {
            return Expr::overflow();
        }
        Expr(Some(Arc::new(Sum { terms, size, depth })))
    }

    /// The terms, the highest first and the constant last; none for zero, and none for the overflow form.
    pub fn terms(&self) -> &[Term] {
        self.0.as_ref().map_or(&[], |sum| sum.terms.as_slice())
    }

    /// The integer, if the expression is one.
    pub fn as_const(&self) -> Option<i64> {
        match self.0.as_ref()?.terms.as_slice() {
            [] => Some(0),
            [term] if term.monomial.is_one() => Some(term.coefficient),
            _ => None,
        }
    }

    /// True for the constant 0.
    pub fn is_zero(&self) -> bool {
        self.as_const() == Some(0)
    }

    /// True for the constant 1.
    pub fn is_one(&self) -> bool {
        self.as_const() == Some(1)
    }

    /// The only atom, if the expression is one atom with coefficient one.
    pub fn as_atom(&self) -> Option<&Atom> {
        match self.terms() {
            [term] if term.coefficient == 1 => term.monomial.as_atom(),
            _ => None,
        }
    }

    /// The symbol, if the expression is one.
    pub fn as_sym(&self) -> Option<Sym> {
        match self.as_atom() {
            Some(Atom::Sym(sym)) => Some(*sym),
            _ => None,
        }
    }

    /// The constant term, zero if there is none.
    pub fn constant_term(&self) -> i64 {
        self.terms().last().filter(|term| term.monomial.is_one()).map_or(0, |term| term.coefficient)
    }

    /// All symbols that occur, those inside atoms too.
    pub fn symbols(&self) -> BTreeSet<Sym> {
        let mut found = BTreeSet::new();
        self.visit_symbols(&mut |sym| {
            found.insert(sym);
        });
        found
    }

    /// True if the symbol occurs anywhere.
    pub fn mentions(&self, sym: Sym) -> bool {
        let mut found = false;
        self.visit_symbols(&mut |other| found |= other == sym);
        found
    }

    /// True if there is a quotient or a remainder anywhere.
    pub(crate) fn has_division(&self) -> bool {
        let mut atoms = self.terms().iter().flat_map(|term| term.monomial.factors());
        atoms.any(|(atom, _)| match atom {
            Atom::Sym(_) => false,
            Atom::FloorDiv(..) | Atom::Mod(..) => true,
            Atom::Min(a, b) | Atom::Max(a, b) => a.has_division() || b.has_division(),
        })
    }

    /// Calls `visit` at each occurrence of a symbol, from left to right.
    pub fn visit_symbols(&self, visit: &mut dyn FnMut(Sym)) {
        for (atom, _) in self.terms().iter().flat_map(|term| term.monomial.factors()) {
            match atom {
                Atom::Sym(sym) => visit(*sym),
                Atom::FloorDiv(a, b) | Atom::Mod(a, b) | Atom::Min(a, b) | Atom::Max(a, b) => {
                    a.visit_symbols(visit);
                    b.visit_symbols(visit);
                }
            }
        }
    }

    /// Splits the sum in two: the terms that mention a symbol for which `holds` is true, and the others.
    pub fn split_terms(&self, holds: impl Fn(Sym) -> bool) -> (Expr, Expr) {
        if self.is_overflow() {
            return (Expr::overflow(), Expr::overflow());
        }
        let term = |term: &Term| Expr::from_term(term.coefficient, term.monomial.clone());
        let (with, without): (Vec<Expr>, Vec<Expr>) =
            self.terms().iter().map(term).partition(|term| term.symbols().into_iter().any(&holds));
        (with.into_iter().sum(), without.into_iter().sum())
    }

    /// Writes the expression as `coefficient * symbol + rest`, both free of the symbol.
    ///
    /// `None` when it is not linear in the symbol: squared, or inside a division, a modulo, a min or a max.
    pub fn split_linear(&self, sym: Sym) -> Option<(Expr, Expr)> {
        self.0.as_ref()?;
        let symbol = Monomial::of(Atom::Sym(sym));
        let (mut coefficient, mut rest) = (vec![], vec![]);
        for term in self.terms() {
            match term.monomial.over(&symbol) {
                Some(quotient) => coefficient.push((quotient, i128::from(term.coefficient))),
                None => rest.push((term.monomial.clone(), i128::from(term.coefficient))),
            }
        }
        let (coefficient, rest) = (Expr::from_terms(coefficient), Expr::from_terms(rest));
        (!coefficient.mentions(sym) && !rest.mentions(sym)).then_some((coefficient, rest))
    }
}

impl Ord for Expr {
    fn cmp(&self, other: &Expr) -> Ordering {
        self.0.cmp(&other.0)
    }

    // `a.min(b)` on owned expressions finds this method before `Expr::min`; it must not mean the structural order.
    fn min(self, other: Expr) -> Expr {
        Expr::min(&self, &other)
    }

    fn max(self, other: Expr) -> Expr {
        Expr::max(&self, &other)
    }
}

impl PartialOrd for Expr {
    fn partial_cmp(&self, other: &Expr) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<i64> for Expr {
    fn from(value: i64) -> Expr {
        Expr::constant(value)
    }
}

impl From<Sym> for Expr {
    fn from(sym: Sym) -> Expr {
        Expr::sym(sym)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn i(index: u32) -> Expr {
        Expr::sym(Sym::from_u32(index))
    }

    #[test]
    fn equal_polynomials_are_equal_values() {
        let left = (i(0) + i(1)) * (i(0) - i(1));
        let right = &i(0) * &i(0) - &i(1) * &i(1);
        assert_eq!(left, right);
        assert!((left - right).is_zero());
    }

    #[test]
    fn coefficients_beyond_i64_absorb() {
        let huge = Expr::constant(i64::MAX) + Expr::one();
        assert!(huge.is_overflow());
        assert!((huge.clone() - huge).is_overflow());
        assert!((-Expr::constant(i64::MIN)).is_overflow());
    }

    #[test]
    fn growth_without_end_absorbs_and_returns() {
        let mut tree = i(0);
        for _ in 0..64 {
            tree = (&tree + i(1)).floor_div(&i(2)) * (&tree + i(3)).modulo(&i(4));
        }
        assert!(tree.is_overflow());
        let mut power = i(0) + i(1);
        for _ in 0..40 {
            power = &power * &power;
        }
        assert!(power.is_overflow());
    }

    #[test]
    fn linear_split_sees_into_atoms() {
        let sym = Sym::from_u32(0);
        let e = i(0) * i(1) * 3 + i(0) + i(2) + 5;
        assert_eq!(e.split_linear(sym), Some((i(1) * 3 + 1, i(2) + 5)));
        assert_eq!((i(0) * i(0)).split_linear(sym), None);
        assert_eq!((i(0).floor_div(&i(1)) + i(0)).split_linear(sym), None);
        assert_eq!(i(1).split_linear(sym), Some((Expr::zero(), i(1))));
    }
}
