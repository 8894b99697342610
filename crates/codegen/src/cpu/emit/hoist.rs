//! Indices that are computed once for a whole body, in front of it.

use std::collections::BTreeMap;

use index::{Atom, Expr, Sym, Term};
use kernel::Stmt;

use super::operand::Operand;
use super::scope::Scope;
use crate::cpu::analyses::hoist::{Wanted, atom_symbols, is_long};

/// The indices that are known here.
#[derive(Clone, Default)]
pub(super) struct Hoisted {
    /// Sums: the part of an access's index that is the same in all lanes, and long ones.
    sums: BTreeMap<Expr, Operand>,
    /// Quotients, remainders, extrema.
    atoms: BTreeMap<Atom, Operand>,
}

impl Hoisted {
    pub(super) fn sum(&self, sum: &Expr) -> Option<Operand> {
        self.sums.get(sum).copied()
    }

    pub(super) fn atom(&self, atom: &Atom) -> Option<Operand> {
        self.atoms.get(atom).copied()
    }
}

impl Scope<'_> {
    /// Computes the indices that a body needs and that are determined already; returns those known before.
    pub(super) fn hoist(&mut self, body: &[Stmt]) -> Hoisted {
        let outside = self.hoisted.clone();
        let lane = self.lane.map(|lane| lane.variable);
        let Wanted { sums, atoms, within } = &Wanted::of(body);
        // The symbol of a loop that has ended is still bound.
        let is_known = |emitter: &Self, sym: Sym| {
            emitter.symbols.contains_key(&sym) && Some(sym) != lane && !within.contains(&sym)
        };
        let long = sums.iter().filter(|sum| is_long(sum));
        let long = long.filter(|sum| sum.symbols().into_iter().all(|sym| is_known(self, sym)));
        self.hoist_long(&long.collect::<Vec<_>>());
        for (atom, _) in atoms.iter().filter(|(_, uses)| *uses > 1) {
            if atom_symbols(atom).all(|sym| is_known(self, sym)) {
                let value = self.atom(atom);
                self.hoisted.atoms.insert(atom.clone(), value);
            }
        }
        for sum in sums.iter().filter(|sum| sum.terms().len() > 1) {
            if sum.symbols().into_iter().all(|sym| is_known(self, sym)) {
                let value = self.index(sum);
                self.hoisted.sums.insert(sum.clone(), value);
            }
        }
        outside
    }

    /// Computes long sums. In their order each begins with the terms that it shares with the previous one: the ends of the
    /// parts of a cat cost one addition each.
    fn hoist_long(&mut self, sums: &[&Expr]) {
        let mut before: Vec<(&Term, Operand)> = Vec::new();
        for &sum in sums {
            let shared =
                before.iter().zip(sum.terms()).take_while(|((known, _), term)| known == term).count();
            before.truncate(shared);
            for term in &sum.terms()[shared..] {
                let next = self.term(&term.monomial, term.coefficient);
                let so_far = match before.last() {
                    Some(&(_, so_far)) => self.w.binary("add", so_far, next),
                    None => next,
                };
                before.push((term, so_far));
            }
            self.hoisted.sums.extend(before.last().map(|&(_, whole)| (sum.clone(), whole)));
        }
    }
}
