//! How to compile a definition, and how to call it.

use std::sync::Arc;

use compiler::PlanOptions;
use ir::graph::Stream;
use ir::interrupt::Interrupt;
use llvm::CpuTarget;
use reference::interpret::Options as InterpreterOptions;
use scheduler::hints::Hints;
use target::Target;

use crate::{CudaDevice, DeviceHandle, Error, ExecutorKind, Generator, Machine};

/// How a fusion is run.
#[derive(Clone, Debug, Default)]
pub enum Executor {
    /// Segments as machine code. Without libLLVM the evaluator runs instead, as the report says.
    #[default]
    Compiled,
    /// Segments in the language of a device, on it.
    Device(DeviceHandle),
    /// Segments as kernel programs, interpreted: slow, for tests.
    Interpreter,
    /// The definition itself, by the evaluator: slow; it defines the results of all others.
    Evaluator,
}

/// How to compile a definition.
#[derive(Clone, Debug)]
pub struct CompileOptions {
    /// What runs it.
    pub executor: Executor,
    /// What it runs on.
    pub machine: Arc<Machine>,
    /// The instructions that kernels are made of, which the machine must have.
    pub target: CpuTarget,
    /// Sizes that decisions are made for; the answer is right for all sizes.
    pub hints: Hints,
    /// Choices made by the user instead of the compiler.
    pub plan: PlanOptions,
    /// The source of randomness for draws without a seed: by default the executable's own generator, with seed 0.
    pub generator: Arc<Generator>,
    /// In which order the interpreter takes blocks and lanes; the answer is the same in all of them.
    pub interpreter: InterpreterOptions,
}

impl Executor {
    /// What it is.
    pub fn kind(&self) -> ExecutorKind {
        match self {
            Executor::Compiled => ExecutorKind::Compiled,
            Executor::Device(device) => ExecutorKind::Device(device.kind()),
            Executor::Interpreter => ExecutorKind::Interpreter,
            Executor::Evaluator => ExecutorKind::Evaluator,
        }
    }

    /// The device that runs it, if it is one other than the host.
    pub fn device(&self) -> Option<&DeviceHandle> {
        match self {
            Executor::Device(device) => Some(device),
            Executor::Compiled | Executor::Interpreter | Executor::Evaluator => None,
        }
    }
}

impl<D: Into<DeviceHandle>> From<D> for Executor {
    /// Segments in the language of a device, on it.
    fn from(device: D) -> Executor {
        Executor::Device(device.into())
    }
}

impl Default for CompileOptions {
    fn default() -> CompileOptions {
        CompileOptions {
            executor: Executor::default(),
            machine: Machine::shared(),
            target: CpuTarget::Host,
            hints: Hints::default(),
            plan: PlanOptions::default(),
            generator: Arc::default(),
            interpreter: InterpreterOptions { step_limit: u64::MAX, ..InterpreterOptions::default() },
        }
    }
}

impl CompileOptions {
    /// The facts that the compiler needs of its executor.
    pub(crate) fn facts(&self) -> Target {
        match self.executor.device() {
            Some(device) => device.device().target(),
            None => self.machine.target(self.target),
        }
    }

    /// The GPU that runs it.
    ///
    /// # Errors
    /// [`Error::NoGpu`] for what something else runs.
    pub(crate) fn gpu(&self) -> Result<Arc<CudaDevice>, Error> {
        self.executor.device().and_then(DeviceHandle::downcast).ok_or(Error::NoGpu)
    }
}

/// How to call an executable.
#[derive(Clone, Debug, Default)]
pub struct CallOptions {
    /// The threads and the memory to run on, instead of those that it was compiled for.
    pub machine: Option<Arc<Machine>>,
    /// The source of random numbers, instead of the generator.
    pub stream: Option<Stream>,
    /// What ends the call. If a variant is being compiled for it, libLLVM finishes the current kernel in the background.
    pub interrupt: Interrupt,
}
