//! Lower bounds for all segmentations: bytes moved, and seconds in the cost model.
//!
//! Takes a fusion and returns a bound that holds whatever is kept in memory, whichever segments make it, and however much
//! they recompute. Bytes: what external ops move, each input read and each output written once; or, where that is more, the
//! reads of segments that must follow each other (`chain`, each a minimum cut of a `region`), with inputs that a kernel
//! reads again (`sweeps`), of each of the `components`. Seconds: these bytes, each operation computed once, and the
//! launches, with what segments of a chain read or compute again, whichever is less; or the `compulsory` bytes and what is
//! `recomputed` or kept because of index maps. Decides nothing; the search is elsewhere.

mod chain;
mod combined;
mod components;
mod compulsory;
mod dominators;
mod forced;
mod min_reads;
mod moved;
mod recomputed;
mod region;
mod sweeps;

use ir::graph::{Fusion, Graph, Node, Val};
use rustc_hash::FxHashMap;
use scheduler::hints::Hints;
use target::{Processor, Target};

use self::chain::{Chain, Chains};
use self::components::{Component, Components};
use self::compulsory::CompulsoryReads;
use self::forced::Forced;
use super::axis_classes::AxisClasses;
use super::cost::{Amounts, cycles_once, latency, overlap};

/// Ends of chains that are considered together with what their chains cannot read.
const MAX_ENDS: usize = 16;

/// A lower bound for all segmentations of a fusion.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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
    // Nothing need be computed for an output without elements.
    if fusion.outputs().iter().any(|output| amounts.of(output.val).elements == 0) {
        return LowerBound::default();
    }
    let forced = Forced::of(graph, fusion);
    let components = Components::of(fusion, amounts);
    let reads = CompulsoryReads::of(amounts, fusion, &forced, &components);
    let kernels_with = |again| {
        let chains = Chains::of(fusion, amounts, &forced, &classes, &components, &reads, again);
        Kernels::of(&chains, &components, &reads)
    };
    let bytes_of = |val: &Val| amounts.of(*val).bytes;
    let written: u64 = forced.written.iter().map(bytes_of).fold(0, u64::saturating_add);
    let external = forced.external.iter().flat_map(|(_, read)| read).map(bytes_of);
    let others = external.fold(written, u64::saturating_add);
    let kernels = kernels_with(false);
    let segments = kernels.count + forced.external.len() as u64;
    let computing = cycles_once(amounts, fusion) as f64 / target.throughput;
    let seconds = |bytes: u64| {
        let memory = (bytes as f64 / target.bandwidth).max(kernels.count as f64 * latency(target));
        // What all kernels overlap is at most what the sums of their terms do.
        memory + computing + segments as f64 * target.launch - overlap(target, memory, computing)
    };
    let bytes = others.saturating_add(kernels.bytes);
    let chained = match target.processor {
        Processor::Cpu(_) => others.saturating_add(kernels_with(true).bytes),
        // It recomputes values while it waits for memory.
        Processor::Gpu(_) => bytes,
    };
    // A value that is kept instead of recomputed may be one that chains read.
    let compulsory = reads.all().iter().map(|read| read.bytes).fold(others, u64::saturating_add);
    let again = seconds(compulsory) + recomputed::seconds(amounts, fusion, &forced);
    LowerBound { bytes, segments, seconds: seconds(chained).max(again) }
}

/// What kernels do at least.
struct Kernels {
    count: u64,
    /// Bytes that they read, and write for each other.
    bytes: u64,
}

impl Kernels {
    fn of(chains: &Chains<'_>, components: &Components<'_>, reads: &CompulsoryReads) -> Kernels {
        let count = chains.ends().map(|(_, chain)| chain.segments).max().unwrap_or(0);
        let mut by_component = by_component(components, reads, chains.ends());
        let bytes = by_component.iter_mut().map(|(&component, own)| own.bytes(component, reads));
        Kernels { count, bytes: bytes.fold(0, u64::saturating_add) }
    }
}

/// The reads of kernels of one component of a fusion.
#[derive(Default)]
struct ComponentReads {
    /// Bytes that they read in any segmentation.
    compulsory: u64,
    ends: Vec<(Node, Chain)>,
}

/// The reads of each component. Scalars that belong to no component form their own.
fn by_component(
    components: &Components<'_>,
    reads: &CompulsoryReads,
    ends: impl Iterator<Item = (Node, Chain)>,
) -> FxHashMap<Option<Component>, ComponentReads> {
    let mut found: FxHashMap<Option<Component>, ComponentReads> = FxHashMap::default();
    for read in reads.all() {
        let compulsory = &mut found.entry(read.component).or_default().compulsory;
        *compulsory = compulsory.saturating_add(read.bytes);
    }
    for (node, chain) in ends {
        found.entry(components.of_node(node)).or_default().ends.push((node, chain));
    }
    found
}

impl ComponentReads {
    /// Bytes that kernels move of it: the compulsory reads, and for one chain those beside its origin.
    fn bytes(&mut self, component: Option<Component>, reads: &CompulsoryReads) -> u64 {
        self.ends.sort_unstable_by_key(|(node, chain)| (std::cmp::Reverse(chain.bytes), *node));
        let moved_by = |(node, chain): &(Node, Chain)| {
            let others = self.compulsory.saturating_sub(reads.bytes_before(*node, component));
            chain.bytes.saturating_add(others)
        };
        self.ends.iter().take(MAX_ENDS).map(moved_by).fold(self.compulsory, u64::max)
    }
}
