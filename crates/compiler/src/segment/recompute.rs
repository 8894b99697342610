//! Values that are cheaper to compute again than to write and read: unary chains from inputs, casts, broadcasts,
//! factories. A value is dropped from memory when that moves no more bytes, is no slower as the cost model sees it, repeats no
//! fold or scan, and leaves every segment that it touches as legal as before. Where it cannot be dropped alone, a minimum cut
//! finds the values to keep instead: of a normalised tensor the statistics. Between passes segments are joined (`join`).

use std::cell::OnceCell;

use ir::graph::{Fusion, Graph, Node, TensorOp, Val};
use rustc_hash::{FxHashMap, FxHashSet};

use super::constraints::Constraints;
use super::cost::{bytes, seconds};
use super::legality::Legality;
use super::segmentation::{Segmentation, segment_view};
use super::vertex_cut::VertexCut;
use crate::hints::Hints;
use crate::target::Target;

/// The segmentation with values dropped from memory, and segments joined, as long as that helps.
pub fn recompute(
    graph: &Graph,
    fusion: &Fusion,
    segmentation: Segmentation,
    constraints: &Constraints,
    legality: &Legality,
    hints: &Hints,
    target: &Target,
) -> Segmentation {
    let kept = segmentation.kept();
    let views = segmentation.views(graph, fusion);
    let segments = segmentation.segments.into_iter().zip(views);
    let segments = segments.map(|(made, view)| Segment::new(made, view)).collect();
    let mut search = Search { graph, fusion, constraints, legality, hints, target, kept, segments };
    while search.pass() || search.join() {}
    let made = search.segments.into_iter().map(|segment| segment.made);
    Segmentation { segments: made.filter(|made| !made.is_empty()).collect() }
}

/// Whether an op is never computed twice.
fn is_work(op: &TensorOp) -> bool {
    matches!(op, TensorOp::Fold { .. } | TensorOp::Scan { .. } | TensorOp::External(_))
}

/// A segment of a segmentation that is being changed. One that makes nothing any more stays as an empty place.
pub(super) struct Segment {
    pub made: Vec<Val>,
    pub view: Fusion,
    price: OnceCell<Price>,
}

/// What a segment costs.
#[derive(Clone, Copy, Default)]
struct Price {
    seconds: f64,
    rejected: usize,
}

impl Segment {
    pub(super) fn new(made: Vec<Val>, view: Fusion) -> Segment {
        Segment { made, view, price: OnceCell::new() }
    }

    /// Whether it computes a value.
    fn computes(&self, val: Val) -> bool {
        self.view.contains(val.node) && !self.view.is_input(val)
    }
}

/// What segments compute.
fn nodes_of<'s>(segments: &[&'s Segment]) -> Vec<&'s [Node]> {
    segments.iter().map(|segment| segment.view.order()).collect()
}

/// A segmentation being changed.
pub(super) struct Search<'a> {
    pub graph: &'a Graph,
    pub fusion: &'a Fusion,
    pub constraints: &'a Constraints,
    pub legality: &'a Legality,
    pub hints: &'a Hints,
    target: &'a Target,
    pub kept: FxHashSet<Val>,
    pub segments: Vec<Segment>,
}

impl Search<'_> {
    /// Tries each kept value once, in the order they are made; whether any was dropped.
    fn pass(&mut self) -> bool {
        let candidates: Vec<Val> = self.segments.iter().flat_map(|segment| &segment.made).copied().collect();
        candidates.into_iter().filter(|&val| self.try_drop(val) || self.try_replace(val)).count() > 0
    }

    /// Drops a value if that moves no more bytes.
    fn try_drop(&mut self, val: Val) -> bool {
        self.can_go(val) && self.exchange(val, &[], |after, before| after <= before)
    }

    /// Keeps what its readers compute a value from, instead of the value, if that moves fewer bytes.
    fn try_replace(&mut self, val: Val) -> bool {
        if !self.can_go(val) {
            return false;
        }
        let instead = self.cut_before(val);
        !instead.contains(&val) && self.exchange(val, &instead, |after, before| after < before)
    }

    /// Whether a value may be computed where it is read.
    fn can_go(&self, val: Val) -> bool {
        self.kept.contains(&val) && !self.fusion.is_output(val) && !is_work(self.graph.op(val))
    }

    /// The values to keep from which a value's readers compute it with the fewest bytes, repeating no fold or scan: a minimum
    /// cut between those and what is in memory. Of it, what is not in memory yet.
    fn cut_before(&self, val: Val) -> Vec<Val> {
        let readers: Vec<&Fusion> =
            self.segments.iter().map(|segment| &segment.view).filter(|view| view.is_input(val)).collect();
        let in_memory = |val: Val| self.fusion.is_input(val) || self.kept.contains(&val);
        let weight = |val: Val| {
            let reads = readers.iter().filter(|view| !view.is_input(val)).count();
            let accesses = reads + usize::from(!in_memory(val));
            self.hints.value(&self.graph.ty(val).bytes()).saturating_mul(accesses as u64)
        };
        let mut cut = VertexCut::default();
        let bytes = self.hints.value(&self.graph.ty(val).bytes());
        let sink = cut.vertex(bytes.saturating_mul(1 + readers.len() as u64));
        let mut vertices: FxHashMap<Val, usize> = FxHashMap::from_iter([(val, sink)]);
        let mut vals = vec![val];
        let mut stack = vec![val];
        while let Some(user) = stack.pop() {
            for &operand in self.graph.operands(user) {
                let vertex = *vertices.entry(operand).or_insert_with(|| {
                    let vertex = cut.vertex(weight(operand));
                    match in_memory(operand) || is_work(self.graph.op(operand)) {
                        true => cut.source(vertex),
                        false => stack.push(operand),
                    }
                    vals.push(operand);
                    vertex
                });
                cut.arc(vertex, vertices[&user]);
            }
        }
        let in_cut = cut.before(sink).into_iter().map(|vertex| vals[vertex]);
        in_cut.filter(|&kept| kept == val || !in_memory(kept)).collect()
    }

    /// Keeps other values instead of one if the bytes, those after and those before, are as `helps` asks for and the segments
    /// are as good. Only those change that make or read the one, or compute the others, which the first of them makes.
    fn exchange(&mut self, val: Val, instead: &[Val], helps: impl Fn(u64, u64) -> bool) -> bool {
        let first = |val: Val| self.segments.iter().position(|segment| segment.computes(val));
        let Some(makers) = instead.iter().map(|&val| first(val)).collect::<Option<Vec<usize>>>() else {
            return false;
        };
        let is_touched = |segment: &Segment| {
            segment.made.contains(&val)
                || segment.view.is_input(val)
                || instead.iter().any(|&val| segment.computes(val))
        };
        let touched: Vec<usize> =
            (0..self.segments.len()).filter(|&number| is_touched(&self.segments[number])).collect();
        self.kept.remove(&val);
        self.kept.extend(instead);
        let changed = touched.iter().map(|&number| {
            let stays = self.segments[number].made.iter().copied().filter(|&other| other != val);
            let new = instead.iter().zip(&makers).filter(|(_, maker)| **maker == number);
            let mut made: Vec<Val> = stays.chain(new.map(|(&val, _)| val)).collect();
            made.sort_unstable();
            let view = segment_view(self.graph, self.fusion, &made, &self.kept);
            Segment::new(made, view)
        });
        let changed: Vec<Segment> = changed.collect();
        let before: Vec<&Segment> = touched.iter().map(|&number| &self.segments[number]).collect();
        let after: Vec<&Segment> = changed.iter().filter(|segment| !segment.made.is_empty()).collect();
        if !(helps(self.moved(&after), self.moved(&before)) && self.is_as_good(&after, &before)) {
            self.kept.insert(val);
            instead.iter().for_each(|val| {
                self.kept.remove(val);
            });
            return false;
        }
        touched.into_iter().zip(changed).for_each(|(number, segment)| self.segments[number] = segment);
        true
    }

    /// Bytes that segments move.
    pub(super) fn moved(&self, segments: &[&Segment]) -> u64 {
        let moved = segments.iter().map(|segment| self.hints.value(&bytes(self.graph, &segment.view)));
        moved.fold(0, u64::saturating_add)
    }

    /// Whether the groups of the user allow segments, they repeat no more folds and scans, no more of them are rejected, and they
    /// take no longer.
    pub(super) fn is_as_good(&self, after: &[&Segment], before: &[&Segment]) -> bool {
        if !self.constraints.allow(&nodes_of(after), &nodes_of(before))
            || self.works(after) > self.works(before)
        {
            return false;
        }
        let sum = |segments: &[&Segment]| {
            segments.iter().map(|segment| self.price(segment)).fold(Price::default(), |sum, price| Price {
                seconds: sum.seconds + price.seconds,
                rejected: sum.rejected + price.rejected,
            })
        };
        let [after, before] = [sum(after), sum(before)];
        after.rejected <= before.rejected && after.seconds <= before.seconds
    }

    /// Folds, scans and external ops of segments.
    fn works(&self, segments: &[&Segment]) -> usize {
        let is_work = |node: &&Node| is_work(&self.graph.node(**node).op);
        segments.iter().map(|segment| segment.view.order().iter().filter(is_work).count()).sum()
    }

    fn price(&self, segment: &Segment) -> Price {
        *segment.price.get_or_init(|| {
            let answer = self.legality.of(self.graph, &segment.view);
            Price {
                seconds: seconds(self.graph, &segment.view, &answer, self.hints, self.target),
                rejected: usize::from(answer.is_err()),
            }
        })
    }
}
