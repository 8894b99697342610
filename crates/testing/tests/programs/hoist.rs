//! Moving index maps of random programs before folds changes no bit of any element.

use compiler::passes::{hoist, hoistable};
use ferrofuse::ArrayView;
use ferrofuse_testing::random::{Placed, generate, place};
use ir::graph::Fusion;
use reference::evaluate::{EvaluateOptions, evaluate};
use rustc_hash::FxHashSet;

/// Seeds, some of whose programs have such index maps.
const SEEDS: u64 = 1200;

/// The fewest of them that must run.
const MIN_RUN: usize = 15;

#[test]
fn index_maps_before_folds_give_the_same_bits() {
    let mut ran = 0;
    for seed in 0..SEEDS {
        let program = generate(seed);
        let Ok(definition) = program.define() else { continue };
        let (mut graph, written) = definition.graph.fork(&definition.fusion);
        let index_maps = hoistable(&mut graph, &written, &FxHashSet::default());
        if index_maps.is_empty() {
            continue;
        }
        let (hoisted, _) = hoist(&mut graph, &written, &index_maps);
        graph.debug_verify(&hoisted);
        let placed = place(&program.inputs);
        let views: Vec<ArrayView<'_>> = placed.iter().map(Placed::view).collect();
        let options = EvaluateOptions { bounds: false, ..EvaluateOptions::default() };
        let evaluated = |view: &Fusion| evaluate(&graph, view, &views, &options);
        let Ok(before) = evaluated(&written) else { continue };
        let after = evaluated(&hoisted).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        for (number, (before, after)) in before.outputs.iter().zip(&after.outputs).enumerate() {
            assert_eq!(before.value.as_bytes(), after.value.as_bytes(), "seed {seed}, output {number}");
        }
        ran += 1;
    }
    assert!(ran >= MIN_RUN, "only {ran} ran");
}
