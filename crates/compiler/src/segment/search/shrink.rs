//! Less memory at a time, whatever time that takes: the order in which segments need little, and moves that leave less of what
//! is in memory when most is. A value is dropped, replaced by others, or made by a segment of its own.

use ir::graph::Val;

use super::ENOUGH;
use super::state::{Change, Price, State};
use crate::segment::memory::Lifetimes;
use crate::segment::segmentation::Segmentation;

impl State<'_> {
    /// The segments in an order in which few bytes are in memory at a time, and how many are at most.
    pub(super) fn in_memory_order(&self) -> (Segmentation, u64) {
        let segmentation = self.segmentation();
        let lifetimes = self.lifetimes();
        let order = lifetimes.order();
        let segments = order.iter().map(|&place| segmentation.segments[place].clone()).collect();
        (Segmentation { segments }, lifetimes.peak(&order))
    }

    /// The most bytes that are in memory at a time.
    pub(super) fn peak(&self) -> u64 {
        let lifetimes = self.lifetimes();
        lifetimes.peak(&lifetimes.order())
    }

    fn lifetimes(&self) -> Lifetimes {
        let places = self.in_order();
        let views = places.iter().map(|&place| &self.segments[place].view);
        Lifetimes::of(self.problem.fusion, views, |val| self.amounts.of(val).bytes)
    }

    /// Makes a change if segments then take less time; for hardly any less only if no more bytes are in memory at a time.
    pub(super) fn improve_in_memory(&mut self, change: Change) -> bool {
        let before = self.clone();
        if !self.improve(change) {
            return false;
        }
        let is_hardly_less = self.total().seconds > before.total().seconds * (1.0 - ENOUGH);
        let is_undone = is_hardly_less && self.peak() > before.peak();
        if is_undone {
            *self = State { steps: self.steps, ..before };
        }
        !is_undone
    }

    /// Makes moves until no more than so many bytes are in memory at a time, as long as any leaves less.
    pub(super) fn shrink(&mut self, limit: u64) {
        while self.steps > 0 && self.peak() > limit && self.shrink_once() {}
    }

    fn shrink_once(&mut self) -> bool {
        let lifetimes = self.lifetimes();
        let order = lifetimes.order();
        let peaks = lifetimes.peaks(&order);
        let peak = peaks.iter().copied().max().unwrap_or(0);
        let Some(place) = peaks.iter().position(|&bytes| bytes == peak) else { return false };
        let crowded = self.in_order()[order[place]];
        let mut passing: Vec<Val> = lifetimes.alive_at(&order, place);
        passing.retain(|&val| self.is_free(val));
        let made: Vec<Val> = self.segments[crowded].made.clone();
        passing.into_iter().any(|val| self.shrinks(peak, |state| state.drop_or_replace(val)))
            || made.into_iter().any(|val| self.shrinks(peak, |state| state.make_alone(crowded, val)))
    }

    /// Whether moves leave fewer bytes; they are taken back where they do not.
    fn shrinks(&mut self, peak: u64, moves: impl Fn(&mut Self) -> bool) -> bool {
        let mut other = self.clone();
        let is_less = moves(&mut other) && other.peak() < peak;
        let steps = other.steps;
        if is_less {
            *self = other;
        }
        self.steps = steps;
        is_less
    }

    fn drop_or_replace(&mut self, val: Val) -> bool {
        let changes = [self.dropping(val), self.replacing(val)];
        changes.into_iter().flatten().any(|change| self.make_if(change, is_as_legal))
    }

    fn make_alone(&mut self, place: usize, val: Val) -> bool {
        let made = vec![self.without(place, val), self.with(self.segments.len(), &[val])];
        self.segments[place].made.len() > 1 && self.make_if(Change { made, ..Change::default() }, is_as_legal)
    }
}

/// Whether no more segments are rejected.
fn is_as_legal(after: Price, before: Price) -> bool {
    after.rejected <= before.rejected
}
