//! A topological order, in which the lowest number that is ready comes first.

use std::collections::BTreeSet;

/// The numbers from 0 on in an order in which each comes after its makers, the lowest that is ready first. Numbers on a
/// cycle and those behind one are left out.
pub(super) fn ready_order(makers: &[BTreeSet<usize>]) -> Vec<usize> {
    let mut waits: Vec<usize> = makers.iter().map(BTreeSet::len).collect();
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); makers.len()];
    for (number, makers) in makers.iter().enumerate() {
        makers.iter().for_each(|&maker| users[maker].push(number));
    }
    let mut ready: BTreeSet<usize> = (0..makers.len()).filter(|&number| waits[number] == 0).collect();
    let mut order = Vec::with_capacity(makers.len());
    while let Some(number) = ready.pop_first() {
        order.push(number);
        for &user in &users[number] {
            waits[user] -= 1;
            if waits[user] == 0 {
                ready.insert(user);
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_number_that_is_ready_comes_first() {
        let order = |makers: &[&[usize]]| {
            let makers: Vec<BTreeSet<usize>> =
                makers.iter().map(|makers| makers.iter().copied().collect()).collect();
            ready_order(&makers)
        };
        assert_eq!(order(&[&[2], &[], &[1], &[]]), [1, 2, 0, 3]);
        assert_eq!(order(&[&[], &[2], &[1], &[2]]), [0]);
    }
}
