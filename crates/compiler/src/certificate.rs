//! How close a plan is to the best possible segmentation: the cost model's time for it beside a lower bound for all
//! segmentations.

use ir::graph::{Fusion, Graph, TensorOp};
use ops::{DType, ScalarOp};
use rustc_hash::{FxHashMap, FxHashSet};
use scheduler::hints::Hints;
use serde::{Deserialize, Serialize};

use crate::plan::{Decision, Plan};
use segmenter::{Constraints, SearchProblem, lower_bound, optimum};

/// A gap below this is rounding.
const ROUNDING: f64 = 1e-9;

/// A gap below this counts as almost none.
const SMALL_GAP: f64 = 1e-3;

/// Nodes of segments that the search for the optimum may look at, and where the gap is small.
const STEPS_OF_ALL: usize = 1 << 19;
const STEPS_OF_SMALL_GAP: usize = 1 << 15;

/// A plan's time and a lower bound for all segmentations, both by the cost model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// Microseconds that the plan's segments take together.
    pub cost_us: f64,
    /// The lower bound of that for any segmentation.
    pub lower_bound_us: f64,
    /// The lower bound of the bytes that the segments of any segmentation move.
    pub lower_bound_bytes: u64,
    /// 1 - bound / cost, a fraction.
    pub gap: f64,
    /// Whether the bound is reached, so that no segmentation is better.
    pub optimal: bool,
    /// Nodes that the search visited; 0 if the user chose the segmentation.
    pub search_steps: usize,
}

impl Plan {
    /// The plan's certificate at these sizes. `None` if the evaluator runs a segment: the model does not know its time.
    pub fn certificate(&self, hints: &Hints) -> Option<Certificate> {
        if self.segments.iter().any(|segment| matches!(segment.decision, Decision::Evaluate { .. })) {
            return None;
        }
        let hints = &hints.clone().with_implied(self.fusion.facts());
        let bound = lower_bound(&self.graph, &self.computed, hints, &self.target);
        let cost = self.seconds(hints);
        let is_within = |gap: f64| bound.seconds >= cost * (1.0 - gap);
        let steps = if is_within(SMALL_GAP) { STEPS_OF_SMALL_GAP } else { STEPS_OF_ALL };
        let all = || self.min_seconds(hints, cost, steps);
        let seconds = if is_within(ROUNDING) { bound.seconds } else { bound.seconds.max(all()) };
        debug_assert!(seconds <= cost * (1.0 + ROUNDING), "bound {seconds}, cost {cost}");
        let copied = self.copies().flatten().map(|val| 2 * hints.value(&self.graph.ty(val).bytes()));
        let copies = copied.sum::<u64>() as f64 / self.target.bandwidth;
        let (cost, bound_seconds) = (cost + copies, seconds + copies);
        let gap = if cost > 0.0 { (1.0 - bound_seconds / cost).max(0.0) } else { 0.0 };
        let optimal = gap <= ROUNDING;
        Some(Certificate {
            cost_us: 1e6 * cost,
            lower_bound_us: 1e6 * bound_seconds,
            lower_bound_bytes: bound.bytes,
            gap: if optimal { 0.0 } else { gap },
            optimal,
            search_steps: self.search_steps,
        })
    }

    /// The lower bound that trying all segmentations gives, where one takes `known` seconds; 0 where they are too many.
    fn min_seconds(&self, hints: &Hints, known: f64, steps: usize) -> f64 {
        let (graph, fusion, target) = (&self.graph, &self.computed, &self.target);
        let (constraints, legality) = (&Constraints::default(), &self.legality);
        let problem = SearchProblem { graph, fusion, constraints, legality, hints, target };
        let found = optimum(problem, known, steps).filter(|found| found.is_proved);
        let saved = |segments: usize| max_saved_launches(graph, fusion, segments) as f64 * target.launch;
        found.map_or(0.0, |found| found.seconds - saved(found.max_segments))
    }
}

/// How many launches fewer than segments there may be, if there are at most so many segments. One launch runs segments
/// whose kernels are equal, so what these write is of one dtype and by one primitive, unless it is moved or folded.
fn max_saved_launches(graph: &Graph, fusion: &Fusion, segments: usize) -> usize {
    let mut written: FxHashMap<DType, (usize, FxHashSet<ScalarOp>)> = FxHashMap::default();
    for val in fusion.order().iter().flat_map(|&node| graph.results(node)) {
        let (values, primitives) = written.entry(graph.dtype(val)).or_default();
        match *graph.op(val) {
            TensorOp::Constant(_) | TensorOp::Size(_) => continue,
            TensorOp::Map(op) if op != ScalarOp::SegmentSet => primitives.insert(op),
            _ => false,
        };
        *values += 1;
    }
    let alike =
        |(values, primitives): &(usize, FxHashSet<ScalarOp>)| values.saturating_sub(primitives.len().max(1));
    segments.saturating_sub(1).min(written.values().map(alike).sum())
}
