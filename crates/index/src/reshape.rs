//! Reshapes cut into groups of axes with equal products, so that an index is split and merged only where it must.

use crate::{Expr, Facts};

/// Axes `from` of the operand hold the same elements as axes `to` of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisGroup {
    /// Range of operand axes.
    pub from: std::ops::Range<usize>,
    /// Range of result axes.
    pub to: std::ops::Range<usize>,
}

/// The finest cut into groups whose products are provably equal; the last group takes what is left.
pub fn axis_groups(from: &[Expr], to: &[Expr], facts: &Facts) -> Vec<AxisGroup> {
    let mut groups = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < from.len() || j < to.len() {
        let (i0, j0) = (i, j);
        match next_group(from, to, i, j, facts) {
            Some((next_i, next_j)) => (i, j) = (next_i, next_j),
            None => (i, j) = (from.len(), to.len()),
        }
        groups.push(AxisGroup { from: i0..i, to: j0..j });
    }
    groups
}

/// The nearest ends after `i` and `j` between which the products agree.
fn next_group(from: &[Expr], to: &[Expr], i: usize, j: usize, facts: &Facts) -> Option<(usize, usize)> {
    let (from, to) = (&from[i..], &to[j..]);
    if matches!((from, to), ([a, ..], [b, ..]) if a == b && !a.is_one()) {
        return Some((i + 1, j + 1));
    }
    let (mut left, mut right) = (PrefixProducts::of(from, facts), PrefixProducts::of(to, facts));
    for total in 1..=from.len() + to.len() {
        for taken in total.saturating_sub(to.len())..=total.min(from.len()) {
            let (a, b) = (left.first(taken), right.first(total - taken));
            if a == b || facts.prove_eq(a, b) {
                return Some((i + taken, j + total - taken));
            }
        }
    }
    None
}

/// The products of the first sizes, found as they are asked for: proofs need the nearest mostly.
struct PrefixProducts<'a> {
    sizes: &'a [Expr],
    facts: &'a Facts,
    known: Vec<Expr>,
}

impl<'a> PrefixProducts<'a> {
    fn of(sizes: &'a [Expr], facts: &'a Facts) -> PrefixProducts<'a> {
        PrefixProducts { sizes, facts, known: vec![Expr::one()] }
    }

    /// The product of the first `count` sizes; of none it is one.
    fn first(&mut self, count: usize) -> &Expr {
        while self.known.len() <= count {
            let next = self.known.len() - 1;
            self.known.push(self.facts.normalize(&(&self.known[next] * &self.sizes[next])));
        }
        &self.known[count]
    }
}
