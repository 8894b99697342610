//! The structure of plans: the number of segments, the values they keep, what crosses blocks, and that planning is
//! deterministic.

use ferrofuse_compiler::{Decision, PlanOptions, PlanRequest, plan};
use index::Expr;
use ir::graph::{TaskKind, TensorOp};
use ir::layout::LayoutClass;
use lowering::BufferSource;
use scheduler::hints::Hints;
use segmenter::Segmentation;
use target::Target;

use super::{
    INNER_OUTER, SOFTMAX, cpu_plan, define, first_kernel, kernels, lowered, only, try_plan, verify_kernels,
};

#[test]
fn columns_summed_beside_rows_leave_partial_results_of_one_row_a_block() {
    let plan = cpu_plan(&define(INNER_OUTER));
    let [segment] = plan.lowered.as_slice() else { panic!("{} segments", plan.lowered.len()) };
    assert_eq!(segment.kernels.len(), 2, "a main kernel and one combine step for both column sums");
    assert_eq!(segment.temporaries.len(), 2);
    let main = &segment.kernels[0];
    let stores = main.buffers.iter().filter(|source| matches!(source, BufferSource::Store(_))).count();
    assert_eq!(stores, 1, "only the output of full size leaves the main kernel");
}

/// Rows that do not stay in a cache between stages are read once for each stage that walks them.
#[test]
fn a_row_is_read_as_often_as_stages_walk_it() {
    let log_sum_exp = "
        T0 = fd.define_tensor(shape=[-1, 262144], contiguity=True, dtype=DataType.Float)
        T1 = fd.ops.max(T0, dims=[1])
        T2 = fd.ops.sub(T0, fd.ops.broadcast(T1, is_broadcast_dim=[False, True]))
        T3 = fd.ops.add(fd.ops.log(fd.ops.sum(fd.ops.exp(T2), dims=[1])), T1)
        fd.add_output(T3)
        fd.add_output(fd.ops.sum(T3, dims=[0]))";
    for (body, sweeps) in [(log_sum_exp.to_owned(), 2), (SOFTMAX.replace("-1, -1", "-1, 262144"), 3)] {
        assert_eq!(only(&cpu_plan(&define(&body))).input_sweeps, sweeps, "{body}");
        assert_eq!(only(&cpu_plan(&define(&body.replace("262144", "1024")))).input_sweeps, 1, "{body}");
    }
}

#[test]
fn contiguous_elementwise_work_is_one_loop() {
    let body = "
        T0 = fd.define_tensor(shape=[-1, -1, 3], contiguity=True, dtype=DataType.Float)
        T1 = fd.ops.exp(T0)
        fd.add_output(T1)";
    let plan = cpu_plan(&define(body));
    assert_eq!(only(&plan).schedule.fused.len(), 1);
    assert_eq!(only(&plan).schedule.fused[0].len(), 3);
    let text = first_kernel(&plan);
    assert_eq!(text.matches("for ").count(), 1, "{text}");
}

#[test]
fn a_bias_along_the_inner_axis_keeps_the_axes_apart() {
    let body = "
        T0 = fd.define_tensor(shape=[-1, -1, -1], contiguity=True, dtype=DataType.Float)
        T1 = fd.define_tensor(shape=[1, 1, -1], contiguity=True, dtype=DataType.Float)
        T2 = fd.ops.add(T0, T1)
        fd.add_output(T2)";
    let plan = cpu_plan(&define(body));
    let fused: Vec<usize> = only(&plan).schedule.fused.iter().map(Vec::len).collect();
    assert_eq!(fused, [2], "the two outer axes are one loop");
}

#[test]
fn casts_from_inputs_are_computed_again_and_not_kept() {
    let body = "
        T0 = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
        T1 = fd.ops.cast(T0, dtype=DataType.Float)
        T2 = fd.ops.sum(T1, dims=[0], keepdim=True)
        T3 = fd.ops.sum(T1, dims=[1], keepdim=True)
        T4 = fd.ops.add(T2, T3)
        T5 = fd.ops.add(T1, T4)
        fd.add_output(T5)";
    let plan = cpu_plan(&define(body));
    assert!(plan.segments.len() > 1);
    for &val in plan.segmentation.segments.iter().flatten() {
        assert!(
            !matches!(plan.graph.op(val), TensorOp::Cast(_)),
            "{val} is a cast of an input, kept in memory"
        );
    }
}

#[test]
fn segments_are_tasks_that_know_their_edges() {
    let body = "
        T0 = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        T1 = fd.ops.exp(T0)
        T2 = fd.ops.segment_set(T1)
        T3 = fd.ops.neg(T2)
        fd.add_output(T3)";
    let plan = cpu_plan(&define(body));
    assert_eq!(plan.tasks.of_kind(TaskKind::Segment).count(), 2);
    assert!(plan.tasks.is_segment_edge(plan.segmentation.segments[0][0]));
    assert!(plan.graph.verify_tasks(&plan.tasks).is_empty());
}

#[test]
fn what_has_no_kernel_says_why() {
    let body = "
        T0 = fd.define_tensor(shape=[4, 6, 8], contiguity=True, dtype=DataType.Float)
        T1 = fd.ops.sum(T0, dims=[2])
        T2 = fd.ops.reshape(T1, new_shape=[8, 3])
        fd.add_output(T2)";
    let plan = cpu_plan(&define(body));
    for segment in &plan.segments {
        if let Decision::Evaluate { reason, .. } = &segment.decision {
            assert!(!reason.is_empty());
        }
    }
    assert!(
        plan.segments.iter().all(|segment| kernels(segment).is_some()),
        "a fold and a copy are two kernels"
    );
    assert_eq!(plan.segments.len(), 2);
}

#[test]
fn what_costs_a_call_is_computed_once_a_row() {
    let plan = cpu_plan(&define(SOFTMAX));
    assert_eq!(only(&plan).schedule.persistent.len(), 1);
    let text = first_kernel(&plan);
    assert_eq!(text.matches("= exp_nonpositive ").count(), 1, "{text}");
}

#[test]
fn planning_twice_gives_the_same_text() {
    for body in [SOFTMAX, INNER_OUTER] {
        let text = || {
            let plan = cpu_plan(&define(body));
            lowered(&plan).map(|lowered| lowered.kernel.to_string()).collect::<String>()
        };
        assert_eq!(text(), text());
    }
}

#[test]
fn gpu_plans_verify_too() {
    for body in [SOFTMAX, INNER_OUTER] {
        let plan = try_plan(&define(body), &Target::cuda(), &PlanOptions::default()).expect("no choices");
        verify_kernels(&plan);
    }
}

/// If blocks of a GPU keep sums of columns, more bandwidth is of no use: there are too few threads.
#[test]
fn few_bytes_in_flight_bound_what_bandwidth_does_not() {
    let memory = |body: &str, bandwidth: f64| {
        let definition = define(body);
        let (graph, inputs) = (&definition.graph, definition.fusion.inputs());
        let symbols = inputs.iter().flat_map(|&val| graph.shape(val)).filter_map(Expr::as_sym);
        let hints = Hints::new(symbols.map(|symbol| (symbol, 8192)));
        let target = Target { bandwidth, ..Target::cuda() };
        let layouts = vec![LayoutClass::Dense; inputs.len()];
        let plan = plan(PlanRequest {
            graph,
            fusion: &definition.fusion,
            tasks: &definition.tasks,
            layouts: &layouts,
            target: &target,
            hints: &hints,
            options: &PlanOptions::default(),
        });
        plan.expect("no choices").costs(&hints).iter().map(|cost| cost.memory).sum::<f64>()
    };
    assert!(memory(SOFTMAX, 13e12) < 0.8 * memory(SOFTMAX, 10e12));
    assert!(memory(INNER_OUTER, 13e12) > 0.95 * memory(INNER_OUTER, 10e12));
}

#[test]
fn further_results_of_a_fold_are_named_by_identifiers() {
    let plan = cpu_plan(&define(
        "
        T0 = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        T1, T2, T3 = fd.ops.welford(T0, dims=[0])
        fd.add_output(T2)",
    ));
    let names = lowered(&plan).flat_map(|lowered| lowered.kernel.buffers.values());
    assert!(names.into_iter().all(|buffer| !buffer.name.contains('.')));
}

#[test]
fn what_has_no_elements_is_not_read() {
    let plan = cpu_plan(&define(
        "
        T0 = fd.define_tensor(shape=[0, 3, 5], contiguity=True, dtype=DataType.Float)
        T1 = fd.ops.reshape(T0, new_shape=[0, 0])
        fd.add_output(fd.ops.neg(T1))",
    ));
    let text = first_kernel(&plan);
    assert!(!text.contains("load"), "{text}");
}

/// A segment that is told to make the result, whose last axis is scanned but not contiguous, makes the kernel that the
/// compiler makes in the order of memory.
#[test]
fn a_scan_costs_the_same_in_whichever_order_its_result_is_asked_for() {
    let definition = define(
        "
        T0 = fd.define_tensor(shape=[-1, -1, -1], contiguity=True, dtype=DataType.Double, stride_order=[1, 0, 2])
        fd.add_output(fd.ops.cummin(T0, dim=2))",
    );
    let layouts = [LayoutClass::Ordered([2, 0, 1].into_iter().collect())];
    let outputs = definition.fusion.outputs().iter().map(|output| output.val).collect();
    let seconds = |segmentation: Option<Segmentation>| {
        let options = PlanOptions { segmentation, ..PlanOptions::default() };
        let plan = plan(PlanRequest {
            graph: &definition.graph,
            fusion: &definition.fusion,
            tasks: &definition.tasks,
            layouts: &layouts,
            target: &Target::cpu(512),
            hints: &Hints::default(),
            options: &options,
        });
        plan.expect("it fits").seconds(&Hints::default())
    };
    assert_eq!(seconds(Some(Segmentation::new(vec![outputs]))), seconds(None));
}
