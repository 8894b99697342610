//! Moves that do not pay by themselves: what follows from one may. Each value of a small fusion is kept, dropped, replaced by one
//! next to it or made by another segment, whatever that costs, then moves are made as long as they pay; the result is taken if
//! all together pay.

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
        let mut vals: Vec<Val> =
            vals.filter(|&val| self.is_free(val) || self.makers.contains_key(&val)).collect();
        vals.sort_by_key(|&val| (self.amounts.of(val).bytes, val));
        let improves = |state: &mut Self| vals.iter().any(|&val| state.steps > 0 && state.try_around(val));
        while !self.is_within(enough) && improves(self) {}
    }

    /// Changes what is done with a value, and goes on from there.
    fn try_around(&mut self, val: Val) -> bool {
        let before = self.total();
        self.changes_of(val).into_iter().any(|change| {
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

    /// A value that is made is made by a segment of its own, dropped, replaced by one next to it, or made by another segment;
    /// one that is not made is kept by a segment that computes it, or by a new one.
    fn changes_of(&self, val: Val) -> Vec<Change> {
        let Some(&place) = self.makers.get(&val) else { return self.keeping(val) };
        let made_by = |other: usize| {
            let made = vec![self.without(place, val), self.with(other, &[val])];
            Change { made, ..Change::default() }
        };
        let dropped = Change { made: vec![self.without(place, val)], kept: Vec::new(), dropped: vec![val] };
        // One that makes nothing else would be joined, of which `join` knows when it pays.
        let is_near = |other: &usize| {
            let is_left = self.segments[place].made.len() > 1;
            let is_segment = *other != place && !self.segments[*other].made.is_empty();
            is_left && is_segment && self.read_alike(place, *other)
        };
        let others = (0..self.segments.len()).filter(is_near).map(made_by);
        let alone = (self.segments[place].made.len() > 1).then(|| made_by(self.segments.len()));
        match self.is_free(val) {
            true => alone.into_iter().chain([dropped]).chain(self.shifts(val)).chain(others).collect(),
            false => alone.into_iter().chain(others).collect(),
        }
    }

    fn keeping(&self, val: Val) -> Vec<Change> {
        let computing = (0..self.segments.len()).filter(|&place| self.segments[place].computes(val));
        let keeps = |place: usize| {
            let made = vec![self.with(place, &[val])];
            [Change { made, kept: vec![val], dropped: Vec::new() }, self.split(place, &[val])]
        };
        computing.flat_map(keeps).collect()
    }
}
