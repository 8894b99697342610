//! Kernels for the host: LLVM IR compiled, or object code taken from the cache, and loaded.

use std::time::Duration;

use codegen::cpu::{CompiledKernel, Error as CodegenError, Isa, Module, emit};
use kernel::Kernel;
use llvm::{CpuTarget, Llvm, Output};
use reference::interpret::Options as InterpreterOptions;

use crate::report::{KernelReport, Reported};
use cpu::objects::{Alike, ObjectCache, Origin, SYMBOL, without_comments};

/// A kernel in executable form.
#[derive(Debug)]
pub(crate) enum HostCode {
    /// Machine code.
    Machine { code: CompiledKernel, origin: Origin },
    /// The kernel program itself, and how the interpreter runs it.
    Program(InterpreterOptions),
}

impl Reported for HostCode {
    fn report(&self, name: &str) -> KernelReport {
        let name = name.to_owned();
        match self {
            HostCode::Machine { code, origin } => KernelReport {
                name,
                compile: origin.compile,
                code_bytes: code.code_bytes(),
                cached: origin.is_cached,
                resources: None,
            },
            HostCode::Program(_) => {
                KernelReport { name, compile: Duration::ZERO, code_bytes: 0, cached: false, resources: None }
            }
        }
    }
}

/// The machine code of a kernel, compiled where neither an equal one nor the cache has it.
pub(crate) fn machine_code(
    kernel: &Kernel,
    target: CpuTarget,
    llvm: &Llvm,
    cache: Option<&ObjectCache>,
    alike: &Alike,
) -> Result<(CompiledKernel, Origin), CodegenError> {
    let isa = Isa::new(llvm, target);
    let Module { ir, symbol, .. } = emit(&Kernel { name: SYMBOL.to_owned(), ..kernel.clone() }, &isa)?;
    let compile = |ir: &str| Ok(llvm.compile(ir, isa.spec(), Output::Object)?.bytes);
    let load = |object: &[u8]| CompiledKernel::load(symbol.clone(), ir.clone(), object.to_vec());
    alike.loaded(without_comments(&ir, ";"), (cache, &llvm.recipe(isa.spec())), compile, load)
}
