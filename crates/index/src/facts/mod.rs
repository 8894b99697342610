//! Facts about symbols: ranges, equalities, multiples and inequalities. This file stores, adds and lists them;
//! simplification with them is in `normalize.rs`, proofs are in `prove.rs`.

mod bounds;
mod conditions;
mod inequalities;

pub use bounds::Range;
pub(crate) use conditions::Condition;
use inequalities::Inequalities;

use std::collections::BTreeSet;

use imbl::ordmap::DiffItem;
use imbl::{OrdMap, OrdSet, Vector};
use thiserror::Error;

use crate::division::{gcd_or_one, lcm};
use crate::known::Known;
use crate::{Atom, Expr, Sym, Term};

/// Facts about symbols. Copies share structure, so copying is cheap however many facts there are.
///
/// Equalities are solved for a symbol where that is possible, and the solution is substituted everywhere, so no chain of
/// them is ever followed; those that cannot be solved (`i0*i1 = 6*i2`) are kept as relations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    ranges: OrdMap<Sym, Range>,
    /// The value of a solved symbol, in unsolved ones.
    equalities: OrdMap<Sym, Expr>,
    /// The solved symbols whose values mention an unsolved one.
    dependents: OrdMap<Sym, OrdSet<Sym>>,
    /// Expressions that are zero, the coefficient of the highest term positive.
    relations: Vector<Expr>,
    /// Expressions that are zero or more.
    nonnegative: Inequalities,
    symbol_multiples: OrdMap<Sym, i64>,
    /// Expressions, other than symbols, with a number that divides them.
    multiples: Vector<(Expr, i64)>,
}

/// A fact that contradicts those known before it; it was not added.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{left} {relation} {right}` contradicts what is known")]
pub struct Contradiction {
    pub left: Expr,
    /// The assumed relation of the sides: `=` or `<=`.
    pub relation: &'static str,
    pub right: Expr,
}

fn unequal([a, b]: [&Expr; 2]) -> Contradiction {
    Contradiction { left: a.clone(), relation: "=", right: b.clone() }
}

impl Facts {
    /// Nothing is known.
    pub fn new() -> Facts {
        Facts::default()
    }

    /// Narrows the range of a symbol; `None`, and the ends of `i64`, are unbounded.
    ///
    /// Ranges that exclude each other leave an empty one, under which everything is provable.
    pub fn assume_range(&mut self, sym: Sym, lo: impl Into<Option<i64>>, hi: impl Into<Option<i64>>) {
        let lo = lo.into().filter(|&lo| lo != i64::MIN).map(i128::from);
        let hi = hi.into().filter(|&hi| hi != i64::MAX).map(i128::from);
        let range = self.range(sym).intersect(&Range::new(lo, hi));
        self.ranges.insert(sym, range);
        if let Some(value) = self.equalities.get(&sym).cloned() {
            self.transfer_range(&value, range);
        }
    }

    /// Assumes that two expressions are equal, unless that is impossible.
    ///
    /// # Errors
    /// When the facts exclude it.
    pub fn assume_equal(&mut self, a: &Expr, b: &Expr) -> Result<(), Contradiction> {
        let difference = self.normalize(&(a - b));
        self.assume_zero(&difference, [a, b])
    }

    /// Assumes that two expressions are equal, unless that is known already, or they are proved different.
    ///
    /// # Errors
    /// When they are proved different.
    pub fn require_equal(&mut self, a: &Expr, b: &Expr) -> Result<(), Contradiction> {
        let [left, right] = [a, b].map(|side| with_value(self, side));
        if left == right {
            return Ok(());
        }
        if let Some([older, younger]) = unrelated_symbols(self, left, right) {
            let [sym, value] =
                if preferred(a, b) == Some(older) { [older, younger] } else { [younger, older] };
            return self.insert_value(sym, Expr::sym(value)).ok_or_else(|| unequal([a, b]));
        }
        let difference = self.normalize(&(a - b));
        if self.is_zero(&difference) {
            return Ok(());
        }
        if self.is_never_zero(&difference) {
            return Err(unequal([a, b]));
        }
        self.assume_zero(&difference, [a, b])
    }

    /// Assumes that the simplified difference of two expressions is zero.
    fn assume_zero(&mut self, difference: &Expr, [a, b]: [&Expr; 2]) -> Result<(), Contradiction> {
        let contradiction = || unequal([a, b]);
        let Some(zero) = primitive(difference) else {
            // Zero is nothing new, and an overflow has no information.
            return Ok(());
        };
        let symbols = zero.symbols();
        if symbols.iter().any(|sym| self.equalities.contains_key(sym)) {
            // Substituting the known values outgrew the algebra; solving now could make a cycle.
            return Ok(());
        }
        if !self.may_be_zero(&zero) {
            return Err(contradiction());
        }
        let solution = solve(&zero, preferred(a, b));
        if solution.is_none() && is_inert(&zero) {
            self.relations.push_back(zero);
            return Ok(());
        }
        let mut next = self.clone();
        match solution {
            Some((sym, value)) => next.insert_value(sym, value).ok_or_else(contradiction)?,
            None => next.insert_relation(zero),
        }
        next.solve_relations().map_err(|_| contradiction())?;
        let is_refuted = |relation: &Expr| !next.may_be_zero(relation);
        // An inequality that mentions none of these symbols is unchanged.
        let mut known = self.nonnegative.mentioning(&symbols).into_iter();
        let is_exceeded = |slack: &Expr| next.is_negative(&next.normalize(slack));
        if next.relations.iter().any(is_refuted)
            || known.any(|number| self.nonnegative.get(number).is_some_and(is_exceeded))
        {
            return Err(contradiction());
        }
        *self = next;
        Ok(())
    }

    /// Solves the relations that newer facts have made solvable for a symbol.
    fn solve_relations(&mut self) -> Result<(), Contradiction> {
        let is_free = |facts: &Facts, sym: &Sym| !facts.equalities.contains_key(sym);
        while let Some(at) = self.relations.iter().position(|zero| {
            solve(zero, None).is_some() && zero.symbols().iter().all(|sym| is_free(self, sym))
        }) {
            let zero = self.relations.remove(at);
            self.assume_equal(&zero, &Expr::constant(0))?;
        }
        Ok(())
    }

    /// Whether a simplified expression is below zero.
    fn is_negative(&self, e: &Expr) -> bool {
        self.interval(e).hi().is_some_and(|hi| hi < 0)
    }

    /// Assumes that the first expression is at most the second, unless that is impossible. If it is proved already, nothing
    /// is added.
    ///
    /// # Errors
    /// When the facts exclude it.
    pub fn assume_le(&mut self, a: &Expr, b: &Expr) -> Result<(), Contradiction> {
        self.assume_le_knowing(a, b, &Known::default())
    }

    /// The same, with what was found out before under these very facts.
    pub(crate) fn assume_le_knowing(
        &mut self,
        a: &Expr,
        b: &Expr,
        known: &Known,
    ) -> Result<(), Contradiction> {
        let slack = self.normalize_knowing(&(b - a), known);
        if self.is_negative(&slack) {
            return Err(Contradiction { left: a.clone(), relation: "<=", right: b.clone() });
        }
        if known.refutes(&slack) || !self.follows_simply(&slack) {
            self.insert_nonnegative(slack);
        }
        Ok(())
    }

    /// Assumes that the first expression is less than the second, unless that is impossible.
    ///
    /// # Errors
    /// When the facts exclude it.
    pub fn assume_lt(&mut self, a: &Expr, b: &Expr) -> Result<(), Contradiction> {
        self.assume_le(&(a + 1), b)
    }

    /// Assumes that the expression is a multiple of a number; 0, 1, -1 and the smallest `i64` add nothing.
    pub fn assume_multiple(&mut self, e: &Expr, multiple: i64) {
        let e = self.normalize(e);
        let (Some(multiple), Some(content)) = (multiple.checked_abs(), e.content()) else { return };
        let shared = gcd_or_one(content.coefficient, multiple).max(1);
        let Some(reduced) = e.exact_quotient(&Expr::constant(content.coefficient)) else { return };
        match (reduced.as_sym(), multiple / shared) {
            (_, 0 | 1) => {}
            (Some(sym), k) => {
                let known = self.symbol_multiples.entry(sym).or_insert(1);
                *known = lcm(*known, k);
            }
            (None, k) if !self.multiples.contains(&(reduced.clone(), k)) => {
                self.multiples.push_back((reduced, k))
            }
            (None, _) => {}
        }
    }

    /// The range of a symbol by itself, without equalities.
    pub fn range(&self, sym: Sym) -> Range {
        self.ranges.get(&sym).copied().unwrap_or(Range::ALL)
    }

    /// The expression that a symbol was found equal to.
    pub fn value(&self, sym: Sym) -> Option<&Expr> {
        self.equalities.get(&sym)
    }

    /// The number known to divide a symbol, at least 1.
    pub fn multiple(&self, sym: Sym) -> i64 {
        self.symbol_multiples.get(&sym).copied().unwrap_or(1)
    }

    /// The ranges that were assumed, by symbol.
    pub fn ranges(&self) -> impl Iterator<Item = (Sym, Range)> {
        self.ranges.iter().map(|(&sym, &range)| (sym, range))
    }

    /// The solved symbols with their values, by symbol.
    pub fn equalities(&self) -> impl Iterator<Item = (Sym, &Expr)> {
        self.equalities.iter().map(|(&sym, value)| (sym, value))
    }

    /// The expressions known to be zero that could not be solved for a symbol.
    pub fn relations(&self) -> impl Iterator<Item = &Expr> {
        self.relations.iter()
    }

    /// The expressions known to be zero or more, beyond the ranges of symbols.
    pub fn inequalities(&self) -> impl Iterator<Item = &Expr> {
        self.nonnegative.iter()
    }

    /// Whether it is known that this very expression is zero or more.
    pub(crate) fn is_assumed(&self, e: &Expr) -> bool {
        self.nonnegative.contains(e)
    }

    /// The inequalities that a proof about these terms may subtract.
    pub(super) fn inequalities_sharing<'a>(
        &'a self,
        terms: &[Term],
    ) -> impl Iterator<Item = &'a Expr> + use<'a> {
        self.nonnegative.sharing(terms)
    }

    /// The expressions known to be multiples of a number: symbols first, then others.
    pub fn multiples(&self) -> impl Iterator<Item = (Expr, i64)> {
        let symbols = self.symbol_multiples.iter().map(|(&sym, &k)| (Expr::sym(sym), k));
        symbols.chain(self.multiples.iter().cloned())
    }

    pub(crate) fn compound_multiples(&self) -> impl Iterator<Item = &(Expr, i64)> {
        self.multiples.iter()
    }

    /// The subjects of equalities, relations, inequalities, multiples and ranges, in this order.
    pub fn subjects(&self) -> impl Iterator<Item = Expr> {
        let equal = self.equalities().map(|(sym, _)| Expr::sym(sym));
        let others = self.relations().chain(self.inequalities()).cloned();
        let ranges = self.ranges().filter_map(|(sym, range)| range.slack(&Expr::sym(sym)));
        equal.chain(others).chain(self.multiples().map(|(about, _)| about)).chain(ranges)
    }

    /// The subjects of equalities, relations, inequalities, multiples and ranges that are new since `before`, in the order
    /// of [`Facts::subjects`]. Rewritten ones may be among them.
    pub fn subjects_since(&self, before: &Facts) -> Vec<Expr> {
        let mut subjects: Vec<Expr> = changed(&before.equalities, &self.equalities).map(Expr::sym).collect();
        subjects.extend(moved(&before.relations, &self.relations).cloned());
        subjects.extend(self.nonnegative.since(&before.nonnegative).cloned());
        subjects.extend(changed(&before.symbol_multiples, &self.symbol_multiples).map(Expr::sym));
        subjects.extend(moved(&before.multiples, &self.multiples).map(|(about, _)| about.clone()));
        let range = |sym| self.ranges[&sym].slack(&Expr::sym(sym));
        subjects.extend(changed(&before.ranges, &self.ranges).filter_map(range));
        subjects
    }

    /// Whether ranges and multiples leave room for a simplified expression to be zero: in integers, `6*x + 9*y + 2` never is.
    fn may_be_zero(&self, zero: &Expr) -> bool {
        if !self.interval(zero).contains(0) {
            return false;
        }
        let constant = zero.constant_term();
        let divisor = self.divisor(&(zero - constant));
        divisor == 0 || constant % divisor == 0
    }

    /// Records a solution and substitutes it in all other facts; `None` if the symbol's range excludes it.
    fn insert_value(&mut self, sym: Sym, value: Expr) -> Option<()> {
        let range = self.range(sym);
        if self.interval(&value).intersect(&range).is_empty() {
            return None;
        }
        self.set_value(sym, value.clone());
        self.refresh(sym);
        self.transfer_range(&value, range);
        if let Some(multiple) = self.symbol_multiples.remove(&sym) {
            self.assume_multiple(&value, multiple);
        }
        Some(())
    }

    /// Records an expression that is zero. A remainder that is zero implies that its operand is a multiple.
    fn insert_relation(&mut self, zero: Expr) {
        let multiple = match zero.as_atom() {
            Some(Atom::Mod(x, divisor)) => divisor.as_const().map(|divisor| (x.clone(), divisor)),
            _ => None,
        };
        match multiple {
            Some((x, divisor)) => self.assume_multiple(&x, divisor),
            None => {
                let symbols = zero.symbols();
                self.relations.push_back(zero);
                self.rewrite_those_of(&symbols);
            }
        }
    }

    /// Makes an expression the value of a symbol.
    fn set_value(&mut self, sym: Sym, value: Expr) {
        self.forget_value(sym);
        #[cfg(test)]
        tests::REWRITTEN.with(|count| count.set(count.get() + 1));
        value.visit_symbols(&mut |of| {
            self.dependents.entry(of).or_default().insert(sym);
        });
        self.equalities.insert(sym, value);
    }

    fn forget_value(&mut self, sym: Sym) {
        let Some(value) = self.equalities.remove(&sym) else { return };
        value.visit_symbols(&mut |of| {
            let left = self.dependents.get_mut(&of).map(|dependents| {
                dependents.remove(&sym);
                dependents.len()
            });
            if left == Some(0) {
                self.dependents.remove(&of);
            }
        });
    }

    /// Rewrites every fact that mentions a symbol that now has a value.
    fn refresh(&mut self, sym: Sym) {
        let value = self.equalities.get(&sym).cloned();
        for dependent in self.dependents.get(&sym).cloned().unwrap_or_default() {
            let resolved = self.equalities[&dependent].substitute(&|of| value.clone().filter(|_| of == sym));
            if resolved.is_overflow() {
                self.forget_value(dependent)
            } else {
                self.set_value(dependent, resolved)
            }
        }
        self.rewrite_those_of(&BTreeSet::from([sym]));
    }

    /// Rewrites the facts, other than equalities, that mention one of these symbols, with the present equalities.
    fn rewrite_those_of(&mut self, symbols: &BTreeSet<Sym>) {
        let is_stale = |fact: &Expr| mentions(fact, symbols);
        if self.relations.iter().any(is_stale) {
            for zero in std::mem::take(&mut self.relations) {
                if is_stale(&zero) {
                    self.relations.extend(primitive(&self.normalize(&zero)))
                } else {
                    self.relations.push_back(zero)
                }
            }
        }
        self.rewrite_inequalities_of(symbols);
        if self.multiples.iter().any(|(e, _)| is_stale(e)) {
            for (e, multiple) in std::mem::take(&mut self.multiples) {
                if is_stale(&e) {
                    self.assume_multiple(&e, multiple)
                } else {
                    self.multiples.push_back((e, multiple))
                }
            }
        }
    }

    /// Transfers what was known about a solved symbol to its value.
    fn transfer_range(&mut self, value: &Expr, range: Range) {
        let end = |end: Option<i128>| end.and_then(|end| i64::try_from(end).ok()).map(Expr::constant);
        if let Some(lo) = end(range.lo()) {
            self.insert_nonnegative(value - lo);
        }
        if let Some(hi) = end(range.hi()) {
            self.insert_nonnegative(hi - value);
        }
    }
}

/// The value of a solved symbol; any other expression as it is.
fn with_value<'e>(facts: &'e Facts, e: &'e Expr) -> &'e Expr {
    e.as_sym().and_then(|sym| facts.value(sym)).unwrap_or(e)
}

/// The unsolved symbols that two expressions are, the older one first, if no other fact mentions both: only the facts about
/// each can then keep them from being equal.
fn unrelated_symbols(facts: &Facts, a: &Expr, b: &Expr) -> Option<[Sym; 2]> {
    let (a, b) = (a.as_sym()?, b.as_sym()?);
    let is_alone = |sym| !facts.nonnegative.mentions(sym);
    (facts.relations.is_empty() && is_alone(a) && is_alone(b)).then_some([a.min(b), a.max(b)])
}

/// Whether an expression mentions one of these symbols.
fn mentions(e: &Expr, symbols: &BTreeSet<Sym>) -> bool {
    let mut found = false;
    e.visit_symbols(&mut |sym| found |= symbols.contains(&sym));
    found
}

/// The symbols whose entries in a map differ from those in another.
fn changed<'m, V: PartialEq>(
    before: &'m OrdMap<Sym, V>,
    after: &'m OrdMap<Sym, V>,
) -> impl Iterator<Item = Sym> + 'm {
    before.diff(after).filter_map(|change| match change {
        DiffItem::Add(&sym, _) | DiffItem::Update { new: (&sym, _), .. } => Some(sym),
        DiffItem::Remove(..) => None,
    })
}

/// The items of a list where another one differs or has none.
fn moved<'v, T: Clone + PartialEq>(
    before: &'v Vector<T>,
    after: &'v Vector<T>,
) -> impl Iterator<Item = &'v T> + 'v {
    let same = if after.ptr_eq(before) { after.len() } else { 0 };
    let beside = before.iter().skip(same).map(Some).chain(std::iter::repeat(None));
    after.iter().skip(same).zip(beside).filter(|(now, then)| Some(*now) != *then).map(|(now, _)| now)
}

/// Divides by the common factor of the coefficients and makes the first one positive; `None` for zero and overflow.
fn primitive(e: &Expr) -> Option<Expr> {
    let coefficient = e.content()?.coefficient;
    let reduced = e.exact_quotient(&Expr::constant(coefficient))?;
    let flipped = if e.terms().first()?.coefficient < 0 { -reduced } else { reduced };
    (!flipped.is_overflow()).then_some(flipped)
}

/// The symbol that the user wrote alone on a side; of two such, the younger.
fn preferred(a: &Expr, b: &Expr) -> Option<Sym> {
    a.as_sym().max(b.as_sym())
}

/// Whether a relation cannot simplify any other fact.
fn is_inert(zero: &Expr) -> bool {
    !is_oriented(zero) && !matches!(zero.as_atom(), Some(Atom::Mod(..)))
}

/// Whether the highest term of a relation equals a polynomial in symbols, so that this can be substituted for the term.
pub(crate) fn is_oriented(zero: &Expr) -> bool {
    let mut rest = zero.terms().iter().skip(1).flat_map(|term| term.monomial.factors());
    rest.all(|(atom, _)| atom.operands().is_none())
}

/// Solves `zero = 0` for the preferred symbol, or otherwise the youngest one, with coefficient 1 or -1.
fn solve(zero: &Expr, preferred: Option<Sym>) -> Option<(Sym, Expr)> {
    preferred.into_iter().chain(zero.symbols().into_iter().rev()).find_map(|sym| {
        let (coefficient, rest) = zero.split_linear(sym)?;
        let value = match coefficient.as_const()? {
            1 => -rest,
            -1 => rest,
            _ => return None,
        };
        (!value.is_overflow()).then_some((sym, value))
    })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        /// How many values of solved symbols were written.
        pub(crate) static REWRITTEN: Cell<usize> = const { Cell::new(0) };
    }

    #[test]
    fn an_equality_rewrites_only_the_values_that_mention_its_symbol() {
        let sym = |number| Expr::sym(Sym::from_u32(number));
        let mut facts = Facts::new();
        let written = || REWRITTEN.with(Cell::get);
        let before = written();
        (1..1000).for_each(|number| facts.assume_equal(&sym(0), &sym(number)).unwrap());
        assert_eq!(written() - before, 999);
        assert_eq!(facts.dependents.len(), 1);
        // All of them mention symbol 0.
        facts.assume_equal(&sym(0), &Expr::constant(7)).unwrap();
        assert_eq!(written() - before, 1999);
        assert!(facts.dependents.is_empty());
        assert!(facts.equalities().all(|(_, value)| *value == Expr::constant(7)));
    }

    #[test]
    fn new_facts_are_listed() {
        let sym = |number| Expr::sym(Sym::from_u32(number));
        let mut facts = Facts::new();
        facts.assume_equal(&sym(0), &sym(1)).unwrap();
        facts.assume_le(&sym(2), &sym(3)).unwrap();
        let before = facts.clone();
        assert_eq!(facts.subjects_since(&before), []);
        facts.assume_equal(&sym(4), &sym(5)).unwrap();
        facts.assume_le(&sym(6), &sym(7)).unwrap();
        facts.assume_multiple(&(sym(8) + sym(9)), 4);
        assert_eq!(facts.subjects_since(&before), [sym(5), sym(7) - sym(6), sym(8) + sym(9)]);
    }
}
