//! Random programs computed in other orders of axes give the same elements, except for the order of additions.

use compiler::passes::memory_order;
use ferrofuse::ArrayView;
use ferrofuse_testing::random::{Placed, generate, place};
use ir::graph::{Axes, Fusion, Graph, Val};
use reference::evaluate::{EvaluateOptions, Serial, compare, evaluate};
use rustc_hash::FxHashSet;

/// Seeds, most of whose programs have inputs with two axes.
const SEEDS: u64 = 240;

/// The fewest of them that must run.
const MIN_RUN: usize = 60;

#[test]
fn programs_in_other_orders_give_the_same() {
    let mut ran = 0;
    for seed in 0..SEEDS {
        let program = generate(seed);
        let Ok(definition) = program.define() else { continue };
        let (mut graph, written) = definition.graph.fork(&definition.fusion);
        let orders: Vec<Axes> = written.inputs().iter().map(|&input| rotated(&graph, input, seed)).collect();
        let kept = FxHashSet::default();
        let Some((ordered, _)) = memory_order(&mut graph, &written, &orders, &kept) else { continue };
        graph.debug_verify(&ordered);
        let placed = place(&program.inputs);
        let views: Vec<ArrayView<'_>> = placed.iter().map(Placed::view).collect();
        let evaluated = |view: &Fusion| evaluate(&graph, view, &views, &EvaluateOptions::default());
        let Ok(before) = evaluated(&written) else { continue };
        let after = evaluated(&ordered).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        for (number, (before, after)) in before.outputs.iter().zip(&after.outputs).enumerate() {
            let found = compare(before, &after.value.view(), &Serial).expect("same type");
            assert!(found.matches(), "seed {seed}, output {number}: {found:?}");
        }
        ran += 1;
    }
    assert!(ran >= MIN_RUN, "only {ran} ran");
}

/// The axes of a value rotated by `by`: adjacent ones keep their order.
fn rotated(graph: &Graph, val: Val, by: u64) -> Axes {
    let rank = graph.shape(val).len() as u64;
    (0..rank).map(|axis| ((axis + by) % rank) as u8).collect()
}
