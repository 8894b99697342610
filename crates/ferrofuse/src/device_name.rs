//! Names of devices: `cpu`, `cuda`, `cuda:N`.

use std::str::FromStr;

use index::integer;
use runtime::{DEVICE_KINDS, DeviceKind};

/// A device by its name.
#[derive(Clone, Copy, Debug, Default)]
pub enum DeviceName {
    /// The host.
    #[default]
    Cpu,
    /// Another device, by its number where the name has one.
    Other(&'static DeviceKind, Option<usize>),
}

impl FromStr for DeviceName {
    type Err = String;

    fn from_str(name: &str) -> Result<DeviceName, String> {
        if name == "cpu" {
            return Ok(DeviceName::Cpu);
        }
        let of_kind = |kind: &'static DeviceKind| match name.strip_prefix(kind.name)? {
            "" => Some(DeviceName::Other(kind, None)),
            number => Some(DeviceName::Other(kind, Some(integer(number.strip_prefix(':')?)?))),
        };
        DEVICE_KINDS.iter().find_map(of_kind).ok_or_else(|| {
            let known =
                DEVICE_KINDS.iter().map(|DeviceKind { name, .. }| format!("{name}, {name}:0, {name}:1"));
            format!("`{name}` is no device; known are cpu, {}, …", known.collect::<Vec<_>>().join(", "))
        })
    }
}
