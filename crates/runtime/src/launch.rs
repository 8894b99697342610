//! Running a compiled kernel: all its blocks, shared among the threads. The only place where machine code is called.

use codegen::cpu::CompiledKernel;
use cranelift_entity::PrimaryMap;
use ir::graph::SizeError;
use ir::index::Expr;
use ir::kernel::{Access, BufferDecl, Kernel};

use crate::call::{Memory, bytes_in_memory};
use crate::cpu::alloc::Buffer;
use crate::plan::{ExecutionPlan, Slot};
use crate::{Error, Machine};

/// Scratch arrays start on cache lines, so that workers do not share any.
const LINE: usize = 64;

/// Addresses that workers pass to the kernel.
struct Addresses(Vec<*mut u8>);

// SAFETY: workers only read the addresses; what they point to is the kernel's affair (see `run`).
unsafe impl Sync for Addresses {}

/// Runs all blocks of a kernel. `buffers` are the slots of its buffers, in order.
pub(crate) fn run(
    kernel: &Kernel,
    code: &CompiledKernel,
    arguments: &[i64],
    buffers: &[Slot],
    memory: &mut PrimaryMap<Slot, Memory<'_>>,
    machine: &Machine,
) -> Result<(), Error> {
    let blocks = usize::try_from(value(kernel, arguments, &kernel.blocks)?).unwrap_or(0);
    if blocks == 0 {
        return Ok(());
    }
    let streamed = streamed(kernel, buffers, memory, machine.last_level_cache());
    let address = |(decl, &slot): (&BufferDecl, &Slot)| match decl.access {
        Access::Read => memory[slot].view().as_ptr().cast_mut(),
        Access::Write | Access::Fault => memory[slot].view_mut().as_mut_ptr(),
    };
    let buffers = Addresses(kernel.buffers.values().zip(buffers).map(address).collect());
    let workers = if blocks == 1 { 1 } else { machine.threads() };
    let mut scratch = Scratch::new(kernel, arguments, workers, machine)?;
    let scratch: Vec<Addresses> = (0..workers).map(|worker| scratch.of(worker)).collect();
    let (buffers, scratch) = (&buffers, scratch.as_slice());
    machine.pool.run(blocks, &|worker, first, last| {
        // SAFETY: the slices hold one entry for each argument, buffer and scratch array, in the kernel's order. A kernel is
        // lowered so that its indices stay within tensors of the sizes and strides that its arguments give. These are
        // the very tensors: the signature checked the inputs' sizes, the variant was chosen by their strides, `Inputs`
        // saw to their alignment, and all other memory was allocated, aligned, from the same sizes. Nobody else writes:
        // inputs are borrowed, the call owns what is written or may write there (see `Target`), no two blocks write one
        // element, fault words are changed by atomic instructions alone, and each worker has scratch arrays of its own.
        unsafe { code.call(arguments, &buffers.0, &scratch[worker].0, streamed, first as i64, last as i64) }
    });
    Ok(())
}

/// A bit for each buffer that is written, if the launch touches so much memory that little of what it writes would still be
/// in the caches when it ends: half of the last level is taken for its share.
fn streamed(kernel: &Kernel, slots: &[Slot], memory: &PrimaryMap<Slot, Memory<'_>>, cache: usize) -> u64 {
    let bytes = |slot: &Slot| bytes_in_memory(&memory[*slot].view());
    let touched = slots.iter().fold(0, |sum: u64, slot| sum.saturating_add(bytes(slot)));
    if touched < cache as u64 / 2 {
        return 0;
    }
    let bit = |(place, decl): (usize, &BufferDecl)| match decl.access {
        Access::Write => 1_u64.checked_shl(place as u32).unwrap_or(0),
        Access::Read | Access::Fault => 0,
    };
    kernel.buffers.values().enumerate().map(bit).fold(0, |all, bit| all | bit)
}

/// The value of an expression over a kernel's arguments.
fn value(kernel: &Kernel, arguments: &[i64], expr: &Expr) -> Result<i64, Error> {
    let value = expr.eval(&|sym| ExecutionPlan::argument_of(kernel, arguments, sym));
    value.map_err(|error| SizeError::Unknown { formula: expr.to_string(), error }.into())
}

/// The scratch arrays of all workers.
struct Scratch {
    buffer: Buffer,
    /// Where each array starts within a worker's share.
    starts: Vec<usize>,
    /// Bytes of a worker's share.
    share: usize,
}

impl Scratch {
    fn new(kernel: &Kernel, arguments: &[i64], workers: usize, machine: &Machine) -> Result<Scratch, Error> {
        let too_much = || Error::Memory { bytes: usize::MAX, limit: machine.memory_limit() };
        let mut starts = Vec::with_capacity(kernel.scratch.len());
        let mut share = 0_usize;
        for decl in kernel.scratch.values() {
            let len = usize::try_from(value(kernel, arguments, &decl.len)?).unwrap_or(0);
            let bytes =
                len.checked_mul(decl.dtype.size()).and_then(|bytes| bytes.checked_next_multiple_of(LINE));
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
