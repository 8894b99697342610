//! Kernels for the host: LLVM IR compiled, or object code taken from the cache, and loaded.

use std::sync::PoisonError;
use std::time::Duration;

use codegen::cpu::{CompiledKernel, Error as CodegenError, Isa, Module, emit};
use kernel::Kernel;
use llvm::{CpuTarget, Llvm, Times};
use reference::interpret::Options as InterpreterOptions;

use crate::report::{KernelReport, Reported};
use cpu::objects::{Alike, SYMBOL, without_comments};
use cpu::objects::{Key, ObjectCache};

/// A kernel in executable form.
#[derive(Debug)]
pub(crate) enum HostCode {
    /// Machine code.
    Machine(CompiledKernel),
    /// The kernel program itself, and how the interpreter runs it.
    Program(InterpreterOptions),
}

impl Reported for HostCode {
    fn report(&self, name: &str) -> KernelReport {
        let name = name.to_owned();
        match self {
            HostCode::Machine(compiled) => KernelReport {
                name,
                compile: compiled.times.as_ref().map_or(Duration::ZERO, Times::total),
                code_bytes: compiled.code_bytes(),
                cached: compiled.times.is_none(),
                resources: None,
            },
            HostCode::Program(_) => {
                KernelReport { name, compile: Duration::ZERO, code_bytes: 0, cached: false, resources: None }
            }
        }
    }
}

/// The machine code of a kernel: that of an equal one, or from the cache if it is there, otherwise compiled, and cached for
/// later processes.
pub(crate) fn machine_code(
    kernel: &Kernel,
    target: CpuTarget,
    llvm: &Llvm,
    cache: Option<&ObjectCache>,
    alike: &Alike,
) -> Result<CompiledKernel, CodegenError> {
    let isa = Isa::new(llvm, target);
    let module = emit(&Kernel { name: SYMBOL.to_owned(), ..kernel.clone() }, &isa)?;
    let code = without_comments(&module.ir);
    let key = cache.map(|cache| (cache, Key::new(&[&llvm.recipe(isa.spec()), &code])));
    let object = alike.object_of(code);
    let mut object = object.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(object) = &*object {
        // It was not cached before, and takes no time.
        return CompiledKernel::load(module.symbol, module.ir, object.clone(), Some(Times::default()));
    }
    let kernel = match key {
        Some((cache, key)) => kept_or_compiled(module, &isa, llvm, cache, &key)?,
        None => CompiledKernel::compile(module, &isa, llvm)?,
    };
    *object = Some(kernel.object.clone());
    Ok(kernel)
}

fn kept_or_compiled(
    module: Module,
    isa: &Isa,
    llvm: &Llvm,
    cache: &ObjectCache,
    key: &Key,
) -> Result<CompiledKernel, CodegenError> {
    if let Some(object) = cache.get(key) {
        match CompiledKernel::load(module.symbol.clone(), module.ir.clone(), object, None) {
            Ok(kernel) => return Ok(kernel),
            Err(_) => cache.reject(key),
        }
    }
    let kernel = CompiledKernel::compile(module, isa, llvm)?;
    cache.put(key, &kernel.object);
    Ok(kernel)
}
