//! What can be proved of the sizes of a group, each answer found once: most values of a group have the same sizes.

use std::rc::Rc;

use index::{Expr, Facts};
use rustc_hash::FxHashMap;

use super::reshape::{AxisGroup, axis_groups};

/// Sizes from and to, of a reshape.
type Sides = (Vec<Expr>, Vec<Expr>);

/// Answers about sizes.
pub(crate) struct Sizes<'a> {
    facts: &'a Facts,
    simplest: FxHashMap<Expr, Expr>,
    equal: FxHashMap<(Expr, Expr), bool>,
    groups: FxHashMap<Sides, Rc<[AxisGroup]>>,
}

impl<'a> Sizes<'a> {
    /// No answers yet.
    pub fn new(facts: &'a Facts) -> Sizes<'a> {
        let (simplest, equal) = (FxHashMap::default(), FxHashMap::default());
        Sizes { facts, simplest, equal, groups: FxHashMap::default() }
    }

    /// A size in its simplest form.
    pub fn simplest(&mut self, size: &Expr) -> Expr {
        let facts = self.facts;
        self.simplest.entry(size.clone()).or_insert_with(|| facts.normalize(size)).clone()
    }

    /// Whether two sizes are proved equal.
    pub fn are_equal(&mut self, a: &Expr, b: &Expr) -> bool {
        let facts = self.facts;
        a == b || *self.equal.entry((a.clone(), b.clone())).or_insert_with(|| facts.prove_eq(a, b))
    }

    /// The groups of axes of a reshape, as [`axis_groups`] finds them.
    pub fn axis_groups(&mut self, from: Vec<Expr>, to: Vec<Expr>) -> Rc<[AxisGroup]> {
        let facts = self.facts;
        let groups = self.groups.entry((from, to));
        Rc::clone(groups.or_insert_with_key(|(from, to)| axis_groups(from, to, facts).into()))
    }
}
