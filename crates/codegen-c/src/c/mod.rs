//! From a kernel program to readable text of a function in a dialect of C: the part common to all dialects.
//!
//! * Statements are a tree (`statement.rs`), which is printed at the end.
//! * Every lane runs the whole text. Uniform code is run by all alike; what it stores is stored by lane 0.
//! * A value has its name in the kernel text, such as `v3`, or is written inline if it is short and used once.
//! * Accumulators are variables of each lane. Half-precision values are kept as their bits and computed with in f32.
//! * Private arrays are in registers if lanes walk them in a known number of steps.
//! * Other scratch arrays are one after the other in the memory of the block (`arrays.rs`).
//!
//! A value of [`Dialect`] has what differs between dialects. Makes no decisions except those above, and compiles and
//! launches nothing.

mod accesses;
mod arrays;
mod batch;
mod body;
mod cast;
mod combine;
mod dialect;
mod dtype;
mod fetch;
mod hoisted;
mod in_flight;
mod index_text;
mod loops;
mod memory;
mod names;
mod prelude;
mod promoted;
mod reduce;
mod registers;
mod rows;
mod scope;
mod signature;
mod single_use;
mod snippet;
mod spelling;
mod statement;
mod values;
mod vectorized;

use index::{Expr, Sym};
use kernel::{Buffer, Kernel, Violations, verify};
use ops::DType;
use thiserror::Error;

use body::{Body, KernelWriter};
use names::Names;
use prelude::Prelude;

pub use batch::members_of_launch;
pub use dialect::{
    Asynchronous, BatchForm, BatchText, BlockWords, Dialect, KernelFunction, LoopShape, Reductions,
    Structures, Unpacked, UnpackedField, Unrolling, VectorVariable, Vectors,
};
pub use dtype::standard_type;
pub use names::taken_words;
pub use reduce::{BlockReduction, Reduction};
pub use snippet::{Helper, Snippet};

/// A kernel as a text of a dialect.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelText {
    /// The name of the function: the kernel's, unless that is a reserved word of the dialect.
    pub name: String,
    /// The whole translation unit.
    pub source: String,
    /// The parameters of the function, in order.
    pub parameters: Vec<Parameter>,
    /// Bytes of a block's memory that the text declares itself.
    pub declared_bytes: u32,
    /// Bytes of a block's memory that `smem` needs, over the arguments.
    pub scratch_bytes: Expr,
    /// Bytes of global memory that a block's lanes load before they use the first of them, in the loop with the most, over
    /// the arguments.
    pub in_flight_bytes: Expr,
}

/// A parameter of the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// The address of a buffer's first element, aligned to its element size.
    Buffer(Buffer),
    /// A size or stride, 64 bits.
    Argument(Sym),
}

/// Why a kernel has no text in a dialect.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EmitError {
    /// The kernel breaks the rules of kernel programs.
    #[error("the kernel is not well-formed:\n{0}")]
    Malformed(#[from] Violations),
    /// An index expression outgrew the algebra.
    #[error("an index expression of kernel `{kernel}` is too large")]
    IndexOverflow { kernel: String },
    /// A lane has too few registers for what it keeps.
    #[error(
        "kernel `{kernel}` keeps {bytes} bytes in the registers of each lane, which has at most {most} in a block of {lanes}"
    )]
    Registers {
        kernel: String,
        bytes: u64,
        most: u64,
        /// Lanes of a block, all teams together, or of one block of a cluster.
        lanes: u32,
    },
    /// A launch cannot pass all parameters.
    #[error("kernel `{kernel}` takes {bytes} bytes of parameters, of which a launch has at most {most}")]
    Parameters { kernel: String, bytes: usize, most: usize },
    /// The dialect has no text for an op on a dtype.
    #[error("`{op}` of {dtype} has no {dialect} spelling")]
    Unspelled {
        op: &'static str,
        /// The dtype it computes in.
        dtype: DType,
        /// The name of the dialect.
        dialect: &'static str,
    },
}

/// Writes the kernel in a dialect, for launches of `members` members.
///
/// # Errors
/// [`EmitError`] for kernels that do not verify or say more than the dialect can.
pub fn emit(kernel: &Kernel, members: usize, dialect: &'static Dialect) -> Result<KernelText, EmitError> {
    let mut prelude = Prelude::new(dialect);
    let (function, body) = function(kernel, members, &mut prelude)?;
    let names = Names::new(kernel, dialect);
    let source = format!("{}\n{prelude}{function}", signature::header(kernel, &names, dialect));
    let buffers = kernel.buffers.keys().map(Parameter::Buffer);
    let arguments = kernel.arguments.iter().copied().map(Parameter::Argument);
    Ok(KernelText {
        name: names.kernel,
        source,
        parameters: buffers.chain(arguments).collect(),
        declared_bytes: prelude.reduction_bytes(),
        scratch_bytes: body.scratch_bytes,
        in_flight_bytes: body.in_flight_bytes,
    })
}

/// Writes several kernels as one translation unit, that contains every function they call once, for launches of `members`
/// members.
///
/// # Errors
/// As [`emit`], of the first kernel that has no text.
pub fn emit_together<'k>(
    kernels: impl IntoIterator<Item = &'k Kernel>,
    members: usize,
    dialect: &'static Dialect,
) -> Result<String, EmitError> {
    let mut prelude = Prelude::new(dialect);
    let mut functions = Vec::new();
    for kernel in kernels {
        let (text, _) = function(kernel, members_of_launch(kernel, members, dialect), &mut prelude)?;
        functions.push(signature::header(kernel, &Names::new(kernel, dialect), dialect) + &text);
    }
    Ok(format!("{prelude}{}", functions.join("\n")))
}

/// The functions of a kernel, and the body of the one that computes.
fn function(kernel: &Kernel, members: usize, prelude: &mut Prelude) -> Result<(String, Body), EmitError> {
    verify(kernel)?;
    let dialect = prelude.dialect;
    let (bytes, most) = (parameter_bytes(kernel), dialect.function.most_parameter_bytes);
    if bytes > most {
        return Err(EmitError::Parameters { kernel: kernel.name.clone(), bytes, most });
    }
    let batch = dialect.function.batch.as_ref().filter(|_| members > 1);
    let names = Names::new(kernel, dialect);
    let block = batch.map_or(dialect.block.number, |batch| batch.block);
    let body = KernelWriter::new(kernel, &names, block, prelude).kernel_body()?;
    let head = signature::signature(kernel, &names, batch, dialect);
    let mut functions = format!("{head}{}}}\n", body.lines);
    if let Some(batch) = batch {
        functions += &batch::launched_function(kernel, &names, members, dialect, batch);
    }
    Ok((functions, body))
}

/// Bytes of a kernel's parameters: addresses, sizes and strides have eight each.
fn parameter_bytes(kernel: &Kernel) -> usize {
    8 * (kernel.buffers.len() + kernel.arguments.len())
}
