//! The host as a device: kernels as machine code on its threads, or as programs that the interpreter runs.
//!
//! `code` (kernels compiled) · `launch` (machine code) · `grid` (its blocks) · `interpret` (programs).

mod code;
mod grid;
mod interpret;
mod launch;

use std::time::{Duration, Instant};

use ir::array::{Array, ArrayView, ArrayViewMut, Layout};
use ir::graph::{ExternalOp, Val};
use ops::{DType, Scalar};
use reference::evaluate::copy;

use crate::device::Memory;
use crate::device::{AddressSpace, Device, Host, KernelLaunch};
use crate::{Error, Tensor};
use cpu::external;
use cpu::pool::until_interrupted;
use ir::array::{Argument, Footprint};

pub(crate) use code::{HostCode, machine_code};

/// The memory of the process.
#[derive(Debug)]
pub(crate) struct HostMemory;

impl AddressSpace for HostMemory {
    type View<'m> = ArrayView<'m>;
    type ViewMut<'m> = ArrayViewMut<'m>;
    type Tensor = Tensor;
    type Argument<'a> = Argument<'a>;

    fn alignment(dtype: DType) -> usize {
        dtype.real().size()
    }

    fn form<'v>(view: &'v ArrayView<'_>) -> (DType, &'v Layout) {
        (view.dtype(), view.layout())
    }

    fn form_mut<'v>(view: &'v ArrayViewMut<'_>) -> (DType, &'v Layout) {
        (view.dtype(), view.layout())
    }

    fn tensor_form(tensor: &Tensor) -> (DType, &Layout) {
        (tensor.dtype(), tensor.layout())
    }

    fn relaid<'m>(view: &Self::View<'m>, layout: Layout) -> Self::View<'m> {
        view.relaid(layout).expect("view ops reach no further")
    }

    fn shortened<'m>(view: &'m ArrayView<'_>) -> ArrayView<'m> {
        view.clone()
    }

    fn read<'m>(view: &'m ArrayViewMut<'_>) -> ArrayView<'m> {
        view.view()
    }

    fn reborrowed<'m>(view: &'m mut ArrayViewMut<'_>) -> ArrayViewMut<'m> {
        view.reborrow()
    }

    fn view(tensor: &Tensor) -> ArrayView<'_> {
        tensor.view()
    }

    fn view_mut(tensor: &mut Tensor) -> ArrayViewMut<'_> {
        tensor.view_mut()
    }

    fn tensor_relaid(tensor: Tensor, layout: Layout) -> Tensor {
        tensor.relaid(layout)
    }

    fn argument_view<'m>(argument: &'m Argument<'_>) -> ArrayView<'m> {
        argument.view()
    }

    fn again<'m>(argument: &'m Argument<'_>) -> Argument<'m> {
        // SAFETY: only calls on the host use this: they pass it to the calls that they consist of, which check what overlaps
        // and write as the whole call may.
        unsafe { argument.again() }
    }

    fn argument_relaid<'m>(argument: &'m Argument<'_>, layout: Layout) -> Argument<'m> {
        Argument::from(Self::relaid(&argument.view(), layout))
    }

    fn shared(tensor: &Tensor, layout: Layout) -> Argument<'_> {
        Argument::from(Self::relaid(&tensor.view(), layout))
    }

    fn piece(tensor: &Tensor) -> (usize, usize) {
        (tensor.as_ptr() as usize, tensor.as_bytes().len())
    }

    fn footprint<'m>(argument: &'m Argument<'_>) -> Footprint<'m> {
        argument.footprint()
    }

    fn is_writable(argument: &Argument<'_>) -> bool {
        argument.is_writable()
    }

    unsafe fn open<'m>(argument: &'m Argument<'_>) -> ArrayViewMut<'m> {
        // SAFETY: the caller's.
        unsafe { argument.view_mut() }
    }
}

impl Device for Host<'_> {
    type Space = HostMemory;
    type Code = HostCode;
    type Moment = Instant;

    fn host(&self) -> Host<'_> {
        *self
    }

    fn memory_limit(&self) -> usize {
        self.machine.memory_limit()
    }

    fn allocate(&self, dtype: DType, layout: Layout) -> Result<Tensor, Error> {
        Tensor::allocate(&self.machine.allocator, dtype, layout)
    }

    fn fill(&self, to: ArrayViewMut<'_>, element: Scalar) -> Result<(), Error> {
        let single = Array::full(element, &[])?;
        let sizes = to.sizes();
        let repeated = Layout::dense(&[]).broadcast(&vec![true; sizes.len()]).expanded(sizes);
        let elements = single.view().relaid(repeated).expect("one element, seen again and again");
        self.copy(to, &elements)
    }

    fn copy(&self, mut to: ArrayViewMut<'_>, from: &ArrayView<'_>) -> Result<(), Error> {
        Ok(until_interrupted(|| copy(&mut to, from, &self.workers()))??)
    }

    fn store(&self, to: ArrayViewMut<'_>, from: &ArrayView<'_>) -> Result<(), Error> {
        self.copy(to, from)
    }

    fn launch(
        &self,
        launch: &KernelLaunch<'_, HostCode>,
        memory: &mut Memory<'_, HostMemory>,
    ) -> Result<(), Error> {
        match launch.code {
            HostCode::Machine { code, .. } => launch::run(code, launch, memory, *self),
            HostCode::Program(options) => interpret::run(options, launch, memory),
        }
    }

    fn external(
        &self,
        op: &ExternalOp,
        operands: &[ArrayView<'_>],
        results: Vec<ArrayViewMut<'_>>,
        val: Val,
    ) -> Result<(), Error> {
        Ok(external::run(op, operands, results, val, &self.workers())?)
    }

    fn on_host<R>(
        &self,
        views: &[ArrayView<'_>],
        work: impl FnOnce(&[ArrayView<'_>]) -> R,
    ) -> Result<R, Error> {
        Ok(work(views))
    }

    fn moment(&self) -> Result<Instant, Error> {
        Ok(Instant::now())
    }

    fn between(&self, begin: &Instant, end: &Instant) -> Result<Duration, Error> {
        Ok(end.duration_since(*begin))
    }
}
