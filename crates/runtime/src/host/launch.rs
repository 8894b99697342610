//! Running a compiled kernel: all its blocks, shared among the threads. The only place where machine code is called.

use codegen::cpu::{CompiledKernel, SCRATCH_UNIT};
use cranelift_entity::PrimaryMap;
use ir::interrupt::Interrupt;
use kernel::{Access, BufferDecl, Kernel};
use smallvec::SmallVec;

use super::grid::Grid;
use super::{HostCode, HostMemory};
use crate::device::{Host, KernelLaunch};
use crate::device::{Memory, SlotContents};
use crate::{Error, Machine};
use cpu::alloc::Buffer;
use execution::Operands;
use ir::graph::Formula;

/// The values of a plan's formulas in a call.
type Values = PrimaryMap<Formula, i64>;

/// About how many operations are done between two checks of an interrupt: a millisecond or a few.
const OPERATIONS_BETWEEN_CHECKS: u64 = 1 << 22;

/// About how many operations a block may have for its caller to work on it without checking the interrupt: some
/// milliseconds, or a tenth of a second if each misses the caches.
const MAX_UNCHECKED_OPERATIONS: u64 = 1 << 24;

/// Addresses that workers pass to the kernel.
struct Addresses(SmallVec<[*mut u8; 8]>);

// SAFETY: workers only read the addresses; what they point to is the kernel's affair (see `run`).
unsafe impl Sync for Addresses {}

impl Addresses {
    /// The address of each buffer of each member, in the kernel's order, and after each member's the flag that asks the call
    /// to stop.
    fn of_buffers(
        given: &KernelLaunch<'_, HostCode>,
        memory: &mut Memory<'_, HostMemory>,
        interrupt: &Interrupt,
    ) -> Addresses {
        let mut addresses = SmallVec::new();
        for member in given.members {
            let buffers = given.kernel.buffers.values().zip(&member.buffers);
            addresses.extend(buffers.map(|(decl, &slot)| match decl.access {
                Access::Read => start(&memory[slot]).cast_mut(),
                Access::Write | Access::Fault => start_mut(&mut memory[slot]),
            }));
            addresses.push(interrupt.flag().as_ptr().cast());
        }
        Addresses(addresses)
    }
}

/// Runs all blocks of a kernel.
pub(super) fn run(
    code: &CompiledKernel,
    given: &KernelLaunch<'_, HostCode>,
    memory: &mut Memory<'_, HostMemory>,
    host: Host<'_>,
) -> Result<(), Error> {
    let Host { machine, interrupt } = host;
    let KernelLaunch { kernel, members, values, .. } = *given;
    let grid = Grid::new(members, values);
    if grid.blocks == 0 {
        return Ok(());
    }
    let non_temporal = non_temporal(given, machine.share_of_cache());
    let buffers = Addresses::of_buffers(given, memory, interrupt);
    let is_shared = grid.blocks > 1 && grid.operations >= machine.min_shared();
    let workers = if is_shared { machine.threads() } else { 1 };
    let mut scratch = Scratch::new(kernel, members, values, workers, machine)?;
    let scratch: SmallVec<[Addresses; 1]> = (0..workers).map(|worker| scratch.of(worker)).collect();
    let (buffers, scratch, per_member) = (&buffers, scratch.as_slice(), kernel.buffers.len() + 1);
    let work = |worker: usize, first: usize, last: usize| {
        for (member, first, last) in grid.each(first, last) {
            let (arguments, scratch) = (given.arguments_of(member), &scratch[worker].0);
            let buffers = &buffers.0[member * per_member..][..per_member];
            // SAFETY: the slices hold one entry for each argument, buffer and scratch array, in the kernel's order, and
            // after the buffers the flag of the interrupt, an atomic that outlives the call. A kernel is lowered so that its
            // indices stay within tensors of the sizes and strides that its arguments give. These are the very tensors of
            // the member: the signature checked the inputs' sizes, the variant was chosen by their strides, `Inputs` saw to
            // their alignment, and all other memory was allocated, aligned, from the same sizes. Nobody else writes: inputs
            // are borrowed, the call owns what is written or may write there (see `Target`), no two blocks write one
            // element, no member writes what another one touches, fault words are changed by atomic instructions alone, and
            // each worker has scratch arrays of its own, each as long as any member needs it.
            unsafe { code.call(arguments, buffers, scratch, non_temporal, first as i64, last as i64) }
        }
    };
    let unit = usize::try_from(OPERATIONS_BETWEEN_CHECKS / grid.of_block.max(1)).unwrap_or(usize::MAX).max(1);
    let threads = machine.workers(interrupt);
    match is_shared {
        // A long block leaves the caller no time to check.
        _ if grid.of_block > MAX_UNCHECKED_OPERATIONS && interrupt.is_possible() => {
            threads.run_beside(grid.blocks, workers, &work)
        }
        true => threads.run(grid.blocks, unit, &work),
        false => threads.run_alone(grid.blocks, unit, &work),
    }
    // A block that ended early looks as if it were done.
    if interrupt.is_requested() {
        threads.look();
    }
    Ok(())
}

/// The address of the element at index zero of a slot, for reading.
fn start(contents: &SlotContents<'_, HostMemory>) -> *const u8 {
    match contents {
        SlotContents::Input(view) => view.as_ptr(),
        SlotContents::Own(tensor) => tensor.as_ptr(),
        SlotContents::Target(view) => view.view().as_ptr(),
        SlotContents::Nothing => unreachable!("a plan reads what it has allocated and not yet freed"),
    }
}

/// The address of the element at index zero of a slot, for writing.
fn start_mut(contents: &mut SlotContents<'_, HostMemory>) -> *mut u8 {
    match contents {
        SlotContents::Own(tensor) => tensor.as_mut_ptr(),
        SlotContents::Target(view) => view.as_mut_ptr(),
        _ => unreachable!("a plan writes what it has allocated and not yet freed"),
    }
}

/// A bit for each written buffer, if the call touches so much memory before it is read that little of it would still be in
/// the caches: half of the process's share of the last level.
fn non_temporal(given: &KernelLaunch<'_, HostCode>, cache: usize) -> u64 {
    let bit = |(place, (decl, &distance)): (usize, (&BufferDecl, &u64))| match decl.access {
        Access::Write if distance >= cache as u64 / 2 => 1_u64.checked_shl(place as u32).unwrap_or(0),
        Access::Write | Access::Read | Access::Fault => 0,
    };
    let buffers = given.kernel.buffers.values().zip(given.reuse);
    buffers.enumerate().map(bit).fold(0, |all, bit| all | bit)
}

/// The scratch arrays of all workers.
struct Scratch {
    buffer: Buffer,
    /// Where each array starts within a worker's share.
    starts: SmallVec<[usize; 8]>,
    /// Bytes of a worker's share.
    share: usize,
}

impl Scratch {
    fn new(
        kernel: &Kernel,
        members: &[&Operands],
        values: &Values,
        workers: usize,
        machine: &Machine,
    ) -> Result<Scratch, Error> {
        let too_much = || Error::Memory { bytes: usize::MAX, limit: machine.memory_limit() };
        let mut starts = SmallVec::new();
        let mut share = 0_usize;
        for (place, decl) in kernel.scratch.values().enumerate() {
            let of_member = |member: &&Operands| usize::try_from(values[member.scratch[place]]).unwrap_or(0);
            let len = members.iter().map(of_member).max().unwrap_or(0);
            // Whole cache lines too, so that workers do not share any.
            let bytes = len
                .checked_mul(decl.dtype.size())
                .and_then(|bytes| bytes.checked_next_multiple_of(SCRATCH_UNIT));
            starts.push(share);
            share = bytes.and_then(|bytes| bytes.checked_add(share)).ok_or_else(too_much)?;
        }
        let bytes = share.checked_mul(workers).ok_or_else(too_much)?;
        Ok(Scratch { buffer: machine.allocator.allocate(bytes)?, starts, share })
    }

    /// The addresses of one worker's arrays.
    fn of(&mut self, worker: usize) -> Addresses {
        let own = self.buffer.as_mut_ptr().wrapping_add(worker * self.share);
        Addresses(self.starts.iter().map(|&start| own.wrapping_add(start)).collect())
    }
}
