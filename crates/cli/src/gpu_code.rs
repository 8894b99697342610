//! What kernels take of a GPU that need not be there: registers, as NVRTC's machine code says.

use cuda::{LibraryPaths, Nvrtc};
use ferrofuse::{CodeTarget, GpuCompiler, Machine, Plan, ThreadResources, gpu_kernels};
use ir::interrupt::Interrupt;

use crate::failure::tell;

/// NVRTC for a target that is a GPU, if it is there.
pub struct GpuCode<'m> {
    nvrtc: Option<Nvrtc>,
    architecture: &'static str,
    machine: &'m Machine,
}

impl<'m> GpuCode<'m> {
    /// Opens NVRTC where the target is a GPU, and tells why nothing will be known of registers where it is not there.
    pub fn open(target: CodeTarget, machine: &'m Machine, libraries: &LibraryPaths) -> GpuCode<'m> {
        let Some(architecture) = target.architecture() else {
            return GpuCode { nvrtc: None, architecture: "", machine };
        };
        let nvrtc = Nvrtc::open(libraries);
        let nvrtc = nvrtc.inspect_err(|error| tell(format_args!("registers are unknown: {error}"))).ok();
        GpuCode { nvrtc, architecture, machine }
    }

    /// What each of a plan's kernels takes. Of those that NVRTC rejects nothing is known, and it is told why.
    pub fn of(&self, plan: &Plan) -> Vec<Option<ThreadResources>> {
        let Some(nvrtc) = &self.nvrtc else { return Vec::new() };
        let kernels: Vec<_> = gpu_kernels(plan).collect();
        let compiler = GpuCompiler::new(nvrtc, self.architecture, self.machine.cache());
        let found = compiler.resources(&kernels, self.machine.threads(), &Interrupt::default());
        let found = found.expect("nothing interrupts it").into_iter();
        found
            .map(|one| one.inspect_err(|error| tell(format_args!("registers are unknown: {error}"))).ok())
            .collect()
    }
}
