//! The inequalities that are known beyond the ranges of symbols, in the order in which they were found.
//!
//! Takes expressions that are zero or more, each once; finds those that can take part in a proof about given terms, and
//! those that mention given symbols, without visiting the others. An inequality equivalent to a range is kept as one.

use std::collections::BTreeSet;

use imbl::{OrdMap, OrdSet};

use super::Facts;
use crate::{Atom, Expr, Sym, Term};

/// An inequality's place in the order; a replacement keeps the number.
type Number = u32;

/// Expressions that are zero or more.
#[derive(Clone, Debug, Default)]
pub(super) struct Inequalities {
    by_number: OrdMap<Number, Expr>,
    numbers: OrdMap<Expr, Number>,
    /// Those with a term of this sign whose product begins with the atom.
    by_lead: OrdMap<(Atom, IsNegative), OrdSet<Number>>,
    by_symbol: OrdMap<Sym, OrdSet<Number>>,
    /// The first unused number: an inequality that is removed for a while gets its place again.
    next: Number,
}

/// Whether a coefficient is negative.
type IsNegative = bool;

impl PartialEq for Inequalities {
    fn eq(&self, other: &Inequalities) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Inequalities {}

impl Inequalities {
    /// All of them, the oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Expr> {
        self.by_number.values()
    }

    /// Whether this one is known.
    pub(super) fn contains(&self, slack: &Expr) -> bool {
        self.numbers.contains_key(slack)
    }

    /// Adds one, unless it is known.
    pub(super) fn push(&mut self, slack: Expr) {
        let number = self.next;
        self.next += 1;
        self.insert(number, slack);
    }

    /// Inserts one at a free place, unless it is known.
    pub(super) fn insert(&mut self, number: Number, slack: Expr) {
        if self.numbers.contains_key(&slack) {
            return;
        }
        for lead in leads(&slack) {
            self.by_lead.entry(lead).or_default().insert(number);
        }
        for sym in slack.symbols() {
            self.by_symbol.entry(sym).or_default().insert(number);
        }
        self.numbers.insert(slack.clone(), number);
        self.by_number.insert(number, slack);
    }

    /// Removes one.
    pub(super) fn remove(&mut self, number: Number) -> Option<Expr> {
        let slack = self.by_number.remove(&number)?;
        self.numbers.remove(&slack);
        for lead in leads(&slack) {
            forget(&mut self.by_lead, lead, number);
        }
        for sym in slack.symbols() {
            forget(&mut self.by_symbol, sym, number);
        }
        Some(slack)
    }

    /// The numbers of those that mention one of these symbols, ascending.
    pub(super) fn mentioning(&self, symbols: &BTreeSet<Sym>) -> BTreeSet<Number> {
        symbols.iter().filter_map(|sym| self.by_symbol.get(sym)).flatten().copied().collect()
    }

    /// Whether any mentions a symbol.
    pub(super) fn mentions(&self, sym: Sym) -> bool {
        self.by_symbol.get(&sym).is_some_and(|numbers| !numbers.is_empty())
    }

    pub(super) fn get(&self, number: Number) -> Option<&Expr> {
        self.by_number.get(&number)
    }

    /// Those with a term whose product divides one of these terms' and has its sign, and perhaps others; the oldest first.
    /// They are found lazily, as most proofs need only a few.
    pub(super) fn sharing<'a>(&'a self, terms: &[Term]) -> impl Iterator<Item = &'a Expr> + use<'a> {
        let atoms = terms.iter().flat_map(|term| {
            let is_negative = term.coefficient < 0;
            term.monomial.factors().iter().map(move |(atom, _)| (atom.clone(), is_negative))
        });
        let leads: BTreeSet<(Atom, IsNegative)> = atoms.collect();
        let lists: Vec<&OrdSet<Number>> = leads.iter().filter_map(|lead| self.by_lead.get(lead)).collect();
        let first_from = move |at: Number| lists.iter().filter_map(|list| list.get_next(&at)).min().copied();
        let numbers = std::iter::successors(first_from(0), move |last| first_from(last + 1));
        numbers.map(|number| &self.by_number[&number])
    }

    /// Those that `before` did not have, or had at another place.
    pub(super) fn since<'a>(&'a self, before: &'a Inequalities) -> impl Iterator<Item = &'a Expr> {
        use imbl::ordmap::DiffItem;
        before.by_number.diff(&self.by_number).filter_map(|change| match change {
            DiffItem::Add(_, slack) | DiffItem::Update { new: (_, slack), .. } => Some(slack),
            DiffItem::Remove(..) => None,
        })
    }
}

impl Facts {
    /// Simplifies each inequality that mentions one of these symbols by all other facts; it keeps its place.
    pub(super) fn rewrite_inequalities_of(&mut self, symbols: &BTreeSet<Sym>) {
        let stale: Vec<(Number, Expr)> = self
            .nonnegative
            .mentioning(symbols)
            .into_iter()
            .filter_map(|number| Some((number, self.nonnegative.remove(number)?)))
            .collect();
        for (number, slack) in stale {
            if let Some(reduced) = self.beyond_ranges(self.normalize(&slack)) {
                self.nonnegative.insert(number, reduced);
            }
        }
    }

    /// Records an expression that is zero or more: as a range if it mentions one symbol, otherwise as it is.
    pub(super) fn insert_nonnegative(&mut self, slack: Expr) {
        if let Some(reduced) = self.beyond_ranges(slack) {
            self.nonnegative.push(reduced);
        }
    }

    /// The simplest form of an expression that is zero or more, unless it is equivalent to a range, which is recorded
    /// instead.
    fn beyond_ranges(&mut self, slack: Expr) -> Option<Expr> {
        if slack.is_overflow() || self.interval(&slack).is_nonnegative() {
            return None;
        }
        let constant = slack.constant_term();
        let varying = &slack - constant;
        let scale = varying.content()?.coefficient;
        let direction = varying.exact_quotient(&Expr::constant(scale))?;
        let offset = constant.div_euclid(scale);
        match (direction.as_sym(), (-&direction).as_sym()) {
            (Some(sym), _) => self.assume_range(sym, offset.checked_neg(), None),
            (_, Some(sym)) => self.assume_range(sym, None, offset),
            _ => return Some(direction + offset).filter(|reduced| !reduced.is_overflow()),
        }
        None
    }
}

fn forget<K: Ord + Clone>(index: &mut OrdMap<K, OrdSet<Number>>, key: K, number: Number) {
    let left = index.get_mut(&key).map(|numbers| {
        numbers.remove(&number);
        numbers.len()
    });
    if left == Some(0) {
        index.remove(&key);
    }
}

/// The first atom of each term, with the term's sign.
fn leads(slack: &Expr) -> BTreeSet<(Atom, IsNegative)> {
    let first = |term: &Term| Some((term.monomial.lead()?.clone(), term.coefficient < 0));
    slack.terms().iter().filter_map(first).collect()
}
