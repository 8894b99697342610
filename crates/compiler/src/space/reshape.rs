//! Reshapes cut into groups of axes with equal products, so that an index is split and merged only where it must.

use index::{Expr, Facts};

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
    let (left, right) = (products(&from[i..], facts), products(&to[j..], facts));
    for total in 1..left.len() + right.len() - 1 {
        for taken in (total + 1).saturating_sub(right.len())..=total.min(left.len() - 1) {
            let (a, b) = (&left[taken], &right[total - taken]);
            if a == b || facts.prove_eq(a, b) {
                return Some((i + taken, j + total - taken));
            }
        }
    }
    None
}

/// The products of the first sizes, from that of none on.
fn products(sizes: &[Expr], facts: &Facts) -> Vec<Expr> {
    let mut products = vec![Expr::one()];
    for size in sizes {
        products.push(facts.normalize(&(&products[products.len() - 1] * size)));
    }
    products
}
