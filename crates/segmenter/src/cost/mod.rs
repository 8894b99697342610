//! What a group costs: the bytes it moves, each distinct tensor read or written once, how it goes through memory (`access`),
//! what it computes (`work`, by the `cycles` of ops), its launch, and what adds up its blocks' partial results (`combine`).
//! Search, `explain` and the lower bound ask here.

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
pub use input_reads::InputReads;
pub(super) use work::{cycles_once, needed_parts, part};

/// Bytes that a group reads and writes, as a set: each tensor once, and of a tensor that only gathers take from no more
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

/// What a group writes, each value once.
fn made(view: &Fusion) -> Vec<Val> {
    let mut made: Vec<Val> = view.outputs().iter().map(|output| output.val).collect();
    made.sort_unstable();
    made.dedup();
    made.retain(|&val| !view.is_input(val));
    made
}

/// What the cost model expects of a group, by term.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seconds {
    pub memory: f64,
    pub computing: f64,
    pub launch: f64,
    /// Launches and bytes of the combine steps.
    pub combine: f64,
    /// Of memory and computing, what goes on at the same time.
    pub overlap: f64,
}

impl Seconds {
    /// That of a group. What external ops compute is not known.
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
        let access = Access::of(witness, bytes_kept(amounts, view, [read, written]), amounts.hints, target);
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

    /// All terms together.
    pub fn total(&self) -> f64 {
        self.memory + self.computing + self.launch + self.combine - self.overlap
    }
}

/// Seconds during which a kernel moves memory and computes at once. None on a CPU: measured on graphs of `bench/corpus`, the
/// longer of the two judged the exchange of values wrongly more often than their sum. On a GPU warps compute while others wait.
pub(super) fn overlap(target: &Target, memory: f64, computing: f64) -> f64 {
    match target.processor {
        Processor::Cpu(_) => 0.0,
        Processor::Gpu(_) => memory.min(computing),
    }
}

/// Seconds that a row takes at least, however few bytes it has: the next one's loads wait for its end.
pub(super) fn latency(target: &Target) -> f64 {
    match &target.processor {
        Processor::Cpu(_) => 0.0,
        Processor::Gpu(gpu) => gpu.latency,
    }
}

/// Seconds that the cost model expects of what runs a group, if anything does.
pub fn seconds(graph: &Graph, view: &Fusion, answer: &LegalityAnswer, hints: &Hints, target: &Target) -> f64 {
    Seconds::of(graph, view, answer, hints, target).total()
}

/// What a group takes at least that makes these values, whatever it is as a kernel: its bytes once, as fast as memory goes, and
/// each node once. Of gathers only the view tells the bytes.
pub(super) fn min_seconds<'v>(
    amounts: &Amounts<'_>,
    made: &[Val],
    cone: &Cone,
    view: impl FnOnce() -> &'v Fusion,
) -> f64 {
    let target = amounts.target;
    let read = match amounts.gathers(cone.order()) {
        true => amounts.read(view()),
        false => amounts.bytes(cone.inputs()),
    };
    let memory = read.saturating_add(amounts.bytes(made)) as f64 / target.bandwidth;
    let computing = work::min_cycles(amounts, cone.order()) as f64 / target.throughput;
    memory + computing + target.launch - overlap(target, memory, computing)
}

/// How often a kernel reads its inputs from main memory.
pub fn input_sweeps(amounts: &Amounts<'_>, view: &Fusion, witness: &Witness) -> u32 {
    let kept = bytes_kept(amounts, view, [amounts.read(view), amounts.written(view)]);
    Access::of(witness, kept, amounts.hints, amounts.target).sweeps
}

/// Of the bytes that a kernel reads and writes those that blocks keep from stage to stage.
fn bytes_kept(amounts: &Amounts<'_>, view: &Fusion, [read, written]: [u64; 2]) -> u64 {
    if keeps_inputs(amounts.graph, view, amounts.target) { read } else { read.saturating_add(written) }
}

/// Whether a block keeps rows as they are in memory, and no more: on a GPU those of inputs of half types.
fn keeps_inputs(graph: &Graph, view: &Fusion, target: &Target) -> bool {
    let is_narrow = |val: Val| graph.dtype(val).compute() != graph.dtype(val);
    matches!(target.processor, Processor::Gpu(_)) && row_inputs(graph, view).all(is_narrow)
}

/// The inputs of which a block reads rows of its own: those with most axes.
fn row_inputs<'a>(graph: &'a Graph, view: &'a Fusion) -> impl Iterator<Item = Val> + 'a {
    let rank = |val: &Val| graph.ty(*val).rank();
    let most = view.inputs().iter().map(rank).max();
    view.inputs().iter().copied().filter(move |val| Some(rank(val)) == most)
}
