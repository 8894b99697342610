//! A device in one file: its code of a kernel is text, and a launch runs nothing but notes what would run.

use std::cell::RefCell;
use std::time::Duration;

use codegen::cpu::Error as CodegenError;
use ir::array::{Array, ArrayView, ArrayViewMut, Layout};
use ir::graph::{ExternalOp, Val};
use ir::interrupt::Interrupt;
use ir::kernel::Kernel;
use ops::{DType, Scalar};
use reference::interpret::Options;

use super::{SEGMENTS, planned};
use crate::call::{Call, Given};
use crate::compile::{Code, Planned, Variant};
use crate::device::{Device, Host, KernelLaunch, Memory};
use crate::host::{HostCode, HostMemory};
use crate::{Error, Executor, Machine, MachineOptions, Tensor};

/// What was asked of it.
struct NullDevice<'c> {
    host: Host<'c>,
    launched: &'c RefCell<Vec<String>>,
}

impl Device for NullDevice<'_> {
    type Space = HostMemory;
    type Code = String;
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

    fn launch(&self, launch: &KernelLaunch<'_, String>, _: &mut Memory<'_, HostMemory>) -> Result<(), Error> {
        let head = launch.code.lines().next().unwrap_or_default();
        let blocks = launch.members.iter().map(|member| launch.values[member.blocks]).sum::<i64>();
        self.launched.borrow_mut().push(format!("{head} of {blocks} blocks"));
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
    let (definition, plan) = planned(SEGMENTS);
    let planned = Planned { plan, time: Duration::ZERO };
    let program = |_: &Kernel| Ok::<_, CodegenError>(HostCode::Program(Options::default()));
    let interrupt = Interrupt::default();
    let variant = Variant::new(planned, Executor::Interpreter, 1, &interrupt, program, Code::Host);
    let variant = variant.expect("not interrupted");
    let code: Vec<String> = variant.steps.kernels.iter().map(ToString::to_string).collect();
    let x = Array::zeros(DType::F32, &[6, 40]).expect("memory");
    let sizes = definition.signature().bind(&[x.view()], &[]).expect("fits");
    let (machine, launched) = (Machine::new(MachineOptions::default()), RefCell::default());
    let device = NullDevice { host: Host { machine: &machine, interrupt: &interrupt }, launched: &launched };
    let inputs = [x.view()].into_iter();
    let given = Given { sizes: &sizes, inputs, targets: &[], visible: &[true] };
    let call = Call::new(&variant, &code, device, given).expect("fits in its memory");
    let (outputs, report) = call.run(false).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(outputs.len(), 3);
    assert!(report.peak_bytes > 0);
    let launched = launched.into_inner();
    assert_eq!(launched.len(), code.len(), "{launched:?}");
    assert!(launched.iter().all(|line| line.starts_with("kernel seg")), "{launched:?}");
}
