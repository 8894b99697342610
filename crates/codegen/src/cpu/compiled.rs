//! A kernel program as callable machine code: emitted, compiled, loaded.
//!
//! Knows neither buffer sizes nor threads: the caller is responsible for both. Caches nothing.

use kernel::Kernel;
use llvm::loader::{Code, ObjectError};
use llvm::{CpuTarget, Llvm, Output};

use super::Isa;
use super::emit::{self, EmitError, Module};
use super::externals;

/// Why a kernel did not become code.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It has no LLVM IR.
    #[error(transparent)]
    Emit(#[from] EmitError),
    /// LLVM gave an error.
    #[error(transparent)]
    Llvm(#[from] llvm::Error),
    /// The object file could not be loaded.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// The object lacks the kernel: it is of another kernel, or damaged.
    #[error("the object file has no function {0}")]
    NoSymbol(String),
}

/// The length of a scratch array in memory is a multiple of this many bytes: its last elements may be anywhere in them.
pub const SCRATCH_UNIT: usize = 256;

/// The signature of a kernel's function.
type Function = unsafe extern "C" fn(*const i64, *const *mut u8, *const *mut u8, u64, i64, i64);

/// A kernel as machine code. Safe to share between threads; the code lives as long as this.
#[derive(Debug)]
pub struct CompiledKernel {
    /// The LLVM IR, before LLVM's passes.
    pub ir: String,
    /// The object file that was loaded.
    pub object: Vec<u8>,
    pub symbol: String,
    code: Code,
    function: Function,
}

/// Compiles a kernel for a target that this machine can run, and loads it.
///
/// # Errors
/// [`Error`] by the station that failed.
pub fn compile_kernel(kernel: &Kernel, target: CpuTarget, llvm: &Llvm) -> Result<CompiledKernel, Error> {
    let isa = Isa::new(llvm, target);
    CompiledKernel::compile(emit::emit(kernel, &isa)?, &isa, llvm)
}

impl CompiledKernel {
    /// Compiles a module for an instruction set that this machine has, and loads it.
    ///
    /// # Errors
    /// [`Error::Llvm`] and [`Error::Object`].
    pub fn compile(module: Module, isa: &Isa, llvm: &Llvm) -> Result<CompiledKernel, Error> {
        let compiled = llvm.compile(&module.ir, isa.spec(), Output::Object)?;
        CompiledKernel::load(module.symbol, module.ir, compiled.bytes)
    }

    /// Loads an object file, as [`compile_kernel`] made it, now or earlier.
    ///
    /// # Errors
    /// [`Error::Object`] and [`Error::NoSymbol`] for bytes that are no such object.
    pub fn load(symbol: String, ir: String, object: Vec<u8>) -> Result<CompiledKernel, Error> {
        let code = Code::load(&object, &externals::address)?;
        let address = code.symbol(&symbol).ok_or_else(|| Error::NoSymbol(symbol.clone()))?;
        // SAFETY: the symbol is the function of our own module, which `emit` gave this signature; that the object is
        // ours is the promise of whoever kept it.
        let function = unsafe { std::mem::transmute::<*const u8, Function>(address) };
        Ok(CompiledKernel { ir, object, symbol, code, function })
    }

    /// The address of the function.
    pub fn address(&self) -> usize {
        self.function as usize
    }

    /// Bytes of memory that the loaded code occupies.
    pub fn code_bytes(&self) -> usize {
        self.code.bytes()
    }

    /// Runs the blocks `first .. last`. Stores to buffer i may be non-temporal where bit i of `non_temporal` is set, which
    /// changes no result. Scans and long folds end early once the byte at the address after the last buffer's is not 0:
    /// their results are then unused.
    ///
    /// # Safety
    /// The slices hold one entry per argument, buffer and scratch array of the kernel, in its order. The slice of buffers
    /// has one more: the address of a byte that other threads change by atomic instructions alone. Every element that these
    /// blocks load or store lies within the memory at the address given, aligned to its size; scratch arrays go on to a
    /// whole number of [`SCRATCH_UNIT`]s. Nobody else writes what these blocks read or write while they run, and no one else
    /// uses the scratch memory. A buffer that is written may overlap one that is read only where each element is read by
    /// the block that writes it, before.
    pub unsafe fn call(
        &self,
        arguments: &[i64],
        buffers: &[*mut u8],
        scratch: &[*mut u8],
        non_temporal: u64,
        first: i64,
        last: i64,
    ) {
        // SAFETY: the caller's promises are those that the function needs.
        unsafe {
            (self.function)(arguments.as_ptr(), buffers.as_ptr(), scratch.as_ptr(), non_temporal, first, last)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_share_a_kernel() {
        fn shared<T: Send + Sync>() {}
        shared::<CompiledKernel>();
    }

    #[test]
    fn an_object_without_the_kernel_is_an_error() {
        let llvm = Llvm::open(&llvm::LlvmOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        let spec = llvm.spec(CpuTarget::Host);
        let other =
            llvm.compile("define void @other() {\n ret void\n}", &spec, Output::Object).expect("compiles");
        let loaded = CompiledKernel::load("mine".into(), String::new(), other.bytes);
        assert!(matches!(loaded, Err(Error::NoSymbol(name)) if name == "mine"));
        let damaged = CompiledKernel::load("mine".into(), String::new(), vec![0; 64]);
        assert!(matches!(damaged, Err(Error::Object(_))));
    }
}
