//! Moves that do not pay by themselves: what follows from one may. Each value of a small fusion is kept, dropped or made by
//! a segment of its own, whatever that costs, then moves are made as long as they pay; the result is taken if all together pay.

use ir::graph::Val;

use super::SearchProblem;
use super::state::{Change, State};

impl State<'_> {
    /// Tries each value of a small fusion, those of few bytes first, as long as that gains and the time is not good
    /// enough.
    pub(super) fn retry(&mut self, enough: f64) {
        if !self.problem.is_small() {
            return;
        }
        let SearchProblem { graph, fusion, .. } = self.problem;
        let vals = fusion.order().iter().flat_map(|&node| graph.results(node));
        let mut vals: Vec<Val> = vals.filter(|&val| self.is_free(val)).collect();
        vals.sort_by_key(|&val| (self.amounts.of(val).bytes, val));
        let improves = |state: &mut Self| vals.iter().any(|&val| state.steps > 0 && state.try_around(val));
        while !self.is_within(enough) && improves(self) {}
    }

    /// Keeps a value that is not kept, makes one that is alone or drops it, and goes on from there.
    fn try_around(&mut self, val: Val) -> bool {
        let before = self.total();
        let changes = match self.segments.iter().position(|segment| segment.made.contains(&val)) {
            Some(place) => {
                let dropped =
                    Change { made: vec![self.without(place, val)], kept: Vec::new(), dropped: vec![val] };
                let alone = vec![self.without(place, val), self.with(self.segments.len(), &[val])];
                vec![Change { made: alone, ..Change::default() }, dropped]
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
