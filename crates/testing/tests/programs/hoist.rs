//! Moving index maps of random programs before folds changes no bit of any element.

use compiler::passes::{hoist, hoistable};
use ir::graph::{Fusion, Graph};
use reference::evaluate::{EvaluateOptions, Evaluated};
use rustc_hash::FxHashSet;

use super::rewritten::compare_programs;

/// Seeds, some of whose programs have such index maps.
const SEEDS: u64 = 1200;

/// The fewest of them that must run.
const MIN_RUN: usize = 15;

#[test]
fn index_maps_before_folds_give_the_same_bits() {
    let options = EvaluateOptions { bounds: false, ..EvaluateOptions::default() };
    let hoisted = |_, graph: &mut Graph, written: &Fusion| {
        let index_maps = hoistable(graph, written, &FxHashSet::default());
        (!index_maps.is_empty()).then(|| hoist(graph, written, &index_maps).0)
    };
    let same_bits = |before: &Evaluated, after: &Evaluated| {
        let is_same = before.value.as_bytes() == after.value.as_bytes();
        if is_same { Ok(()) } else { Err("other bits".to_owned()) }
    };
    compare_programs(SEEDS, MIN_RUN, &options, hoisted, same_bits);
}
