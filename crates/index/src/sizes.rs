//! What can be proved of the sizes of a fusion, each answer found once: most values have the same sizes.

use std::cell::OnceCell;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::reshape::{AxisGroup, axis_groups};
use crate::{Expr, Facts, Sample};

/// A size in its simplest form, by number.
pub type SizeNumber = u32;

/// The first size.
const ONE: SizeNumber = 0;

/// Sizes from and to, of a reshape.
type Sides = (Vec<SizeNumber>, Vec<SizeNumber>);

/// Sizes by number, and answers about them.
#[derive(Debug)]
pub struct SizeTable {
    facts: Arc<Facts>,
    sample: OnceCell<Option<Sample>>,
    numbers: FxHashMap<Expr, SizeNumber>,
    simplest: Vec<Expr>,
    equal: FxHashMap<(SizeNumber, SizeNumber), bool>,
    groups: FxHashMap<Sides, Arc<[AxisGroup]>>,
}

impl SizeTable {
    /// No answers yet.
    pub fn new(facts: &Arc<Facts>) -> SizeTable {
        let (numbers, equal, groups) = (FxHashMap::default(), FxHashMap::default(), FxHashMap::default());
        let (facts, sample) = (Arc::clone(facts), OnceCell::new());
        let mut table = SizeTable { facts, sample, numbers, simplest: Vec::new(), equal, groups };
        table.number(&Expr::one());
        table
    }

    /// The facts that answers rest on.
    pub fn facts(&self) -> &Arc<Facts> {
        &self.facts
    }

    /// The number of a size.
    pub fn number(&mut self, size: &Expr) -> SizeNumber {
        if let Some(&known) = self.numbers.get(size) {
            return known;
        }
        let simplest = self.facts.normalize(size);
        let next = self.simplest.len() as SizeNumber;
        let number = *self.numbers.entry(simplest.clone()).or_insert(next);
        if number == next {
            self.simplest.push(simplest);
        }
        self.numbers.insert(size.clone(), number);
        number
    }

    /// A size in its simplest form.
    pub fn simplest(&self, size: SizeNumber) -> &Expr {
        &self.simplest[size as usize]
    }

    /// Whether a size is proved to be 1.
    pub fn is_one(&mut self, size: SizeNumber) -> bool {
        self.are_equal(size, ONE)
    }

    /// Whether two sizes are proved equal.
    pub fn are_equal(&mut self, a: SizeNumber, b: SizeNumber) -> bool {
        let SizeTable { facts, sample, simplest, equal, .. } = self;
        let [left, right] = [a, b].map(|size| &simplest[size as usize]);
        let differ = || {
            let sample = *sample.get_or_init(|| facts.sample());
            sample.is_some_and(|sample| facts.differ_at(sample, left, right))
        };
        let prove = || !differ() && facts.prove_eq_of_simplest(left, right);
        a == b || *equal.entry((a.min(b), a.max(b))).or_insert_with(prove)
    }

    /// Whether two shapes are proved equal.
    pub fn are_all_equal(&mut self, a: &[Expr], b: &[Expr]) -> bool {
        a.len() == b.len()
            && a.iter().zip(b).all(|(a, b)| {
                a == b || {
                    let (a, b) = (self.number(a), self.number(b));
                    self.are_equal(a, b)
                }
            })
    }

    /// The groups of axes of a reshape, as [`axis_groups`] finds them.
    pub fn axis_groups(&mut self, from: Vec<SizeNumber>, to: Vec<SizeNumber>) -> Arc<[AxisGroup]> {
        let SizeTable { facts, simplest, groups, .. } = self;
        let exprs = |sizes: &[SizeNumber]| {
            sizes.iter().map(|&size| simplest[size as usize].clone()).collect::<Vec<Expr>>()
        };
        let find = |(from, to): &Sides| axis_groups(&exprs(from), &exprs(to), facts).into();
        Arc::clone(groups.entry((from, to)).or_insert_with_key(find))
    }

    /// The groups of axes of a reshape between these shapes.
    pub fn axis_groups_of(&mut self, from: &[Expr], to: &[Expr]) -> Arc<[AxisGroup]> {
        let [from, to] = [from, to].map(|shape| shape.iter().map(|size| self.number(size)).collect());
        self.axis_groups(from, to)
    }
}
