//! Graph passes, in the order they run. Each takes a graph and a view, appends to the graph, and gives a new view
//! and what each old value became; the old view still works. Debug builds verify after each.

mod approximate;
mod simplify;
mod sink;

use ir::graph::{Fusion, Graph, ValMap};

pub use approximate::approximate;

/// A graph pass.
pub type Pass = fn(&mut Graph, &Fusion) -> (Fusion, ValMap);

/// All passes by name, in order.
pub const PASSES: &[(&str, Pass)] = &[
    ("approximate", approximate::approximate),
    ("simplify", simplify::simplify),
    ("sink_expansions", sink::sink_expansions),
];

/// Runs all passes.
pub fn optimize(graph: &mut Graph, fusion: &Fusion) -> (Fusion, ValMap) {
    let mut view = fusion.clone();
    let mut map = ValMap::new();
    let values = fusion.order().iter().flat_map(|&node| graph.results(node)).collect::<Vec<_>>();
    fusion.inputs().iter().copied().chain(values).for_each(|val| map.insert(val, val));
    for (_, pass) in PASSES {
        let (next, moved) = pass(graph, &view);
        graph.debug_verify(&next);
        map = map.then(&moved);
        view = next;
    }
    (view, map)
}
