//! One compilation: IR text, a machine and a kind of output in; bytes and times out.
//!
//! Each call has its own context, and exclusive use of a target machine while it runs, so any number of threads may compile
//! at once. Caches no code. LLVM's "cannot select" ends the process and cannot be caught here: the IR must keep to forms
//! that are known to select.

use crate::at_exit::Compiling;
use crate::error::Error;
use crate::identity::Identity;
use crate::library::{Library, OPTIONS};
use crate::owned::{Context, Machine, take_message};
use crate::target::{CpuTarget, TargetMachineSpec};
use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// On kernels that are already explicit vectors these five run as fast as `O2` for half its compile time. The code generator
/// combines instructions as well, and does so better without `instcombine` before it, which took a twentieth of a
/// compilation. But it must get no operations on constants, which loops that never run leave: for selections by constant
/// masks libLLVM 19 takes the wrong side in short vectors (`tests/run/moments_of_nothing.py`).
const PIPELINE: &CStr = c"function(sroa,early-cse,loop-mssa(licm),simplifycfg,instsimplify)";

/// Where to find libLLVM.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LlvmOptions {
    /// The library to load; without it the well-known names of versions 19 to 25 are tried in order.
    pub path: Option<PathBuf>,
}

/// What [`Llvm::compile`] returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Output {
    /// A relocatable ELF object, for [`Code::load`](crate::loader::Code::load).
    Object,
    /// Assembly text (AT&T syntax on x86).
    Assembly,
    /// The IR after the passes, as text.
    Ir,
}

/// Where the time of a compilation went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Times {
    /// Reading the text.
    pub parse: Duration,
    /// Checking the module.
    pub verify: Duration,
    /// The optimisation passes.
    pub passes: Duration,
    /// The code generator, or printing.
    pub codegen: Duration,
}

impl Times {
    /// The sum of all stages.
    pub fn total(&self) -> Duration {
        self.parse + self.verify + self.passes + self.codegen
    }
}

/// The outcome of a compilation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiled {
    /// An object file, or UTF-8 text for assembly and IR.
    pub bytes: Vec<u8>,
    /// Where the time went.
    pub times: Times,
}

/// A libLLVM: opened, or known from an earlier process. Cheap to clone; safe to share between threads.
#[derive(Clone)]
pub struct Llvm {
    identity: Arc<Identity>,
    /// Empty until the first compilation, if only the identity was remembered.
    library: Arc<OnceLock<Library>>,
}

impl Llvm {
    /// Finds, loads and initialises libLLVM; never unloads it. The default library is opened once per
    /// process; a failure is not remembered, so installing LLVM and trying again works.
    ///
    /// # Errors
    /// [`Error::NotFound`] with the package to install, or why the library found is of no use.
    pub fn open(options: &LlvmOptions) -> Result<Llvm, Error> {
        static DEFAULT: OnceLock<Llvm> = OnceLock::new();
        if let Some(path) = &options.path {
            return Ok(Llvm::from_library(Library::open(Some(path))?));
        }
        if let Some(llvm) = DEFAULT.get() {
            return Ok(llvm.clone());
        }
        let opened = Llvm::from_library(Library::open(None)?);
        Ok(DEFAULT.get_or_init(|| opened).clone())
    }

    /// The libLLVM of this identity, which was opened on this machine before. Its file is opened only when something is to
    /// be compiled.
    pub fn remembered(identity: Identity) -> Llvm {
        Llvm { identity: Arc::new(identity), library: Arc::default() }
    }

    fn from_library(library: Library) -> Llvm {
        let identity = identity(&library);
        Llvm { identity: Arc::new(identity), library: Arc::new(OnceLock::from(library)) }
    }

    /// The library, opened if it is not yet.
    pub(crate) fn library(&self) -> Result<&Library, Error> {
        if let Some(library) = self.library.get() {
            return Ok(library);
        }
        let library = Library::open(Some(&self.identity.file))?;
        if identity(&library) != *self.identity {
            return Err(Error::Changed { path: self.identity.file.clone() });
        }
        Ok(self.library.get_or_init(|| library))
    }

    /// Which libLLVM this is, and on which machine.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Major, minor and patch version.
    pub fn version(&self) -> (u32, u32, u32) {
        self.identity.version
    }

    /// The library's file.
    pub fn path(&self) -> &Path {
        &self.identity.file
    }

    /// Everything that the code for a machine depends on besides the IR, in a line.
    pub fn recipe(&self, spec: &TargetMachineSpec) -> String {
        let (major, minor, patch) = self.version();
        let passes = PIPELINE.to_string_lossy();
        format!("LLVM {major}.{minor}.{patch}, {spec:?}, {OPTIONS:?}, {passes}")
    }

    /// The machine that `target` means here.
    pub fn spec(&self, target: CpuTarget) -> TargetMachineSpec {
        TargetMachineSpec::new(target, &self.identity.host_cpu, &self.identity.host_features)
    }

    /// Verifies and compiles one module of LLVM IR for a machine; the module's own triple and data layout
    /// are replaced by the machine's.
    ///
    /// # Errors
    /// [`Error::Parse`], [`Error::Verify`], [`Error::Passes`], [`Error::Codegen`] for the IR's faults, and
    /// [`Error::Target`] where this libLLVM lacks the target; what opening the library can fail with where it was
    /// [remembered](Llvm::remembered).
    pub fn compile(&self, ir: &str, spec: &TargetMachineSpec, output: Output) -> Result<Compiled, Error> {
        let mut clock = Stopwatch(Instant::now());
        let mut times = Times::default();
        let library = self.library()?;
        let compiling = Compiling::begin();
        let machine = Machine::new(library, spec)?;
        let context = Context::new(library);
        let module = context.parse(ir)?;
        module.set_target(&machine);
        times.parse = clock.lap();
        compiling.between_steps();
        module.verify()?;
        times.verify = clock.lap();
        compiling.between_steps();
        module.run_passes(&machine, PIPELINE)?;
        times.passes = clock.lap();
        compiling.between_steps();
        let bytes = match output {
            Output::Ir => module.print().into_bytes(),
            Output::Assembly => module.emit(&machine, 0)?.bytes().to_vec(),
            Output::Object => module.emit(&machine, 1)?.bytes().to_vec(),
        };
        context.check()?;
        times.codegen = clock.lap();
        Ok(Compiled { bytes, times })
    }
}

fn identity(library: &Library) -> Identity {
    // SAFETY: both functions take nothing and give a string of ours.
    let (cpu, features) =
        unsafe { ((library.functions.LLVMGetHostCPUName)(), (library.functions.LLVMGetHostCPUFeatures)()) };
    Identity {
        file: library.file(),
        version: library.version,
        host_cpu: take_message(library, cpu),
        host_features: take_message(library, features),
    }
}

impl std::fmt::Debug for Llvm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (major, minor, patch) = self.version();
        write!(f, "LLVM {major}.{minor}.{patch} ({}) for {}", self.path().display(), self.identity.host_cpu)
    }
}

struct Stopwatch(Instant);

impl Stopwatch {
    fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now.duration_since(std::mem::replace(&mut self.0, now))
    }
}
