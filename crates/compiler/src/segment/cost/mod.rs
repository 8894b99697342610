//! What a group costs: the bytes it moves, each distinct tensor read or written once, how it goes through memory (`access`),
//! what it computes (`work`), and its launch. Search, `explain` and the lower bound ask here.

mod access;
mod input_reads;
mod work;

use index::Expr;
use ir::graph::{Fusion, Graph, Val};

use self::access::Access;
use super::engine::Engine;
use super::legality::LegalityAnswer;
use super::witness::Witness;
use crate::hints::Hints;
use crate::target::Target;

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
    let mut written: Vec<Val> = view.outputs().iter().map(|output| output.val).collect();
    written.sort_unstable();
    written.dedup();
    let written = written.into_iter().filter(|&val| !view.is_input(val));
    written.map(|val| graph.ty(val).bytes()).sum()
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
        let (read, written) = (hints.value(&read(graph, view)), hints.value(&written(graph, view)));
        let moved = read.saturating_add(written);
        let Ok(Engine::Kernel(witness)) = &**answer else {
            return Seconds {
                memory: moved as f64 / target.bandwidth,
                computing: 0.0,
                launch: target.launch,
            };
        };
        let access = Access::of(witness, moved, hints, target);
        let bytes = read as f64 * f64::from(access.sweeps) + written as f64;
        let memory = bytes * access.slowdown / target.bandwidth;
        let computing = work::cycles(graph, view, witness, hints) as f64 / target.throughput;
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

/// How often a kernel reads its inputs from main memory.
pub fn input_sweeps(graph: &Graph, view: &Fusion, witness: &Witness, hints: &Hints, target: &Target) -> u32 {
    Access::of(witness, hints.value(&bytes(graph, view)), hints, target).sweeps
}
