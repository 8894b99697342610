//! What a group costs: the bytes it moves, each distinct tensor read or written once, what it computes, and its launch.

use index::Expr;
use ir::graph::{Fusion, Graph, Val};

use super::engine::Engine;
use super::input_reads::InputReads;
use super::legality::LegalityAnswer;
use super::witness::{Fold, Store, When, Witness};
use super::work::cycles;
use crate::hints::Hints;
use crate::target::Target;

/// Bytes that a group reads and writes, as a set: each tensor once, and of a tensor that only gathers take from no more
/// than they take.
pub fn bytes(graph: &Graph, view: &Fusion) -> Expr {
    let read = view.inputs().iter().filter(|&&val| !view.uses(val).is_empty());
    let mut written: Vec<Val> = view.outputs().iter().map(|output| output.val).collect();
    written.sort_unstable();
    written.dedup();
    let written = written.into_iter().filter(|&val| !view.is_input(val));
    let reads = InputReads::of(graph, view);
    let read = read.map(|&val| reads.bytes(val, graph.ty(val).bytes()));
    let total: Expr = read.chain(written.map(|val| graph.ty(val).bytes())).sum();
    view.facts().normalize(&total)
}

/// What the cost model expects of a group, by term.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seconds {
    /// Memory.
    pub memory: f64,
    /// Computing.
    pub computing: f64,
    /// One launch.
    pub launch: f64,
}

impl Seconds {
    /// That of a group, as [`seconds`] adds it up.
    pub fn of(
        graph: &Graph,
        view: &Fusion,
        answer: &LegalityAnswer,
        hints: &Hints,
        target: &Target,
    ) -> Seconds {
        let memory = hints.value(&bytes(graph, view)) as f64 / target.bandwidth;
        let computing = match &**answer {
            Ok(Engine::Kernel(witness)) => cycles(graph, view, witness, hints) as f64 / target.throughput,
            Ok(Engine::External(_)) | Err(_) => 0.0,
        };
        Seconds { memory, computing, launch: target.launch }
    }

    /// All terms together.
    pub fn total(&self) -> f64 {
        self.memory + self.computing + self.launch
    }
}

/// Seconds that the cost model expects of what runs a group, if anything does: memory, computing and one launch. They add up:
/// measured on graphs of `bench/corpus`, the longer of memory and computing judged the exchange of values wrongly more often.
/// What external ops compute is not known.
pub fn seconds(graph: &Graph, view: &Fusion, answer: &LegalityAnswer, hints: &Hints, target: &Target) -> f64 {
    Seconds::of(graph, view, answer, hints, target).total()
}

/// How often a kernel reads its inputs from main memory: once if what one row of workers re-reads between stages fits
/// the memory that serves a block, else once for each stage that walks a row.
pub fn input_sweeps(graph: &Graph, view: &Fusion, witness: &Witness, hints: &Hints, target: &Target) -> u32 {
    if witness.levels <= 1 {
        return 1;
    }
    let row_bytes = hints.value(&bytes(graph, view)) / hints.value(&witness.divided()).max(1);
    if row_bytes <= target.block_bytes {
        return 1;
    }
    let walks = |level: u32| {
        let folded = witness.folds.iter().filter(|fold| fold.level == level).flat_map(Fold::domain);
        let stored = witness.stores.iter().filter(|store| store.when == When::Level(level));
        folded.chain(stored.flat_map(Store::domain)).any(|axis| !witness.workers.contains(&axis))
    };
    (0..witness.levels).filter(|&level| walks(level)).count().max(1) as u32
}
