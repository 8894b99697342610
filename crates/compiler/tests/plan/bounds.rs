//! The limit on a kernel's code: longer code is cut, wherever it comes from. Counts, not times.

use ferrofuse_compiler::{Decision, Plan};
use ir::definition::Definition;
use scheduler::hints::Hints;
use segmenter::lower_bound;

use super::{cpu_plan, define, kernels, lowered};

/// A definition that repeatedly applies a call to `y`, a tensor of 32 by 32.
fn repeated(calls: &[&str], times: usize) -> Definition {
    let step = |place: usize| format!("y = {}\n", calls[place % calls.len()]);
    let steps: String = (0..times).map(step).collect();
    define(&format!(
        "y = fd.define_tensor(shape=[32, 32], contiguity=True, dtype=DataType.Float)
        k = fd.define_tensor(shape=[32, 32], contiguity=True, dtype=DataType.Int)
        {steps}fd.add_output(y)"
    ))
}

/// The statements that legality counted for each segment, and the most that a kernel has in all its loops.
fn sizes(plan: &Plan) -> (Vec<u64>, usize) {
    assert!(plan.segments.iter().all(|segment| matches!(segment.decision, Decision::Kernels(_))));
    let all = || plan.segments.iter().filter_map(kernels);
    let longest = lowered(plan).map(|lowered| lowered.kernel.to_string().lines().count()).max();
    (all().map(|kernels| kernels.witness.statements).collect(), longest.unwrap_or(0))
}

fn is_bounded(calls: &[&str], times: usize) {
    let plan = cpu_plan(&repeated(calls, times));
    let (counted, longest) = sizes(&plan);
    assert!(counted.len() > 1 && counted.iter().all(|&count| count <= 1024), "{calls:?}: {counted:?}");
    assert!(longest <= 4096, "{calls:?}: {longest} lines");
}

#[test]
fn long_chains_of_costly_ops_are_cut() {
    is_bounded(&["fd.ops.sin(y)"], 300);
    is_bounded(&["fd.ops.pow(y, 1.5)"], 100);
}

/// Each stage computes the values of the earlier ones again.
#[test]
fn chained_folds_are_cut() {
    is_bounded(&["fd.ops.sub(y, fd.ops.mean(y, dims=[1], keepdim=True))"], 60);
}

/// The states of a variance are combined in f64 after each block, which is much code for one fold.
#[test]
fn many_variances_are_cut() {
    let variance =
        |k| format!("v{k}, m{k} = fd.ops.var_mean(fd.ops.add(x, {k}.5), dims=[0])\nfd.add_output(v{k})\n");
    let largest = |k| format!("fd.add_output(fd.ops.max(fd.ops.add(x, {k}.5), dims=[0]))\n");
    let kernels_of = |folds: String| {
        let input = "x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)\n";
        sizes(&cpu_plan(&define(&format!("{input}{folds}")))).0.len()
    };
    assert_eq!(kernels_of((0..32).map(largest).collect()), 1);
    assert!(kernels_of((0..32).map(variance).collect()) > 1);
}

/// A value that two index maps read is computed for both, so that code would double with each step.
#[test]
fn index_maps_of_index_maps_are_cut() {
    is_bounded(&["fd.ops.add(fd.ops.pad(y, [1, -1]), fd.ops.pad(y, [-1, 1]))"], 24);
    let gathers = "fd.ops.add(fd.ops.take_along_axis(y, k, dim=0), fd.ops.take_along_axis(y, k, dim=1))";
    is_bounded(&[gathers], 24);
}

/// Three sums of both neighbours to a segment take less time than two and three in turn, but no move of one boundary, or of
/// one that takes the place of two, leads there by steps that all pay.
#[test]
fn a_row_of_segments_is_divided_anew() {
    let input = "y = fd.define_tensor(shape=[4096, 2048], contiguity=True, dtype=DataType.Float)\n";
    let sum = "y = fd.ops.add(fd.ops.pad(y, [1, -1]), fd.ops.pad(y, [-1, 1]))\n";
    let plan = cpu_plan(&define(&format!("{input}{}fd.add_output(y)", sum.repeat(18))));
    assert_eq!(plan.segments.len(), 6);
}

/// No kernel computes both in one sweep; that no other cut is faster is known once all are tried.
#[test]
fn a_tiny_fusion_is_bounded_by_all_its_segmentations() {
    let input = "y = fd.define_tensor(shape=[4096, 4096], contiguity=True, dtype=DataType.Float)\n";
    let softmax = "fd.add_output(fd.ops.div(y, fd.ops.sum(fd.ops.exp(y), dims=[0], keepdim=True)))\n";
    let sums = "fd.add_output(fd.ops.sum(y, dims=[1]))\n";
    let plan = cpu_plan(&define(&format!("{input}{softmax}{sums}")));
    let hints = Hints::default();
    let certificate = plan.certificate(&hints).expect("only kernels");
    let bound = lower_bound(&plan.graph, &plan.computed, &hints, &plan.target).seconds;
    assert!(1e6 * bound < 0.95 * certificate.cost_us, "{bound}");
    assert!(certificate.gap < 0.01, "{certificate:?}");
}

#[test]
fn what_is_short_stays_whole() {
    assert_eq!(cpu_plan(&repeated(&["fd.ops.add(y, 1.0)", "fd.ops.mul(y, 0.5)"], 900)).segments.len(), 1);
    assert_eq!(cpu_plan(&repeated(&["fd.ops.pad(y, [1, -1])"], 20)).segments.len(), 1);
}

/// Results that share only operands are in one kernel unless that is too long.
#[test]
fn many_results_share_kernels() {
    let outputs: String = (0..1200).map(|n| format!("fd.add_output(fd.ops.mul(y, {n}.5))\n")).collect();
    let source = "y = fd.define_tensor(shape=[32, 32], contiguity=True, dtype=DataType.Float)\n";
    let plan = cpu_plan(&define(&format!("{source}{outputs}")));
    assert!(plan.segments.len() <= 12, "{} segments", plan.segments.len());
}

/// A cat of many is cut between its parts. Their loops are partitioned, so they may have more statements than other kernels.
#[test]
fn a_cat_of_many_is_a_cat_of_cats() {
    let names: Vec<String> = (0..300).map(|n| format!("x{n}")).collect();
    let declare = |name: &String| format!("{name} = fd.define_tensor(shape=[4], contiguity=True)\n");
    let inputs: String = names.iter().map(declare).collect();
    let plan =
        cpu_plan(&define(&format!("{inputs}fd.add_output(fd.ops.cat([{}], dim=0))", names.join(", "))));
    let (counted, _) = sizes(&plan);
    assert!(counted.len() > 1 && counted.iter().all(|&count| count <= 2048), "{counted:?}");
}

/// By the cost model's sums the cost of a chain of squares doubles with each, beyond the range of a number.
#[test]
fn squares_of_squares_for_all_heads_are_priced() {
    let squares: String = (0..100).map(|_| "y = fd.ops.mul(y, y)\n").collect();
    let plan = cpu_plan(&define(&format!(
        "x = fd.define_tensor(shape=[8, 32, 32], contiguity=True, dtype=DataType.Float)
        y = fd.define_tensor(shape=[32, 32], contiguity=True, dtype=DataType.Float)
        {squares}fd.add_output(fd.ops.add(x, fd.ops.broadcast(y, [True, False, False])))"
    )));
    assert!((1..=2).contains(&plan.segments.len()), "{} segments", plan.segments.len());
}

/// Segments whose kernels differ are launches of their own, so that two are proved best where no kernel makes both outputs.
#[test]
fn launches_that_run_one_segment_each_are_counted() {
    let gap = |first: &str, second: &str| {
        let definition = define(&format!(
            "x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
            y = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
            fd.add_output({first})
            fd.add_output({second})"
        ));
        let plan = cpu_plan(&definition);
        assert_eq!(plan.segments.len(), 2);
        plan.certificate(&Hints::default()).expect("kernels").gap
    };
    assert_eq!(gap("fd.ops.exp(x)", "fd.ops.neg(y)"), 0.0);
    assert!(gap("fd.ops.exp(x)", "fd.ops.exp(y)") > 0.0);
}
