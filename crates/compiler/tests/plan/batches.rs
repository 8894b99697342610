//! The segments that one launch runs together, and those that it does not.

use ferrofuse_compiler::{Kernels, Plan, PlanOptions};
use ir::definition::Definition;
use target::Target;

use super::{cpu_plan, define, kernels, try_plan};

/// Updates of tensors of these sizes, in place.
fn updates(sizes: &[&str]) -> Definition {
    let update = |(number, size): (usize, &&str)| {
        let tensor = format!("fd.define_tensor(shape=[{size}], contiguity=True, dtype=DataType.Float)");
        let (param, grad) = (format!("p{number}"), format!("g{number}"));
        format!(
            "{param} = {tensor}\n{grad} = {tensor}\n\
             fd.add_output(fd.ops.sub({param}, fd.ops.mul({grad}, 0.5)), {param})\n"
        )
    };
    define(&sizes.iter().enumerate().map(update).collect::<String>())
}

fn lengths(plan: &Plan) -> Vec<usize> {
    plan.batches.iter().map(ExactSizeIterator::len).collect()
}

fn arguments(plan: &Plan) -> Vec<usize> {
    let kernels = plan.lowered.iter().filter_map(|segment| segment.kernels.first());
    kernels.map(|kernel| kernel.arguments.len()).collect()
}

#[test]
fn like_updates_are_one_batch_whatever_their_sizes() {
    assert_eq!(lengths(&cpu_plan(&updates(&["-1"; 5]))), [5]);
    let plan = cpu_plan(&updates(&["1000", "4000001", "77", "1000"]));
    assert_eq!((lengths(&plan), arguments(&plan)), (vec![4], vec![1; 4]));
}

#[test]
fn known_sizes_that_are_the_same_stay_known() {
    let plan = cpu_plan(&updates(&["5000, 3"; 3]));
    assert!(arguments(&plan).iter().all(|&count| count == 0), "{:?}", arguments(&plan));
}

#[test]
fn rows_of_whole_vectors_are_a_batch_of_their_own() {
    let plan = cpu_plan(&updates(&["1000", "1024", "77", "64", "4096", "9"]));
    assert_eq!(lengths(&plan), [3, 3]);
    let whole = |number: usize| plan.graph.shape(plan.segments[number].view.inputs()[0])[0].clone();
    let sizes: Vec<String> = (0..6).map(|number| whole(number).to_string()).collect();
    assert_eq!(sizes, ["1000", "77", "9", "1024", "64", "4096"]);
}

/// Adam's steps on tensors of these sizes, in place, with these rates alternately.
fn adam(sizes: &[&str], rates: &[&str]) -> Definition {
    let step = |(number, size): (usize, &&str)| {
        let tensor = format!("fd.define_tensor(shape=[{size}], contiguity=True, dtype=DataType.Float)");
        let rate = rates[number % rates.len()];
        format!(
            "p{number} = {tensor}\ng{number} = {tensor}\nm{number} = {tensor}\nv{number} = {tensor}\n\
             mean = fd.ops.add(fd.ops.mul(m{number}, 0.9), fd.ops.mul(g{number}, 0.1))\n\
             square = fd.ops.mul(fd.ops.mul(g{number}, g{number}), 0.001)\n\
             square = fd.ops.add(fd.ops.mul(v{number}, 0.999), square)\n\
             step = fd.ops.div(mean, fd.ops.add(fd.ops.sqrt(square), 1e-8))\n\
             fd.add_output(fd.ops.sub(p{number}, fd.ops.mul(step, {rate})), p{number})\n\
             fd.add_output(mean, m{number})\nfd.add_output(square, v{number})\n"
        )
    };
    define(&sizes.iter().enumerate().map(step).collect::<String>())
}

#[test]
fn constants_that_updates_share_do_not_tell_them_apart() {
    let sizes = ["262144", "1024", "65536", "4096"].repeat(5);
    assert_eq!(lengths(&cpu_plan(&adam(&sizes, &["0.001"]))), [20]);
    let mixed = ["262144", "1000", "65536", "77"].repeat(5);
    assert_eq!(lengths(&cpu_plan(&adam(&mixed, &["0.001"]))), [10, 10]);
    assert_eq!(lengths(&cpu_plan(&adam(&["-1"; 20], &["0.001"]))), [20]);
}

#[test]
fn updates_by_unlike_constants_are_told_apart() {
    let sizes = ["262144", "1024", "65536", "4096"].repeat(5);
    assert_eq!(lengths(&cpu_plan(&adam(&sizes, &["0.001", "0.01"]))), [10, 10]);
}

/// Sums of `count` pairs of tensors of this size.
fn sums(count: usize, size: &str) -> Definition {
    let tensor = format!("fd.define_tensor(shape=[{size}], contiguity=True, dtype=DataType.Float)");
    let sum = |number| {
        format!(
            "a{number} = {tensor}\nb{number} = {tensor}\n\
             fd.add_output(fd.ops.add(fd.ops.mul(a{number}, 0.5), b{number}))\n"
        )
    };
    define(&(0..count).map(sum).collect::<String>())
}

#[test]
fn many_like_outputs_of_one_size_are_a_short_kernel() {
    let plan = cpu_plan(&sums(64, "8"));
    assert_eq!(lengths(&plan), [64]);
    let statements = |kernels: &Kernels| kernels.witness.statements;
    assert!(plan.segments.iter().filter_map(kernels).all(|kernels| statements(kernels) < 20));
}

#[test]
fn a_few_like_outputs_of_one_size_are_one_segment() {
    assert_eq!(lengths(&cpu_plan(&sums(4, "8"))), [1]);
}

#[test]
fn parts_that_share_a_tensor_stay_together() {
    let body: String = (0..64)
        .map(|number| {
            format!(
                "b{number} = fd.define_tensor(shape=[8], contiguity=True, dtype=DataType.Float)\n\
                 fd.add_output(fd.ops.mul(a, b{number}))\n"
            )
        })
        .collect();
    let shared = "a = fd.define_tensor(shape=[8], contiguity=True, dtype=DataType.Float)\n";
    assert_eq!(lengths(&cpu_plan(&define(&format!("{shared}{body}")))), [1]);
}

#[test]
fn all_launches_of_a_batch_are_shared() {
    let body: String = (0..3)
        .map(|number| {
            format!(
                "T{number} = fd.define_tensor(shape=[3000, 70000], contiguity=True, dtype=DataType.Float)
                 fd.add_output(fd.ops.sum(T{number}, dims=[0]))\n"
            )
        })
        .collect();
    let plan = cpu_plan(&define(&body));
    if plan.segments.len() > 1 {
        assert!(plan.lowered.iter().all(|segment| segment.kernels.len() == 2));
        assert_eq!(lengths(&plan), [3]);
    }
}

#[test]
fn folds_of_unlike_sizes_have_kernels_of_their_own() {
    let body = "
        T0 = fd.define_tensor(shape=[1000], contiguity=True, dtype=DataType.Float)
        T1 = fd.define_tensor(shape=[77], contiguity=True, dtype=DataType.Float)
        fd.add_output(fd.ops.sum(T0, dims=[0]))
        fd.add_output(fd.ops.sum(T1, dims=[0]))";
    assert_eq!(lengths(&cpu_plan(&define(body))), [1, 1]);
}

#[test]
fn what_reads_what_another_makes_waits_for_it() {
    let body = "
        T0 = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        T1 = fd.ops.segment_set(fd.ops.exp(T0))
        T2 = fd.ops.segment_set(fd.ops.exp(T1))
        fd.add_output(T2)";
    let plan = cpu_plan(&define(body));
    assert_eq!(plan.segments.len(), 2);
    assert_eq!(lengths(&plan), [1, 1]);
}

#[test]
fn what_overwrites_an_input_waits_for_its_readers() {
    let body = "
        T0 = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        T1 = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        T2 = fd.ops.segment_set(fd.ops.exp(T0))
        T3 = fd.ops.exp(T1)
        fd.add_output(T2)
        fd.add_output(T3, T1)
        T4 = fd.ops.sum(fd.ops.exp(T1), dims=[0])
        T5 = fd.ops.segment_set(fd.ops.exp(T1))
        fd.add_output(fd.ops.add(T5, T4))";
    let plan = cpu_plan(&define(body));
    let reads = |number: usize| plan.segments[number].view.is_input(plan.fusion.inputs()[1]);
    let writes = |number: usize| plan.segments[number].view.is_output(plan.fusion.outputs()[1].val);
    for batch in &plan.batches {
        let writer = batch.clone().find(|&number| writes(number));
        let others = || batch.clone().filter(|&number| Some(number) != writer && reads(number));
        assert!(writer.is_none() || others().next().is_none(), "{:?} of {:#?}", batch, plan.segmentation);
    }
}

#[test]
fn an_order_that_the_user_chose_stays() {
    let definition = updates(&["1000", "1024", "77", "64"]);
    let sorted = cpu_plan(&definition).cut.segmentation;
    let mut segments: Vec<_> = sorted.segments.into_iter().collect();
    segments.swap(1, 2);
    let options = PlanOptions {
        segmentation: Some(segmenter::Segmentation::new(segments.clone())),
        ..PlanOptions::default()
    };
    let plan = try_plan(&definition, &Target::cpu(512), &options).expect("a segmentation that fits");
    assert_eq!((plan.segmentation.segments.clone(), lengths(&plan)), (segments, vec![1; 4]));
}
