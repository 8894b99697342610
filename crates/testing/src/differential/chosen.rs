//! The choices of a check besides its program: segments, schedules or the sizes they are decided for, and the device. Takes
//! a definition and a `Choice`, returns the choices; runs nothing.

use std::fmt;

use compiler::{PlanError, PlanRequest, SegmentId, SegmentPlan, plan};
use emulator::Order;
use ferrofuse::{ArrayView, Decision, Definition, Hints, LayoutClass, PlanOptions, Schedule, greedy};
use llvm::CpuTarget;
use reference::interpret::{LaneOrder, Options as InterpreterOptions};
use serde::{Deserialize, Serialize};
use target::Target;

use super::failure::{Failure, Kind};
use super::machines::{MOST_THREADS, machine, targets};
use crate::random::{Draws, schedule, segmentation};
use crate::stand_in::gpu;

/// Percentage of random choices that are for a GPU: the emulator compiles C++, which takes long.
const EMULATED: usize = 1;

/// Who chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Choice {
    /// The compiler.
    Default,
    /// Random, from this seed.
    Random(u64),
    /// Random, from this seed, but on a GPU.
    Gpu(u64),
}

/// The device that runs the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// The kernel interpreter, then machine code of these instructions, on one thread and on this number.
    Cpu(CpuTarget, usize),
    /// CUDA C++ under the emulator, threads in this order.
    Gpu(Order),
}

impl Default for Device {
    fn default() -> Device {
        Device::Cpu(CpuTarget::Host, 2)
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::Cpu(target, threads) => write!(f, "{target}, {threads} threads"),
            Device::Gpu(order) => write!(f, "emulated GPU, threads in order {order:?}"),
        }
    }
}

impl Device {
    /// The compiler's target.
    pub(super) fn target(self) -> Target {
        match self {
            Device::Cpu(target, _) => machine(1).target(target),
            Device::Gpu(_) => gpu().map_or_else(|_| Target::cuda(), |gpu| gpu.target()),
        }
    }
}

/// The choices.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The segmentation and the schedules, if they are not the compiler's.
    pub plan: PlanOptions,
    /// The sizes that the compiler decides for.
    pub hints: Hints,
    /// The order in which the interpreter runs blocks and lanes.
    pub interpreter: InterpreterOptions,
    /// The device that runs the kernels.
    pub device: Device,
}

impl Default for Chosen {
    fn default() -> Chosen {
        let interpreter =
            InterpreterOptions { seed: 0, lanes: LaneOrder::Forward, step_limit: 1 << 26, contracts: false };
        let device = Device::default();
        Chosen { plan: PlanOptions::default(), hints: Hints::default(), interpreter, device }
    }
}

/// The segmentation and the schedules of a choice, or the hints from which the compiler chooses them, for these inputs.
///
/// # Errors
/// When the compiler rejects a segmentation that fits.
pub fn chosen(definition: &Definition, inputs: &[ArrayView<'_>], choice: Choice) -> Result<Chosen, Failure> {
    let mut chosen = Chosen::default();
    let (seed, on_gpu) = match choice {
        Choice::Default => return Ok(chosen),
        Choice::Random(seed) => (seed, false),
        Choice::Gpu(seed) => (seed, true),
    };
    let mut draws = Draws::new(seed);
    chosen.interpreter.seed = seed;
    chosen.interpreter.lanes = draws.one_of(&[LaneOrder::Forward, LaneOrder::Reverse]);
    chosen.device = device(&mut draws, on_gpu);
    if draws.percent(70) {
        chosen.plan.segmentation = Some(segmentation(definition, &mut draws));
    }
    if draws.percent(25) {
        chosen.hints = hints(definition, &mut draws);
    } else {
        // Which outputs are views depends on the layouts of inputs; a value that a segmentation makes is made by a segment
        // for all layouts.
        let greedy = || greedy(&definition.graph, &definition.fusion, &definition.tasks);
        chosen.plan.segmentation.get_or_insert_with(greedy);
        chosen.plan.schedules = schedules(definition, inputs, &chosen, &mut draws)?;
    }
    Ok(chosen)
}

fn device(draws: &mut Draws, on_gpu: bool) -> Device {
    // An installed binary has no emulator beside it.
    if on_gpu || (draws.percent(EMULATED) && gpu().is_ok()) {
        return Device::Gpu(draws.one_of(&Order::ALL));
    }
    let target = if draws.percent(50) { CpuTarget::Host } else { draws.one_of(targets()) };
    Device::Cpu(target, draws.between(2, MOST_THREADS))
}

/// Sizes to decide for that need not be those of the inputs.
fn hints(definition: &Definition, draws: &mut Draws) -> Hints {
    let sizes = [0, 1, 2, 7, 64, 1000, 1 << 14, 1 << 20];
    // Arrays of a block are as large as the chunks that hints cause, and the interpreter allocates them.
    let mut room = 1 << 20;
    Hints::new(definition.graph.symbols().keys().map(|symbol| {
        let size = draws.one_of(&sizes).min(room);
        room /= size.max(1);
        (symbol, size)
    }))
}

/// The sizes of a call with these inputs, if the call is valid.
fn sizes(definition: &Definition, inputs: &[ArrayView<'_>]) -> Hints {
    let bound = definition.signature().bind(inputs, &[]);
    let known = |sym| Some((sym, bound.as_ref().ok()?.get(sym)?));
    Hints::new(definition.graph.symbols().keys().filter_map(known))
}

/// A random schedule for each segment that has a kernel.
fn schedules(
    definition: &Definition,
    inputs: &[ArrayView<'_>],
    chosen: &Chosen,
    draws: &mut Draws,
) -> Result<Vec<(SegmentId, Schedule)>, Failure> {
    let (graph, fusion) = (&definition.graph, &definition.fusion);
    // Emulated kernels are planned for dense inputs.
    let class = |input: &ArrayView<'_>| match chosen.device {
        Device::Cpu(..) => LayoutClass::from(input.layout()),
        Device::Gpu(_) => LayoutClass::Dense,
    };
    let layouts: Vec<LayoutClass> = inputs.iter().map(class).collect();
    let (target, sizes) = (chosen.device.target(), sizes(definition, inputs));
    let plan = |sizes: &Hints, options: &PlanOptions| {
        plan(PlanRequest {
            graph,
            fusion,
            tasks: &definition.tasks,
            layouts: &layouts,
            target: &target,
            hints: sizes,
            options,
        })
    };
    let cut = plan(&Hints::default(), &chosen.plan)
        .map_err(|error| Failure::new(Kind::Error, format!("a segmentation that fits: {error}")))?;
    // A block of a GPU has limited memory for a row of a call.
    let can_run = |number: usize, drawn: &Schedule| {
        let schedules = vec![(number.into(), drawn.clone())];
        let options = PlanOptions { schedules, ..chosen.plan.clone() };
        !matches!(plan(&sizes, &options), Err(PlanError::Scratch { .. }))
    };
    let drawn = |(number, segment): (usize, &SegmentPlan)| match &segment.decision {
        Decision::Kernels(kernels) => {
            Some((number.into(), schedule(&kernels.witness, draws, |drawn| can_run(number, drawn))))
        }
        Decision::Evaluate { .. } | Decision::External(_) => None,
    };
    Ok(cut.segments.iter().enumerate().filter_map(drawn).collect())
}
