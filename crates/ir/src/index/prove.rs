//! Proofs from facts. Every `true` holds wherever the facts hold and both sides have a value; `false` means that no
//! proof was found, never that there is none.
//!
//! Inequalities are proved by intervals, and where these are too wide by adding known inequalities, times something
//! that is not negative, so that a negative term goes away (a bounded search in the manner of Farkas' lemma).

use super::normalize::atoms;
use super::{Atom, Expr, Facts, Term};

/// Known inequalities that one proof may add up.
const MAX_STEPS: u32 = 3;

impl Facts {
    /// True if the two are proved equal.
    pub fn prove_eq(&self, a: &Expr, b: &Expr) -> bool {
        let difference = self.normalize(&(a - b));
        let opened = || self.normalize(&open_remainders(&difference));
        difference.is_zero() || self.interval(&difference).as_point() == Some(0) || opened().is_zero()
    }

    /// True if the two are proved different.
    pub fn prove_ne(&self, a: &Expr, b: &Expr) -> bool {
        let difference = self.normalize(&(a - b));
        if difference.is_overflow() {
            return false;
        }
        let constant = difference.constant_term();
        let divisor = self.divisor(&(&difference - constant));
        self.is_nonzero(&difference) || constant.checked_rem(divisor).is_some_and(|rest| rest != 0)
    }

    /// True if the first is proved to be at most the second.
    pub fn prove_le(&self, a: &Expr, b: &Expr) -> bool {
        self.is_nonnegative(&self.normalize(&(b - a)))
    }

    /// True if the first is proved to be less than the second.
    pub fn prove_lt(&self, a: &Expr, b: &Expr) -> bool {
        self.prove_le(&(a + 1), b)
    }

    /// True if `e` is proved to be an integer times `d`. Zero divides zero only.
    pub fn prove_divides(&self, d: &Expr, e: &Expr) -> bool {
        self.divides(&self.normalize(d), &self.normalize(e))
    }

    /// True if the expression, as it stands, is certainly not zero.
    pub(super) fn is_nonzero(&self, e: &Expr) -> bool {
        !e.is_overflow()
            && (!self.interval(e).contains(0)
                || self.is_nonnegative(&(e - 1))
                || self.is_nonnegative(&(-e - 1)))
    }

    /// True if `0 <= x < d`, as they stand.
    pub(super) fn is_within(&self, x: &Expr, d: &Expr) -> bool {
        self.is_nonnegative(x) && self.is_nonnegative(&(d - x - 1))
    }

    /// True if the expression, as it stands, is certainly zero or more.
    pub(super) fn is_nonnegative(&self, e: &Expr) -> bool {
        self.search(e, MAX_STEPS)
    }

    fn search(&self, e: &Expr, steps: u32) -> bool {
        if e.is_overflow() {
            return false;
        }
        if self.interval(e).is_nonnegative() {
            return true;
        }
        steps > 0
            && self.hypotheses(e).iter().any(|known| {
                negative_terms(e).any(|term| {
                    self.multipliers(term, known).any(|scale| self.search(&(e - scale * known), steps - 1))
                })
            })
    }

    /// What a known inequality may be multiplied by so that it covers a negative term.
    fn multipliers(&self, term: &Term, known: &Expr) -> impl Iterator<Item = Expr> {
        negative_terms(known).filter_map(|covering| {
            let monomial = term.monomial.over(&covering.monomial)?;
            let (wanted, given) = (term.coefficient.unsigned_abs(), covering.coefficient.unsigned_abs());
            let scale = Expr::from_term(i64::try_from(wanted.div_ceil(given)).ok()?, monomial);
            self.interval(&scale).is_nonnegative().then_some(scale)
        })
    }

    /// Expressions that are zero or more: the assumed ones, and those that define the atoms of `e`.
    fn hypotheses(&self, e: &Expr) -> Vec<Expr> {
        let mut known: Vec<Expr> = self.inequalities().cloned().collect();
        for atom in atoms(e) {
            let value = Expr::from_atom(atom.clone());
            match &atom {
                Atom::Sym(_) => {}
                Atom::FloorDiv(x, d) if self.interval(d).is_nonnegative() => {
                    known.extend([x - d * &value, d * &value + d - 1 - x]);
                }
                Atom::Mod(x, d) if self.interval(d).is_nonnegative() => {
                    known.push(d - 1 - &value);
                    known.extend(self.interval(x).is_nonnegative().then(|| x - &value));
                }
                Atom::FloorDiv(..) | Atom::Mod(..) => {}
                Atom::Min(a, b) => known.extend([a - &value, b - &value]),
                Atom::Max(a, b) => known.extend([&value - a, &value - b]),
            }
        }
        known.retain(|e| !e.is_overflow());
        known
    }
}

fn negative_terms(e: &Expr) -> impl Iterator<Item = &Term> {
    e.terms().iter().filter(|term| term.coefficient < 0 && !term.monomial.is_one())
}

/// Writes each `x % d` as `x - d*(x // d)`.
fn open_remainders(e: &Expr) -> Expr {
    e.map_atoms(&mut |atom| match atom {
        Atom::Mod(x, d) => x - d * x.floor_div(d),
        other => Expr::from_atom(other.clone()),
    })
}
