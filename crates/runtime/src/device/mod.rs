//! What a device does for a call: it allocates tensors and runs the steps.
//!
//! A call ([`crate::call`]) walks an execution plan and knows neither pointers nor threads; `host` and `cuda` are the devices.
//! `address_space` (kinds of tensors) · `memory` (what slots hold).

mod address_space;
mod memory;

use std::time::Duration;

use cranelift_entity::PrimaryMap;
use ir::array::{ArrayView, Layout};
use ir::graph::{ExternalOp, Val};
use ir::interrupt::Interrupt;
use kernel::{Kernel, NO_FAULT, index_of_fault};
use ops::{DType, Scalar};
use reference::evaluate::OutOfRange;

use crate::error::IndexFault;
use crate::{Error, Machine};
use cpu::pool::Workers;
use execution::Operands;
use ir::graph::Formula;

pub(crate) use address_space::AddressSpace;
pub(crate) use memory::{Memory, SlotContents, WriteTarget};

/// A kernel to be launched, with its arguments: all blocks of all members, in any order.
pub(crate) struct KernelLaunch<'l, C> {
    pub kernel: &'l Kernel,
    pub code: &'l C,
    /// The operands of those segments of the launch that have something to write.
    pub members: &'l [&'l Operands],
    /// The values of the plan's formulas.
    pub values: &'l PrimaryMap<Formula, i64>,
    /// The values of the kernel's arguments, member by member.
    pub arguments: &'l [i64],
    /// Bytes that the call touches until each buffer is read again.
    pub reuse: &'l [u64],
}

impl<'l, C> KernelLaunch<'l, C> {
    /// The same with the code in the device's own type.
    pub fn with_code<D>(&self, code: &'l D) -> KernelLaunch<'l, D> {
        let KernelLaunch { kernel, members, values, arguments, reuse, .. } = *self;
        KernelLaunch { kernel, code, members, values, arguments, reuse }
    }

    /// The values of the kernel's arguments for a member.
    pub fn arguments_of(&self, member: usize) -> &'l [i64] {
        let count = self.kernel.arguments.len();
        &self.arguments[member * count..][..count]
    }
}

/// Threads and memory of the host, for a call that may be interrupted.
#[derive(Clone, Copy)]
pub(crate) struct Host<'c> {
    pub machine: &'c Machine,
    pub interrupt: &'c Interrupt,
}

impl<'c> Host<'c> {
    /// The threads.
    pub fn workers(self) -> Workers<'c> {
        self.machine.workers(self.interrupt)
    }
}

/// A value whose indices are checked in a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckedIndex {
    pub val: Val,
    /// The axis that the indices are on.
    pub axis: usize,
    /// The size of that axis.
    pub size: i64,
}

/// The first fault in these words, in the order of the definition.
pub(crate) fn first_fault(words: impl Iterator<Item = i64>, checked: &[CheckedIndex]) -> Option<IndexFault> {
    let fault = |(&CheckedIndex { val, axis, size }, word)| {
        index_of_fault(word).map(|index| IndexFault { val, at: OutOfRange { axis, size, index } })
    };
    checked.iter().zip(words).filter_map(fault).min_by_key(|fault| fault.val)
}

/// A device that runs the steps of a call.
pub(crate) trait Device {
    /// The memory of its tensors.
    type Space: AddressSpace;
    /// A kernel in executable form.
    type Code;
    /// A moment of its clock.
    type Moment;

    /// The host, which computes what the device has no kernel for.
    fn host(&self) -> Host<'_>;

    /// The most bytes that calls may hold at once.
    fn memory_limit(&self) -> usize;

    /// A tensor with unspecified contents, in a layout without gaps.
    fn allocate(&self, dtype: DType, layout: Layout) -> Result<TensorOf<Self>, Error>;

    /// Prepares for the tensors of these bytes that a call will request as [`Device::intermediate`].
    fn reserve(&self, _: impl Iterator<Item = usize>) -> Result<(), Error> {
        Ok(())
    }

    /// A tensor as [`Device::allocate`] gives it, which does not outlive the call.
    fn intermediate(&self, dtype: DType, layout: Layout) -> Result<TensorOf<Self>, Error> {
        self.allocate(dtype, layout)
    }

    /// Fills a tensor with one element.
    fn fill(&self, to: ViewMutOf<'_, Self>, element: Scalar) -> Result<(), Error>;

    /// Copies elements from one tensor to another of the same type.
    fn copy(&self, to: ViewMutOf<'_, Self>, from: &ViewOf<'_, Self>) -> Result<(), Error>;

    /// Copies elements of the host to a tensor of the same type.
    fn store(&self, to: ViewMutOf<'_, Self>, from: &ArrayView<'_>) -> Result<(), Error>;

    /// Runs all blocks of a kernel. Its buffers are slots of `memory`. No member writes what another one touches.
    fn launch(
        &self,
        launch: &KernelLaunch<'_, Self::Code>,
        memory: &mut Memory<'_, Self::Space>,
    ) -> Result<(), Error>;

    /// Has a library compute an op whose results are dense. Errors name `val`.
    fn external(
        &self,
        op: &ExternalOp,
        operands: &[ViewOf<'_, Self>],
        results: Vec<ViewMutOf<'_, Self>>,
        val: Val,
    ) -> Result<(), Error>;

    /// Runs host work on tensors: in place, or on copies.
    fn on_host<R>(
        &self,
        views: &[ViewOf<'_, Self>],
        work: impl FnOnce(&[ArrayView<'_>]) -> R,
    ) -> Result<R, Error>;

    /// Fault words for these values, one each, without a fault yet.
    fn fault_words<'m>(&self, checked: &[CheckedIndex]) -> Result<SlotContents<'m, Self::Space>, Error> {
        let mut words = self.allocate(DType::I64, Layout::dense(&[checked.len()]))?;
        self.fill(Self::Space::view_mut(&mut words), Scalar::from_i64(DType::I64, NO_FAULT))?;
        Ok(SlotContents::Own(words))
    }

    /// The first index out of range in fault words. `None` if the call does not wait: a later call reports it.
    fn fault(&self, words: ViewOf<'_, Self>, checked: &[CheckedIndex]) -> Result<Option<IndexFault>, Error> {
        self.on_host(&[words], |views| {
            first_fault((0..checked.len()).map(|word| views[0].scalar(word).as_i64()), checked)
        })
    }

    /// The moment when the steps so far are done, by the device's clock. This does not wait.
    fn moment(&self) -> Result<Self::Moment, Error>;

    /// The time from one moment to a later one; waits for the later one.
    fn between(&self, begin: &Self::Moment, end: &Self::Moment) -> Result<Duration, Error>;
}

/// Tensors and views of a device.
pub(crate) type TensorOf<D> = <<D as Device>::Space as AddressSpace>::Tensor;
pub(crate) type ViewOf<'m, D> = <<D as Device>::Space as AddressSpace>::View<'m>;
pub(crate) type ViewMutOf<'m, D> = <<D as Device>::Space as AddressSpace>::ViewMut<'m>;
