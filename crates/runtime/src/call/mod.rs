//! One call of a variant: it runs the steps in order on the inputs.
//!
//! Before the first step all sizes are evaluated, and the memory that the call will hold is compared with the available
//! memory. `segments`, `external` (steps that compute) · `faults` (indices out of range) · `outputs` · `timed`. The device
//! does the work.

mod external;
mod faults;
mod outputs;
mod segments;
mod timed;

use std::sync::Arc;

use compiler::outputs::Placement;
use cranelift_entity::SecondaryMap;
use ir::array::Layout;
use ir::graph::Sizes;
use ir::interrupt::Interrupted;
use ops::Scalar;

use crate::device::{AddressSpace, Device, TensorOf, ViewOf};
use crate::device::{Memory, SlotContents, WriteTarget};
use crate::error::IndexFault;
use crate::extents::Extents;
use crate::tensor::packed;
use crate::{CallReport, Error, Machine};
use cpu::pool::until_interrupted;
use execution::{ExecutionPlan, Slot, Step};

pub(crate) use outputs::{Done, written};
use timed::{Timed, TimedStep};

/// Whether no step of such a call is worth sharing among threads.
pub(crate) fn is_short(plan: &ExecutionPlan, extents: &Extents, machine: &Machine) -> bool {
    let is_short = |step: &Step| match step {
        Step::Launch(launch) => launch.all_operations(&extents.formulas) < machine.min_shared(),
        Step::Allocate(_) | Step::InitFaults(_) | Step::Free(_) => true,
        Step::Evaluate(_) | Step::External(_) | Step::Copy { .. } => false,
    };
    plan.steps.iter().all(is_short)
}

/// The outputs of a call, and its report.
pub(crate) type Finished<S> = (Vec<Done<S>>, CallReport);

/// A call that is running its steps.
pub(crate) struct Call<'c, 'a, D: Device> {
    plan: &'c ExecutionPlan,
    /// The kernels of the plan, in order.
    code: &'c [D::Code],
    device: D,
    known: &'c Sizes,
    extents: Arc<Extents>,
    memory: Memory<'c, D::Space>,
    /// For each input its memory, if outputs are written to it and the call may.
    targets: &'c [Option<WriteTarget<'a, D::Space>>],
    /// For each input whether outputs may be views of it.
    visible: &'c [bool],
    /// For each returned output the caller's memory that it goes to; none if outputs have their own.
    destinations: &'c [Option<WriteTarget<'a, D::Space>>],
    /// The slots that kernels make directly there.
    direct: SecondaryMap<Slot, Option<&'c WriteTarget<'a, D::Space>>>,
    report: CallReport,
    /// The first index out of range, in the order of the definition.
    fault: Option<IndexFault>,
}

/// The arguments of a call.
pub(crate) struct Given<'c, 'a, S: AddressSpace, I> {
    /// The values of size symbols.
    pub sizes: &'c Sizes,
    /// The extents that they determine.
    pub extents: Arc<Extents>,
    /// The inputs as kernels can read them.
    pub inputs: I,
    /// For each input its memory, if outputs are written to it and the call may; or none at all.
    pub targets: &'c [Option<WriteTarget<'a, S>>],
    /// For each input whether outputs may be views of it.
    pub visible: &'c [bool],
}

impl<'a, S: AddressSpace, I> Given<'_, 'a, S, I> {
    /// The same, with the inputs behind a `dyn` iterator.
    pub fn by_ref<'g, 'v>(&'g mut self) -> Given<'g, 'a, S, &'g mut dyn Iterator<Item = S::View<'v>>>
    where
        I: Iterator<Item = S::View<'v>>,
    {
        let Given { sizes, extents, inputs, targets, visible } = self;
        Given { sizes, extents: Arc::clone(extents), inputs, targets, visible }
    }
}

impl<'c, 'a, D: Device> Call<'c, 'a, D> {
    /// A call on inputs that fit the plan, whose kernels are `code`.
    pub fn new(
        plan: &'c ExecutionPlan,
        code: &'c [D::Code],
        device: D,
        given: Given<'c, 'a, D::Space, impl Iterator<Item = ViewOf<'c, D>>>,
    ) -> Call<'c, 'a, D> {
        let Given { sizes: known, extents, inputs, targets, visible } = given;
        let mut memory: Memory<'c, D::Space> = plan.slots.keys().map(|_| SlotContents::Nothing).collect();
        for (&slot, view) in plan.inputs.iter().zip(inputs) {
            memory[slot] = SlotContents::Input(view);
        }
        let (report, fault) = (CallReport::default(), None);
        let (destinations, direct) = (&[][..], SecondaryMap::new());
        Call {
            plan,
            code,
            device,
            known,
            extents,
            memory,
            targets,
            visible,
            destinations,
            direct,
            report,
            fault,
        }
    }

    /// The call, with outputs written to the caller's memory, which was checked against [`Call::forms`].
    pub fn writing_to(self, destinations: &'c [Option<WriteTarget<'a, D::Space>>]) -> Call<'c, 'a, D> {
        let direct = self.made_directly(destinations);
        Call { destinations, direct, ..self }
    }

    /// The most bytes that the steps, and copies of inputs that may not be viewed, hold at once.
    fn peak_bytes(&self) -> Result<usize, Error> {
        let limit = self.device.memory_limit();
        let bytes = |slot: Slot| self.extents.bytes[slot].ok_or(Error::Memory { bytes: usize::MAX, limit });
        let (mut live, mut peak) = (0_usize, 0_usize);
        for step in &self.plan.steps {
            match step {
                Step::Allocate(slot) | Step::InitFaults(slot) if self.target(*slot).is_none() => {
                    live = live.saturating_add(bytes(*slot)?)
                }
                Step::Free(slot) => live -= bytes(*slot)?,
                _ => {}
            }
            peak = peak.max(live);
        }
        let peak = peak.max(live.saturating_add(self.copied_bytes()));
        if peak > limit { Err(Error::Memory { bytes: peak, limit }) } else { Ok(peak) }
    }

    /// Runs all steps, until it is interrupted. Memory is compared with the device's first.
    pub fn run(self, timed: bool) -> Result<Finished<D::Space>, Error> {
        until_interrupted(|| self.all(timed))?
    }

    fn all(mut self, timed: bool) -> Result<Finished<D::Space>, Error> {
        self.report.peak_bytes = self.peak_bytes()?;
        let mut clock = timed.then(|| Timed::new(&self.device)).transpose()?;
        let plan = self.plan;
        let freed = plan.slots.iter().filter(|(_, data)| data.is_freed);
        self.device.reserve(freed.filter_map(|(slot, _)| self.extents.bytes[slot]))?;
        for (number, step) in plan.steps.iter().enumerate() {
            let is_work = !matches!(step, Step::Allocate(_) | Step::InitFaults(_) | Step::Free(_));
            if is_work && self.device.host().interrupt.poll() {
                return Err(Interrupted.into());
            }
            let done = self.clocked(step, clock.as_mut());
            if let Err(error) = done {
                // A failure after an index out of range may be caused by it.
                self.look_for_faults()?;
                let next = || plan.steps[number..].iter().find_map(|step| plan.name_of(step));
                return Err(self.fault.map_or_else(|| error.for_step(next), Error::from));
            }
        }
        if let Some(clock) = clock {
            clock.tell(&self.device, &mut self.report)?;
        }
        self.look_for_faults()?;
        if let Some(fault) = self.fault {
            return Err(fault.into());
        }
        let mut done = self.outputs()?;
        self.write_targets()?;
        self.write_destinations(&mut done)?;
        Ok((done, self.report))
    }

    /// The memory of an input, or of the caller's for an output, in which a slot is made directly.
    fn target(&self, slot: Slot) -> Option<&'c WriteTarget<'a, D::Space>> {
        let of_input = |input: usize| self.targets.get(input)?.as_ref().filter(|target| target.is_direct());
        self.plan.slots[slot].in_place.and_then(of_input).or(self.direct[slot])
    }

    fn step(&mut self, step: &Step) -> Result<(), Error> {
        match step {
            Step::Allocate(slot) => {
                self.memory[*slot] = match self.target(*slot) {
                    Some(target) => SlotContents::Target(target.open_direct()),
                    None => SlotContents::Own(self.allocate(*slot)?),
                };
            }
            Step::InitFaults(slot) => self.init_faults(*slot)?,
            Step::Launch(launch) => self.launch(launch)?,
            Step::Evaluate(evaluation) => self.evaluate(evaluation)?,
            Step::External(step) => self.external(step)?,
            Step::Copy { from, to } => {
                let mut target = std::mem::replace(&mut self.memory[*to], SlotContents::Nothing);
                let copied = self.device.copy(target.view_mut(), &self.memory[*from].view());
                self.memory[*to] = target;
                copied?;
            }
            Step::Free(slot) => self.memory[*slot] = SlotContents::Nothing,
        }
        Ok(())
    }

    fn allocate(&self, slot: Slot) -> Result<TensorOf<D>, Error> {
        let (data, layout) = (&self.plan.slots[slot], self.layout(slot));
        match data.is_freed {
            true => self.device.intermediate(data.dtype, layout),
            false => self.device.allocate(data.dtype, layout),
        }
    }

    /// The layout of a slot that is allocated.
    fn layout(&self, slot: Slot) -> Layout {
        let sizes = &self.extents.sizes[slot];
        match &self.plan.slots[slot].placement {
            None => Layout::dense(sizes),
            Some(Placement::Ordered(order)) => Layout::ordered(sizes, order.iter().map(|&axis| axis.into())),
            Some(Placement::Like(input)) => {
                let (_, layout) = self.memory[self.plan.inputs[*input]].form();
                if layout.is_dense() { Layout::dense(sizes) } else { packed(sizes, &layout.strides) }
            }
        }
    }

    /// Fills a slot with one element.
    fn fill(&mut self, slot: Slot, element: Scalar) -> Result<(), Error> {
        self.device.fill(self.memory[slot].view_mut(), element)
    }

    /// Runs a step, timed by the clock if there is one.
    fn clocked(&mut self, step: &Step, clock: Option<&mut Timed<D>>) -> Result<(), Error> {
        let Some(clock) = clock else { return self.step(step) };
        let Some(name) = self.plan.name_of(step) else { return self.step(step) };
        let touched = [self.plan.read_by(step), self.plan.written_by(step)];
        let [read, written] = touched.map(|slots| self.bytes_of(slots));
        let begin = self.device.moment()?;
        self.step(step)?;
        let end = self.device.moment()?;
        clock.steps.push(TimedStep { name, read, written, begin, end });
        Ok(())
    }

    /// Bytes of the contents of slots, each counted once.
    fn bytes_of(&self, mut slots: Vec<Slot>) -> u64 {
        slots.sort_unstable();
        slots.dedup();
        slots.into_iter().map(|slot| self.memory[slot].bytes()).sum()
    }
}
