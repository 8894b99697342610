//! A GPU as a device of executables: calls of the host run in the order of its own stream.

use std::sync::Arc;

use cuda::{Cuda, LibraryPaths};
use ir::array::ArrayView;
use kernel::Kernel;
use target::Target;

use super::code::gpu_kernel;
use super::{CudaDevice, GpuMemory, GpuTensor, OnStream, Telling};
use crate::accelerator::{Accelerator, LoadError, LoadedKernel, OwnsMemory};
use crate::device::Host;
use crate::executor::CUDA_KIND;
use crate::{DeviceHandle, Error, Tensor};
use cpu::objects::{Alike, ObjectCache};

/// Opens NVIDIA's libraries and a GPU.
pub(crate) fn open(libraries: &LibraryPaths, ordinal: usize) -> Result<DeviceHandle, String> {
    let opened = Cuda::open(libraries).and_then(|cuda| CudaDevice::open(&Arc::new(cuda), ordinal));
    opened.map(|gpu| Arc::new(gpu).into()).map_err(|error| error.to_string())
}

impl From<Arc<CudaDevice>> for DeviceHandle {
    fn from(gpu: Arc<CudaDevice>) -> DeviceHandle {
        DeviceHandle::new(gpu)
    }
}

impl Accelerator for CudaDevice {
    fn kind(&self) -> &'static str {
        CUDA_KIND
    }

    fn target(&self) -> Target {
        CudaDevice::target(self)
    }

    fn load(
        &self,
        kernel: &Kernel,
        members: usize,
        cache: Option<&ObjectCache>,
        alike: &Alike,
    ) -> Result<LoadedKernel, LoadError> {
        Ok(LoadedKernel::new(gpu_kernel(kernel, members, self, cache, alike)?))
    }

    fn poison(&self) {
        CudaDevice::poison(self);
    }
}

impl OwnsMemory for CudaDevice {
    type Space = GpuMemory;
    type InCall<'c> = OnStream<'c>;

    fn in_call<'c>(&'c self, host: Host<'c>) -> OnStream<'c> {
        OnStream::new(self, self.stream(), host, Telling::Itself)
    }

    fn upload(&self, view: &ArrayView<'_>) -> Result<GpuTensor, Error> {
        GpuTensor::of_host(self.stream(), view)
    }

    fn download(&self, tensor: &GpuTensor, host: Host<'_>) -> Result<Tensor, Error> {
        tensor.downloaded(&host.machine.allocator)
    }

    fn wait(&self) -> Result<(), Error> {
        Ok(self.stream().synchronize()?)
    }
}
