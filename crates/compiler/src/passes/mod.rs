//! Graph passes, in the order they run. Each takes a graph, a view, the layouts of its inputs and which values somebody
//! wants in memory, appends to the graph, and gives a new view and what each old value became; the old view still works.
//! Debug builds verify after each.

mod approximate;
mod decompose;
mod distribute;
mod nest_cats;
mod simplify;
mod sink;

use ir::graph::{Fusion, Graph, Val, ValMap};
use rustc_hash::FxHashSet;
use scheduler::layout::LayoutClass;

pub use approximate::approximate;
pub use decompose::{decompose, shallow_products};
pub use distribute::{distributable, distribute};
pub use sink::before_expansion;

/// A graph pass.
pub type Pass = fn(&mut Graph, &Fusion, &[LayoutClass], &FxHashSet<Val>) -> (Fusion, ValMap);

/// A pass among [`PASSES`].
pub struct Row {
    pub name: &'static str,
    /// Whether it changes no element by a bit; one that does keeps them within their bounds.
    pub exact: bool,
    pub pass: Pass,
}

/// All passes, in order.
pub const PASSES: &[Row] = &[
    Row {
        name: "approximate",
        exact: false,
        pass: |graph, fusion, _, kept| approximate(graph, fusion, kept),
    },
    Row { name: "simplify", exact: true, pass: |graph, fusion, _, _| simplify::simplify(graph, fusion) },
    Row {
        name: "sink_expansions",
        exact: true,
        pass: |graph, fusion, layouts, _| sink::sink_expansions(graph, fusion, layouts),
    },
    Row { name: "nest_cats", exact: true, pass: |graph, fusion, _, _| nest_cats::nest_cats(graph, fusion) },
];

/// What a pass made of the view before it.
#[derive(Clone, Debug)]
pub struct Step {
    /// The pass.
    pub pass: &'static str,
    /// The new view. The one before it still works, and to take that is to revert the pass.
    pub view: Fusion,
    /// What each value of the view before became.
    pub map: ValMap,
}

/// Runs all passes, one after the other. Products that are `kept` in memory become no part of a sum.
pub fn optimize(
    graph: &mut Graph,
    fusion: &Fusion,
    layouts: &[LayoutClass],
    kept: FxHashSet<Val>,
) -> Vec<Step> {
    run(PASSES.iter(), graph, fusion, layouts, kept)
}

/// Runs the passes that change no element by a bit, so that they suit the evaluator.
pub fn optimize_exactly(graph: &mut Graph, fusion: &Fusion, layouts: &[LayoutClass]) -> Vec<Step> {
    run(PASSES.iter().filter(|row| row.exact), graph, fusion, layouts, FxHashSet::default())
}

/// The view behind passes that ran on `fusion`, and what each value of that became.
pub fn composed(graph: &Graph, fusion: &Fusion, steps: &[Step]) -> (Fusion, ValMap) {
    let mut map = ValMap::new();
    let values = fusion.order().iter().flat_map(|&node| graph.results(node));
    fusion.inputs().iter().copied().chain(values).for_each(|val| map.insert(val, val));
    let map = steps.iter().fold(map, |map, step| map.then(&step.map));
    (steps.last().map_or(fusion, |step| &step.view).clone(), map)
}

fn run<'a>(
    passes: impl Iterator<Item = &'a Row>,
    graph: &mut Graph,
    fusion: &Fusion,
    layouts: &[LayoutClass],
    mut kept: FxHashSet<Val>,
) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for row in passes {
        let before = steps.last().map_or(fusion, |step| &step.view);
        let (view, map) = (row.pass)(graph, before, layouts, &kept);
        kept = kept.into_iter().filter_map(|val| map.get(val)).collect();
        graph.debug_verify(&view);
        steps.push(Step { pass: row.name, view, map });
    }
    steps
}
