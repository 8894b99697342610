//! Kernels for a GPU: machine code, loaded.

use codegen_c::cuda::{CudaKernel, Parameter};
use cuda::{Function, KernelResources, Module};
use index::Expr;
use kernel::Kernel;

use super::CudaDevice;
use super::machine_code::{GpuCodeError, GpuCompiler};
use crate::report::{KernelReport, Reported};
use cpu::objects::{Alike, ObjectCache, Origin};

/// A kernel loaded into a GPU.
#[derive(Debug)]
pub(crate) struct GpuKernel {
    pub function: Function,
    /// The members that a launch runs at most; if several, they are in a table, see [`CudaKernel::members`].
    pub members: usize,
    /// Its parameters, or those of a member, in order.
    pub parameters: Vec<Parameter>,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of shared memory that the text declares itself.
    pub static_shared_bytes: u32,
    /// Bytes of shared memory that the launch must give, over the kernel's arguments.
    pub dynamic_shared_bytes: Expr,
    /// Bytes of machine code.
    pub code_bytes: usize,
    /// Its resources of a multiprocessor, without dynamic shared memory.
    pub resources: KernelResources,
    pub origin: Origin,
}

impl Reported for GpuKernel {
    fn report(&self, name: &str) -> KernelReport {
        KernelReport {
            name: name.to_owned(),
            compile: self.origin.compile,
            code_bytes: self.code_bytes,
            cached: self.origin.is_cached,
            resources: Some(self.resources),
        }
    }
}

/// The machine code of a kernel in a GPU, for launches of `members` members.
pub(crate) fn gpu_kernel(
    kernel: &Kernel,
    members: usize,
    device: &CudaDevice,
    cache: Option<&ObjectCache>,
    alike: &Alike,
) -> Result<GpuKernel, GpuCodeError> {
    let architecture = device.gpu().architecture();
    let compiler = GpuCompiler::new(device.nvrtc(), &architecture, cache);
    let load = |text: &CudaKernel, cubin: &[u8]| {
        let function = Module::load(device.gpu(), cubin)?.function(&text.name)?;
        let resources = function.resources(text.block_threads, 0)?;
        Ok((function, resources, cubin.len()))
    };
    let (text, (function, resources, code_bytes), origin) = compiler.code(kernel, members, alike, load)?;
    Ok(GpuKernel {
        function,
        resources,
        members: text.members,
        parameters: text.parameters,
        threads: text.block_threads,
        static_shared_bytes: text.static_shared_bytes,
        dynamic_shared_bytes: text.dynamic_shared_bytes,
        code_bytes,
        origin,
    })
}
