//! A kernel loaded into a device: to all others a report, to its own device what it made.

use std::any::Any;
use std::fmt::Debug;

use crate::report::{KernelReport, Reported};

/// A kernel loaded into a device.
#[derive(Debug)]
pub(crate) struct LoadedKernel(Box<dyn Code>);

/// What a device makes of a kernel.
trait Code: Reported + Any + Debug + Send + Sync {}

impl<K: Reported + Any + Debug + Send + Sync> Code for K {}

impl LoadedKernel {
    /// What a device made.
    pub fn new(kernel: impl Reported + Any + Debug + Send + Sync) -> LoadedKernel {
        LoadedKernel(Box::new(kernel))
    }

    /// What the device made, which is of this type.
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
