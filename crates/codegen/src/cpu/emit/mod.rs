//! A kernel program as LLVM IR text: explicit vectors, one element per lane.
//!
//! Takes a kernel that verifies and an instruction set; returns a module with one function that runs a range of blocks.
//! Uniform values become scalars, varying values vectors of `kernel.lanes` elements, or of a register's in the remainder of
//! a loop. Decides nothing: the kernel fixes loops, lanes and storage. Floats are computed as written, without fast-math
//! flags and without contraction; fused multiply-adds occur inside the polynomials of `math/`, where a sum is folded from
//! products (`kernel::Contractions`) and where the kernel says `mul_add`.
//!
//! A kernel is written in layers, each a type that owns the one below and derefs to it (`layer`):
//! | layer | writes | files |
//! |---|---|---|
//! | `Emitter` | a kernel: statements, loops | `statement`, `loops`, `transpose`, `interrupts` |
//! | `AccumulatorEmitter` | accumulators and their reduction | `accumulators`, `integer_min_max` |
//! | `MemoryEmitter` | loads, stores, prefetches, faults | `memory`, `non_temporal`, `pairs`, `deinterleave` |
//! | `Scope` | indices, of what is bound here | `scope`, `indices`, `hoist` |
//! | `Writer` | instructions on typed operands | `writer`; ops are functions over it: `apply`, `convert`, `math` |
//! | `Lines` | lines of text | `writer::lines` |

mod accumulators;
mod apply;
mod avx512;
mod convert;
mod deinterleave;
mod hoist;
mod indices;
mod integer_min_max;
mod interrupts;
mod layer;
mod loops;
mod math;
mod memory;
mod non_temporal;
mod operand;
mod outline;
mod pairs;
mod philox;
mod scope;
mod statement;
mod strided;
mod transpose;
mod writer;

use kernel::{Kernel, fetched_arrays, has_width, one_at_a_time, synchronous, verify};
use ops::ScalarOp;

use accumulators::AccumulatorEmitter;
use layer::layer;
use memory::MemoryEmitter;
use operand::{Element, Operand};
use scope::Scope;
use writer::Finished;

use super::Isa;

/// A kernel in LLVM IR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    pub ir: String,
    /// The function to call, with the signature that [`emit`] describes.
    pub symbol: String,
    /// Functions outside the module that the kernel's own ops call. The code generator may add others (memset, fmodf).
    pub externals: Vec<&'static str>,
}

/// Why a kernel has no LLVM IR.
#[derive(Debug, thiserror::Error)]
pub enum EmitError {
    /// It breaks a rule of the kernel program.
    #[error("the kernel is not valid:\n{0}")]
    Invalid(#[from] kernel::Violations),
    /// The row of an op has no spelling for this dtype.
    #[error("`{}` of {dtype} cannot be compiled", op.name())]
    NoSpelling {
        op: ScalarOp,
        /// The dtype it computes in.
        dtype: ops::DType,
    },
}

/// The IR of a kernel. Its function is
/// `void NAME(ptr arguments, ptr buffers, ptr scratch, i64 non_temporal, i64 first_block, i64 last_block)`, where
/// `arguments` points to the i64 arguments, `buffers` and `scratch` to the addresses of the buffers and of the worker's own
/// scratch arrays, each in the kernel's order (the buffers are followed by the address of a byte that is not 0 once the call
/// is interrupted: see `interrupts.rs`), and bit i of `non_temporal` lets stores to buffer i be non-temporal; it runs
/// the blocks `first_block .. last_block`.
///
/// # Errors
/// [`EmitError`] for a kernel that does not verify, or an op without code for a dtype.
pub fn emit(kernel: &Kernel, isa: &Isa) -> Result<Module, EmitError> {
    verify(kernel)?;
    if !fetched_arrays(kernel).is_empty() {
        return emit(&synchronous(kernel), isa);
    }
    if has_width(kernel) {
        return emit(&one_at_a_time(kernel), isa);
    }
    let mut emitter = Emitter::new(kernel, isa);
    emitter.blocks()?;
    Ok(emitter.finish())
}

/// Writes statements and loops: a kernel being translated to IR.
struct Emitter<'k> {
    accumulators: AccumulatorEmitter<'k>,
    /// The address of the byte that says that the call is interrupted, in kernels with loops that test it.
    interrupt: Option<Operand>,
    /// Whether code is in a loop of few iterations, where loops over lanes have no body for whole vectors.
    in_remainder: bool,
}

layer!(Emitter, accumulators: AccumulatorEmitter);

impl<'k> Emitter<'k> {
    fn new(kernel: &'k Kernel, isa: &'k Isa) -> Emitter<'k> {
        let memory = MemoryEmitter::new(Scope::new(kernel, isa));
        Emitter { accumulators: AccumulatorEmitter::new(memory), interrupt: None, in_remainder: false }
    }

    /// The whole function: parameters into registers, then the loop over blocks.
    fn blocks(&mut self) -> Result<(), EmitError> {
        let parameter = |name| Operand::parameter(name, Element::Ptr);
        for (position, &symbol) in self.kernel.arguments.iter().enumerate() {
            let argument = self.element_of(parameter("arguments"), Element::I64, position);
            self.symbols.insert(symbol, argument);
        }
        for (position, buffer) in self.kernel.buffers.keys().enumerate() {
            let address = self.element_of(parameter("buffers"), Element::Ptr, position);
            self.buffers.insert(buffer, address);
        }
        for (position, scratch) in self.kernel.scratch.keys().enumerate() {
            let address = self.element_of(parameter("scratch"), Element::Ptr, position);
            self.scratch.insert(scratch, address);
        }
        if interrupts::has_sequential(&self.kernel.body) {
            let place = self.kernel.buffers.len();
            self.interrupt = Some(self.element_of(parameter("buffers"), Element::Ptr, place));
        }
        let number = |name| Operand::parameter(name, Element::I64);
        self.non_temporal_buffers(number("non_temporal"));
        let kernel = self.kernel;
        self.counted(number("first_block"), number("last_block"), 1, |emitter, block| {
            emitter.symbols.insert(kernel.block, block);
            emitter.hoisted_body(&kernel.body)
        })?;
        self.fence(number("non_temporal"));
        Ok(())
    }

    fn finish(self) -> Module {
        let Scope { mut w, kernel, .. } = self.accumulators.into_scope();
        w.effect("ret void");
        let name = &kernel.name;
        let attributes = format!("nounwind {}", w.isa.spec().function_attributes());
        let Finished { body, functions, declarations, calls } = w.finish();
        let parameters = "ptr %arguments, ptr %buffers, ptr %scratch, i64 %non_temporal, i64 %first_block, i64 %last_block";
        let mut ir = format!("define void @{name}({parameters}) {attributes} {{\n{body}}}\n");
        functions.values().for_each(|function| ir.push_str(&function.text));
        for declaration in declarations {
            ir.push_str(&declaration);
            ir.push('\n');
        }
        Module { ir, symbol: name.clone(), externals: calls.into_iter().collect() }
    }
}
