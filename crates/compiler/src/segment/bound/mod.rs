//! What no segmentation can do better than: bytes that are moved, and seconds as the cost model sees them.
//!
//! Takes a fusion and gives a bound that holds whatever is kept in memory and whichever segments make it, however much they
//! compute again. Bytes: what external ops move, each input read and each output written once; or, where that is more, the
//! reads of segments that must follow each other (`chain`). Seconds: these bytes, each operation computed once, and the
//! launches. Decides nothing; the search is elsewhere.

mod chain;
mod forced;
mod sweeps;

use ir::graph::{Fusion, Graph, Node, TensorOp, Val};
use rustc_hash::FxHashSet;
use scheduler::hints::Hints;
use target::Target;

use self::chain::{Chain, Chains};
use self::forced::Forced;
use super::axis_classes::AxisClasses;
use super::cost::{Amounts, InputReads, cycles_once, latency, overlap};
use super::external::is_view_op;

/// Ends of chains that are looked at together with what their chains cannot read.
const ENDS: usize = 16;

/// What no segmentation of a fusion can do better than.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LowerBound {
    /// Bytes that segments move together.
    pub bytes: u64,
    /// How many segments there are.
    pub segments: u64,
    /// Seconds that they take together, as the cost model counts.
    pub seconds: f64,
}

/// The bound for a fusion.
pub fn lower_bound(graph: &Graph, fusion: &Fusion, hints: &Hints, target: &Target) -> LowerBound {
    let (amounts, classes) = (&Amounts::new(graph, hints, target), AxisClasses::of(graph, fusion));
    let forced = Forced::of(graph, fusion);
    let chains = Chains::of(fusion, amounts, &forced, &classes);
    let bytes_of = |val: &Val| amounts.of(*val).bytes;
    let written: u64 = forced.written.iter().map(bytes_of).fold(0, u64::saturating_add);
    let external = forced.external.iter().flat_map(|(_, read)| read).map(bytes_of);
    let mut ends: Vec<(Node, Chain)> = chains.ends().collect();
    ends.sort_unstable_by_key(|(node, chain)| (std::cmp::Reverse(chain.bytes), *node));
    let compulsory = compulsory_reads(graph, fusion, hints, &forced);
    let read_by = |(node, chain): &(Node, Chain)| {
        let before = ancestors(graph, fusion, *node);
        let others = compulsory.iter().filter(|(val, _)| !before.contains(val));
        others.map(|(_, bytes)| *bytes).fold(chain.bytes, u64::saturating_add)
    };
    let all: u64 = compulsory.iter().map(|(_, bytes)| *bytes).fold(0, u64::saturating_add);
    let read = ends.iter().take(ENDS).map(read_by).fold(all, u64::max);
    let kernels = ends.iter().map(|(_, chain)| chain.segments).max().unwrap_or(0);
    let bytes = external.fold(written, u64::saturating_add).saturating_add(read);
    let segments = kernels + forced.external.len() as u64;
    let computing = cycles_once(amounts, fusion) as f64 / target.throughput;
    let memory = (bytes as f64 / target.bandwidth).max(kernels as f64 * latency(target));
    // What all kernels overlap is at most what the sums of their terms do.
    let seconds = memory + computing + segments as f64 * target.launch - overlap(target, memory, computing);
    LowerBound { bytes, segments, seconds }
}

/// The values that kernels read from memory, whatever the segmentation, with the bytes that they need of each.
fn compulsory_reads(graph: &Graph, fusion: &Fusion, hints: &Hints, forced: &Forced) -> Vec<(Val, u64)> {
    let reads = InputReads::of(graph, fusion);
    let mut needed: FxHashSet<Node> = FxHashSet::default();
    for &node in fusion.order().iter().rev() {
        let op = &graph.node(node).op;
        let is_given = graph
            .results(node)
            .any(|val| fusion.is_output(val) || fusion.uses(val).iter().any(|user| needed.contains(user)));
        if !matches!(op, TensorOp::External(_)) && (!is_view_op(op) || is_given) {
            needed.insert(node);
        }
    }
    let mut sources: Vec<Val> = fusion.inputs().iter().chain(&forced.sources).copied().collect();
    sources.sort_unstable();
    sources.dedup();
    sources.retain(|&val| fusion.uses(val).iter().any(|user| needed.contains(user)));
    let bytes = |val: Val| hints.value(&fusion.facts().normalize(&reads.bytes(val, graph.ty(val).bytes())));
    sources.into_iter().map(|val| (val, bytes(val))).collect()
}

/// What a node depends on.
fn ancestors(graph: &Graph, fusion: &Fusion, node: Node) -> FxHashSet<Val> {
    let mut found: FxHashSet<Val> = FxHashSet::default();
    let mut stack = vec![node];
    while let Some(node) = stack.pop() {
        for &val in &graph.node(node).operands {
            if found.insert(val) && !fusion.is_input(val) {
                stack.push(val.node);
            }
        }
    }
    found
}
