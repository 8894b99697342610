//! Enqueues work on a stream: what it runs after, and whether the memory that it uses is allocated then.

use super::allocations::{Allocation, MemoryKind};
use super::ffi::{Address, Handle};
use super::queue::{Clock, Item, Ticket, Touch};
use super::result::DriverResult;
use super::state::Driver;
use super::work::{Access, Work};

/// How much a stream holds before the host waits for its oldest work, as a real driver's does.
const MOST_PENDING: usize = 1024;

impl Driver {
    /// Enqueues work on a stream, or adds it to the graph that the stream captures.
    pub fn give(&mut self, stream: Handle, work: Work) -> DriverResult<Option<Ticket>> {
        if self.streams.get(stream)?.capturing.is_some() {
            self.capture(stream, work)?;
            return Ok(None);
        }
        self.enqueue(stream, work, &[], &Clock::default()).map(Some)
    }

    /// Appends work to a stream. It also runs after `after` and everything in `clock`.
    pub fn enqueue(
        &mut self,
        stream: Handle,
        work: Work,
        after: &[Ticket],
        clock: &Clock,
    ) -> DriverResult<Ticket> {
        let (mut before, mut behind) = self.order_of(stream)?;
        before.extend(after);
        behind.join(clock);
        behind.forget_done(&self.queue);
        let context = self.streams.get(stream)?.context;
        let device = self.healthy(context)?.device;
        let (touches, fault) = match self.check(device, &behind, &work.accesses()) {
            Ok(touches) => (touches, None),
            Err(fault) => (Vec::new(), Some(fault)),
        };
        let frees = if let Work::Free(start) = work { Some(start) } else { None };
        let item = Item { context, stream, after: before, work, touches, fault, clock: behind.clone() };
        let ticket = self.queue.push(item);
        if let Some(start) = frees {
            self.blame_unordered_uses(start, &behind, ticket);
        }
        behind.add(stream, ticket);
        let own = self.streams.get_mut(stream)?;
        own.clock = behind;
        own.given.push_back(ticket);
        self.drain(stream)?;
        Ok(ticket)
    }

    /// What the next work of a stream runs after: its earlier work, and what the rules of the default stream add.
    fn order_of(&self, handle: Handle) -> DriverResult<(Vec<Ticket>, Clock)> {
        let stream = self.streams.get(handle)?;
        let legacy = self.contexts.get(stream.context)?.legacy;
        let mut before = Vec::new();
        let mut clock = Clock::default();
        for (other, waited) in self.streams.iter().filter(|(_, other)| other.context == stream.context) {
            let by_default = stream.blocking && waited.blocking && (handle == legacy || other == legacy);
            if other == handle || by_default {
                before.extend(waited.last());
                clock.join(&waited.clock);
            }
        }
        Ok((before, clock))
    }

    /// The memory that work uses, or what is wrong with it.
    fn check(&self, device: usize, clock: &Clock, accesses: &[Access]) -> Result<Vec<Touch>, String> {
        let mut touches = Vec::new();
        for access in accesses {
            let found = self.allocations.containing(access.address, access.bytes);
            let (start, allocation) = found.ok_or_else(|| self.stray(access))?;
            self.check_order(access, allocation, clock)?;
            if access.own && !allocation.is_host() && allocation.device != device {
                return Err(format!(
                    "{:#x} is in memory of device {}, and the kernel runs on device {device}",
                    access.address, allocation.device
                ));
            }
            let bytes = match access.bytes {
                0 => start..start + allocation.bytes as u64,
                bytes => access.address..access.address + bytes as u64,
            };
            touches.push(Touch { start, bytes, writes: access.writes });
        }
        self.check_races(clock, &touches)?;
        Ok(touches)
    }

    /// Checks, if a test asks for it, that no other stream uses the memory at the same time when one of the two writes.
    fn check_races(&self, clock: &Clock, touches: &[Touch]) -> Result<(), String> {
        let race = (self.settings.races != 0).then(|| self.queue.race(clock, touches)).flatten();
        match race {
            Some(address) => Err(format!(
                "the memory at {address:#x} is used on another stream too, one of the two writes, and nothing orders them"
            )),
            None => Ok(()),
        }
    }

    /// The message for an address in no allocation.
    pub fn stray(&self, access: &Access) -> String {
        let Access { address, bytes, .. } = access;
        match self.allocations.containing(*address, 0) {
            Some((start, allocation)) => format!(
                "{bytes} bytes from {address:#x} are more than the {} bytes from {start:#x}",
                allocation.bytes
            ),
            None => format!("{address:#x} is in no memory that is there: it was freed, or never allocated"),
        }
    }

    /// Whether the memory is allocated at a position in the order of streams.
    fn check_order(&self, access: &Access, allocation: &Allocation, clock: &Clock) -> Result<(), String> {
        if allocation.freed && allocation.kind != MemoryKind::Graph {
            return Err(format!("{:#x} is in memory that cuMemFreeAsync has freed", access.address));
        }
        match allocation.born {
            Some((stream, ticket)) if self.queue.is_pending(ticket) && !clock.is_behind(stream, ticket) => {
                Err(format!(
                    "{:#x} is in memory that another stream allocates, and nothing orders this work behind that",
                    access.address
                ))
            }
            _ => Ok(()),
        }
    }

    /// Checks that work that uses memory is ordered before its free.
    fn blame_unordered_uses(&mut self, start: Address, clock: &Clock, free: Ticket) {
        for (ticket, item) in self.queue.values_mut() {
            if ticket != free
                && item.touches.iter().any(|touch| touch.start == start)
                && !clock.is_behind(item.stream, ticket)
            {
                item.fault = Some(format!(
                    "the memory at {start:#x} is freed on another stream, and nothing orders that behind its use"
                ));
            }
        }
    }

    /// Bounds the work that a stream holds.
    fn drain(&mut self, stream: Handle) -> DriverResult {
        loop {
            let queue = &self.queue;
            let given = &mut self.streams.get_mut(stream)?.given;
            while given.front().is_some_and(|&ticket| !queue.is_pending(ticket)) {
                given.pop_front();
            }
            match given.front() {
                Some(&oldest) if given.len() > MOST_PENDING => self.run_until(&[oldest]),
                _ => return Ok(()),
            }
        }
    }
}
