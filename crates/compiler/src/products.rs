//! Which products of matrices a kernel computes and which a library: the faster choice by the cost model.
//!
//! A shallow product may be decomposed (`passes::decompose`), so that ops around it need no tensor in memory; the cost of
//! that is estimated for the whole fusion. The cost model does not know how long libraries compute, so it counts only the
//! bytes that a library moves, and the library wins if a kernel saves no bytes.

use ir::graph::{Fusion, Graph, Node, Val};
use rustc_hash::FxHashSet;

use crate::passes::{Step, decompose, shallow_products};

/// The number of products that are judged; later ones stay with the library.
const JUDGED: usize = 8;

/// The budget of nodes that are planned to judge products; one product is judged however long the fusion is.
const PLANNED: usize = 1 << 13;

/// A product of matrices that a kernel may compute, and the decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShallowProduct {
    /// The product, before it is decomposed.
    pub val: Val,
    /// Seconds that the cost model expects for the whole fusion if a library computes the product.
    pub library: f64,
    /// The same if a kernel does.
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

/// Decides about each shallow product, in order, and decomposes those that kernels compute; returns that step if there are
/// any. `seconds` estimates the fusion after a further step.
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
