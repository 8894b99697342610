//! Runs include-free CUDA C++ on the CPU: takes the text of kernels, gives a module of functions that can be launched.
//!
//! The text is compiled with g++ against the headers of `device/` and loaded into this process. Each thread of a block runs as a
//! fiber. Blocks run one after another; shared memory starts poisoned; a missed barrier, a bad address or too much shared memory
//! is an error. What no single interleaving can show (a missing barrier, say) is found by launching in several [`Order`]s and
//! comparing.
//!
//! [`library`] is this crate as a library that stands in for libcuda, libnvrtc and libcublasLt (`driver`, `nvrtc`, `cublaslt`).
//!
//! Does not emulate inline PTX, tensor cores or the memory model: kernels guard those with `#ifdef CUEMU`. Does not check that the real compiler accepts the text.

mod compile;
mod cublaslt;
mod declared;
mod driver;
mod guarded;
mod image;
mod launch;
mod library;
mod module;
mod nvrtc;
mod static_shared;

use std::io;
use std::path::PathBuf;

pub use guarded::{GuardedBuffer, GuardedEnd};
pub use launch::{Arg, Launch, Order, Stats};
pub use library::library;
pub use module::{Function, Module};

/// How kernels are compiled for the emulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmulatorOptions {
    /// The C++ compiler: g++ 10 or newer, as a name to be found on the path or as a path.
    pub cxx: PathBuf,
    /// Also report undefined behaviour, with its line: indices beyond an array, misaligned vector accesses, shifts
    /// beyond the width, signed overflow, float to integer out of range. Costs compile and run time.
    pub sanitize: bool,
}

impl Default for EmulatorOptions {
    fn default() -> EmulatorOptions {
        EmulatorOptions { cxx: PathBuf::from("g++"), sanitize: false }
    }
}

/// Why a kernel could not be compiled or a launch failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The emulator switches stacks with machine code that exists for one kind of machine only.
    #[error("the CUDA emulator runs on x86-64 Linux only")]
    UnsupportedMachine,
    /// The C++ compiler could not be started.
    #[error("cannot start the C++ compiler `{}` (Debian: apt-get install g++): {source}", cxx.display())]
    CompilerMissing {
        /// What was to be started.
        cxx: PathBuf,
        source: io::Error,
    },
    /// The C++ compiler rejected the text.
    #[error("the C++ compiler rejected `{name}`:\n{text}")]
    Compile {
        name: String,
        /// What the compiler printed; lines are counted in the text itself, named `NAME.cu`.
        text: String,
    },
    /// The compiled text could not be loaded.
    #[error("cannot load the compiled kernels: {0}")]
    Load(#[from] libloading::Error),
    /// The bytes are no library of compiled kernels.
    #[error("not a library of compiled kernels: {0}")]
    BadLibrary(String),
    /// The module has no kernel of this name.
    #[error("the module has no kernel `{0}`: a kernel is declared `extern \"C\" __global__`")]
    NoKernel(String),
    /// The launch breaks a rule that the driver would reject: sizes, or arguments that do not fit the parameters.
    #[error("bad launch: {0}")]
    BadLaunch(String),
    /// The launch began and went wrong, or asks for more memory than a block can have.
    #[error("kernel `{kernel}`: {text}")]
    Kernel {
        kernel: String,
        /// What happened, with the line in the kernel's text where one is known.
        text: String,
    },
    /// Temporary files could not be written.
    #[error("cannot write the emulator's temporary files: {0}")]
    Files(#[from] io::Error),
}

/// A C++ compiler that takes kernels for this machine.
#[derive(Clone, Debug)]
pub struct Emulator {
    options: EmulatorOptions,
}

impl Emulator {
    /// The compiler is first looked for by [`Emulator::compile`].
    pub fn new(options: EmulatorOptions) -> Result<Emulator, Error> {
        if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
            return Err(Error::UnsupportedMachine);
        }
        Ok(Emulator { options })
    }

    /// Compiles the CUDA C++ text `source` (140 ms and more) and loads it. Lines of it are said to be of `NAME.cu`.
    pub fn compile(&self, source: &str, name: &str) -> Result<Module, Error> {
        Module::load(&self.build(source, name)?)
    }

    /// Compiles a text to the bytes of a shared library.
    pub(crate) fn build(&self, source: &str, name: &str) -> Result<Vec<u8>, Error> {
        compile::compile(&self.options, source, name)
    }
}
