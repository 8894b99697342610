//! Lower bounds for all segmentations: bytes moved, and seconds in the cost model.
//!
//! Takes a fusion and returns a bound that holds whatever is kept in memory, whichever segments make it, and however much
//! they recompute. Bytes: what external ops move, each input read and each output written once; or, where that is more, the
//! reads of segments that must follow each other (`chain`, each a minimum cut of a `region`), found from the `connections`
//! of values, with inputs that a kernel reads again (`sweeps`), of each of the `components`. Seconds: these bytes, each
//! operation computed once, and the launches, with what segments of a chain read or compute again, whichever is less; or
//! the `compulsory` bytes and what is `recomputed` or kept because of index maps. Decides nothing; the search is elsewhere.

mod chain;
mod combined;
mod components;
mod compulsory;
mod connections;
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
use self::compulsory::{CompulsoryReads, compulsory_bytes};
use self::connections::Connections;
use self::forced::Forced;
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
    let amounts = Amounts::new(graph, hints, target);
    let Some(terms) = Terms::of(&amounts, fusion) else { return LowerBound::default() };
    let connections = terms.connections();
    let kernels = terms.kernels(&connections, false);
    let again = takes_time_to_recompute(target).then(|| terms.kernels(&connections, true));
    LowerBound {
        bytes: terms.others.saturating_add(kernels.bytes),
        segments: terms.segments(kernels.count),
        seconds: terms.bound_seconds(again.as_ref().unwrap_or(&kernels)),
    }
}

/// The seconds of that bound.
pub(super) fn bound_seconds(amounts: &Amounts<'_>, fusion: &Fusion) -> f64 {
    let terms = Terms::of(amounts, fusion);
    let again = takes_time_to_recompute(amounts.target);
    let kernels = |terms: &Terms<'_>| terms.kernels(&terms.connections(), again);
    terms.map_or(0.0, |terms| terms.bound_seconds(&kernels(&terms)))
}

/// Whether computing values again adds time: a GPU does it while it waits for memory.
fn takes_time_to_recompute(target: &Target) -> bool {
    matches!(target.processor, Processor::Cpu(_))
}

/// A lower bound of the seconds that is found faster: without chains of segments.
pub(super) fn compulsory_seconds(amounts: &Amounts<'_>, fusion: &Fusion) -> f64 {
    Terms::of(amounts, fusion).map_or(0.0, |terms| terms.seconds_again(0))
}

/// What the bounds of a fusion are found from.
pub(super) struct Terms<'a> {
    amounts: &'a Amounts<'a>,
    fusion: &'a Fusion,
    forced: Forced,
    /// The values that kernels read in any segmentation, with the bytes of each.
    reads: Vec<(Val, u64)>,
    /// Seconds for computing each value once.
    computing: f64,
    /// Bytes that are not read by kernels.
    others: u64,
}

impl<'a> Terms<'a> {
    /// Those of a fusion; `None` if an output has no elements, for which nothing need be computed.
    pub fn of(amounts: &'a Amounts<'a>, fusion: &'a Fusion) -> Option<Terms<'a>> {
        if fusion.outputs().iter().any(|output| amounts.of(output.val).elements == 0) {
            return None;
        }
        let forced = Forced::of(amounts.graph, fusion);
        let reads = compulsory_bytes(amounts, fusion, &forced);
        let computing = cycles_once(amounts, fusion) as f64 / amounts.target.throughput;
        let bytes_of = |val: &Val| amounts.of(*val).bytes;
        let written: u64 = forced.written.iter().map(bytes_of).fold(0, u64::saturating_add);
        let external = forced.external.iter().flat_map(|(_, read)| read).map(bytes_of);
        let others = external.fold(written, u64::saturating_add);
        Some(Terms { amounts, fusion, forced, reads, computing, others })
    }

    /// How the values of the fusion are connected.
    fn connections(&self) -> Connections<'a> {
        Connections::of(self.amounts, self.fusion, &self.forced, &self.reads)
    }

    /// What kernels do at least; with `again`, their bytes include those that take as long to move as values take to compute
    /// again.
    fn kernels(&self, connections: &Connections<'_>, again: bool) -> Kernels {
        let chains = Chains::of(self.fusion, self.amounts, &self.forced, connections, again);
        Kernels::of(&chains, connections)
    }

    /// A lower bound of the seconds, given what kernels do at least.
    fn bound_seconds(&self, kernels: &Kernels) -> f64 {
        let chained = self.others.saturating_add(kernels.bytes);
        self.seconds(kernels.count, chained).max(self.seconds_again(kernels.count))
    }

    /// How many segments so many kernels and the external ops are.
    fn segments(&self, kernels: u64) -> u64 {
        kernels + self.forced.external.len() as u64
    }

    /// Seconds to move these bytes, compute each value once and launch so many kernels.
    fn seconds(&self, kernels: u64, bytes: u64) -> f64 {
        let target = self.amounts.target;
        let memory = (bytes as f64 / target.bandwidth).max(kernels as f64 * latency(target));
        // What all kernels overlap is at most what the sums of their terms do.
        let launches = self.segments(kernels) as f64 * target.launch;
        memory + self.computing + launches - overlap(target, memory, self.computing)
    }

    /// Bytes that any segmentation moves.
    fn compulsory(&self) -> u64 {
        self.reads.iter().map(|(_, bytes)| bytes).copied().fold(self.others, u64::saturating_add)
    }

    /// The bytes that keeping a value adds to those: it is written, and read at least once, unless any segmentation keeps it
    /// or a view of it.
    pub fn bytes_of_keeping(&self, val: Val) -> u64 {
        let is_read_whole = self.fusion.uses(val).iter().all(|&user| !self.amounts.takes_parts(&[user]));
        let bytes = self.amounts.of(val).bytes;
        match self.forced.views.contains(&val) {
            true => 0,
            false => bytes.saturating_mul(1 + u64::from(is_read_whole)),
        }
    }

    /// A lower bound of the seconds if values are kept that add so many bytes, without launches of kernels.
    pub fn seconds_keeping(&self, bytes: u64) -> f64 {
        self.seconds(0, self.compulsory().saturating_add(bytes))
    }

    /// Seconds to move what any segmentation moves, and to compute again what index maps ask for again: a value that is kept
    /// instead may be one that chains read.
    fn seconds_again(&self, kernels: u64) -> f64 {
        self.seconds(kernels, self.compulsory())
            + recomputed::seconds(self.amounts, self.fusion, &self.forced)
    }
}

/// What kernels do at least.
struct Kernels {
    count: u64,
    /// Bytes that they read, and write for each other.
    bytes: u64,
}

impl Kernels {
    fn of(chains: &Chains<'_>, Connections { components, reads, .. }: &Connections<'_>) -> Kernels {
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
