//! Values that are cheaper to compute again than to write and read: unary chains from inputs, casts, broadcasts,
//! factories. A value is dropped from memory when that moves no more bytes, repeats no fold or scan, and leaves every segment
//! that it touches as legal as before.

use ir::graph::{Fusion, Graph, TensorOp, Val};
use rustc_hash::FxHashSet;

use super::cost::bytes;
use super::engine::engine;
use super::segmentation::{Segmentation, segment_view};
use crate::hints::Hints;

/// The segmentation with values dropped from memory as long as that helps.
pub fn recompute(graph: &Graph, fusion: &Fusion, segmentation: Segmentation, hints: &Hints) -> Segmentation {
    let views = segmentation.views(graph, fusion);
    let mut state =
        State { graph, fusion, hints, kept: segmentation.kept(), made: segmentation.segments, views };
    while state.pass() {}
    state.made.retain(|made| !made.is_empty());
    Segmentation { segments: state.made }
}

/// Whether an op is never computed twice.
fn is_work(op: &TensorOp) -> bool {
    matches!(op, TensorOp::Fold { .. } | TensorOp::Scan { .. } | TensorOp::External(_))
}

/// A segmentation being changed; a segment that makes nothing any more stays as an empty place.
struct State<'a> {
    graph: &'a Graph,
    fusion: &'a Fusion,
    hints: &'a Hints,
    kept: FxHashSet<Val>,
    made: Vec<Vec<Val>>,
    views: Vec<Fusion>,
}

impl State<'_> {
    /// Tries each kept value once, in the order they are made; whether any was dropped.
    fn pass(&mut self) -> bool {
        let candidates: Vec<Val> = self.made.iter().flatten().copied().collect();
        candidates.into_iter().filter(|&val| self.try_drop(val)).count() > 0
    }

    /// Drops a value if that helps. Only the segment that makes it and those that read it change.
    fn try_drop(&mut self, val: Val) -> bool {
        if self.fusion.is_output(val) || is_work(self.graph.op(val)) {
            return false;
        }
        let touched: Vec<usize> = (0..self.made.len())
            .filter(|&number| self.made[number].contains(&val) || self.views[number].is_input(val))
            .collect();
        self.kept.remove(&val);
        let mut after = Vec::with_capacity(touched.len());
        for &number in &touched {
            let made: Vec<Val> = self.made[number].iter().copied().filter(|&other| other != val).collect();
            let view = segment_view(self.graph, self.fusion, &made, &self.kept);
            after.push((number, made, view));
        }
        let old: Vec<&Fusion> = touched.iter().map(|&number| &self.views[number]).collect();
        let new: Vec<&Fusion> =
            after.iter().filter(|(_, made, _)| !made.is_empty()).map(|(.., view)| view).collect();
        if !self.is_better(&old, &new) {
            self.kept.insert(val);
            return false;
        }
        for (number, made, view) in after {
            self.made[number] = made;
            self.views[number] = view;
        }
        true
    }

    fn is_better(&self, old: &[&Fusion], new: &[&Fusion]) -> bool {
        let moved = |views: &[&Fusion]| {
            views.iter().map(|view| self.hints.value(&bytes(self.graph, view))).fold(0, u64::saturating_add)
        };
        let folds = |views: &[&Fusion]| {
            let nodes = views.iter().flat_map(|view| view.order());
            nodes.filter(|node| is_work(&self.graph.node(**node).op)).count()
        };
        let rejected =
            |views: &[&Fusion]| views.iter().filter(|view| engine(self.graph, view).is_err()).count();
        moved(new) <= moved(old) && folds(new) <= folds(old) && rejected(new) <= rejected(old)
    }
}
