//! Indices that are computed once for a whole body, in front of it: what accesses and bounds within ask for and a loop's
//! iteration already determines. libLLVM would move it there too, after it has read each use and found them equal.

use std::collections::{BTreeMap, BTreeSet};

use index::{Atom, Expr, Sym};
use ir::kernel::{Loop, Stmt};

use super::operand::Operand;
use super::{EmitError, Emitter};

/// What is known of indices here.
#[derive(Clone, Default)]
pub(super) struct Hoisted {
    /// Sums: the part of an access's index that is the same in all lanes.
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

impl Emitter<'_> {
    /// A body, after what its indices ask for and is determined already.
    pub(super) fn hoisted_body(&mut self, body: &[Stmt]) -> Result<(), EmitError> {
        let outside = self.hoisted.clone();
        let mut wanted = Wanted::default();
        wanted.body(body, None);
        let lane = self.lane.map(|lane| lane.variable);
        let Wanted { sums, atoms, within } = &wanted;
        // A symbol of a loop that has ended is bound still.
        let is_known = |emitter: &Self, sym: Sym| {
            emitter.symbols.contains_key(&sym) && Some(sym) != lane && !within.contains(&sym)
        };
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
        self.body(body)?;
        self.hoisted = outside;
        Ok(())
    }
}

fn atom_symbols(atom: &Atom) -> impl Iterator<Item = Sym> {
    let operands = atom.operands().into_iter().flat_map(|(a, b)| [a, b]);
    operands.flat_map(Expr::symbols)
}

/// What the indices of a body ask for.
#[derive(Default)]
struct Wanted {
    /// The same in all lanes of a loop, whose body is written twice.
    sums: BTreeSet<Expr>,
    /// With how often they are written, those within others first.
    atoms: Vec<(Atom, u32)>,
    /// Symbols that get their values within the body.
    within: BTreeSet<Sym>,
}

impl Wanted {
    /// Takes a body, with the variable of the loop over lanes that it is in.
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
