//! Simplification under facts. Substitutes equalities, then divides, cancels and decides as far as ranges, multiples and
//! inequalities allow, until nothing changes.

use super::facts::is_oriented;
use super::known::Known;
use super::{Atom, Expr, Facts, Sym, Term};

/// Rounds of simplification; one almost always suffices, a second confirms it.
const MAX_ROUNDS: usize = 16;

impl Facts {
    /// A simpler expression that has the same value wherever the facts hold and the given one has a value.
    pub fn normalize(&self, e: &Expr) -> Expr {
        self.normalize_knowing(e, &Known::default())
    }

    /// The same, with what was found out before under these very facts.
    pub(super) fn normalize_knowing(&self, e: &Expr, known: &Known) -> Expr {
        let mut current = e.clone();
        if e.as_const().is_some() {
            return current;
        }
        for _ in 0..MAX_ROUNDS {
            let next = Simplifier { facts: self, known }.simplify(&current);
            if next == current || next.is_overflow() {
                break;
            }
            current = next;
        }
        current
    }
}

/// One round of simplification.
#[derive(Clone, Copy)]
struct Simplifier<'f> {
    facts: &'f Facts,
    known: &'f Known,
}

impl Simplifier<'_> {
    fn simplify(&self, e: &Expr) -> Expr {
        let rebuilt = e.map_atoms(&mut |atom| self.simplify_atom(atom));
        if !rebuilt.has_division() {
            return self.reduce_by_relations(rebuilt);
        }
        let cancelled = self.cancel_quotients(rebuilt);
        self.reduce_by_relations(recombine(cancelled))
    }

    fn simplify_atom(&self, atom: &Atom) -> Option<Expr> {
        let known = self.known.simplest(atom);
        if known.is_some() {
            return known;
        }
        let simplest = match atom {
            Atom::Sym(sym) => return self.known_value(*sym),
            Atom::FloorDiv(a, b) => self.quotient(&self.simplify(a), &self.simplify(b)),
            Atom::Mod(a, b) => self.remainder(&self.simplify(a), &self.simplify(b)),
            Atom::Min(a, b) => self.smaller(&self.simplify(a), &self.simplify(b)),
            Atom::Max(a, b) => self.larger(&self.simplify(a), &self.simplify(b)),
        };
        self.known.note_simplest(atom, &simplest);
        Some(simplest)
    }

    /// True if an expression, as it stands, is certainly zero or more.
    fn is_nonnegative(&self, e: &Expr) -> bool {
        let is_proved = || self.facts.is_nonnegative(e);
        self.facts.interval(e).is_nonnegative() || self.known.is_nonnegative(e, is_proved)
    }

    /// True if an expression, as it stands, is certainly not zero.
    fn is_nonzero(&self, e: &Expr) -> bool {
        is_nonzero(self.facts, e, |e| self.is_nonnegative(e))
    }

    /// True if `0 <= x < d`, as they stand.
    fn is_within(&self, x: &Expr, d: &Expr) -> bool {
        self.is_nonnegative(x) && self.is_nonnegative(&(d - x - 1))
    }

    /// The value of a symbol by its range or by an equality.
    fn known_value(&self, sym: Sym) -> Option<Expr> {
        let point = self.facts.range(sym).as_point().and_then(|value| i64::try_from(value).ok());
        point.map(Expr::constant).or_else(|| self.facts.value(sym).cloned())
    }

    fn smaller(&self, a: &Expr, b: &Expr) -> Expr {
        match (self.is_nonnegative(&(b - a)), self.is_nonnegative(&(a - b))) {
            (true, _) => a.clone(),
            (_, true) => b.clone(),
            _ => a.min(b),
        }
    }

    fn larger(&self, a: &Expr, b: &Expr) -> Expr {
        match (self.is_nonnegative(&(b - a)), self.is_nonnegative(&(a - b))) {
            (true, _) => b.clone(),
            (_, true) => a.clone(),
            _ => a.max(b),
        }
    }

    /// `x // d`, simplified when `d` is certainly not zero.
    fn quotient(&self, x: &Expr, d: &Expr) -> Expr {
        if !self.is_nonzero(d) {
            return x.floor_div(d);
        }
        if let Some(value) = self.certain_quotient(x, d) {
            return Expr::constant(value);
        }
        if let Some((_, x, d)) = self.cancel_common(x, d) {
            return self.quotient(&x, &d);
        }
        if let Some((multiples, rest)) = self.take_multiples(x, d) {
            return multiples + self.quotient(&rest, d);
        }
        if let Some((_, high, _, d)) = self.take_low_part(x, d) {
            return self.quotient(&high, &d);
        }
        if self.is_within(x, d) { Expr::zero() } else { x.floor_div(d) }
    }

    /// `x % d`, simplified when `d` is certainly not zero.
    fn remainder(&self, x: &Expr, d: &Expr) -> Expr {
        if !self.is_nonzero(d) {
            return x.modulo(d);
        }
        if let Some(value) = self.certain_quotient(x, d) {
            return x - d * value;
        }
        if self.facts.divides(d, x) {
            return Expr::zero();
        }
        if let Some((common, x, d)) = self.cancel_common(x, d) {
            return common * self.remainder(&x, &d);
        }
        if let Some((_, rest)) = self.take_multiples(x, d) {
            return self.remainder(&rest, d);
        }
        if let Some((scale, high, low, d)) = self.take_low_part(x, d) {
            return scale * self.remainder(&high, &d) + low;
        }
        if self.is_within(x, d) { x.clone() } else { x.modulo(d) }
    }

    fn certain_quotient(&self, x: &Expr, d: &Expr) -> Option<i64> {
        let quotient = self.facts.interval(x).floor_div(&self.facts.interval(d));
        quotient.as_point().and_then(|value| i64::try_from(value).ok())
    }

    /// The nonzero term that divides both, and the two quotients.
    fn cancel_common(&self, x: &Expr, d: &Expr) -> Option<(Expr, Expr, Expr)> {
        let common = positive_term(x.content()?.common(&d.content()?))?;
        let (x, d) = (x.exact_quotient(&common)?, d.exact_quotient(&common)?);
        self.is_nonzero(&common).then_some((common, x, d))
    }

    /// Writes `x // d` as the quotient of its part that is a multiple of `d`, with the part that remains.
    fn take_multiples(&self, x: &Expr, d: &Expr) -> Option<(Expr, Expr)> {
        let (quotient, rest) = x.split_multiple(d)?;
        let shorter = rest.is_zero() || d.terms().len() == 1 || self.is_within(&rest, d);
        if !quotient.is_zero() && shorter {
            return Some((quotient, rest));
        }
        let (mut quotient, mut rest) = (Expr::zero(), Expr::zero());
        for Term { monomial, coefficient } in x.terms() {
            let term = Expr::from_term(*coefficient, monomial.clone());
            if self.facts.divides(d, &term) {
                quotient = quotient + term.floor_div(d)
            } else {
                rest = rest + term
            }
        }
        (x.terms().len() > 1 && !quotient.is_zero()).then_some((quotient, rest))
    }

    /// Finds a scale that divides `d`, with `x = scale*high + low` and `0 <= low < scale`, so that the low part falls
    /// below the division: the scale, the high and low parts, and `d / scale`.
    fn take_low_part(&self, x: &Expr, d: &Expr) -> Option<(Expr, Expr, Expr, Expr)> {
        let content = d.content()?;
        x.terms().iter().find_map(|term| {
            let scale = positive_term(term.common(&content))?;
            let (high, low) = match scale.as_const() {
                Some(scale) => x.split_constant(scale),
                None => x.split_multiple(&scale)?,
            };
            let reduced = d.exact_quotient(&scale)?;
            self.is_within(&low, &scale).then_some((scale, high, low, reduced))
        })
    }

    /// `(x // d) * d` is `x` where `d` divides `x`.
    fn cancel_quotients(&self, mut e: Expr) -> Expr {
        for atom in atoms(&e) {
            let Atom::FloorDiv(x, d) = &atom else { continue };
            if !self.facts.divides(d, x) {
                continue;
            }
            let (factor, rest) = split_atom(&e, &atom);
            if let Some((quotient, left)) =
                factor.split_multiple(d).filter(|(quotient, _)| !quotient.is_zero())
            {
                e = quotient * x + left * Expr::from_atom(atom.clone()) + rest;
            }
        }
        e
    }

    /// Rewrites by relations whose highest term equals a polynomial in symbols; others could grow without end.
    fn reduce_by_relations(&self, e: Expr) -> Expr {
        self.facts.relations().filter(|zero| is_oriented(zero)).fold(e, |e, zero| {
            match e.split_multiple(zero) {
                Some((quotient, rest)) if !quotient.is_zero() => rest,
                _ => e,
            }
        })
    }
}

/// True if an expression, as it stands, is certainly not zero, by such proofs that others are zero or more.
pub(super) fn is_nonzero(facts: &Facts, e: &Expr, is_nonnegative: impl Fn(&Expr) -> bool) -> bool {
    if e.is_overflow() || !facts.interval(e).contains(0) {
        return !e.is_overflow();
    }
    let is_searched = !(knows_only_ranges(facts) && is_difference_of_symbols(e));
    is_searched && (is_nonnegative(&(e - 1)) || is_nonnegative(&(-e - 1)))
}

/// Whether no relation, inequality or multiple is known, so that symbols differ only where their ranges do.
fn knows_only_ranges(facts: &Facts) -> bool {
    facts.relations().next().is_none()
        && facts.inequalities().next().is_none()
        && facts.multiples().next().is_none()
}

/// Whether an expression is one symbol less another.
fn is_difference_of_symbols(e: &Expr) -> bool {
    let is_symbol = |term: &Term| matches!(term.monomial.as_atom(), Some(Atom::Sym(_)));
    let [first, second] = e.terms() else { return false };
    let is_unit = matches!((first.coefficient, second.coefficient), (1, -1) | (-1, 1));
    is_unit && is_symbol(first) && is_symbol(second)
}

/// `k*d*(x // d) + k*(x % d)` is `k*x`.
fn recombine(mut e: Expr) -> Expr {
    for atom in atoms(&e) {
        let Atom::Mod(x, d) = &atom else { continue };
        let quotient = x.floor_div(d);
        let Some(division) = quotient.as_atom() else { continue };
        let (factor, rest) = split_atom(&e, &atom);
        let Some((scaled, _)) = split_atom(&rest, division).0.split_multiple(d) else { continue };
        let shared: Vec<_> = factor.terms().iter().filter(|term| scaled.terms().contains(term)).collect();
        let shared = shared.into_iter().map(|term| Expr::from_term(term.coefficient, term.monomial.clone()));
        let shared: Expr = shared.sum();
        if !shared.is_zero() {
            e = e + &shared * (x - Expr::from_atom(atom.clone()) - d * &quotient);
        }
    }
    e
}

/// Writes a sum as `factor * atom + rest`, the rest free of the atom at the top level.
fn split_atom(e: &Expr, atom: &Atom) -> (Expr, Expr) {
    let single = super::Monomial::of(atom.clone());
    let (mut factor, mut rest) = (vec![], vec![]);
    for Term { monomial, coefficient } in e.terms() {
        match monomial.over(&single) {
            Some(quotient) => factor.push((quotient, i128::from(*coefficient))),
            None => rest.push((monomial.clone(), i128::from(*coefficient))),
        }
    }
    (Expr::from_terms(factor), Expr::from_terms(rest))
}

/// The different atoms at the top level that are no symbols.
pub(super) fn atoms(e: &Expr) -> Vec<Atom> {
    let factors = e.terms().iter().flat_map(|term| term.monomial.factors());
    let mut atoms: Vec<Atom> =
        factors.map(|(atom, _)| atom).filter(|atom| atom.operands().is_some()).cloned().collect();
    atoms.sort();
    atoms.dedup();
    atoms
}

/// The term as an expression, unless it is one or its coefficient did not fit.
fn positive_term(term: Term) -> Option<Expr> {
    let e = Expr::from_term(term.coefficient, term.monomial);
    (!e.is_zero() && !e.is_one()).then_some(e)
}

#[cfg(test)]
mod tests {
    use super::super::Sym;
    use super::*;

    fn check(facts: &Facts, cases: &[(&str, &str)]) {
        for (given, expected) in cases {
            assert_eq!(facts.normalize(&Expr::read(given)), Expr::read(expected), "{given}");
        }
    }

    #[test]
    fn ranges_decide() {
        let mut facts = Facts::new();
        facts.assume_range(Sym::from_u32(0), 0, 3);
        facts.assume_range(Sym::from_u32(1), 0, None);
        facts.assume_range(Sym::from_u32(2), 1, None);
        facts.assume_range(Sym::from_u32(3), 7, 7);
        check(
            &facts,
            &[
                ("i0 // 4", "0"),
                ("i0 % 4", "i0"),
                ("(4*i1 + i0) // 4", "i1"),
                ("(4*i1 + i0) % 16", "4*(i1 % 4) + i0"),
                ("(4*i1 + i0) // 16", "i1 // 4"),
                ("i2 // i2", "1"),
                ("i1 // i1", "i1 // i1"),
                ("(i1*i2 + 5) // i2", "i1 + 5 // i2"),
                ("0 // i2", "0"),
                ("(i1 // 4)*4 + i1 % 4", "i1"),
                ("12*(i1 // 12) + 4*((i1 // 4) % 3) + i1 % 4", "i1"),
                ("min(i1, 0) + max(i0, 9)", "9"),
                ("max(i1, i1 - i0)", "i1"),
                ("i3 // 2", "3"),
                ("-1 // i2", "-1"),
            ],
        );
    }

    #[test]
    fn symbolic_bounds_flatten_and_split_indices() {
        // A row i0 of i1 rows and a column i2 of i3 columns.
        let mut facts = Facts::new();
        (0..4).for_each(|index| facts.assume_range(Sym::from_u32(index), 0, None));
        for (index, extent) in [("i0", "i1"), ("i2", "i3")] {
            facts.assume_lt(&Expr::read(index), &Expr::read(extent)).unwrap();
        }
        check(
            &facts,
            &[
                ("(i0*i3 + i2) // i3", "i0"),
                ("(i0*i3 + i2) % i3", "i2"),
                ("(i0*i3 + i2) // (i1*i3)", "0"),
                ("(i0*i3 + i2) % (i1*i3)", "i0*i3 + i2"),
                ("min(i0, i1)", "i0"),
            ],
        );
    }

    #[test]
    fn multiples_cancel() {
        let mut facts = Facts::new();
        facts.assume_multiple(&Expr::read("i0"), 4);
        facts.assume_equal(&Expr::read("i1 % 8"), &Expr::zero()).unwrap();
        check(
            &facts,
            &[
                ("(i0 // 4)*4", "i0"),
                ("(i0 + 3) // 4", "i0 // 4"),
                ("(i0 + i1 + 5) % 4", "1"),
                ("(i1 // 8)*16*i0", "2*i0*i1"),
                ("i0 % 8", "i0 % 8"),
            ],
        );
    }

    #[test]
    fn equalities_are_put_in() {
        let mut facts = Facts::new();
        facts.assume_equal(&Expr::read("i2"), &Expr::read("i0*i1")).unwrap();
        facts.assume_equal(&Expr::read("i3"), &Expr::read("i2 + 1")).unwrap();
        facts.assume_equal(&Expr::read("i0"), &Expr::read("i4")).unwrap();
        facts.assume_equal(&Expr::read("i5*i6"), &Expr::read("2*i7*i8")).unwrap();
        check(
            &facts,
            &[("i3", "i0*i1 + 1"), ("i4 - i0", "0"), ("i2 // 4", "(i0*i1) // 4"), ("i5*i6*i7", "2*i7*i7*i8")],
        );
    }
}
