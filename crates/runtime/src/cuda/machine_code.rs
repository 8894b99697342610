//! Machine code of kernels for a GPU architecture, without such a GPU: from the cache, or by NVRTC.

use codegen_c::cuda::{CudaKernel, NVRTC_OPTIONS, emit_batch};
use cuda::{Nvrtc, ThreadResources};
use ir::interrupt::{Interrupt, Interrupted};
use kernel::Kernel;
use thiserror::Error;

use cpu::objects::{Alike, ObjectCache, Origin, SYMBOL, without_comments};
use cpu::side_by_side::side_by_side;

/// NVRTC for an architecture, and the cache of machine code.
#[derive(Clone, Copy, Debug)]
pub struct GpuCompiler<'n> {
    nvrtc: &'n Nvrtc,
    architecture: &'n str,
    cache: Option<&'n ObjectCache>,
}

/// Why a kernel has no code.
#[derive(Debug, Error)]
pub enum GpuCodeError {
    /// CUDA C++ cannot express it.
    #[error(transparent)]
    Emit(#[from] codegen_c::cuda::EmitError),
    /// NVRTC or the driver rejects it.
    #[error(transparent)]
    Cuda(#[from] cuda::Error),
}

impl<'n> GpuCompiler<'n> {
    /// For an architecture such as `sm_90`.
    pub fn new(nvrtc: &'n Nvrtc, architecture: &'n str, cache: Option<&'n ObjectCache>) -> GpuCompiler<'n> {
        GpuCompiler { nvrtc, architecture, cache }
    }

    /// What a thread of each kernel takes, as the machine code for launches of its number of members says. `threads` threads compile, equal kernels once.
    ///
    /// # Errors
    /// When it is interrupted; in the list, what a kernel is rejected for.
    pub fn resources(
        &self,
        kernels: &[(&Kernel, usize)],
        threads: usize,
        interrupt: &Interrupt,
    ) -> Result<Vec<Result<ThreadResources, GpuCodeError>>, Interrupted> {
        let alike = Alike::default();
        side_by_side(kernels, threads, interrupt, |&(kernel, members)| {
            let (_, resources, _) = self.code(kernel, members, &alike, |text, cubin| {
                let silent = || cuda::Error::NoResources { kernel: kernel.name.clone() };
                ThreadResources::of(cubin, &text.name).ok_or_else(silent)
            })?;
            Ok(resources)
        })
    }

    /// A kernel's text, and what `load` makes of its machine code, which is compiled where neither an equal kernel nor the
    /// cache has it.
    ///
    /// # Errors
    /// What NVRTC rejects, and what `load` says.
    pub(super) fn code<R>(
        &self,
        kernel: &Kernel,
        members: usize,
        alike: &Alike,
        load: impl Fn(&CudaKernel, &[u8]) -> Result<R, cuda::Error>,
    ) -> Result<(CudaKernel, R, Origin), GpuCodeError> {
        let text = emit_batch(&Kernel { name: SYMBOL.to_owned(), ..kernel.clone() }, members)?;
        let (major, minor) = self.nvrtc.version();
        let recipe = format!("NVRTC {major}.{minor} {} {}", self.architecture, NVRTC_OPTIONS.join(" "));
        let compile = |code: &str| Ok(self.nvrtc.compile(code, self.architecture, &NVRTC_OPTIONS)?.bytes);
        let code = without_comments(&text.source, "//");
        let (loaded, origin) =
            alike.loaded(code, (self.cache, &recipe), compile, |cubin| load(&text, cubin))?;
        Ok((text, loaded, origin))
    }
}
