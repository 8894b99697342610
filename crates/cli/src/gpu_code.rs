//! The registers that kernels take of a GPU that need not be present, from NVRTC's machine code.

use std::cell::OnceCell;

use cuda::{LibraryPaths, Nvrtc};
use ferrofuse::{CodeTarget, GpuCodeError, GpuCompiler, Machine, Plan, ThreadResources, gpu_kernels};
use ir::interrupt::Interrupt;

use crate::failure::tell;

/// NVRTC for a target that is a GPU, opened when there is something to compile.
pub struct GpuCode<'m> {
    nvrtc: OnceCell<Option<Nvrtc>>,
    libraries: &'m LibraryPaths,
    architecture: Option<&'static str>,
    machine: &'m Machine,
}

impl<'m> GpuCode<'m> {
    /// For a target; a CPU has nothing to report.
    pub fn new(target: CodeTarget, machine: &'m Machine, libraries: &'m LibraryPaths) -> GpuCode<'m> {
        GpuCode { nvrtc: OnceCell::new(), libraries, architecture: target.architecture(), machine }
    }

    /// NVRTC, if present; otherwise reports why the registers are unknown.
    fn nvrtc(&self) -> Option<&Nvrtc> {
        let open = || {
            let opened = Nvrtc::open(self.libraries);
            opened.inspect_err(|error| tell(format_args!("registers are unknown: {error}"))).ok()
        };
        self.nvrtc.get_or_init(open).as_ref()
    }

    /// The resources of each of a plan's kernels. For kernels that NVRTC rejects it reports why, and they have none.
    pub fn of(&self, plan: &Plan) -> Vec<Option<ThreadResources>> {
        let kernels: Vec<_> = gpu_kernels(plan).collect();
        let architecture = self.architecture.filter(|_| !kernels.is_empty());
        let Some((architecture, nvrtc)) = architecture.and_then(|name| Some((name, self.nvrtc()?))) else {
            return Vec::new();
        };
        let compiler = GpuCompiler::new(nvrtc, architecture, self.machine.cache());
        let found = compiler.resources(&kernels, self.machine.threads(), &Interrupt::default());
        let known = |found: Result<ThreadResources, GpuCodeError>| {
            found.inspect_err(|error| tell(format_args!("registers are unknown: {error}"))).ok()
        };
        found.expect("nothing interrupts it").into_iter().map(known).collect()
    }
}
