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
    let product =
        |sizes: &[Expr]| facts.normalize(&sizes.iter().fold(Expr::one(), |n, size| n * size.clone()));
    let (left, right) = (from.len() - i, to.len() - j);
    for total in 1..=left + right {
        for taken in 0..=total.min(left) {
            let given = total - taken;
            if given > right {
                continue;
            }
            let (a, b) = (product(&from[i..i + taken]), product(&to[j..j + given]));
            if facts.prove_eq(&a, &b) && !(taken == 0 && given == 0) {
                return Some((i + taken, j + given));
            }
        }
    }
    None
}

/// Pairs of axes that a reshape leaves alone.
pub fn same_axes(from: &[Expr], to: &[Expr], facts: &Facts) -> Vec<(u8, u8)> {
    let groups = axis_groups(from, to, facts);
    let single = groups.iter().filter(|group| group.from.len() == 1 && group.to.len() == 1);
    single.map(|group| (group.from.start as u8, group.to.start as u8)).collect()
}
