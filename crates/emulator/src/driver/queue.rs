//! Work enqueued on streams that has not run, with what it must run after. A ticket is its position in the host's order;
//! work depends only on work of smaller tickets.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::ffi::{Address, Handle};
use super::work::Work;

/// A position in the host's order.
pub type Ticket = u64;

/// What work is ordered after: the latest such work of each stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    latest: BTreeMap<Handle, Ticket>,
}

/// Memory that work uses: the start of an allocation, and a range of its bytes.
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
    /// The error found in it when it was enqueued, or later.
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
    /// Joins another clock: is also after all that the other is after.
    pub fn join(&mut self, other: &Clock) {
        for (&stream, &ticket) in &other.latest {
            self.add(stream, ticket);
        }
    }

    /// Adds this work to what it is after.
    pub fn add(&mut self, stream: Handle, ticket: Ticket) {
        let latest = self.latest.entry(stream).or_default();
        *latest = ticket.max(*latest);
    }

    /// Forgets work that has run.
    pub fn forget_done(&mut self, queue: &Queue) {
        self.latest.retain(|_, latest| queue.is_pending(*latest));
    }

    /// Whether it is after this work.
    pub fn is_behind(&self, stream: Handle, ticket: Ticket) -> bool {
        self.latest.get(&stream).is_some_and(|&latest| latest >= ticket)
    }
}

impl Touch {
    /// Whether the two conflict: they may not run at once.
    fn conflicts(&self, other: &Touch) -> bool {
        let overlap = self.bytes.start < other.bytes.end && other.bytes.start < self.bytes.end;
        overlap && (self.writes || other.writes)
    }
}

impl Queue {
    /// Appends work, and records it in its own clock.
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

    /// The pending work that these need, themselves included, in the host's order.
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

    /// A conflicting use of memory by pending work that is not before this clock.
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
