//! What is in flight between the `fetch` of an element and the `await` that completes its group. Moves no data.

use std::collections::{BTreeSet, VecDeque};

use kernel::Scratch;

/// The places of a block's elements in flight.
#[derive(Debug, Default)]
pub(super) struct Fetches {
    /// The places of the pending groups, the oldest first.
    pending: VecDeque<BTreeSet<(Scratch, i64)>>,
    /// The places of the fetches that are in no group yet.
    open: BTreeSet<(Scratch, i64)>,
}

impl Fetches {
    /// Notes a fetch to a place.
    pub(super) fn add(&mut self, scratch: Scratch, index: i64) {
        self.open.insert((scratch, index));
    }

    /// Groups the fetches that are in no group, and completes all groups but the last `pending`.
    pub(super) fn complete(&mut self, pending: u32) {
        self.pending.push_back(std::mem::take(&mut self.open));
        let done = self.pending.len().saturating_sub(pending as usize);
        self.pending.drain(..done);
    }

    /// Whether a place is in flight.
    pub(super) fn has(&self, scratch: Scratch, index: i64) -> bool {
        self.groups().any(|group| group.contains(&(scratch, index)))
    }

    /// A place that is in flight, if any.
    pub(super) fn any(&self) -> Option<(Scratch, i64)> {
        self.groups().find_map(|group| group.first().copied())
    }

    fn groups(&self) -> impl Iterator<Item = &BTreeSet<(Scratch, i64)>> {
        self.pending.iter().chain([&self.open])
    }
}
