//! Devices other than the host: the interface that executables compile for and calls of the host use.
//!
//! A device is a folder with an [`Accelerator`] that [`OwnsMemory`]; all other modules see it as a [`DeviceHandle`].
//! `kernel` (a kernel loaded into one) · `host_calls` (arrays of the host go there, outputs come back).

mod host_calls;
mod kernel;

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use ::kernel::Kernel;
use ir::array::ArrayView;
use target::Target;

use crate::device::{AddressSpace, Device, Host};
use crate::{Error, Tensor};
use cpu::objects::{Alike, ObjectCache};

pub(crate) use host_calls::{HostCalls, Loaded, Placing};
pub(crate) use kernel::LoadedKernel;

/// Why a device has no code for a kernel.
pub(crate) type LoadError = Box<dyn std::error::Error + Send + Sync>;

/// A device other than the host, opened.
pub(crate) trait Accelerator: HostCalls + Any + Debug + Send + Sync {
    /// The name of its kind of device, such as `cuda`.
    fn kind(&self) -> &'static str;

    /// The facts that the compiler needs.
    fn target(&self) -> Target;

    /// A kernel, compiled or taken from the cache, and loaded, for launches of `members` members. Equal kernels are compiled
    /// once.
    fn load(
        &self,
        kernel: &Kernel,
        members: usize,
        cache: Option<&ObjectCache>,
        alike: &Alike,
    ) -> Result<LoadedKernel, LoadError>;

    /// Fills all memory that calls allocate from now on with NaN, so that a check finds elements that no kernel wrote.
    fn poison(&self);
}

/// A device whose memory is not the host's: arrays are copied there, and back.
pub(crate) trait OwnsMemory {
    /// Its memory.
    type Space: AddressSpace;
    /// The device during a call.
    type InCall<'c>: Device<Space = Self::Space, Code = LoadedKernel>
    where
        Self: 'c;

    /// The device for one call of the host.
    fn in_call<'c>(&'c self, host: Host<'c>) -> Self::InCall<'c>;

    /// A copy of an array of the host, in its layout.
    fn upload(&self, view: &ArrayView<'_>) -> Result<<Self::Space as AddressSpace>::Tensor, Error>;

    /// The same on the host, once all work before is done.
    fn download(
        &self,
        tensor: &<Self::Space as AddressSpace>::Tensor,
        host: Host<'_>,
    ) -> Result<Tensor, Error>;

    /// Waits for the work of all calls of the host.
    fn wait(&self) -> Result<(), Error>;
}

/// A device other than the host, opened: a GPU, for one. Any number of executables may be compiled for it.
#[derive(Clone, Debug)]
pub struct DeviceHandle(Arc<dyn Accelerator>);

impl DeviceHandle {
    /// A device that all executables for it share.
    pub(crate) fn new(device: Arc<dyn Accelerator>) -> DeviceHandle {
        DeviceHandle(device)
    }

    /// The name of its kind of device, such as `cuda`.
    pub fn kind(&self) -> &'static str {
        self.0.kind()
    }

    /// Fills all memory that calls allocate from now on with NaN, so that a check finds elements that no kernel wrote.
    pub fn poison(&self) {
        self.0.poison();
    }

    /// The device as one of a certain kind, if it is.
    pub fn downcast<D: Any + Send + Sync>(&self) -> Option<Arc<D>> {
        let device: Arc<dyn Any + Send + Sync> = self.0.clone();
        device.downcast().ok()
    }

    pub(crate) fn device(&self) -> &dyn Accelerator {
        &*self.0
    }
}
