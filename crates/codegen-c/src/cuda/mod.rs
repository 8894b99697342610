//! From a kernel program to include-free CUDA C++: readable text that NVRTC compiles and the emulator runs.
//!
//! A lane is a thread. A block is a CUDA block, a team of its threads, or a cluster of CUDA blocks. Scratch is in dynamic
//! shared memory, slots of reductions in static.
//!
//! `dialect` has the words, `snippets` the functions that CUDA lacks, `reduce` how threads combine their states; `c`
//! writes the rest. Compiles and launches nothing, and knows no device: the same text suits every target.

mod dialect;
mod reduce;
mod snippets;

use index::Expr;
use kernel::Kernel;

use crate::c;

pub use crate::c::{EmitError, Parameter};
pub use dialect::CUDA;

/// The NVRTC options with which the text means the same as the kernel program: a product and a sum round twice unless the
/// program says otherwise, and no fast math changes bits.
pub const NVRTC_OPTIONS: [&str; 2] = ["--std=c++17", "--fmad=false"];

/// A kernel as CUDA C++, with what a launch needs to know.
#[derive(Clone, Debug, PartialEq)]
pub struct CudaKernel {
    /// The name of the `__global__` function: the kernel's, unless that is a reserved word of C++.
    pub name: String,
    /// The whole translation unit.
    pub source: String,
    /// The members that a launch runs at most. If it is one, every parameter is a word of 64 bits; else there is one
    /// parameter, a structure of such words: the first block of each member, then the parameters of each. Members that are
    /// missing begin after the last block.
    pub members: usize,
    /// The parameters of the function, or of a member, in order.
    pub parameters: Vec<Parameter>,
    /// Blocks along x, of a member, over the arguments. If there are none, the launch is skipped: the driver rejects it.
    pub blocks: Expr,
    /// Threads of a block along x.
    pub block_threads: u32,
    /// Bytes of shared memory that the text declares itself.
    pub static_shared_bytes: u32,
    /// Bytes of shared memory that the launch must give, over the arguments.
    pub dynamic_shared_bytes: Expr,
    /// Bytes of global memory that a block's threads load before they use the first of them, in the loop with the most, over
    /// the arguments.
    pub in_flight_bytes: Expr,
}

/// Writes the kernel as CUDA C++.
///
/// # Errors
/// [`EmitError`] for kernels that do not verify or say more than CUDA can.
pub fn emit(kernel: &Kernel) -> Result<CudaKernel, EmitError> {
    emit_batch(kernel, 1)
}

/// Writes the kernel as CUDA C++, for launches of `members` members, or fewer if there is no room for their parameters.
///
/// # Errors
/// As [`emit`].
pub fn emit_batch(kernel: &Kernel, members: usize) -> Result<CudaKernel, EmitError> {
    let members = c::members_of_launch(kernel, members, &CUDA);
    let text = c::emit(kernel, members, &CUDA)?;
    Ok(CudaKernel {
        name: text.name,
        source: text.source,
        members,
        parameters: text.parameters,
        blocks: kernel.launched_blocks(),
        block_threads: kernel.threads(),
        static_shared_bytes: text.declared_bytes,
        dynamic_shared_bytes: text.scratch_bytes,
        in_flight_bytes: text.in_flight_bytes,
    })
}
