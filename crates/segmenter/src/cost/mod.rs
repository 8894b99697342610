//! The cost of a group: the bytes it moves, each distinct tensor read or written once, its access pattern (`access`), what
//! it computes (`work`, by the `cycles` of ops), its launch, and the combine steps for its blocks' partial results
//! (`combine`). Search, `explain` and the lower bound use it.

mod access;
mod amounts;
mod combine;
mod in_flight;
mod input_reads;
mod repeats;
mod work;

use index::Expr;
use ir::graph::{Cone, Fusion, Graph, Val};
use scheduler::hints::Hints;
use scheduler::legal::Witness;
use target::{Processor, Target};

use self::access::Access;
use super::engine::Engine;
use super::legality::LegalityAnswer;

pub use amounts::Amounts;
pub(crate) use input_reads::ExpectedReads;
pub use input_reads::InputReads;
pub(super) use work::{cycles_once, needed_parts, part};

/// Bytes that a group reads and writes, as a set: each tensor once, and of a tensor that only slices and gathers read no more
/// than they take.
pub fn bytes(graph: &Graph, view: &Fusion) -> Expr {
    view.facts().normalize(&(read(graph, view) + written(graph, view)))
}

fn read(graph: &Graph, view: &Fusion) -> Expr {
    let read = view.inputs().iter().filter(|&&val| !view.uses(val).is_empty());
    let reads = InputReads::of(graph, view);
    read.map(|&val| reads.bytes(val, graph.ty(val).bytes())).sum()
}

fn written(graph: &Graph, view: &Fusion) -> Expr {
    made(view).into_iter().map(|val| graph.ty(val).bytes()).sum()
}

/// The values that a group writes, each once.
fn made(view: &Fusion) -> Vec<Val> {
    let mut made: Vec<Val> = view.outputs().iter().map(|output| output.val).collect();
    made.sort_unstable();
    made.dedup();
    made.retain(|&val| !view.is_input(val));
    made
}

/// The cost model's estimate for a group, by term.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seconds {
    pub memory: f64,
    pub computing: f64,
    pub launch: f64,
    /// Launches and bytes of the combine steps.
    pub combine: f64,
    /// Seconds in which memory and computing overlap.
    pub overlap: f64,
}

impl Seconds {
    /// The estimate for a group. External ops' computing time is not known.
    pub fn of(
        graph: &Graph,
        view: &Fusion,
        answer: &LegalityAnswer,
        hints: &Hints,
        target: &Target,
    ) -> Seconds {
        Seconds::with(&Amounts::new(graph, hints, target), view, answer)
    }

    /// The same where some amounts are known.
    pub fn with(amounts: &Amounts<'_>, view: &Fusion, answer: &LegalityAnswer) -> Seconds {
        let target = amounts.target;
        let (read, written) = (amounts.read(view), amounts.written(view));
        let moved = read.saturating_add(written);
        let Ok(Engine::Kernel(witness)) = &**answer else {
            let memory = moved as f64 / target.bandwidth;
            return Seconds { memory, launch: target.launch, ..Seconds::default() };
        };
        let kept = bytes_kept(amounts, view, [read, written]);
        let access = Access::of((amounts.graph, view), witness, kept, amounts.hints, target);
        let bytes = read as f64 * f64::from(access.sweeps) + written as f64;
        let memory = bytes * access.slowdown / target.bandwidth;
        let computing = work::cycles(amounts, view, witness) as f64 / target.throughput;
        let (memory, computing) = (memory / access.busy, computing / access.busy);
        let rows = access.rows as f64 * f64::from(access.sweeps);
        let in_flight = in_flight::in_flight(amounts.graph, view, witness, target);
        let waits =
            in_flight.map_or(0.0, |bytes| read as f64 * f64::from(access.sweeps) / (bytes * access.busy));
        let memory = memory.max(latency(target) * rows.max(waits));
        Seconds {
            memory,
            computing,
            launch: target.launch,
            combine: combine::seconds(witness, amounts.hints, target),
            overlap: overlap(target, memory, computing),
        }
    }

    /// The same if these bytes more are moved.
    pub(super) fn moving(self, bytes: u64, target: &Target) -> Seconds {
        let memory = self.memory + bytes as f64 / target.bandwidth;
        Seconds { memory, overlap: overlap(target, memory, self.computing), ..self }
    }

    /// All terms together.
    pub fn total(&self) -> f64 {
        self.memory + self.computing + self.launch + self.combine - self.overlap
    }
}

/// Seconds during which a kernel moves memory and computes at once. None on a CPU: on graphs of `bench/corpus` the longer of
/// the two misjudged the exchange of values more often than their sum. On a GPU warps compute while others wait.
pub(super) fn overlap(target: &Target, memory: f64, computing: f64) -> f64 {
    match target.processor {
        Processor::Cpu(_) => 0.0,
        Processor::Gpu(_) => memory.min(computing),
    }
}

/// The minimum seconds for a row, however few bytes it has: the next row's loads wait for its end.
pub(super) fn latency(target: &Target) -> f64 {
    match &target.processor {
        Processor::Cpu(_) => 0.0,
        Processor::Gpu(gpu) => gpu.latency,
    }
}

/// The cost model's seconds for the engine of a group, if it has one.
pub fn seconds(graph: &Graph, view: &Fusion, answer: &LegalityAnswer, hints: &Hints, target: &Target) -> f64 {
    Seconds::of(graph, view, answer, hints, target).total()
}

/// A lower bound for a group that makes these values, whatever its kernel: its bytes once, at full bandwidth, and each node
/// once. The bytes of slices and gathers need the view.
pub(super) fn min_seconds<'v>(
    amounts: &Amounts<'_>,
    made: &[Val],
    cone: &Cone,
    view: impl FnOnce() -> &'v Fusion,
) -> Seconds {
    let target = amounts.target;
    let read = match amounts.takes_parts(cone.order()) {
        true => amounts.read(view()),
        false => amounts.bytes(cone.inputs()),
    };
    let memory = read.saturating_add(amounts.bytes(made)) as f64 / target.bandwidth;
    let computing = work::min_cycles(amounts, cone.order()) as f64 / target.throughput;
    let overlap = overlap(target, memory, computing);
    Seconds { memory, computing, launch: target.launch, combine: 0.0, overlap }
}

/// How often a kernel reads its inputs from main memory.
pub fn input_sweeps(amounts: &Amounts<'_>, view: &Fusion, witness: &Witness) -> u32 {
    let kept = bytes_kept(amounts, view, [amounts.read(view), amounts.written(view)]);
    Access::of((amounts.graph, view), witness, kept, amounts.hints, amounts.target).sweeps
}

/// The bytes, of those that a kernel reads and writes, that blocks keep from stage to stage.
fn bytes_kept(amounts: &Amounts<'_>, view: &Fusion, [read, written]: [u64; 2]) -> u64 {
    if keeps_inputs(amounts.graph, view, amounts.target) { read } else { read.saturating_add(written) }
}

/// Whether a block keeps nothing but rows as they are in memory: on a GPU those of inputs of half types.
fn keeps_inputs(graph: &Graph, view: &Fusion, target: &Target) -> bool {
    let is_narrow = |val: Val| graph.dtype(val).compute() != graph.dtype(val);
    matches!(target.processor, Processor::Gpu(_)) && view.inputs_of_most_axes(graph).all(is_narrow)
}
