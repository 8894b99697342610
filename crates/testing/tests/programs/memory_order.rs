//! Random programs computed in other orders of axes give the same elements, except for the order of additions.

use compiler::passes::memory_order;
use ir::graph::{Axes, Fusion, Graph, Val};
use reference::evaluate::EvaluateOptions;
use rustc_hash::FxHashSet;

use super::rewritten::{compare_programs, within_bounds};

/// Seeds, most of whose programs have inputs with two axes.
const SEEDS: u64 = 240;

/// The fewest of them that must run.
const MIN_RUN: usize = 60;

#[test]
fn programs_in_other_orders_give_the_same() {
    let ordered = |seed, graph: &mut Graph, written: &Fusion| {
        let orders: Vec<Axes> = written.inputs().iter().map(|&input| rotated(graph, input, seed)).collect();
        memory_order(graph, written, &orders, &FxHashSet::default()).map(|(ordered, _)| ordered)
    };
    compare_programs(SEEDS, MIN_RUN, &EvaluateOptions::default(), ordered, within_bounds);
}

/// The axes of a value rotated by `by`: adjacent ones keep their order.
fn rotated(graph: &Graph, val: Val, by: u64) -> Axes {
    let rank = graph.shape(val).len() as u64;
    (0..rank).map(|axis| ((axis + by) % rank) as u8).collect()
}
