//! Work that was given to streams and has not run, with what it must run after. A ticket is its place in the order in which
//! the host gave it; work runs after work of smaller tickets only.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::ffi::{Address, Handle};
use super::work::Work;

/// A place in the order of the host.
pub type Ticket = u64;

/// What work is ordered behind: of each stream its latest work that is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    latest: BTreeMap<Handle, Ticket>,
}

/// Memory that work uses: the allocation that begins here, and of it these bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    pub start: Address,
    pub bytes: Range<Address>,
    pub writes: bool,
}

/// Work of a stream.
#[derive(Debug)]
pub struct Item {
    pub context: Handle,
    pub stream: Handle,
    pub after: Vec<Ticket>,
    pub work: Work,
    /// The memory that it uses.
    pub touches: Vec<Touch>,
    /// What was found wrong with it when it was given, or later.
    pub fault: Option<String>,
    pub clock: Clock,
}

/// What has not run.
#[derive(Debug, Default)]
pub struct Queue {
    given: Ticket,
    pending: BTreeMap<Ticket, Item>,
}

impl Clock {
    /// Is behind what another is behind, too.
    pub fn join(&mut self, other: &Clock) {
        for (&stream, &ticket) in &other.latest {
            self.add(stream, ticket);
        }
    }

    /// Is behind this work, too.
    pub fn add(&mut self, stream: Handle, ticket: Ticket) {
        let latest = self.latest.entry(stream).or_default();
        *latest = ticket.max(*latest);
    }

    /// Forgets what has run.
    pub fn forget_done(&mut self, queue: &Queue) {
        self.latest.retain(|_, latest| queue.is_pending(*latest));
    }

    /// Whether it is behind this work.
    pub fn is_behind(&self, stream: Handle, ticket: Ticket) -> bool {
        self.latest.get(&stream).is_some_and(|&latest| latest >= ticket)
    }
}

impl Touch {
    /// Whether the two cannot be at once.
    fn conflicts(&self, other: &Touch) -> bool {
        let overlap = self.bytes.start < other.bytes.end && other.bytes.start < self.bytes.end;
        overlap && (self.writes || other.writes)
    }
}

impl Queue {
    /// Appends work, and says so in its clock.
    pub fn push(&mut self, mut item: Item) -> Ticket {
        self.given += 1;
        let ticket = self.given;
        item.after.retain(|before| self.pending.contains_key(before));
        item.clock.add(item.stream, ticket);
        self.pending.insert(ticket, item);
        ticket
    }

    /// Whether work has yet to run.
    pub fn is_pending(&self, ticket: Ticket) -> bool {
        self.pending.contains_key(&ticket)
    }

    /// What must run for these to have run, in the order of the host.
    pub fn needed(&self, roots: &[Ticket]) -> Vec<Ticket> {
        let mut needed = BTreeSet::new();
        let mut open = roots.to_vec();
        while let Some(ticket) = open.pop() {
            let Some(item) = self.pending.get(&ticket) else { continue };
            if needed.insert(ticket) {
                open.extend(&item.after);
            }
        }
        needed.into_iter().collect()
    }

    /// Takes work out to run it.
    pub fn take(&mut self, ticket: Ticket) -> Option<Item> {
        self.pending.remove(&ticket)
    }

    /// All that has not run.
    pub fn iter(&self) -> impl Iterator<Item = (Ticket, &Item)> {
        self.pending.iter().map(|(&ticket, item)| (ticket, item))
    }

    /// Where memory is used by work that has not run and is not before this clock, and one of the two writes.
    pub fn race(&self, clock: &Clock, touches: &[Touch]) -> Option<Address> {
        let unordered = self.iter().filter(|(ticket, item)| !clock.is_behind(item.stream, *ticket));
        let conflicts = |item: &Item| {
            let own = |touch: &&Touch| item.touches.iter().any(|other| touch.conflicts(other));
            touches.iter().find(own).map(|touch| touch.bytes.start)
        };
        unordered.filter_map(|(_, item)| conflicts(item)).next()
    }

    /// All that has not run, to mark it.
    pub fn values_mut(&mut self) -> impl Iterator<Item = (Ticket, &mut Item)> {
        self.pending.iter_mut().map(|(&ticket, item)| (ticket, item))
    }

    /// Drops the work of a context.
    pub fn forget_context(&mut self, context: Handle) {
        self.pending.retain(|_, item| item.context != context);
    }
}
