//! The device that runs kernels: `--device cpu|cuda[:N]`.

use cuda::LibraryPaths;
use ferrofuse::{CompileOptions, DeviceName, Executor};

use crate::failure::Failure;

/// The options for a device, which is opened. If outputs are checked, a GPU's memory is filled with NaN before kernels write
/// to it.
///
/// # Errors
/// Things that the machine lacks: driver, NVRTC, the device.
pub fn options(
    device: DeviceName,
    libraries: &LibraryPaths,
    options: CompileOptions,
    is_checked: bool,
) -> Result<CompileOptions, Failure> {
    let DeviceName::Other(kind, number) = device else { return Ok(options) };
    let device = (kind.open)(libraries, number.unwrap_or(0)).map_err(Failure::machine)?;
    if is_checked {
        device.poison();
    }
    Ok(CompileOptions { executor: Executor::Device(kind.name), device: Some(device), ..options })
}
