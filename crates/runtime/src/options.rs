//! How to compile a definition, and how to call it.

use std::sync::Arc;

use compiler::PlanOptions;
use ir::graph::Stream;
use ir::interrupt::Interrupt;
use llvm::CpuTarget;
use reference::interpret::Options as InterpreterOptions;
use scheduler::hints::Hints;
use target::Target;

use crate::{CudaDevice, DeviceHandle, Error, Executor, Generator, Machine};

/// How to compile a definition.
#[derive(Clone, Debug)]
pub struct CompileOptions {
    /// What runs it.
    pub executor: Executor,
    /// What it runs on.
    pub machine: Arc<Machine>,
    /// The device that [`Executor::Device`] runs on.
    pub device: Option<DeviceHandle>,
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

impl Default for CompileOptions {
    fn default() -> CompileOptions {
        CompileOptions {
            executor: Executor::default(),
            machine: Machine::shared(),
            device: None,
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
        match self.opened_device() {
            Ok(device) => device.device().target(),
            Err(_) => self.machine.target(self.target),
        }
    }

    /// The device that runs it.
    ///
    /// # Errors
    /// [`Error::NoDevice`].
    pub(crate) fn opened_device(&self) -> Result<&DeviceHandle, Error> {
        let is_meant = |device: &&DeviceHandle| self.executor == Executor::Device(device.kind());
        self.device.as_ref().filter(is_meant).ok_or(Error::NoDevice { kind: self.executor.name() })
    }

    /// The GPU that runs it.
    ///
    /// # Errors
    /// [`Error::NoGpu`] for what something else runs, [`Error::NoDevice`].
    pub(crate) fn opened_gpu(&self) -> Result<Arc<CudaDevice>, Error> {
        let device = if self.executor == Executor::CUDA { self.opened_device()?.downcast() } else { None };
        device.ok_or(Error::NoGpu)
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
