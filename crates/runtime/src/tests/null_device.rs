//! A device in one file: its code for a kernel is text, and a launch only records what would run.

use std::mem::take;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ir::array::{Array, ArrayView, ArrayViewMut, Layout};
use ir::graph::{ExternalOp, Val};
use kernel::Kernel;
use ops::{DType, Scalar};
use target::Target;

use super::{SEGMENTS, defined};
use crate::accelerator::{Accelerator, LoadError, LoadedKernel, OwnsMemory};
use crate::device::{Device, Host, KernelLaunch, Memory};
use crate::host::HostMemory;
use crate::report::{KernelReport, Reported};
use crate::{CompileOptions, DeviceHandle, Error, Executable, Executor, Machine, Tensor};
use cpu::objects::Alike;
use cpu::objects::ObjectCache;

/// The device.
#[derive(Debug, Default)]
struct NullDevice {
    /// The launches so far.
    launched: Mutex<Vec<String>>,
}

/// The text of a kernel.
#[derive(Debug)]
struct Text(String);

impl Reported for Text {
    fn report(&self, name: &str) -> KernelReport {
        let (name, code_bytes) = (name.to_owned(), self.0.len());
        KernelReport { name, compile: Duration::ZERO, code_bytes, cached: false, resources: None }
    }
}

impl Accelerator for NullDevice {
    fn kind(&self) -> &'static str {
        "null"
    }

    fn target(&self) -> Target {
        Target::cuda()
    }

    fn load(
        &self,
        kernel: &Kernel,
        _: usize,
        _: Option<&ObjectCache>,
        _: &Alike,
    ) -> Result<LoadedKernel, LoadError> {
        Ok(LoadedKernel::new(Text(kernel.to_string())))
    }

    fn poison(&self) {
        unreachable!("no check runs on it");
    }
}

impl OwnsMemory for NullDevice {
    type Space = HostMemory;
    type InCall<'c> = NullCall<'c>;

    fn in_call<'c>(&'c self, host: Host<'c>) -> NullCall<'c> {
        NullCall { host, launched: &self.launched }
    }

    fn upload(&self, view: &ArrayView<'_>) -> Result<Tensor, Error> {
        let (machine, layout) = (Machine::shared(), Layout::dense(view.sizes()));
        let mut copy = Tensor::allocate(machine.allocator(), view.dtype(), layout)?;
        copy.as_mut_bytes().copy_from_slice(view.to_array()?.as_bytes());
        Ok(copy)
    }

    fn download(&self, tensor: &Tensor, _: Host<'_>) -> Result<Tensor, Error> {
        self.upload(&tensor.view())
    }

    fn wait(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// The device in a call.
struct NullCall<'c> {
    host: Host<'c>,
    launched: &'c Mutex<Vec<String>>,
}

impl Device for NullCall<'_> {
    type Space = HostMemory;
    type Code = LoadedKernel;
    type Moment = ();

    fn host(&self) -> Host<'_> {
        self.host
    }

    fn memory_limit(&self) -> usize {
        1 << 20
    }

    fn allocate(&self, dtype: DType, layout: Layout) -> Result<Tensor, Error> {
        self.host.allocate(dtype, layout)
    }

    fn fill(&self, to: ArrayViewMut<'_>, element: Scalar) -> Result<(), Error> {
        self.host.fill(to, element)
    }

    fn copy(&self, to: ArrayViewMut<'_>, from: &ArrayView<'_>) -> Result<(), Error> {
        self.host.copy(to, from)
    }

    fn store(&self, to: ArrayViewMut<'_>, from: &ArrayView<'_>) -> Result<(), Error> {
        self.host.store(to, from)
    }

    fn launch(
        &self,
        launch: &KernelLaunch<'_, LoadedKernel>,
        _: &mut Memory<'_, HostMemory>,
    ) -> Result<(), Error> {
        let head = launch.code.of::<Text>().0.lines().next().unwrap_or_default();
        let blocks = launch.members.iter().map(|member| launch.values[member.blocks]).sum::<i64>();
        self.launched.lock().expect("one thread").push(format!("{head} of {blocks} blocks"));
        Ok(())
    }

    fn external(
        &self,
        _: &ExternalOp,
        _: &[ArrayView<'_>],
        _: Vec<ArrayViewMut<'_>>,
        _: Val,
    ) -> Result<(), Error> {
        Ok(())
    }

    fn on_host<R>(
        &self,
        views: &[ArrayView<'_>],
        work: impl FnOnce(&[ArrayView<'_>]) -> R,
    ) -> Result<R, Error> {
        self.host.on_host(views, work)
    }

    fn moment(&self) -> Result<(), Error> {
        Ok(())
    }

    fn between(&self, (): &(), (): &()) -> Result<Duration, Error> {
        Ok(Duration::ZERO)
    }
}

#[test]
fn a_device_is_one_file() {
    let device = Arc::new(NullDevice::default());
    let options = CompileOptions {
        executor: Executor::Device(DeviceHandle::new(device.clone())),
        ..CompileOptions::default()
    };
    let executable = Executable::new(defined(SEGMENTS), options).expect("compiles");
    let x = Array::zeros(DType::F32, &[6, 40]).expect("memory");
    let (outputs, report) = executable.run_timed(&[x.view()]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(outputs.len(), 3);
    assert!(report.peak_bytes > 0);
    let variant = executable.latest().expect("compiled");
    assert_eq!(variant.report.executor.name(), "null");
    let launched = take(&mut *device.launched.lock().expect("one thread"));
    assert_eq!(launched.len(), variant.steps.kernels.len(), "{launched:?}");
    assert!(launched.iter().all(|line| line.starts_with("kernel seg")), "{launched:?}");
}
