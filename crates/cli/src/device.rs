//! What runs kernels: `--device cpu|cuda[:N]`.

use std::str::FromStr;
use std::sync::Arc;

use cuda::{Cuda, LibraryPaths};
use ferrofuse::{CompileOptions, CudaDevice, Executor};
use index::integer;

use crate::failure::Failure;

/// A device by its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceName {
    /// The host.
    #[default]
    Cpu,
    /// A GPU of NVIDIA's, by its number.
    Cuda(usize),
}

impl FromStr for DeviceName {
    type Err = String;

    fn from_str(name: &str) -> Result<DeviceName, String> {
        let unknown = || format!("`{name}` is no device; known are cpu, cuda, cuda:0, cuda:1, …");
        match (name, name.strip_prefix("cuda:")) {
            ("cpu", _) => Ok(DeviceName::Cpu),
            ("cuda", _) => Ok(DeviceName::Cuda(0)),
            (_, Some(number)) => integer(number).map(DeviceName::Cuda).ok_or_else(unknown),
            (_, None) => Err(unknown()),
        }
    }
}

impl DeviceName {
    /// The options for this device, which is opened.
    ///
    /// # Errors
    /// What the machine lacks: driver, NVRTC, the device.
    pub fn options(
        self,
        libraries: &LibraryPaths,
        options: CompileOptions,
    ) -> Result<CompileOptions, Failure> {
        let DeviceName::Cuda(ordinal) = self else { return Ok(options) };
        let cuda = Arc::new(Cuda::open(libraries).map_err(Failure::machine)?);
        let gpu = CudaDevice::open(&cuda, ordinal).map_err(Failure::machine)?;
        Ok(CompileOptions { executor: Executor::Cuda, gpu: Some(Arc::new(gpu)), ..options })
    }
}
