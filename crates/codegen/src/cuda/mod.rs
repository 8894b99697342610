//! From a kernel program to include-free CUDA C++: text that people read, NVRTC compiles and the emulator runs.
//!
//! * A lane is a thread and a block is a CUDA block: `threadIdx.x` is the lane, `blockIdx.x` the block.
//! * Uniform code is run by every thread alike; what it stores is stored by thread 0.
//! * A value has its name of the kernel text, as in `v3`, or stands where it is used if that is once and it is short.
//! * Accumulators are variables of each thread. Half-precision values are kept as their bits and computed with in f32.
//! * Private arrays lie in registers where lanes walk them in a known number of steps.
//! * Other scratch arrays lie one after the other in dynamic shared memory (`shared.rs`), slots of reductions in static.
//!
//! Takes no decisions, compiles and launches nothing, and knows no device: the same text suits every target.

mod body;
mod cast;
mod dtype;
mod in_flight;
mod index_text;
mod loops;
mod names;
mod prelude;
mod reduce;
mod registers;
mod shared;
mod single_use;
mod snippets;
mod spelling;
#[cfg(test)]
mod tests;
mod vectorized;

use index::{Expr, Sym};
use ir::kernel::{Access, Assumption, Buffer, Kernel, Violations, verify};
use ops::DType;
use thiserror::Error;

use body::Writer;
use index_text::IndexWriter;
use names::CudaNames;
use prelude::Prelude;

/// How NVRTC must be asked for the text to mean what the kernel program means: a product and a sum round twice unless
/// the program says otherwise, and nothing is fast at the price of its bits.
pub const NVRTC_OPTIONS: [&str; 2] = ["--std=c++17", "--fmad=false"];

/// A kernel as CUDA C++, with what a launch needs to know.
#[derive(Clone, Debug, PartialEq)]
pub struct CudaKernel {
    /// The name of the `__global__` function: the kernel's, unless C++ keeps that word for itself.
    pub name: String,
    /// The whole translation unit.
    pub source: String,
    /// What the function takes, in order.
    pub parameters: Vec<Parameter>,
    /// Blocks along x, over the arguments. A launch of none is left out: the driver rejects it.
    pub blocks: Expr,
    /// Threads of a block along x.
    pub block_threads: u32,
    /// Bytes of shared memory that the text declares itself.
    pub static_shared_bytes: u32,
    /// Bytes of shared memory that the launch must give, over the arguments.
    pub dynamic_shared_bytes: Expr,
    /// Bytes of global memory that a thread loads before it uses the first of them, in the loop where these are most.
    pub in_flight_bytes: u64,
}

/// A parameter of the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// The address of a buffer's first element, aligned to its element size.
    Buffer(Buffer),
    /// A size or stride, 64 bits.
    Argument(Sym),
}

/// Why a kernel has no CUDA text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EmitError {
    /// The kernel breaks the rules of kernel programs.
    #[error("the kernel is not well-formed:\n{0}")]
    Malformed(#[from] Violations),
    /// An index expression outgrew the algebra.
    #[error("an index expression of kernel `{kernel}` is too large")]
    IndexOverflow { kernel: String },
    /// The op table has no CUDA text for an op on a dtype.
    #[error("`{op}` of {dtype} has no CUDA spelling")]
    Unspelled {
        op: &'static str,
        /// The dtype it computes in.
        dtype: DType,
    },
}

/// Writes the kernel as CUDA C++.
///
/// # Errors
/// [`EmitError`] for kernels that do not verify or say more than CUDA can.
pub fn emit(kernel: &Kernel) -> Result<CudaKernel, EmitError> {
    let mut prelude = Prelude::default();
    let (function, in_flight_bytes) = function(kernel, &mut prelude)?;
    let names = CudaNames::new(kernel);
    let source = format!("{}\n{prelude}{function}", header(kernel, &names));
    let buffers = kernel.buffers.keys().map(Parameter::Buffer);
    let arguments = kernel.arguments.iter().copied().map(Parameter::Argument);
    Ok(CudaKernel {
        name: names.kernel.clone(),
        source,
        parameters: buffers.chain(arguments).collect(),
        blocks: kernel.blocks.clone(),
        block_threads: kernel.lanes,
        static_shared_bytes: prelude.static_shared_bytes(),
        dynamic_shared_bytes: shared::layout(kernel, &registers::registers(kernel)).bytes,
        in_flight_bytes,
    })
}

/// Writes several kernels as one translation unit, in which every function they call stands once.
///
/// # Errors
/// As [`emit`], of the first kernel that has no text.
pub fn emit_together<'k>(kernels: impl IntoIterator<Item = &'k Kernel>) -> Result<String, EmitError> {
    let mut prelude = Prelude::default();
    let mut functions = Vec::new();
    for kernel in kernels {
        let (text, _) = function(kernel, &mut prelude)?;
        functions.push(format!("{}{text}", header(kernel, &CudaNames::new(kernel))));
    }
    Ok(format!("{prelude}{}", functions.join("\n")))
}

/// The `__global__` function of a kernel, and the bytes that a thread of it has in flight.
fn function(kernel: &Kernel, prelude: &mut Prelude) -> Result<(String, u64), EmitError> {
    verify(kernel)?;
    let names = CudaNames::new(kernel);
    let (body, in_flight_bytes) = Writer::new(kernel, &names, prelude).kernel_body()?;
    Ok((format!("{}{body}}}\n", signature(kernel, &names)), in_flight_bytes))
}

/// The comment that opens the text: what it reads and writes, and how it is launched.
fn header(kernel: &Kernel, names: &CudaNames) -> String {
    let facts = index::Facts::new();
    let blocks = IndexWriter { names, facts: &facts, prelude: &mut Prelude::default() }.text(&kernel.blocks);
    let listed = |access| {
        let of_access = kernel.buffers.iter().filter(|(_, decl)| decl.access == access);
        let texts: Vec<String> =
            of_access.map(|(id, decl)| format!("{} ({})", names.buffer(id), decl.dtype)).collect();
        if texts.is_empty() { "nothing".to_owned() } else { texts.join(", ") }
    };
    let (reads, writes) = (listed(Access::Read), listed(Access::Write));
    let reports = kernel.buffers.values().any(|decl| decl.access == Access::Fault);
    let faults = if reports { format!("; reports in {}", listed(Access::Fault)) } else { String::new() };
    format!(
        "// {}: reads {reads}; writes {writes}{faults}.\n// Blocks: {blocks}. Threads of a block: {}.\n{}",
        names.kernel,
        kernel.lanes,
        assumed(kernel, names)
    )
}

/// The line that says for which launches the text is; nothing where it is for all.
fn assumed(kernel: &Kernel, names: &CudaNames) -> String {
    let sizes = kernel.assumptions.iter().map(|assumption| {
        let name = names.symbol(assumption.symbol());
        match assumption {
            Assumption::Multiple { of, .. } => format!("{name} % {of} == 0"),
            Assumption::AtMost { most, .. } => format!("{name} <= {most}"),
        }
    });
    let aligned = kernel.buffers.iter().filter(|(_, decl)| decl.align > decl.dtype.size() as u32);
    let aligned = aligned.map(|(id, decl)| format!("{} aligned to {} bytes", names.buffer(id), decl.align));
    let all: Vec<String> = sizes.chain(aligned).collect();
    if all.is_empty() { String::new() } else { format!("// Assumes {}.\n", all.join(", ")) }
}

/// The function's head, up to the brace; one parameter a line where one line would be long.
fn signature(kernel: &Kernel, names: &CudaNames) -> String {
    let buffers = kernel.buffers.iter().map(|(id, decl)| {
        let constant = if decl.access == Access::Read { "const " } else { "" };
        format!("{constant}{}* __restrict__ {}", dtype::in_memory(decl.dtype), names.buffer(id))
    });
    let arguments = kernel.arguments.iter().map(|&symbol| format!("long long {}", names.symbol(symbol)));
    let parameters: Vec<String> = buffers.chain(arguments).collect();
    let head = format!("extern \"C\" __global__ void __launch_bounds__({}) {}(", kernel.lanes, names.kernel);
    let one_line = format!("{head}{}) {{\n", parameters.join(", "));
    if one_line.len() <= 120 { one_line } else { format!("{head}\n    {}) {{\n", parameters.join(",\n    ")) }
}
