//! The resources of a multiprocessor that a GPU's kernels take, and what bounds them: memory bandwidth, latency, or
//! instructions.

use codegen_c::cuda::{CudaKernel, emit};
use compiler::{Plan, SegmentPlan};
use index::{Expr, Sym};
use lowering::{KernelArgument, Lowered, LoweredSegment};
use runtime::ThreadResources;
use scheduler::hints::Hints;
use segmenter::cost::Seconds;
use serde::{Deserialize, Serialize};
use target::{BlockNeeds, Gpu, Processor, Target};

/// The resources of a thread of each kernel of a plan, in the order of [`gpu_kernels`]; `None` if the kernel was not
/// compiled.
pub type MachineCode = [Option<ThreadResources>];

/// A kernel of a segment on a GPU.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct KernelOnGpu {
    /// Its name in the CUDA text.
    pub name: String,
    /// Blocks of a launch.
    pub blocks: u64,
    /// Threads of a block.
    pub threads: u32,
    /// Registers of a thread; left out if the kernel was not compiled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registers: Option<u32>,
    /// Bytes of a thread in local memory; left out if the kernel was not compiled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_bytes: Option<u32>,
    /// Bytes of shared memory of a block.
    pub shared_bytes: u64,
    /// Blocks that a multiprocessor runs at a time; an upper bound if the registers are not known.
    pub blocks_per_multiprocessor: u64,
    /// Bytes that the threads of a multiprocessor load before they use the first of them.
    pub in_flight_bytes: u64,
    /// The times that may bound a segment's main kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times_us: Option<TimesOnGpu>,
    /// The longest of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bottleneck>,
}

/// Microseconds of each resource that may bound a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct TimesOnGpu {
    /// For moving all bytes at the memory's bandwidth.
    pub bandwidth: f64,
    /// For reading, with the number of bytes in flight.
    pub latency: f64,
    /// For issuing the instructions.
    pub instructions: f64,
    /// For a launch.
    pub launch: f64,
}

/// Bytes that a segment moves, once per input sweep of its kernels.
pub(super) struct Moved {
    pub read: u64,
    pub all: u64,
}

/// What bounds a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bottleneck {
    /// Memory moves bytes at its full bandwidth.
    Bandwidth,
    /// Too few bytes are in flight for full bandwidth.
    Latency,
    /// Instructions are issued at the full rate.
    Instructions,
    /// The whole kernel takes less time than its launch.
    Launch,
}

/// The kernels of a plan for a GPU, in the order of its segments, each with the number of members that a launch runs.
pub fn gpu_kernels(plan: &Plan) -> impl Iterator<Item = (&kernel::Kernel, usize)> {
    let of_gpu = matches!(plan.target.processor, Processor::Gpu(_));
    let segments = plan.lowered.iter().enumerate().filter(move |_| of_gpu);
    segments.flat_map(|(number, segment)| {
        let members = plan.batch_of(number).len();
        segment.kernels.iter().map(move |lowered| (&lowered.kernel, members))
    })
}

/// The kernels of each segment; none on a CPU.
pub(super) fn kernels(
    plan: &Plan,
    hints: &Hints,
    code: &MachineCode,
    costs: &[Seconds],
    moved: impl Fn(&SegmentPlan) -> Moved,
) -> Vec<Vec<KernelOnGpu>> {
    let Processor::Gpu(facts) = &plan.target.processor else { return vec![Vec::new(); plan.segments.len()] };
    let on_gpu = OnGpu { target: &plan.target, facts, hints };
    let mut code = code.iter().copied().chain(std::iter::repeat(None));
    let of_segment = |((segment, lowered), cost): ((&SegmentPlan, &LoweredSegment), &Seconds)| {
        let of_kernel = |(number, lowered)| {
            let resources = code.next().flatten();
            let kernel = on_gpu.kernel(lowered, resources)?;
            let times_us = (number == 0).then(|| on_gpu.times(&kernel, &moved(segment), cost));
            Some(KernelOnGpu { times_us, bound: times_us.map(TimesOnGpu::longest), ..kernel })
        };
        lowered.kernels.iter().enumerate().filter_map(of_kernel).collect()
    };
    plan.segments.iter().zip(&plan.lowered).zip(costs).map(of_segment).collect()
}

struct OnGpu<'a> {
    target: &'a Target,
    facts: &'a Gpu,
    hints: &'a Hints,
}

impl OnGpu<'_> {
    /// The facts about a kernel; `None` if it has no CUDA text.
    fn kernel(&self, lowered: &Lowered, resources: Option<ThreadResources>) -> Option<KernelOnGpu> {
        let text = emit(&lowered.kernel).ok()?;
        let CudaKernel { block_threads: threads, static_shared_bytes, .. } = text;
        let blocks = self.value(lowered, &text.blocks);
        let shared_bytes = u64::from(static_shared_bytes) + self.value(lowered, &text.dynamic_shared_bytes);
        let registers = resources.map(|resources| resources.registers);
        let needs = BlockNeeds { threads: threads.into(), registers: registers.map(u64::from), shared_bytes };
        let blocks_per_multiprocessor = self.facts.multiprocessor.blocks_of(&needs);
        let resident = blocks_per_multiprocessor.min(blocks.div_ceil(self.target.cores));
        Some(KernelOnGpu {
            name: text.name,
            blocks,
            threads,
            registers,
            local_bytes: resources.map(|resources| resources.local_bytes),
            shared_bytes,
            blocks_per_multiprocessor,
            in_flight_bytes: resident * self.value(lowered, &text.in_flight_bytes),
            times_us: None,
            bound: None,
        })
    }

    /// The times that may bound a main kernel, whose segment moves `moved` and for which the cost model expects `cost`.
    fn times(&self, kernel: &KernelOnGpu, moved: &Moved, cost: &Seconds) -> TimesOnGpu {
        // Nothing waits for stores.
        let in_flight = (kernel.in_flight_bytes * kernel.blocks.min(self.target.cores)) as f64;
        let latency = if in_flight == 0.0 { 0.0 } else { self.facts.latency * moved.read as f64 / in_flight };
        TimesOnGpu {
            bandwidth: 1e6 * moved.all as f64 / self.target.bandwidth,
            latency: 1e6 * latency,
            instructions: 1e6 * cost.computing,
            launch: 1e6 * cost.launch,
        }
    }

    /// The value of an expression over a kernel's arguments, at the expected sizes.
    fn value(&self, lowered: &Lowered, expr: &Expr) -> u64 {
        let argument = |symbol: Sym| {
            let place = lowered.kernel.arguments.iter().position(|&argument| argument == symbol)?;
            match &lowered.arguments[place] {
                KernelArgument::Size(size) => Some(size.clone()),
                KernelArgument::Stride { .. } | KernelArgument::StoreStride { .. } => None,
            }
        };
        self.hints.value(&expr.substitute(&argument))
    }
}

impl TimesOnGpu {
    /// The longest time.
    fn longest(self) -> Bottleneck {
        let terms = [
            (Bottleneck::Bandwidth, self.bandwidth),
            (Bottleneck::Latency, self.latency),
            (Bottleneck::Instructions, self.instructions),
            (Bottleneck::Launch, self.launch),
        ];
        let longest =
            terms.into_iter().reduce(|longest, term| if term.1 > longest.1 { term } else { longest });
        longest.expect("there are terms").0
    }
}

impl Bottleneck {
    fn words(self) -> &'static str {
        match self {
            Bottleneck::Bandwidth => "memory's bandwidth",
            Bottleneck::Latency => "memory's latency",
            Bottleneck::Instructions => "instructions",
            Bottleneck::Launch => "the launch",
        }
    }
}

impl KernelOnGpu {
    /// The lines of a table: two for each kernel.
    pub(super) fn lines(&self) -> String {
        let KernelOnGpu { name, blocks, threads, shared_bytes, blocks_per_multiprocessor, .. } = self;
        let registers =
            self.registers.map_or("registers unknown".to_owned(), |count| format!("{count} registers"));
        let local = self.local_bytes.filter(|&bytes| bytes > 0);
        let local = local.map(|bytes| format!(", {bytes} bytes of local memory")).unwrap_or_default();
        let at_most = if self.registers.is_some() { "" } else { "at most " };
        let bound = self.bound.map(|bound| format!("; bound by {}", bound.words())).unwrap_or_default();
        format!(
            "  {name}: {blocks} blocks of {threads} threads, {registers}{local}, {shared_bytes} bytes of shared memory\n    \
             a multiprocessor: {at_most}{blocks_per_multiprocessor} blocks, {} in flight{bound}\n",
            crate::table::bytes(self.in_flight_bytes)
        )
    }
}
