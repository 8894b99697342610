//! Graph passes, in the order they run. Each takes a graph and a view in a [`PassContext`], appends to the graph, and
//! returns a new view and what each old value became; the old view stays valid. Debug builds verify after each.
//! `node_builder` is no pass: several add nodes through it.

mod add_bias;
mod approximate;
mod broadcast_constants;
mod decompose;
mod distribute;
mod hoist;
mod memory_order;
mod nest_cats;
mod node_builder;
mod online;
mod recognize;
mod simplify;
mod sink;
mod two_pass;
mod unroll_folds;

use ir::graph::{Axes, Fusion, Graph, Val, ValMap};
use rustc_hash::FxHashSet;

pub use add_bias::add_bias;
pub use approximate::approximate;
pub use decompose::{decompose, shallow_products};
pub use distribute::{distributable, distribute};
pub use hoist::{Hoisted, hoist, hoistable};
pub use memory_order::{in_memory, memory_order};
pub use online::{SoftmaxFolds, fold_online, softmax_folds};
pub use recognize::built_in;
pub use sink::before_expansion;
pub(crate) use sink::expanded_axes;
pub use two_pass::{two_pass, two_pass_argmax};
pub use unroll_folds::unroll_folds;

/// The input of a pass.
#[derive(Clone, Copy)]
pub struct PassContext<'a> {
    pub fusion: &'a Fusion,
    /// For each of its inputs the axes along which it is an expansion; none for inputs beyond these.
    pub expanded: &'a [Axes],
    /// The values that somebody wants in memory.
    pub kept: &'a FxHashSet<Val>,
}

/// A graph pass: a new view, and what each value of the old one became.
pub type Pass = fn(&mut Graph, &PassContext<'_>) -> (Fusion, ValMap);

/// A pass among [`PASSES`].
pub struct Row {
    pub name: &'static str,
    /// Whether it changes no bit of an element; one that does keeps elements within their bounds.
    pub exact: bool,
    pub pass: Pass,
}

/// All passes, in order.
pub const PASSES: &[Row] = &[
    Row { name: "recognize", exact: false, pass: recognize::recognize },
    Row { name: "approximate", exact: false, pass: approximate },
    Row { name: "simplify", exact: true, pass: simplify::simplify },
    Row { name: "sink_expansions", exact: true, pass: sink::sink_expansions },
    Row { name: "broadcast_constants", exact: true, pass: broadcast_constants::broadcast_constants },
    Row { name: "nest_cats", exact: true, pass: nest_cats::nest_cats },
];

/// The result of a pass.
#[derive(Clone, Debug)]
pub struct Step {
    /// The pass.
    pub pass: &'static str,
    /// The new view. The previous one stays valid; using it reverts the pass.
    pub view: Fusion,
    /// What each value of the previous view became.
    pub map: ValMap,
}

/// What steps made of a fusion.
#[derive(Clone, Debug)]
pub(crate) struct Rewritten {
    /// The fusion after them.
    pub fusion: Fusion,
    /// What each value of the one before them became.
    pub map: ValMap,
}

impl Rewritten {
    /// No step has run.
    pub fn not_yet(graph: &Graph, fusion: &Fusion) -> Rewritten {
        let mut map = ValMap::new();
        let values = fusion.order().iter().flat_map(|&node| graph.results(node));
        fusion.inputs().iter().copied().chain(values).for_each(|val| map.insert(val, val));
        Rewritten { fusion: fusion.clone(), map }
    }

    /// More steps ran.
    pub fn add(&mut self, steps: &[Step]) {
        steps.iter().for_each(|step| self.map.compose(&step.map));
        if let Some(last) = steps.last() {
            self.fusion.clone_from(&last.view);
        }
    }

    /// The same after more steps.
    pub fn with(&self, steps: &[Step]) -> Rewritten {
        let mut rewritten = self.clone();
        rewritten.add(steps);
        rewritten
    }
}

/// Runs all passes, one after the other. Products that are `kept` in memory are not fused into a sum.
pub(crate) fn optimize(
    graph: &mut Graph,
    fusion: &Fusion,
    expanded: &[Axes],
    kept: FxHashSet<Val>,
) -> Vec<Step> {
    run(PASSES.iter(), graph, fusion, expanded, kept)
}

/// Runs the passes that change no bit of an element, so that they suit the evaluator.
pub(crate) fn optimize_exactly(graph: &mut Graph, fusion: &Fusion, expanded: &[Axes]) -> Vec<Step> {
    run(PASSES.iter().filter(|row| row.exact), graph, fusion, expanded, FxHashSet::default())
}

fn run<'a>(
    passes: impl Iterator<Item = &'a Row>,
    graph: &mut Graph,
    fusion: &Fusion,
    expanded: &[Axes],
    mut kept: FxHashSet<Val>,
) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for row in passes {
        let fusion = steps.last().map_or(fusion, |step| &step.view);
        let (view, map) = (row.pass)(graph, &PassContext { fusion, expanded, kept: &kept });
        kept = kept.into_iter().filter_map(|val| map.get(val)).collect();
        graph.debug_verify(&view);
        steps.push(Step { pass: row.name, view, map });
    }
    steps
}
