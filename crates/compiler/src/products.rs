//! Which products of matrices a kernel computes, and which a library does: what is faster by the cost model.
//!
//! A shallow product may be taken apart (`passes::decompose`), so that ops around it need no tensor in memory; what that
//! takes is asked of the whole fusion. The cost model knows no time that a library computes, so a library is judged by
//! the bytes that it moves, and wins where no bytes are saved.

use ir::graph::{Fusion, Graph, Node, Val};
use rustc_hash::FxHashSet;

use crate::passes::{Step, decompose, shallow_products};

/// Products that are judged one by one; what comes behind them stays with the library.
const JUDGED: usize = 8;

/// Nodes of fusions that are planned to judge products, of which one is judged however long the fusion is.
const PLANNED: usize = 1 << 13;

/// A product of matrices that a kernel may compute, and what was decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShallowProduct {
    /// The product, before it is taken apart.
    pub val: Val,
    /// Seconds that the cost model expects of the whole fusion if a library computes it.
    pub library: f64,
    /// And if a kernel does.
    pub kernel: f64,
}

/// The products that were judged.
#[derive(Clone, Debug, Default)]
pub struct JudgedProducts {
    pub each: Vec<ShallowProduct>,
    /// How many graph passes ran before they were judged.
    pub steps_before: usize,
}

impl ShallowProduct {
    /// Whether a kernel computes it.
    pub fn is_decomposed(&self) -> bool {
        self.kernel < self.library
    }
}

/// Decides of each shallow product, in order, and takes apart those that kernels compute: the step that did, if there are
/// some. `seconds` are those of what a further step makes of the fusion.
pub(crate) fn decide(
    graph: &mut Graph,
    fusion: &Fusion,
    mut seconds: impl FnMut(&Graph, Option<&Step>) -> f64,
) -> (Vec<ShallowProduct>, Option<Step>) {
    let mut products = Vec::new();
    let mut chosen: FxHashSet<Node> = FxHashSet::default();
    let mut taken: Option<Step> = None;
    let mut library = None;
    let judged = (PLANNED / fusion.order().len().max(1)).clamp(1, JUDGED);
    for node in shallow_products(graph, fusion).into_iter().take(judged) {
        let whole = *library.get_or_insert_with(|| seconds(graph, None));
        let with: FxHashSet<Node> = chosen.iter().copied().chain([node]).collect();
        let (view, map) = decompose(graph, fusion, &with);
        let step = Step { pass: "decompose", view, map };
        let product =
            ShallowProduct { val: node.into(), library: whole, kernel: seconds(graph, Some(&step)) };
        if product.is_decomposed() {
            (chosen, taken, library) = (with, Some(step), Some(product.kernel));
        }
        products.push(product);
    }
    (products, taken)
}
