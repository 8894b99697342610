//! One call of a variant: its steps done one after the other on the inputs.
//!
//! All sizes are evaluated, and the memory that the call will hold is compared with what there is, before the first step.
//! `launch` runs kernels, `interpret` their programs.

use std::time::Instant;

use compiler::placement::Placement;
use cranelift_entity::PrimaryMap;
use ir::array::{Array, ArrayView, ArrayViewMut, Dims, Layout};
use ir::graph::evaluate::{EvaluateError, EvaluateOptions, evaluate};
use ir::graph::{SizeError, Sizes};
use ir::kernel::NO_FAULT;
use ir::{DType, Scalar};

use crate::argument::Argument;
use crate::compile::{Code, Variant};
use crate::cpu::library;
use crate::error::IndexFault;
use crate::formulas::Formula;
use crate::plan::{
    ArgumentSource, Change, Checked, Evaluation, ExecutionPlan, FaultWords, Launch, LibraryStep, Returned,
    SeenSlot, Slot, SlotSource, Step,
};
use crate::tensor::{bytes_of, packed};
use crate::{CallReport, Error, Machine, StepReport, Tensor, interpret, launch};

/// An output of a call that is done.
pub(crate) enum Done {
    /// In memory of the call.
    Made(Tensor),
    /// In the input of this number, which lies under it like this.
    Seen(usize, Layout),
}

/// What a slot holds at some moment of a call.
#[derive(Debug)]
pub(crate) enum Memory<'a> {
    /// Nothing, before it is allocated and after it is freed.
    Nothing,
    /// An input.
    Input(ArrayView<'a>),
    /// Memory of the call.
    Own(Tensor),
    /// The memory of an input, which the call writes.
    Target(ArrayViewMut<'a>),
}

impl Memory<'_> {
    /// The elements.
    pub fn view(&self) -> ArrayView<'_> {
        match self {
            Memory::Input(view) => view.clone(),
            Memory::Own(tensor) => tensor.view(),
            Memory::Target(view) => view.view(),
            Memory::Nothing => unreachable!("a plan reads what it has allocated and not yet freed"),
        }
    }

    /// The elements for writing.
    pub fn view_mut(&mut self) -> ArrayViewMut<'_> {
        match self {
            Memory::Own(tensor) => tensor.view_mut(),
            Memory::Target(view) => view.reborrow(),
            _ => unreachable!("a plan writes what it has allocated and not yet freed"),
        }
    }
}

/// An input that outputs are written to.
pub(crate) struct Target<'a> {
    argument: &'a Argument<'a>,
    /// Whether kernels may write there while the call runs: no other argument sees the same memory, and no copy of the
    /// input is read in its stead.
    direct: bool,
}

impl<'a> Target<'a> {
    /// An argument that may be written to.
    pub fn new(argument: &'a Argument<'a>, direct: bool) -> Target<'a> {
        Target { argument, direct }
    }

    /// The argument.
    pub fn argument(&self) -> &'a Argument<'a> {
        self.argument
    }

    /// The memory for the kernel that makes an output in it.
    fn open(&self) -> ArrayViewMut<'a> {
        // SAFETY: the executable checked that the argument is writable and, where the target is direct, overlaps no other.
        // The plan lets a kernel store here only if no step after it reads the old contents, and the kernel itself loads
        // each element before it stores it.
        unsafe { self.argument.view_mut() }
    }

    /// Writes an output when all steps are done.
    fn write(&self, output: &ArrayView<'_>) {
        // SAFETY: the executable checked that the argument is writable; nothing is read from inputs any more.
        let mut target = unsafe { self.argument.view_mut() };
        target.copy_from(output).expect("the signature checked the sizes of input and output");
    }
}

/// A call on its way through the steps.
pub(crate) struct Call<'a> {
    plan: &'a ExecutionPlan,
    code: &'a [Code],
    machine: &'a Machine,
    known: &'a Sizes,
    formulas: PrimaryMap<Formula, i64>,
    sizes: PrimaryMap<Slot, Dims>,
    memory: PrimaryMap<Slot, Memory<'a>>,
    /// For each input the memory that outputs are written to, where the call may.
    targets: &'a [Option<Target<'a>>],
    /// For each input whether outputs may be views of it.
    visible: &'a [bool],
    report: CallReport,
    /// The first index out of range, in the order of the definition.
    fault: Option<IndexFault>,
}

impl<'a> Call<'a> {
    /// A call on inputs that fit the variant. Sizes are evaluated and memory is compared with the machine's here.
    pub fn new(
        variant: &'a Variant,
        machine: &'a Machine,
        known: &'a Sizes,
        inputs: Vec<ArrayView<'a>>,
        targets: &'a [Option<Target<'a>>],
        visible: &'a [bool],
    ) -> Result<Call<'a>, Error> {
        let plan = &variant.steps;
        let formulas = plan.formulas.evaluate(known)?;
        let mut memory: PrimaryMap<Slot, Memory<'a>> = plan.slots.keys().map(|_| Memory::Nothing).collect();
        for (&slot, view) in plan.inputs.iter().zip(inputs) {
            memory[slot] = Memory::Input(view);
        }
        let size = |&formula: &Formula| {
            usize::try_from(formulas[formula]).map_err(|_| SizeError::Negative {
                formula: plan.formulas.expr(formula).to_string(),
                value: formulas[formula],
            })
        };
        let mut sizes = PrimaryMap::with_capacity(plan.slots.len());
        for data in plan.slots.values() {
            sizes.push(data.shape.iter().map(size).collect::<Result<Dims, SizeError>>()?);
        }
        let report = CallReport::default();
        let mut call = Call {
            plan,
            code: &variant.code,
            machine,
            known,
            formulas,
            sizes,
            memory,
            targets,
            visible,
            report,
            fault: None,
        };
        call.report.peak_bytes = call.peak_bytes()?;
        Ok(call)
    }

    /// The most bytes that the steps hold at once.
    fn peak_bytes(&self) -> Result<usize, Error> {
        let limit = self.machine.memory_limit();
        let bytes = |slot: Slot| {
            let bytes = bytes_of(self.plan.slots[slot].dtype, &self.sizes[slot]);
            bytes.ok_or(Error::Memory { bytes: usize::MAX, limit })
        };
        let (mut live, mut peak) = (0_usize, 0_usize);
        for step in &self.plan.steps {
            match step {
                Step::Allocate(slot) if self.target(*slot).is_none() => {
                    live = live.saturating_add(bytes(*slot)?)
                }
                Step::Free(slot) => live -= bytes(*slot)?,
                _ => {}
            }
            peak = peak.max(live);
        }
        if peak > limit { Err(Error::Memory { bytes: peak, limit }) } else { Ok(peak) }
    }

    /// Does all steps.
    pub fn run(mut self, timed: bool) -> Result<(Vec<Done>, CallReport), Error> {
        let begin = Instant::now();
        let plan = self.plan;
        for step in &plan.steps {
            let done = if timed { self.timed_step(step) } else { self.step(step) };
            if let Err(error) = done {
                // What fails after an index out of range may fail because of it.
                self.look_for_faults();
                return Err(self.fault.map_or(error, Error::from));
            }
        }
        self.report.total = begin.elapsed();
        self.look_for_faults();
        if let Some(fault) = self.fault {
            return Err(fault.into());
        }
        let done = self.outputs()?;
        self.write_targets();
        Ok((done, self.report))
    }

    /// The outputs that are given back.
    fn outputs(&mut self) -> Result<Vec<Done>, Error> {
        let plan = self.plan;
        let target = |input: usize| self.targets.get(input)?.as_ref();
        let given_back = plan.outputs.iter().filter(|output| output.alias.and_then(target).is_none());
        let given_back: Vec<&Returned> = given_back.collect();
        given_back.into_iter().map(|output| self.output(output)).collect()
    }

    /// An output that is given back: a view is a copy where the input may not be seen.
    fn output(&mut self, output: &Returned) -> Result<Done, Error> {
        let change = |layout: Layout, change: &Change| change.of(&layout, &self.formulas);
        let changed = |layout: &Layout| output.changes.iter().fold(layout.clone(), change);
        let view = match &self.memory[output.slot] {
            Memory::Input(view) => view,
            Memory::Own(tensor) => {
                let layout = changed(tensor.layout());
                let taken = std::mem::replace(&mut self.memory[output.slot], Memory::Nothing);
                let Memory::Own(tensor) = taken else { unreachable!("as just seen") };
                return Ok(Done::Made(tensor.relaid(layout)));
            }
            _ => unreachable!("outputs are inputs or memory of the call"),
        };
        let layout = changed(view.layout());
        let input = self.plan.inputs.iter().position(|&slot| slot == output.slot);
        let input = input.expect("only inputs are seen as such");
        if self.visible[input] {
            return Ok(Done::Seen(input, layout));
        }
        let seen = view.relaid(layout).expect("changes of sight reach no further");
        let mut copy = Tensor::allocate(&self.machine.allocator, seen.dtype(), Layout::dense(seen.sizes()))?;
        copy.view_mut().copy_from(&seen).expect("a copy has the type of its source");
        Ok(Done::Made(copy))
    }

    /// Writes the in-place outputs that no kernel has stored where they belong.
    fn write_targets(&mut self) {
        for output in &self.plan.outputs {
            let Some(target) = output.alias.and_then(|input| self.targets.get(input)?.as_ref()) else {
                continue;
            };
            if let Memory::Own(tensor) = &self.memory[output.slot] {
                target.write(&tensor.view());
            }
        }
    }

    /// The memory of an input in which a slot is made at once.
    fn target(&self, slot: Slot) -> Option<&'a Target<'a>> {
        let input = self.plan.slots[slot].in_place?;
        self.targets.get(input)?.as_ref().filter(|target| target.direct)
    }

    fn step(&mut self, step: &Step) -> Result<(), Error> {
        match step {
            Step::Allocate(slot) => {
                self.memory[*slot] = match self.target(*slot) {
                    Some(target) => Memory::Target(target.open()),
                    None => Memory::Own(self.allocate(*slot)?),
                };
            }
            Step::Arm(slot) => {
                self.fill(*slot, Scalar::from_i64(DType::I64, NO_FAULT))?;
            }
            Step::Launch(launch) => self.launch(launch)?,
            Step::Evaluate(evaluation) => self.evaluate(evaluation)?,
            Step::Library(step) => self.library(step)?,
            Step::Copy { from, to } => {
                let mut target = std::mem::replace(&mut self.memory[*to], Memory::Nothing);
                let copied = target.view_mut().copy_from(&self.memory[*from].view());
                copied.expect("a copy has the type of its source, whose sizes were checked");
                self.memory[*to] = target;
            }
            Step::Free(slot) => self.memory[*slot] = Memory::Nothing,
        }
        Ok(())
    }

    fn allocate(&self, slot: Slot) -> Result<Tensor, Error> {
        let data = &self.plan.slots[slot];
        let sizes = &self.sizes[slot];
        let layout = match &data.placement {
            None => Layout::dense(sizes),
            Some(Placement::Ordered(order)) => Layout::ordered(sizes, order.iter().map(|&axis| axis.into())),
            Some(Placement::Like(input)) => {
                let view = self.memory[self.plan.inputs[*input]].view();
                if view.layout().is_dense() { Layout::dense(sizes) } else { packed(sizes, view.strides()) }
            }
        };
        Tensor::allocate(&self.machine.allocator, data.dtype, layout)
    }

    /// Puts one element everywhere.
    fn fill(&mut self, slot: Slot, element: Scalar) -> Result<(), Error> {
        let elements = Array::full(element, &self.sizes[slot])?;
        let filled = self.memory[slot].view_mut().copy_from(&elements.view());
        filled.expect("the array was made for the slot");
        Ok(())
    }

    /// Takes note of an index out of range. The steps that follow work on elements without meaning; what they find wrong
    /// with these comes later in the definition.
    fn note(&mut self, fault: IndexFault) {
        if self.fault.is_none_or(|first| fault.val < first.val) {
            self.fault = Some(fault);
        }
    }

    fn look_for_faults(&mut self) {
        let armed = |faults: &&FaultWords| !matches!(self.memory[faults.slot], Memory::Nothing);
        let armed: Vec<&FaultWords> = self.plan.faults.iter().filter(armed).collect();
        for FaultWords { slot, words } in armed {
            let told: Vec<i64> = {
                let view = self.memory[*slot].view();
                (0..words.len()).map(|word| view.scalar(word).as_i64()).collect()
            };
            for (&Checked { val, axis, size }, index) in words.iter().zip(told) {
                if index != NO_FAULT {
                    self.note(IndexFault { val, axis, size: self.formulas[size], index });
                }
            }
        }
    }

    fn timed_step(&mut self, step: &Step) -> Result<(), Error> {
        let name = match step {
            Step::Launch(launch) => self.plan.kernels[launch.kernel].name.as_str(),
            Step::Evaluate(evaluation) => self.plan.segments[evaluation.segment].name.as_str(),
            Step::Library(step) => self.plan.segments[step.segment].name.as_str(),
            Step::Copy { .. } => "copy",
            Step::Allocate(_) | Step::Arm(_) | Step::Free(_) => return self.step(step),
        };
        let mut slots = step.slots();
        slots.sort_unstable();
        slots.dedup();
        let bytes = slots.into_iter().map(|slot| bytes_in_memory(&self.memory[slot].view())).sum();
        let begin = Instant::now();
        self.step(step)?;
        let time = begin.elapsed();
        self.report.steps.push(StepReport { name: name.to_owned(), time, bytes });
        Ok(())
    }

    fn launch(&mut self, launch: &Launch) -> Result<(), Error> {
        let argument = |source: &ArgumentSource| match *source {
            ArgumentSource::Size(formula) => self.formulas[formula],
            ArgumentSource::Stride(slot, axis) => self.memory[slot].view().strides()[axis] as i64,
        };
        let arguments: Vec<i64> = launch.arguments.iter().map(argument).collect();
        let kernel = &self.plan.kernels[launch.kernel];
        match &self.code[launch.kernel] {
            Code::Machine(code) => {
                launch::run(kernel, code, &arguments, &launch.buffers, &mut self.memory, self.machine)
            }
            Code::Program(options) => {
                interpret::run(kernel, &arguments, &launch.buffers, &mut self.memory, options)
            }
        }
    }

    /// Results are taken out while they are written, since operands are read meanwhile.
    fn library(&mut self, step: &LibraryStep) -> Result<(), Error> {
        let mut results: Vec<Memory<'a>> = step
            .results
            .iter()
            .map(|&slot| std::mem::replace(&mut self.memory[slot], Memory::Nothing))
            .collect();
        let scalars =
            step.operands.iter().map(|operand| self.scalar(operand.source)).collect::<Result<Vec<_>, _>>()?;
        let operands: Vec<ArrayView<'_>> = step
            .operands
            .iter()
            .zip(&scalars)
            .map(|(operand, scalar)| self.seen(operand, scalar.as_ref()))
            .collect();
        let views = results.iter_mut().map(|memory| memory.view_mut()).collect();
        let ran = library::run(&step.op, &operands, views, step.val, &self.machine.pool);
        drop(operands);
        for (&slot, memory) in step.results.iter().zip(results) {
            self.memory[slot] = memory;
        }
        match ran {
            Err(EvaluateError::Index { val, axis, size, index }) => {
                self.note(IndexFault { val: self.plan.origin(val), axis, size, index });
                self.clear(&step.results)
            }
            ran => Ok(ran?),
        }
    }

    /// Puts zeros where a step that found an index out of range leaves elements without meaning.
    fn clear(&mut self, slots: &[Slot]) -> Result<(), Error> {
        slots.iter().try_for_each(|&slot| self.fill(slot, Scalar::zero(self.plan.slots[slot].dtype)))
    }

    /// A scalar operand in memory.
    fn scalar(&self, source: SlotSource) -> Result<Option<Array>, Error> {
        let scalar = match source {
            SlotSource::Slot(_) => return Ok(None),
            SlotSource::Constant(scalar) => scalar,
            SlotSource::Size(formula) => Scalar::from_i64(DType::I64, self.formulas[formula]),
        };
        let mut array = Array::zeros(scalar.dtype(), &[])?;
        array.fill(scalar);
        Ok(Some(array))
    }

    /// A tensor as an operand sees it.
    fn seen<'m>(&'m self, operand: &SeenSlot, scalar: Option<&'m Array>) -> ArrayView<'m> {
        let view = match (operand.source, scalar) {
            (SlotSource::Slot(slot), _) => self.memory[slot].view(),
            (_, Some(array)) => array.view(),
            (_, None) => unreachable!("a scalar was put in memory"),
        };
        let change = |layout: Layout, change: &Change| change.of(&layout, &self.formulas);
        let layout = operand.changes.iter().fold(view.layout().clone(), change);
        view.relaid(layout).expect("changes of sight reach no further")
    }

    fn evaluate(&mut self, evaluation: &Evaluation) -> Result<(), Error> {
        let inputs: Vec<ArrayView<'_>> =
            evaluation.inputs.iter().map(|&slot| self.memory[slot].view()).collect();
        let options = EvaluateOptions {
            threads: self.machine.threads(),
            bounds: false,
            max_bytes: self.machine.memory_limit().saturating_sub(self.machine.allocator.stats().live_bytes),
            sizes: self.known.known().collect(),
        };
        let view = &self.plan.segments[evaluation.segment].view;
        let outputs = match evaluate(&self.plan.graph, view, &inputs, &options) {
            Ok(evaluation) => evaluation.outputs,
            Err(EvaluateError::Index { val, axis, size, index }) => {
                self.note(IndexFault { val: self.plan.origin(val), axis, size, index });
                return self.clear(&evaluation.outputs);
            }
            Err(error) => return Err(error.into()),
        };
        let arrays: Vec<Array> = outputs.into_iter().map(|output| output.value).collect();
        for (&slot, array) in evaluation.outputs.iter().zip(&arrays) {
            let copied = self.memory[slot].view_mut().copy_from(&array.view());
            copied.expect("a segment's outputs have the sizes that were evaluated");
        }
        Ok(())
    }
}

/// Bytes that a tensor has in memory: axes of stride 0 are there once.
pub(crate) fn bytes_in_memory(view: &ArrayView<'_>) -> u64 {
    let axes = view.sizes().iter().zip(view.strides());
    let size = |(&size, &stride): (&usize, &isize)| if stride == 0 { size.min(1) } else { size };
    axes.map(size).fold(view.dtype().size() as u64, |bytes, size| bytes.saturating_mul(size as u64))
}
