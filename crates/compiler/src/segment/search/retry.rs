//! Moves that do not pay by themselves: what follows from one may. Each value of a small fusion is kept or dropped, whatever
//! that costs, then moves are made as long as they pay; the result is taken if all together pay.

use ir::graph::Val;

use super::state::{Change, State};
use crate::segment::bound::lower_bound;

impl State<'_> {
    /// Tries each value of a small fusion that is not known to be cut in the best way, as long as that gains.
    pub(super) fn retry(&mut self) {
        if !self.problem.is_small() || self.is_best() {
            return;
        }
        let nodes = self.problem.fusion.order().iter();
        let vals: Vec<Val> = nodes.flat_map(|&node| self.problem.graph.results(node)).collect();
        while self.steps > 0 && vals.iter().any(|&val| self.try_around(val)) {}
    }

    /// Whether nothing can be better.
    fn is_best(&self) -> bool {
        let bound =
            lower_bound(self.problem.graph, self.problem.fusion, self.problem.hints, self.problem.target);
        self.total().seconds <= bound.seconds
    }

    /// Keeps a value that is not kept, or the other way round, and goes on from there.
    fn try_around(&mut self, val: Val) -> bool {
        if !self.is_free(val) {
            return false;
        }
        let before = self.total();
        let changes = match self.segments.iter().position(|segment| segment.made.contains(&val)) {
            Some(place) => {
                let made = vec![self.without(place, val)];
                vec![Change { made, kept: Vec::new(), dropped: vec![val] }]
            }
            None => match self.segments.iter().position(|segment| segment.computes(val)) {
                Some(place) => {
                    let made = vec![self.with(place, &[val])];
                    vec![Change { made, kept: vec![val], dropped: Vec::new() }, self.split(place, &[val])]
                }
                None => Vec::new(),
            },
        };
        changes.into_iter().any(|change| {
            let mut other = self.clone();
            if other.make_if(change, |_, _| true) {
                other.descend();
            }
            self.steps = self.steps.min(other.steps);
            let gains = other.total().is_below(before);
            if gains {
                *self = State { steps: self.steps, ..other };
            }
            gains
        })
    }
}
