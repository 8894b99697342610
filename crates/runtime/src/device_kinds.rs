//! The kinds of devices other than the host, by the names that users give them.

use ::cuda::LibraryPaths;

use crate::executor::CUDA_KIND;
use crate::{DeviceHandle, cuda};

/// A kind of device.
#[derive(Debug)]
pub struct DeviceKind {
    /// Its name for users, followed by a colon and a number if there are several.
    pub name: &'static str,
    /// Opens the device of a number.
    ///
    /// # Errors
    /// What the machine lacks.
    pub open: fn(&LibraryPaths, usize) -> Result<DeviceHandle, String>,
}

/// All kinds.
pub static DEVICE_KINDS: [DeviceKind; 1] = [DeviceKind { name: CUDA_KIND, open: cuda::open }];
