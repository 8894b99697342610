//! Kernels for a GPU: CUDA C++ written, compiled by NVRTC or taken from the cache, and loaded.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use codegen::cuda::{CudaKernel, NVRTC_OPTIONS, Parameter, emit};
use cuda::{Function, KernelResources, Module};
use index::Expr;
use ir::kernel::Kernel;
use thiserror::Error;

use super::CudaDevice;
use crate::alike::{Alike, SYMBOL};
use crate::report::{KernelReport, Reported};
use cpu::objects::{Key, ObjectCache};

/// A kernel loaded into a GPU.
#[derive(Debug)]
pub(crate) struct GpuKernel {
    pub function: Function,
    /// What it takes, in order.
    pub parameters: Vec<Parameter>,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of shared memory that the text declares itself.
    pub static_shared_bytes: u32,
    /// Bytes of shared memory that the launch must give, over the kernel's arguments.
    pub dynamic_shared_bytes: Expr,
    /// Bytes of machine code.
    pub code_bytes: usize,
    /// What it takes of a multiprocessor, dynamic shared memory aside.
    pub resources: KernelResources,
    /// Time in NVRTC; `None` where it was compiled before.
    pub compile: Option<Duration>,
}

impl Reported for GpuKernel {
    fn report(&self, name: &str) -> KernelReport {
        KernelReport {
            name: name.to_owned(),
            compile: self.compile.unwrap_or_default(),
            code_bytes: self.code_bytes,
            cached: self.compile.is_none(),
            resources: Some(self.resources),
        }
    }
}

/// Why a kernel has no code.
#[derive(Debug, Error)]
pub(crate) enum GpuCodeError {
    /// It cannot be said in CUDA C++.
    #[error(transparent)]
    Emit(#[from] codegen::cuda::EmitError),
    /// NVRTC or the driver rejects it.
    #[error(transparent)]
    Cuda(#[from] cuda::Error),
}

/// The machine code of a kernel in a GPU: that of an equal one, or from the cache if it is there, else compiled, and kept for the
/// next process.
pub(crate) fn gpu_kernel(
    kernel: &Kernel,
    device: &CudaDevice,
    cache: Option<&ObjectCache>,
    alike: &Alike,
) -> Result<GpuKernel, GpuCodeError> {
    let text = emit(&Kernel { name: SYMBOL.to_owned(), ..kernel.clone() })?;
    let code = without_comments(&text.source);
    let object = alike.object_of(code.clone());
    let mut object = object.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(cubin) = &*object {
        return Ok(loaded(text, cubin, device, None)?);
    }
    let architecture = device.gpu().architecture();
    let key = cache.map(|cache| (cache, key(device, &architecture, &code)));
    if let Some((cache, key)) = &key
        && let Some(cubin) = cache.get(key)
    {
        match loaded(text.clone(), &cubin, device, None) {
            Ok(kernel) => {
                *object = Some(cubin);
                return Ok(kernel);
            }
            Err(_) => cache.reject(key),
        }
    }
    let begin = Instant::now();
    let cubin = device.nvrtc().compile(&code, &architecture, &NVRTC_OPTIONS)?.bytes;
    let kernel = loaded(text, &cubin, device, Some(begin.elapsed()))?;
    if let Some((cache, key)) = key {
        cache.put(&key, &cubin);
    }
    *object = Some(cubin);
    Ok(kernel)
}

/// All that machine code depends on.
fn key(device: &CudaDevice, architecture: &str, code: &str) -> Key {
    let (major, minor) = device.nvrtc().version();
    let recipe = format!("NVRTC {major}.{minor} {architecture} {}", NVRTC_OPTIONS.join(" "));
    Key::new(&[&recipe, code])
}

fn loaded(
    text: CudaKernel,
    cubin: &[u8],
    device: &CudaDevice,
    compile: Option<Duration>,
) -> Result<GpuKernel, cuda::Error> {
    let function = Module::load(device.gpu(), cubin)?.function(&text.name)?;
    let resources = function.resources(text.block_threads, 0)?;
    Ok(GpuKernel {
        function,
        resources,
        parameters: text.parameters,
        threads: text.block_threads,
        static_shared_bytes: text.static_shared_bytes,
        dynamic_shared_bytes: text.dynamic_shared_bytes,
        code_bytes: cubin.len(),
        compile,
    })
}

/// The text without the comments that name what only people read.
fn without_comments(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| [line, "\n"]).collect()
}
