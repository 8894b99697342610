//! A kernel loaded into a device: opaque to others, except for its report; its own device downcasts it.

use std::any::Any;
use std::fmt::Debug;

use crate::report::{KernelReport, Reported};

/// A kernel loaded into a device.
#[derive(Debug)]
pub(crate) struct LoadedKernel(Box<dyn Code>);

/// A device's form of a kernel.
trait Code: Reported + Any + Debug + Send + Sync {}

impl<K: Reported + Any + Debug + Send + Sync> Code for K {}

impl LoadedKernel {
    /// Wraps a device's form of a kernel.
    pub fn new(kernel: impl Reported + Any + Debug + Send + Sync) -> LoadedKernel {
        LoadedKernel(Box::new(kernel))
    }

    /// The device's form, which has this type.
    pub fn of<K: Any>(&self) -> &K {
        let code: &dyn Any = &*self.0;
        code.downcast_ref().expect("a kernel of this device")
    }
}

impl Reported for LoadedKernel {
    fn report(&self, name: &str) -> KernelReport {
        self.0.report(name)
    }
}
