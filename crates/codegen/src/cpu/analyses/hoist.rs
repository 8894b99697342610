//! Indices that are worth computing once, in front of a body: parts of its accesses and bounds that the loop's iteration
//! already determines. libLLVM would hoist them too, after it has read each use and found them equal.

use std::collections::BTreeSet;

use index::{Atom, Expr, Sym};
use kernel::{Loop, Stmt};

/// The most terms of a sum that is computed at each use, in a bound or by adding one element after another.
const MAX_SHORT_SUM: usize = 8;

/// Whether a sum is computed once for a body wherever the body asks for it.
pub(crate) fn is_long(sum: &Expr) -> bool {
    sum.terms().len() > MAX_SHORT_SUM
}

/// The symbols that an atom depends on.
pub(crate) fn atom_symbols(atom: &Atom) -> impl Iterator<Item = Sym> {
    let operands = atom.operands().into_iter().flat_map(|(a, b)| [a, b]);
    operands.flat_map(Expr::symbols)
}

/// The indices that a body needs.
#[derive(Default)]
pub(crate) struct Wanted {
    /// Those equal in all lanes of a loop, whose body is written twice, and all long ones.
    pub sums: BTreeSet<Expr>,
    /// With how often they occur, inner ones first.
    pub atoms: Vec<(Atom, u32)>,
    /// Symbols that are bound within the body.
    pub within: BTreeSet<Sym>,
}

impl Wanted {
    /// The indices that a body needs outside of a loop over lanes.
    pub(crate) fn of(body: &[Stmt]) -> Wanted {
        let mut wanted = Wanted::default();
        wanted.body(body, None);
        wanted
    }

    /// Visits a body, with the variable of the loop over lanes that it is in.
    fn body(&mut self, body: &[Stmt], lane: Option<Sym>) {
        for statement in body {
            match statement {
                Stmt::Index { index, .. }
                | Stmt::Load { index, .. }
                | Stmt::Store { index, .. }
                | Stmt::Prefetch { index, .. } => self.index(index, lane),
                Stmt::Bind { symbol, .. } => {
                    self.within.insert(*symbol);
                }
                Stmt::For(for_loop) => self.for_loop(for_loop, lane),
                _ => {}
            }
        }
    }

    fn for_loop(&mut self, for_loop: &Loop, lane: Option<Sym>) {
        self.atoms(&for_loop.begin, 1);
        self.atoms(&for_loop.end, 1);
        self.within.insert(for_loop.var);
        let own = for_loop.kind.is_over_lanes().then_some(for_loop.var);
        self.body(&for_loop.body, own.or(lane));
    }

    /// The body of a loop over lanes is written twice.
    fn index(&mut self, index: &Expr, lane: Option<Sym>) {
        self.atoms(index, 1 + u32::from(lane.is_some()));
        if let Some((_, rest)) = lane.and_then(|lane| index.split_linear(lane)) {
            self.sums.insert(rest);
        }
    }

    fn atoms(&mut self, e: &Expr, uses: u32) {
        if is_long(e) {
            self.sums.insert(e.clone());
        }
        for (atom, _) in e.terms().iter().flat_map(|term| term.monomial.factors()) {
            let Some((a, b)) = atom.operands() else { continue };
            self.atoms(a, uses);
            self.atoms(b, uses);
            match self.atoms.iter_mut().find(|(known, _)| known == atom) {
                Some((_, before)) => *before += uses,
                None => self.atoms.push((atom.clone(), uses)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::parse;

    use super::*;

    #[test]
    fn what_is_the_same_in_all_lanes_is_wanted_in_front() {
        let kernel = parse(include_str!("hoist.kernel"));
        let kernel = kernel.expect("it is a kernel");
        let wanted = Wanted::of(&kernel.body);
        let name = |sym: Sym| kernel.symbols[sym].clone();
        let sums: Vec<String> = wanted.sums.iter().map(|sum| sum.display(&name).to_string()).collect();
        assert_eq!(sums, ["n*x + (block % 3)"]);
        let uses: Vec<u32> = wanted.atoms.iter().map(|(_, uses)| *uses).collect();
        assert_eq!(uses, [1, 2], "a bound is written once, a body over lanes twice");
        let within: Vec<String> = wanted.within.iter().map(|&sym| name(sym)).collect();
        assert_eq!(within, ["x", "y"]);
    }
}
