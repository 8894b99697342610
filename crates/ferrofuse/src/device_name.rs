//! Names of devices: `cpu`, `cuda`, `cuda:N`.

use std::str::FromStr;

use index::integer;

/// A device by its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceName {
    /// The host.
    #[default]
    Cpu,
    /// A GPU of NVIDIA's, by its number where the name has one.
    Cuda(Option<usize>),
}

impl FromStr for DeviceName {
    type Err = String;

    fn from_str(name: &str) -> Result<DeviceName, String> {
        let unknown = || format!("`{name}` is no device; known are cpu, cuda, cuda:0, cuda:1, …");
        match (name, name.strip_prefix("cuda:")) {
            ("cpu", _) => Ok(DeviceName::Cpu),
            ("cuda", _) => Ok(DeviceName::Cuda(None)),
            (_, Some(number)) => {
                integer(number).map(|number| DeviceName::Cuda(Some(number))).ok_or_else(unknown)
            }
            (_, None) => Err(unknown()),
        }
    }
}

impl DeviceName {
    /// The number of a GPU; of one without a number it is 0.
    pub fn gpu(self) -> Option<usize> {
        match self {
            DeviceName::Cpu => None,
            DeviceName::Cuda(number) => Some(number.unwrap_or(0)),
        }
    }
}
