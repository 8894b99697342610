//! What a group costs: the bytes it moves, each distinct tensor read or written once, how it goes through memory (`access`),
//! what it computes (`work`), and its launch. Search, `explain` and the lower bound ask here.

mod access;
mod amounts;
mod input_reads;
mod work;

use index::Expr;
use ir::graph::{Fusion, Graph, Val};
use scheduler::hints::Hints;
use scheduler::legal::Witness;
use scheduler::target::Target;

use self::access::Access;
use super::engine::Engine;
use super::legality::LegalityAnswer;

pub(crate) use amounts::Amounts;
pub use input_reads::InputReads;
pub(super) use work::cycles_once;

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
        Seconds::with(&Amounts::new(graph, hints), view, answer, target)
    }

    /// The same where some amounts are known.
    pub(crate) fn with(
        amounts: &Amounts<'_>,
        view: &Fusion,
        answer: &LegalityAnswer,
        target: &Target,
    ) -> Seconds {
        let (read, written) = (amounts.read(view), amounts.written(view));
        let moved = read.saturating_add(written);
        let Ok(Engine::Kernel(witness)) = &**answer else {
            return Seconds {
                memory: moved as f64 / target.bandwidth,
                computing: 0.0,
                launch: target.launch,
            };
        };
        let access = Access::of(witness, moved, amounts.hints, target);
        let bytes = read as f64 * f64::from(access.sweeps) + written as f64;
        let memory = bytes * access.slowdown / target.bandwidth;
        let computing = work::cycles(amounts, view, witness) as f64 / target.throughput;
        Seconds { memory: memory / access.busy, computing: computing / access.busy, launch: target.launch }
    }

    /// All terms together. They add up: measured on graphs of `bench/corpus`, the longer of memory and computing judged the
    /// exchange of values wrongly more often.
    pub fn total(&self) -> f64 {
        self.memory + self.computing + self.launch
    }
}

/// Seconds that the cost model expects of what runs a group, if anything does.
pub fn seconds(graph: &Graph, view: &Fusion, answer: &LegalityAnswer, hints: &Hints, target: &Target) -> f64 {
    Seconds::of(graph, view, answer, hints, target).total()
}

/// What a group takes at least, whatever it is as a kernel: its bytes once, as fast as memory goes, and each node once.
pub(super) fn min_seconds(amounts: &Amounts<'_>, view: &Fusion, target: &Target) -> f64 {
    let moved = amounts.read(view).saturating_add(amounts.written(view));
    let computed = work::min_cycles(amounts, view) as f64;
    moved as f64 / target.bandwidth + computed / target.throughput + target.launch
}

/// How often a kernel reads its inputs from main memory.
pub fn input_sweeps(graph: &Graph, view: &Fusion, witness: &Witness, hints: &Hints, target: &Target) -> u32 {
    Access::of(witness, hints.value(&bytes(graph, view)), hints, target).sweeps
}
