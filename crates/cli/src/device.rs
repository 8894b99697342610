//! What runs kernels: `--device cpu|cuda[:N]`.

use std::sync::Arc;

use cuda::{Cuda, LibraryPaths};
use ferrofuse::{CompileOptions, CudaDevice, DeviceName, Executor};

use crate::failure::Failure;

/// The options for a device, which is opened. Where outputs are checked, a GPU's memory is NaN before kernels write to it.
///
/// # Errors
/// What the machine lacks: driver, NVRTC, the device.
pub fn options(
    device: DeviceName,
    libraries: &LibraryPaths,
    options: CompileOptions,
    is_checked: bool,
) -> Result<CompileOptions, Failure> {
    let Some(ordinal) = device.gpu() else { return Ok(options) };
    let cuda = Arc::new(Cuda::open(libraries).map_err(Failure::machine)?);
    let gpu = CudaDevice::open(&cuda, ordinal).map_err(Failure::machine)?;
    if is_checked {
        gpu.poison();
    }
    Ok(CompileOptions { executor: Executor::Cuda, gpu: Some(Arc::new(gpu)), ..options })
}
