//! Random programs before and after a graph pass, both on the evaluator.

use ferrofuse::ArrayView;
use ferrofuse_testing::random::{Placed, generate, place};
use ir::graph::{Fusion, Graph};
use reference::evaluate::{EvaluateOptions, Evaluated, Serial, compare, evaluate};

/// Runs the programs of these seeds that a pass applies to, and compares each output before and after it. At least `min_run`
/// must run.
pub(super) fn compare_programs(
    seeds: u64,
    min_run: usize,
    options: &EvaluateOptions<'_>,
    pass: impl Fn(u64, &mut Graph, &Fusion) -> Option<Fusion>,
    compare: impl Fn(&Evaluated, &Evaluated) -> Result<(), String>,
) {
    let mut ran = 0;
    for seed in 0..seeds {
        let program = generate(seed);
        let Ok(definition) = program.define() else { continue };
        let (mut graph, written) = definition.graph.fork(&definition.fusion);
        let Some(rewritten) = pass(seed, &mut graph, &written) else { continue };
        graph.debug_verify(&rewritten);
        let placed = place(&program.inputs);
        let views: Vec<ArrayView<'_>> = placed.iter().map(Placed::view).collect();
        let evaluated = |view: &Fusion| evaluate(&graph, view, &views, options);
        let Ok(before) = evaluated(&written) else { continue };
        let after = evaluated(&rewritten).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        for (number, (before, after)) in before.outputs.iter().zip(&after.outputs).enumerate() {
            compare(before, after).unwrap_or_else(|found| panic!("seed {seed}, output {number}: {found}"));
        }
        ran += 1;
    }
    assert!(ran >= min_run, "only {ran} ran");
}

/// Whether elements are within the bounds of those before.
pub(super) fn within_bounds(before: &Evaluated, after: &Evaluated) -> Result<(), String> {
    let found = compare(before, &after.value.view(), &Serial).expect("same type");
    if found.matches() { Ok(()) } else { Err(format!("{found:?}")) }
}
