//! The device that runs kernels: `--device cpu|cuda[:N]`.

use cuda::LibraryPaths;
use ferrofuse::{CompileOptions, DeviceHandle, DeviceName, Executor};

use crate::failure::Failure;

/// Opens a device, and returns the options to compile for it.
///
/// # Errors
/// Things that the machine lacks: driver, NVRTC, the device.
pub fn open(
    device: DeviceName,
    libraries: &LibraryPaths,
    options: CompileOptions,
) -> Result<CompileOptions, Failure> {
    let DeviceName::Other(kind, number) = device else { return Ok(options) };
    let device = (kind.open)(libraries, number.unwrap_or(0)).map_err(Failure::machine)?;
    Ok(CompileOptions { executor: Executor::Device(device), ..options })
}

/// [`open`] for calls whose outputs are checked: a GPU's memory is filled with NaN before kernels write to it.
///
/// # Errors
/// As [`open`].
pub fn open_for_checks(
    device: DeviceName,
    libraries: &LibraryPaths,
    options: CompileOptions,
) -> Result<CompileOptions, Failure> {
    let options = open(device, libraries, options)?;
    options.executor.device().into_iter().for_each(DeviceHandle::poison);
    Ok(options)
}
