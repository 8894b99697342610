//! An order in which segments can run: each after those that it reads from.

use std::collections::BTreeSet;

use ir::graph::Val;
use rustc_hash::{FxHashMap, FxHashSet};

use super::state::{Changed, State};
use crate::ready_order::ready_order;

/// The state of a segment in a walk through what segments read from.
#[derive(Clone, Copy, PartialEq)]
enum Seen {
    No,
    /// On the current path.
    Open,
    Done,
}

/// Segments that are visited in search of one between two others; a more distant one is noticed when the two are tried.
const MAX_VISITED_SEGMENTS: usize = 64;

impl State<'_> {
    /// The places in an order in which each segment comes after those that it reads from, the first place first.
    pub(super) fn order(&self) -> Vec<usize> {
        let count = self.segments.len();
        let makers: Vec<BTreeSet<usize>> = (0..count).map(|place| self.read_from(place).collect()).collect();
        let order = ready_order(&makers);
        assert_eq!(order.len(), count, "moves make no cycle");
        order
    }

    /// Whether a third segment is between two, at most a few segments away: it waits for one and the other waits for it, so
    /// that they cannot be one.
    pub(super) fn are_separated(&self, one: usize, other: usize) -> bool {
        self.has_detour(one, other) || self.has_detour(other, one)
    }

    /// Whether a path leads from one segment to another through a third.
    fn has_detour(&self, from: usize, to: usize) -> bool {
        let mut seen: FxHashSet<usize> = FxHashSet::default();
        let mut way: Vec<usize> = self.read_from(to).filter(|&maker| maker != from).collect();
        while let Some(place) = way.pop().filter(|_| seen.len() < MAX_VISITED_SEGMENTS) {
            if place == from {
                return true;
            }
            if seen.insert(place) {
                way.extend(self.read_from(place));
            }
        }
        false
    }

    /// The places of the segments that one reads from.
    fn read_from(&self, place: usize) -> impl Iterator<Item = usize> {
        self.segments[place].inputs().iter().filter_map(|&val| self.places.maker(val))
    }

    /// Whether an order exists after these changes. One exists before them, so a cycle would go through a changed segment:
    /// only what those read from is walked.
    pub(super) fn has_order(&self, changed: &Changed) -> bool {
        let moved =
            changed.iter().flat_map(|(&place, segment)| segment.made.iter().map(move |&val| (val, place)));
        let moved: FxHashMap<Val, usize> = moved.collect();
        let maker = |val: &Val| {
            let before = || self.places.maker(*val).filter(|place| !changed.contains_key(place));
            moved.get(val).copied().or_else(before)
        };
        let inputs = |place: usize| changed.get(&place).unwrap_or_else(|| &self.segments[place]).inputs();
        let count = changed.keys().map(|place| place + 1).fold(self.segments.len(), usize::max);
        let mut seen = vec![Seen::No; count];
        // A segment on the path, with the number of its next input.
        let mut way: Vec<(usize, usize)> = Vec::new();
        for &start in changed.keys() {
            if seen[start] == Seen::No {
                seen[start] = Seen::Open;
                way.push((start, 0));
            }
            while let Some((place, next)) = way.last_mut() {
                let Some(val) = inputs(*place).get(*next) else {
                    seen[*place] = Seen::Done;
                    way.pop();
                    continue;
                };
                *next += 1;
                match maker(val).map(|maker| (maker, seen[maker])) {
                    None | Some((_, Seen::Done)) => {}
                    Some((_, Seen::Open)) => return false,
                    Some((maker, Seen::No)) => {
                        seen[maker] = Seen::Open;
                        way.push((maker, 0));
                    }
                }
            }
        }
        true
    }
}
