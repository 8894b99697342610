//! Runs pending work: what the host waits for, with all that it depends on, in the host's order.

use std::ptr;
use std::time::Instant;

use super::allocations::MemoryKind;
use super::ffi::{Address, Handle};
use super::queue::{Item, Ticket};
use super::result::{DriverResult, Failure, Status};
use super::state::Driver;
use super::work::{KernelCall, Pattern, Work};
use crate::Error;

impl Driver {
    /// Runs these and what they depend on. A failure becomes the sticky error of its context.
    pub fn run_until(&mut self, tickets: &[Ticket]) {
        for ticket in self.queue.needed(tickets) {
            let Some(item) = self.queue.take(ticket) else { continue };
            if let Err(failure) = self.run(ticket, &item) {
                self.break_context(item.context, failure);
            }
        }
    }

    /// Runs all work of a context.
    pub fn run_context(&mut self, context: Handle) -> DriverResult {
        let own = self.queue.iter().filter(|(_, item)| item.context == context);
        let tickets: Vec<Ticket> = own.map(|(ticket, _)| ticket).collect();
        self.run_until(&tickets);
        self.after_wait(context)
    }

    /// What the host learns when it has waited.
    pub fn after_wait(&mut self, context: Handle) -> DriverResult {
        let device = self.healthy(context)?.device;
        self.devices[device].pool.trim_at_wait();
        Ok(())
    }

    /// Nothing runs in a context any more.
    fn break_context(&mut self, context: Handle, failure: Failure) {
        self.queue.forget_context(context);
        if let Ok(context) = self.contexts.get_mut(context) {
            context.error.get_or_insert(failure);
        }
    }

    fn run(&mut self, ticket: Ticket, item: &Item) -> DriverResult {
        self.healthy(item.context)?;
        match &item.fault {
            Some(fault) => Err(Status::ERROR_ILLEGAL_ADDRESS.because(fault.clone())),
            None => self.perform(ticket, &item.work),
        }
    }

    fn perform(&mut self, ticket: Ticket, work: &Work) -> DriverResult {
        self.check_alive(work)?;
        match work {
            Work::Nothing => Ok(()),
            Work::Record(event) => {
                self.happen(*event, ticket);
                Ok(())
            }
            Work::Launch(call) => {
                launch(call)?;
                self.check_kept_to(work)
            }
            Work::Matmul(call) => {
                // SAFETY: all memory that it uses is alive, as was just checked, and nobody refers to it.
                unsafe { call.run() };
                Ok(())
            }
            Work::Write { to, bytes } => {
                // SAFETY: the bytes are within memory that is alive, as was just checked, and nobody refers to it.
                unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), *to as *mut u8, bytes.len()) };
                Ok(())
            }
            Work::Copy { to, from, bytes } => {
                // SAFETY: ends in allocated memory were just checked; the caller of the copy answers for others.
                unsafe { ptr::copy(from.address() as *const u8, to.address() as *mut u8, *bytes) };
                Ok(())
            }
            Work::Fill { to, pattern, bytes } => {
                fill(*to, *pattern, *bytes);
                Ok(())
            }
            Work::Allocate(start) => {
                self.come_alive(*start);
                Ok(())
            }
            Work::Free(start) => {
                self.go_away(*start);
                Ok(())
            }
            Work::Graph(body) => body
                .late_order()
                .into_iter()
                .try_for_each(|node| self.perform(ticket, &body.nodes[node].work)),
        }
    }

    /// Memory of a graph comes and goes with its nodes; other memory was checked when the work was given.
    fn check_alive(&self, work: &Work) -> DriverResult {
        if matches!(work, Work::Graph(_)) {
            return Ok(());
        }
        for access in work.accesses() {
            let found = self.allocations.containing(access.address, access.bytes);
            let text = match found {
                Some((_, allocation)) if allocation.alive => continue,
                Some(_) => format!("{:#x} is in memory that is not there at this point", access.address),
                None => self.stray(&access),
            };
            return Err(Status::ERROR_ILLEGAL_ADDRESS.because(text));
        }
        Ok(())
    }

    /// A kernel that writes past the end of its memory may not reach the guard page.
    fn check_kept_to(&self, work: &Work) -> DriverResult {
        for access in work.accesses() {
            let Some((start, allocation)) = self.allocations.containing(access.address, 0) else { continue };
            if !allocation.is_kept_to() {
                let text = format!("a kernel wrote behind the {} bytes at {start:#x}", allocation.bytes);
                return Err(Status::ERROR_ILLEGAL_ADDRESS.because(text));
            }
        }
        Ok(())
    }

    fn happen(&mut self, event: Handle, ticket: Ticket) {
        if let Ok(event) = self.events.get_mut(event)
            && event.ticket == Some(ticket)
        {
            event.time = Some(Instant::now());
        }
    }

    fn come_alive(&mut self, start: Address) {
        if let Some(allocation) = self.allocations.get_mut(start) {
            allocation.alive = true;
        }
    }

    fn go_away(&mut self, start: Address) {
        let Some(allocation) = self.allocations.get_mut(start) else { return };
        let (kind, device, bytes) = (allocation.kind, allocation.device, allocation.bytes as u64);
        allocation.alive = false;
        // A graph keeps its memory for the next time.
        if kind != MemoryKind::Graph {
            self.allocations.remove(start);
            match kind {
                MemoryKind::Pooled => self.devices[device].pool.put_back(bytes),
                _ => self.devices[device].bytes -= bytes,
            }
        }
    }
}

fn fill(to: Address, pattern: Pattern, bytes: usize) {
    // SAFETY: the bytes are within memory that is alive, as the caller has checked; words are aligned, as was checked when
    // the work was given.
    unsafe {
        match pattern {
            Pattern::Byte(byte) => ptr::write_bytes(to as *mut u8, byte, bytes),
            Pattern::Word(word) => {
                std::slice::from_raw_parts_mut(to as *mut u32, bytes / size_of::<u32>()).fill(word);
            }
        }
    }
}

fn launch(call: &KernelCall) -> DriverResult {
    if call.faults {
        return Err(Status::ERROR_LAUNCH_FAILED.because("a test wants this launch to fault"));
    }
    // SAFETY: pointers are null or within memory that is alive, as the caller has checked; beyond it are pages that fault.
    let result = unsafe { call.function.launch(&call.launch, &call.args) };
    match result {
        Ok(_) => Ok(()),
        Err(error) => Err(code_of(&error).because(error.to_string())),
    }
}

/// What a device would say of what the emulator says.
fn code_of(error: &Error) -> Status {
    let Error::Kernel { text, .. } = error else { return Status::ERROR_LAUNCH_FAILED };
    let known = [
        ("misaligned", Status::ERROR_MISALIGNED_ADDRESS),
        ("bad memory access", Status::ERROR_ILLEGAL_ADDRESS),
        ("illegal instruction", Status::ERROR_ILLEGAL_INSTRUCTION),
        ("deadlock", Status::ERROR_LAUNCH_TIMEOUT),
        ("spin for ever", Status::ERROR_LAUNCH_TIMEOUT),
    ];
    known.iter().find(|(words, _)| text.contains(words)).map_or(Status::ERROR_LAUNCH_FAILED, |found| found.1)
}
