//! Values that are cheaper to compute again than to write and read: unary chains from inputs, casts, broadcasts,
//! factories. A value is dropped from memory when that moves fewer bytes and every segment stays legal.

use ir::graph::{Form, Fusion, Graph, Val};

use super::cost::bytes;
use super::legal::legal;
use super::segmentation::Segmentation;
use crate::schedule::Hints;

/// The segmentation with values dropped from memory as long as that saves bytes.
pub fn recompute(graph: &Graph, fusion: &Fusion, segmentation: Segmentation, hints: &Hints) -> Segmentation {
    let mut best = segmentation;
    loop {
        let candidates: Vec<Val> = best.segments.iter().flatten().copied().collect();
        let better = candidates.into_iter().find_map(|val| without(graph, fusion, &best, val, hints));
        match better {
            Some(better) => best = better,
            None => return best,
        }
    }
}

/// The segmentation without one kept value, if that is legal and moves fewer bytes.
fn without(
    graph: &Graph,
    fusion: &Fusion,
    before: &Segmentation,
    val: Val,
    hints: &Hints,
) -> Option<Segmentation> {
    if fusion.is_output(val) || matches!(graph.form(val), Form::Fold { .. }) {
        return None;
    }
    let mut after = before.clone();
    after.segments.iter_mut().for_each(|made| made.retain(|&other| other != val));
    after.segments.retain(|made| !made.is_empty());
    let views = after.views(graph, fusion);
    let moved = |views: &[Fusion]| views.iter().map(|view| hints.value(&bytes(graph, view))).sum::<u64>();
    let old_views = before.views(graph, fusion);
    if moved(&views) > moved(&old_views) || after.check(graph, fusion).is_err() {
        return None;
    }
    let refused = |views: &[Fusion]| views.iter().filter(|view| legal(graph, view).is_err()).count();
    (refused(&views) <= refused(&old_views) && !folds_more(graph, &old_views, &views)).then_some(after)
}

/// Whether some fold would be computed more often than before.
fn folds_more(graph: &Graph, before: &[Fusion], after: &[Fusion]) -> bool {
    let folds = |views: &[Fusion]| {
        let nodes = views.iter().flat_map(|view| view.order());
        nodes.filter(|node| matches!(graph.node(**node).form, Form::Fold { .. })).count()
    };
    folds(after) > folds(before)
}
