//! Batches: neighbouring segments that do not depend on each other and whose kernels are equal but for names. One launch
//! runs all of them.
//!
//! Takes segments with their kernels, in order; returns the numbers of each batch. The results of all its segments are in
//! memory at the same time, so a batch that takes too much is split.
//!
//! `alike` (before there are kernels: segments brought together, schedules that they share) · `apart` (segments of many
//! similar parts, split)

mod alike;
mod apart;

use std::ops::Range;

use ir::graph::{DeviceStream, Fusion, Val};
use lowering::Lowered;
use rustc_hash::{FxHashMap, FxHashSet};

use segmenter::Lifetimes;

pub(crate) use alike::{Shared, Structures, only_maps};
pub(crate) use apart::parts;

/// Bytes that batches may add to the memory peak.
const MOST_ADDED: u64 = 1 << 20;

/// A segment as batches see it.
pub(crate) struct Member<'a> {
    pub view: &'a Fusion,
    pub at: &'a DeviceStream,
    /// Its kernels; none if it runs in another way.
    pub kernels: &'a [Lowered],
}

impl Member<'_> {
    /// Whether both run on the same device and stream, with kernels that are equal except for names.
    fn is_like(&self, other: &Member<'_>) -> bool {
        let mut pairs = self.kernels.iter().zip(other.kernels);
        self.at == other.at
            && !self.kernels.is_empty()
            && self.kernels.len() == other.kernels.len()
            && pairs.all(|(own, other)| own.kernel.is_like(&other.kernel))
    }
}

/// All segments of a fusion, by number and in order, in batches; most of them are of one segment. `limit` is the user's
/// limit on bytes in memory at a time, if any.
pub(crate) fn batches(
    segments: &[Member<'_>],
    fusion: &Fusion,
    bytes: impl Fn(Val) -> u64,
    limit: Option<u64>,
) -> Vec<Range<usize>> {
    let alike = alike(segments, fusion);
    if alike.len() == segments.len() {
        return alike;
    }
    let lifetimes = Lifetimes::of(fusion, segments.iter().map(|segment| segment.view), bytes);
    let order: Vec<usize> = (0..segments.len()).collect();
    let most = limit.unwrap_or_else(|| lifetimes.peak(&order).saturating_add(MOST_ADDED));
    let peaks = lifetimes.peaks_of_batches(&alike);
    let split = |(batch, peak): (Range<usize>, u64)| -> Vec<Range<usize>> {
        if peak > most { batch.map(|number| number..number + 1).collect() } else { vec![batch] }
    };
    alike.into_iter().zip(peaks).flat_map(split).collect()
}

/// Neighbours that are alike and independent of each other.
fn alike(segments: &[Member<'_>], fusion: &Fusion) -> Vec<Range<usize>> {
    let mut targets: FxHashMap<Val, Vec<Val>> = FxHashMap::default();
    for output in fusion.outputs() {
        let input = output.alias.map(|input| fusion.inputs()[input as usize]);
        targets.entry(output.val).or_default().extend(input);
    }
    let mut batches: Vec<Range<usize>> = Vec::new();
    let mut touched = Touched::default();
    for (number, segment) in segments.iter().enumerate() {
        let first = batches.last().map(|batch| &segments[batch.start]);
        let (read, written) = (segment.view.inputs(), written(segment.view, &targets));
        if first.is_some_and(|first| first.is_like(segment)) && touched.are_apart_from(read, &written) {
            batches.last_mut().expect("as just seen").end += 1;
        } else {
            batches.push(number..number + 1);
            touched = Touched::default();
        }
        touched.read.extend(read);
        touched.written.extend(written);
    }
    batches
}

/// The values that the segments of a batch so far read, and those that they write.
#[derive(Default)]
struct Touched {
    read: FxHashSet<Val>,
    written: FxHashSet<Val>,
}

impl Touched {
    /// Whether a segment reads nothing that these write, and writes nothing that these touch.
    fn are_apart_from(&self, read: &[Val], written: &[Val]) -> bool {
        let is_touched = |val: &Val| self.written.contains(val) || self.read.contains(val);
        !read.iter().any(|val| self.written.contains(val)) && !written.iter().any(is_touched)
    }
}

/// The values that a segment writes: its outputs, and the inputs in whose memory they may be stored.
fn written(view: &Fusion, targets: &FxHashMap<Val, Vec<Val>>) -> Vec<Val> {
    let made = view.outputs().iter().map(|output| output.val);
    made.flat_map(|val| targets.get(&val).into_iter().flatten().copied().chain([val])).collect()
}
