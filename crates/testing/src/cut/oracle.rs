//! The best segmentation of a small fusion, by exhaustive search: which values are kept, which segments make them, in which
//! order.

use ir::graph::{Fusion, Graph, TensorOp, Val};
use rustc_hash::FxHashMap;
use scheduler::hints::Hints;
use segmenter::{Legality, Segmentation, cost, lower_bound};
use target::Target;

use super::ROUNDING;

/// Sets of values, each a bit.
type Set = u32;

/// The fusion and the cost model to search with.
pub struct Oracle<'a> {
    pub graph: &'a Graph,
    pub fusion: &'a Fusion,
    pub target: &'a Target,
    pub hints: &'a Hints,
    pub legality: &'a Legality,
}

/// A segmentation and the seconds it takes.
pub struct Best {
    pub seconds: f64,
    pub segmentation: Segmentation,
}

impl Oracle<'_> {
    /// The values that may be kept: computed, and no constants.
    pub fn keepable(&self) -> Vec<Val> {
        let is_constant =
            |val: &Val| matches!(self.graph.op(*val), TensorOp::Constant(_) | TensorOp::Size(_));
        let results = self.fusion.order().iter().flat_map(|&node| self.graph.results(node));
        results.filter(|val| !is_constant(val) && !self.fusion.is_input(*val)).collect()
    }

    /// Seconds of a segmentation; `None` if a segment is illegal.
    pub fn seconds(&self, segmentation: &Segmentation) -> Option<f64> {
        segmentation.views(self.graph, self.fusion).iter().map(|view| self.of_segment(view)).sum()
    }

    /// The lower bound, in seconds.
    ///
    /// # Panics
    /// When it is above the best segmentation.
    pub fn check_bound(&self, text: &str, best: &Best) -> f64 {
        let bound = lower_bound(self.graph, self.fusion, self.hints, self.target).seconds;
        assert!(bound <= best.seconds * (1.0 + ROUNDING), "{bound} above {} of\n{text}", best.seconds);
        bound
    }

    fn of_segment(&self, view: &Fusion) -> Option<f64> {
        let answer = self.legality.of(self.graph, view);
        answer.is_ok().then(|| cost::seconds(self.graph, view, &answer, self.hints, self.target))
    }

    /// The best of all segmentations; `None` if no segmentation is legal.
    pub fn best(&self) -> Option<Best> {
        let vals = self.keepable();
        let all: Set = (1 << vals.len()) - 1;
        let number = |val: Val| vals.iter().position(|&other| other == val);
        let outputs = self.fusion.outputs().iter().filter_map(|output| number(output.val));
        let outputs = outputs.fold(0, |set: Set, place| set | 1 << place);
        let bests =
            (0..=all).filter(|kept| kept & outputs == outputs).filter_map(|kept| self.keeping(&vals, kept));
        bests.min_by(|a, b| a.seconds.total_cmp(&b.seconds))
    }

    /// The best of those that keep these values. Segments are tried in the order in which they run: the values made so far
    /// determine what the next may read.
    fn keeping(&self, vals: &[Val], kept: Set) -> Option<Best> {
        let mut costs: FxHashMap<Set, Option<(f64, Set)>> = FxHashMap::default();
        let kept_vals = chosen(vals, kept).into_iter().collect();
        let mut cost = |made: Set| {
            *costs.entry(made).or_insert_with(|| {
                let view = Segmentation::view(self.graph, self.fusion, &chosen(vals, made), &kept_vals);
                let read = (0..vals.len()).filter(|&place| view.is_input(vals[place]));
                let read = read.fold(0, |set: Set, place| set | 1 << place);
                self.of_segment(&view).map(|seconds| (seconds, read))
            })
        };
        // For each set of made values: the seconds, and the values that the last segment made.
        let mut reached: FxHashMap<Set, (f64, Set)> = FxHashMap::from_iter([(0, (0.0, 0))]);
        for made in subsets(kept) {
            let Some(&(before, _)) = reached.get(&made) else { continue };
            for next in subsets(kept & !made).filter(|&next| next != 0) {
                let Some((seconds, read)) = cost(next) else { continue };
                if read & !made != 0 {
                    continue;
                }
                let after = (before + seconds, next);
                let best = reached.entry(made | next).or_insert(after);
                if after.0 < best.0 {
                    *best = after;
                }
            }
        }
        let &(seconds, _) = reached.get(&kept)?;
        let mut segments = Vec::new();
        let mut left = kept;
        while left != 0 {
            let last = reached[&left].1;
            segments.push(chosen(vals, last));
            left &= !last;
        }
        segments.reverse();
        Some(Best { seconds, segmentation: Segmentation::new(segments) })
    }
}

/// The subsets of a set, smaller numbers first.
fn subsets(set: Set) -> impl Iterator<Item = Set> {
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let subset = next?;
        next = (subset != set).then(|| (subset.wrapping_sub(set)) & set);
        Some(subset)
    })
}

fn chosen(vals: &[Val], set: Set) -> Vec<Val> {
    (0..vals.len()).filter(|place| set >> place & 1 == 1).map(|place| vals[place]).collect()
}
