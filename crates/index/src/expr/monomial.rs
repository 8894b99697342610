//! Products of atoms: a term of a sum without its coefficient. Gives their order, product, quotient and common part; knows
//! nothing of coefficients and simplifies nothing inside an atom.

use std::cmp::Ordering;

use crate::{Expr, Sym};

/// The atoms of polynomials: a symbol, or a form that the algebra keeps whole.
///
/// Division rounds to minus infinity and the modulo has the sign of its divisor, as in Python.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Atom {
    /// A symbol.
    Sym(Sym),
    /// The quotient of two expressions, rounded to minus infinity.
    FloorDiv(Expr, Expr),
    /// The remainder that belongs to the floor division.
    Mod(Expr, Expr),
    /// The smaller of two expressions.
    Min(Expr, Expr),
    /// The larger of two expressions.
    Max(Expr, Expr),
}

impl Atom {
    /// The two operands, or `None` for a symbol.
    pub fn operands(&self) -> Option<(&Expr, &Expr)> {
        match self {
            Atom::Sym(_) => None,
            Atom::FloorDiv(a, b) | Atom::Mod(a, b) | Atom::Min(a, b) | Atom::Max(a, b) => Some((a, b)),
        }
    }
}

/// A product of powers of atoms, in ascending order of the atoms; the empty product is one.
///
/// The order of monomials is graded lexicographic: by degree, then by the power of the first atom in which they
/// differ. Multiplying by a third monomial keeps it, so polynomial long division ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Monomial {
    factors: Vec<(Atom, u32)>,
}

impl Monomial {
    /// The empty product.
    pub fn one() -> Monomial {
        Monomial::default()
    }

    /// One atom to the first power.
    pub fn of(atom: Atom) -> Monomial {
        Monomial { factors: vec![(atom, 1)] }
    }

    /// True for the empty product.
    pub fn is_one(&self) -> bool {
        self.factors.is_empty()
    }

    /// The atoms with their powers, which are at least one.
    pub fn factors(&self) -> &[(Atom, u32)] {
        &self.factors
    }

    /// The atom, if this is one atom to the first power.
    pub fn as_atom(&self) -> Option<&Atom> {
        match self.factors.as_slice() {
            [(atom, 1)] => Some(atom),
            _ => None,
        }
    }

    /// The first atom. Monomials that this divides have it too.
    pub(crate) fn lead(&self) -> Option<&Atom> {
        self.factors.first().map(|(atom, _)| atom)
    }

    /// The power of an atom, zero if it is absent.
    pub fn power(&self, atom: &Atom) -> u32 {
        self.factors.binary_search_by(|(a, _)| a.cmp(atom)).map_or(0, |at| self.factors[at].1)
    }

    fn degree(&self) -> u64 {
        self.factors.iter().map(|&(_, power)| u64::from(power)).sum()
    }

    /// The product, or `None` when a power leaves `u32`.
    pub(crate) fn times(&self, other: &Monomial) -> Option<Monomial> {
        self.combine(other, |a, b| a.checked_add(b))
    }

    /// The quotient, or `None` when it is not a monomial.
    pub(crate) fn over(&self, other: &Monomial) -> Option<Monomial> {
        self.combine(other, |a, b| a.checked_sub(b))
    }

    /// The greatest common divisor.
    pub(crate) fn common(&self, other: &Monomial) -> Monomial {
        self.combine(other, |a, b| Some(a.min(b))).unwrap_or_default()
    }

    /// Joins the factor lists, with `power` applied to the two powers of each atom that occurs in either.
    fn combine(&self, other: &Monomial, power: impl Fn(u32, u32) -> Option<u32>) -> Option<Monomial> {
        let (mut left, mut right) = (self.factors.iter().peekable(), other.factors.iter().peekable());
        // Without a capacity: most quotients in proofs do not exist, and need no memory.
        let mut factors = Vec::new();
        loop {
            let order = match (left.peek(), right.peek()) {
                (None, None) => return Some(Monomial { factors }),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((a, _)), Some((b, _))) => a.cmp(b),
            };
            let a = if order.is_le() { left.next() } else { None };
            let b = if order.is_ge() { right.next() } else { None };
            let joined = power(a.map_or(0, |f| f.1), b.map_or(0, |f| f.1))?;
            if let (Some((atom, _)), 1..) = (a.or(b), joined) {
                factors.push((atom.clone(), joined));
            }
        }
    }
}

impl Ord for Monomial {
    fn cmp(&self, other: &Monomial) -> Ordering {
        self.degree().cmp(&other.degree()).then_with(|| {
            for ((a, p), (b, q)) in self.factors.iter().zip(&other.factors) {
                // The list that starts with the smaller atom has the higher power of it.
                let order = b.cmp(a).then(p.cmp(q));
                if order.is_ne() {
                    return order;
                }
            }
            self.factors.len().cmp(&other.factors.len())
        })
    }
}

impl PartialOrd for Monomial {
    fn partial_cmp(&self, other: &Monomial) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
