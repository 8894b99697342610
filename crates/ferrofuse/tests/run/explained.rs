//! Explanations: bytes, formulas, edges with reasons, in the user's names.

use ferrofuse::{
    CallFacts, CodeTarget, CompileOptions, Executable, Explanation, Hints, PlanOptions, define, explain,
    explain_call, hints, html, plan, plan_for, plan_for_call, read_segmentation,
};

use crate::definitions::{COPIES, Case, SILU_MUL, SOFTMAX, SUM_COLUMNS, TWO_AXES};
use crate::tensors::{inputs, views};

/// The explanation of a case at 1000 rows of 500 columns.
fn explained(case: &Case) -> Explanation {
    let definition = define(case.text).expect("defines");
    let arrays = inputs(case, &definition, 1000, 500);
    let hints = hints(&definition, &views(&arrays)).expect("fit");
    let options = CompileOptions { hints: hints.clone(), ..CompileOptions::default() };
    explain(&definition, &plan(&definition, &options).expect("no choices of a user"), &hints)
        .expect("its own plan")
}

#[test]
fn pointwise_moves_what_it_must() {
    let explanation = explained(&SILU_MUL);
    assert_eq!(explanation.bytes, 3 * 2 * 1000 * 500);
    assert_eq!(explanation.compulsory_bytes, explanation.bytes);
    assert_eq!(explanation.traffic_ratio, 1.0);
    let [segment] = &explanation.segments[..] else { panic!("{explanation}") };
    let names: Vec<&str> = segment.inputs.iter().map(|input| input.name.as_str()).collect();
    assert_eq!((names.as_slice(), segment.outputs[0].name.as_str()), (&["x", "y"][..], "out"));
    assert_eq!(segment.inputs[0].bytes_formula, "2*i0*i1");
    assert!(segment.schedule.is_some() && explanation.edges.is_empty());
}

#[test]
fn what_a_gpu_leaves_to_the_host_says_so() {
    let text = "def f(fd):\n    x = fd.define_tensor(shape=[8, 8], contiguity=[True, True], dtype=DataType.Float)\n    \
                fd.add_output(fd.ops.matmul(x, x))\n    fd.add_output(fd.ops.argsort(x, dim=1))\n";
    let definition = define(text).expect("defines");
    let on = |target| {
        let plan = plan_for(&definition, target, &CompileOptions::default()).expect("no choices of a user");
        let text = explain(&definition, &plan, &Hints::default()).expect("its own plan").to_string();
        ["library matmul ", "library argsort on the host"].map(|words| text.contains(words))
    };
    assert_eq!(on(CodeTarget::CUDA), [true, true]);
    assert_eq!(on(CodeTarget::HOST), [true, false]);
}

/// The explanation of a definition over one input `x` of two unknown sizes, without hints.
fn of_unknown_sizes(lines: &str) -> Explanation {
    let begin =
        "def f(fd):\n    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Double)\n";
    let definition = define(&format!("{begin}{lines}")).expect("defines");
    let plan = plan(&definition, &CompileOptions::default()).expect("no choices of a user");
    explain(&definition, &plan, &Hints::default()).expect("its own plan")
}

#[test]
fn sizes_that_the_definition_determines_are_not_assumed() {
    let one_row = of_unknown_sizes(
        "    s = fd.ops.sum(x, dims=[0], keepdim=True)\n    fd.add_output(fd.ops.mul(x, s))\n    \
         fd.add_output(s, x)\n",
    );
    let assumed: Vec<(&str, u64)> =
        one_row.assumed.iter().map(|(size, &value)| (size.as_str(), value)).collect();
    assert_eq!(assumed, [("i1", 1024)], "one row, as the sum is written to x");
    assert_eq!((one_row.bytes, one_row.compulsory_bytes), (3 * 8 * 1024, 3 * 8 * 1024));
    let several = of_unknown_sizes(
        "    s = fd.ops.sum(x, dims=[0])\n    p = fd.ops.broadcast(s, is_broadcast_dim=[True, False])\n    \
         fd.add_output(fd.ops.cat([p, p]))\n    fd.add_output(fd.ops.mul(x, s))\n    \
         fd.add_output(fd.ops.where(fd.ops.gt(p, 0), p, s), x)\n",
    );
    assert!(several.bytes >= several.compulsory_bytes, "{several}");
}

#[test]
fn sizes_that_depend_on_assumed_ones_are_assumed_with_them() {
    let twice = of_unknown_sizes(
        "    y = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Double)\n    \
         fd.add_output(fd.ops.add(fd.ops.cat([y, y], dim=0), x))\n",
    );
    assert_eq!(twice.assumed["i0"], 2 * twice.assumed["i2"], "{twice}");
    assert_eq!(twice.bytes, twice.compulsory_bytes);
}

#[test]
fn boundaries_have_names_and_reasons() {
    let explanation = explained(&TWO_AXES);
    assert!(explanation.segments.len() > 1);
    assert!(!explanation.edges.is_empty());
    for edge in &explanation.edges {
        assert!(!edge.reason.is_empty() && edge.bytes > 0);
        assert!(["rows", "y", "columns", "z"].contains(&edge.tensor.as_str()), "{}", edge.tensor);
    }
    let edges = explanation.edges.len();
    let table = explanation.to_string();
    assert!(table.lines().filter(|line| line.contains(" -> ")).count() == edges, "{table}");
}

/// The schedules, the segments and all else that can be said of them are those of the call.
#[test]
fn a_plan_for_a_call_is_the_plan_of_the_call() {
    let sizes = [(3, 5), (6000, 3), (100, 1000), (5000, 40), (1024, 256), (40, 5000)];
    for case in [&SOFTMAX, &SUM_COLUMNS, &TWO_AXES, &COPIES] {
        for (rows, columns) in sizes {
            let definition = define(case.text).expect("defines");
            let arrays = inputs(case, &definition, rows, columns);
            let views = views(&arrays);
            let hints = hints(&definition, &views).expect("fit");
            let options = CompileOptions { hints: hints.clone(), ..CompileOptions::default() };
            let by_size = Executable::by_size(definition.clone(), options.clone());
            by_size.prepare(&views).expect("compiles");
            let for_inputs =
                Executable::for_inputs(definition.clone(), options.clone(), &views).expect("compiles");
            for (executable, by_order) in [(by_size, true), (for_inputs, false)] {
                let call = CallFacts { by_order, ..CallFacts::of(&definition, &views).expect("fit") };
                let (plan, _) = plan_for_call(&definition, CodeTarget::HOST, &options, call).expect("plans");
                let ran = executable.latest().expect("compiled");
                let [expected, found] = [&ran.plan, &plan]
                    .map(|plan| explain(&definition, plan, &hints).expect("their own plan"));
                assert_eq!(found, expected, "{} at {rows}, {columns}, by order: {by_order}", case.name);
            }
        }
    }
}

#[test]
fn sizes_that_a_plan_is_made_for_are_said_where_the_call_has_others() {
    let definition = define(SOFTMAX.text).expect("defines");
    let said = |rows, columns| {
        let arrays = inputs(&SOFTMAX, &definition, rows, columns);
        let (views, options) = (views(&arrays), CompileOptions::default());
        let hints = hints(&definition, &views).expect("fit");
        let call = CallFacts::of(&definition, &views).expect("fit");
        let (plan, decided) = plan_for_call(&definition, CodeTarget::HOST, &options, call).expect("plans");
        explain_call(&definition, &plan, &hints, &decided).expect("its own plan").to_string()
    };
    assert!(said(5000, 1024).ends_with("planned for i0 = 4096: other calls share the plan\n"));
    assert!(!said(4096, 1024).contains("planned for"));
}

/// The explanation of a text, cut by the compiler.
fn of_text(text: &str) -> Explanation {
    let definition = define(text).expect("defines");
    let plan = plan(&definition, &CompileOptions::default()).expect("no choices of a user");
    explain(&definition, &plan, &Hints::default()).expect("its own plan")
}

#[test]
fn a_segment_between_two_is_the_reason_that_they_are_not_one() {
    let explanation = of_text(
        "def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    a = fd.ops.segment_set(fd.ops.exp(x))
    b = fd.ops.segment_set(fd.ops.sum(a, dims=[1], keepdim=True))
    fd.add_output(fd.ops.mul(a, b))
",
    );
    let reasons: Vec<[&str; 3]> =
        explanation.edges.iter().map(|edge| [&*edge.from, &*edge.to, &*edge.reason]).collect();
    let asked = |name: &str| format!("in one kernel {name} is a boundary that the definition asks for");
    let (first, second) = (asked("a"), asked("b"));
    let between = ["seg0", "seg2", "seg1 stands between seg0 and seg2"];
    assert_eq!(reasons, [["seg0", "seg1", &first], between, ["seg1", "seg2", &second]]);
}

/// Only the caller's memory is used, and nothing is computed: for views of inputs, and for values stored in inputs.
#[test]
fn views_take_no_time_and_what_is_stored_in_inputs_takes_no_memory() {
    let input = "def f(fd):\n    x = fd.define_tensor(shape=[-1, -1], contiguity=True)\n";
    let viewed = of_text(&format!("{input}    fd.add_output(fd.ops.permute(x, dims=[1, 0]))\n"));
    assert!(viewed.to_string().contains("\nmodel: 0.0 us, which no other cut can beat\n"), "{viewed}");
    let stored = of_text(&format!("{input}    fd.add_output(fd.ops.exp(x), x)\n"));
    assert_eq!((stored.peak_bytes, &*stored.peak_formula, stored.segments[0].peak_bytes), (0, "0", 0));
}

#[test]
fn copies_and_partial_results_are_counted() {
    let copies = explained(&COPIES);
    let tensor = 4 * 1000 * 500;
    assert_eq!((copies.compulsory_bytes, copies.bytes), (3 * tensor, 4 * tensor));
    let columns = explained(&SUM_COLUMNS);
    assert!(columns.bytes >= columns.compulsory_bytes && columns.traffic_ratio < 1.5, "{columns}");
}

#[test]
fn the_object_has_the_fields_of_the_interface() {
    let object = serde_json::to_value(explained(&TWO_AXES)).expect("serializes");
    let keys = |value: &serde_json::Value| -> Vec<String> {
        value.as_object().expect("an object").keys().cloned().collect()
    };
    let totals = ["segments", "edges", "bytes", "peak_bytes", "peak_formula", "compulsory_bytes"];
    let totals = [totals.as_slice(), &["traffic_ratio"]].concat();
    let certificate = ["cost_us", "lower_bound_us", "lower_bound_bytes", "gap", "optimal", "search_steps"];
    assert_eq!(keys(&object), [totals, certificate.to_vec()].concat());
    assert_eq!(keys(&object["edges"][0]), ["tensor", "from", "to", "bytes", "reason"]);
    let segment = &object["segments"][0];
    let [what, how] = [
        ["name", "ops", "operations", "inputs", "outputs", "recomputed", "saved"].as_slice(),
        ["schedule", "passes", "peak_bytes", "cost_us", "bytes", "bytes_formula"].as_slice(),
    ];
    assert_eq!(keys(segment), [what, how].concat());
    assert_eq!(keys(&segment["inputs"][0]), ["name", "bytes", "bytes_formula"]);
}

#[test]
fn what_has_no_name_is_called_as_it_is_printed() {
    let nested = Case {
        name: "nested",
        text: "
def nested(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    fd.add_output(fd.ops.exp(fd.ops.neg(x)))
",
        inputs: &["R C"],
    };
    let explanation = explained(&nested);
    let printed =
        frontend::text::print(&define(nested.text).expect("defines"), frontend::text::NameStyle::Long);
    let name = &explanation.segments[0].outputs[0].name;
    assert_eq!(name, "tv2");
    assert!(printed.contains("fd.add_output(tv2)"), "{printed}");
}

/// One kernel reaches the bound, two are close to it, and a kernel for each operation is far from it.
#[test]
fn certificates_say_how_close_a_cut_is() {
    let certificate = |explanation: &Explanation| explanation.certificate.expect("kernels alone");
    let one = certificate(&explained(&SILU_MUL));
    assert!(one.optimal && one.gap == 0.0 && one.cost_us == one.lower_bound_us, "{one:?}");
    let two = explained(&TWO_AXES);
    let close = certificate(&two);
    assert!(close.lower_bound_us <= close.cost_us && close.lower_bound_bytes <= two.bytes, "{two}");
    assert!(close.gap < 0.1, "{two}");
    let definition = define(SILU_MUL.text).expect("defines");
    let segmentation = Some(ferrofuse::unfused(&definition.graph, &definition.fusion, &definition.tasks));
    let options =
        CompileOptions { plan: PlanOptions { segmentation, ..PlanOptions::default() }, ..Default::default() };
    let plan = plan(&definition, &options).expect("a segmentation that fits");
    let far = certificate(&explain(&definition, &plan, &options.hints).expect("its own plan"));
    assert!(!far.optimal && far.gap > 0.4 && far.search_steps == 0, "{far:?}");
}

/// Strips of columns around which lanes work are narrow: each stays in the cache between stages, and no bound counts it
/// twice.
#[test]
fn no_bound_counts_columns_that_stay_in_the_cache_again() {
    let columns = Case {
        name: "columns",
        text: "
def columns(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.log_softmax(x, dim=0))
",
        inputs: &["R C"],
    };
    let explanation = explained(&columns);
    assert_eq!(explanation.segments.len(), 1);
    let bound = explanation.certificate.expect("kernels alone").lower_bound_bytes;
    let tensor = 4 * 1000 * 500;
    assert_eq!((bound, explanation.bytes), (2 * tensor, 2 * tensor), "{explanation}");
}

/// A segment by hand that no kernel can compute is divided, also if it is only explained.
#[test]
fn a_segment_by_hand_that_is_no_kernel_is_divided() {
    let text = "
def product(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    w = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    product = fd.ops.matmul(fd.ops.exp(x), w)
    total = fd.ops.sum(product, dims=[1])
    fd.add_output(fd.ops.sin(total))
";
    let definition = define(text).expect("a definition");
    let segmentation =
        read_segmentation(&definition, "segment a -> total\nsegment b -> tv5\n").expect("fits");
    let chosen = PlanOptions { segmentation: Some(segmentation), ..PlanOptions::default() };
    let options = CompileOptions { plan: chosen, ..CompileOptions::default() };
    let plan = plan(&definition, &options).expect("a plan");
    let explained = explain(&definition, &plan, &Hints::default()).expect("its own plan");
    assert!(explained.segments.iter().all(|segment| segment.evaluator_reason.is_none()), "{explained}");
    let library: Vec<bool> = explained.segments.iter().map(|segment| segment.library.is_some()).collect();
    assert_eq!(library, [false, true, false, false], "{explained}");
    assert_eq!(plan.parts, [0, 0, 0, 1]);
    let names: Vec<&str> = explained.segments.iter().map(|segment| segment.name.as_str()).collect();
    assert_eq!(names, ["a.seg0", "a.seg1", "a.seg2", "b"]);
    let bytes = |name: &str| {
        let segments = ferrofuse::segments(&definition, &plan, &Hints::default()).expect("segments");
        segments.iter().find(|segment| segment.name == name).expect("is there").bytes_formula.clone()
    };
    let parts: u64 = explained.segments[..3].iter().map(|segment| segment.bytes).sum();
    assert!(parts > explained.segments[1].bytes && bytes("a").contains("i0*i1"), "{}", bytes("a"));
}

/// nvFuser keeps three tensors of full size between its two kernels for this backward; each of our kernels computes them
/// again, also if the user cuts it as nvFuser does.
#[test]
fn a_backward_cut_in_two_passes_no_tensor_between() {
    let path =
        format!("{}/../../tests/segments/a_backward_that_nvfuser_cuts_is_one.py", env!("CARGO_MANIFEST_DIR"));
    let definition = define(&std::fs::read_to_string(path).expect("the file test")).expect("a definition");
    let text = "segment sums -> T49, T61\nsegment rest -> T63, T67, T131\n";
    let segmentation = Some(read_segmentation(&definition, text).expect("fits"));
    let plan_options = PlanOptions { segmentation, ..PlanOptions::default() };
    let options = CompileOptions { plan: plan_options, ..CompileOptions::default() };
    let plan = plan(&definition, &options).expect("a plan");
    let explained = explain(&definition, &plan, &Hints::default()).expect("its own plan");
    assert_eq!(explained.segments.len(), 2);
    assert!(explained.edges.is_empty(), "{:?}", explained.edges);
}

/// Of the branches with a product of matrices and its sums, one product is in memory at a time, besides their common
/// operands.
#[test]
fn peak_memory_is_limited() {
    let branch = |number: usize| {
        format!(
            "    y{number} = fd.ops.matmul(fd.ops.relu(x), w{number})\n    fd.add_output(fd.ops.sum(y{number}, dims=[1]))\n"
        )
    };
    let input =
        |name: String| format!("    {name} = fd.define_tensor(shape=[2048, 2048], contiguity=True)\n");
    let inputs: String = (0..4).map(|number| input(format!("w{number}"))).collect();
    let branches: String = (0..4).map(branch).collect();
    let text = format!("def f(fd):\n{}{inputs}{branches}", input("x".to_owned()));
    let definition = define(&text).expect("a definition");
    let planned = |peak_memory: Option<u64>| {
        let plan_options = PlanOptions { peak_memory, ..PlanOptions::default() };
        let options = CompileOptions { plan: plan_options, ..CompileOptions::default() };
        plan(&definition, &options)
            .map(|plan| explain(&definition, &plan, &Hints::default()).expect("its own plan"))
    };
    let free = planned(None).expect("a plan");
    let lowest = free.peak_bytes;
    assert!(lowest < 3 * 2048 * 2048 * 4, "{lowest}");
    assert_eq!(planned(Some(lowest)).expect("fits").peak_bytes, lowest);
    let rejected = planned(Some(100)).expect_err("100 bytes are too few").to_string();
    assert!(rejected.starts_with("no segments have a peak memory within 100 bytes"), "{rejected}");
    assert!(free.peak_formula.parse::<u64>().is_ok_and(|bytes| bytes == lowest), "{}", free.peak_formula);
}

/// Log-sum-exp by a lambda is a separate fold for each state if rows stay in a cache.
#[test]
fn lambdas_are_distributed_where_that_is_faster() {
    let path = format!("{}/../../bench/lambdas/log_sum_exp/lambda.py", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the lambda");
    let line = |text: &str, shape: &str| -> String {
        let definition = define(&text.replace("-1, -1", shape)).expect("a definition");
        let plan = plan(&definition, &CompileOptions::default()).expect("a plan");
        let table = explain(&definition, &plan, &Hints::default()).expect("its own plan").to_string();
        table.lines().find(|line| line.starts_with("lambda of fold")).expect("a lambda").to_owned()
    };
    assert!(line(&text, "4096, 4096").contains("in seg0; each state is a fold of its own: "));
}

#[test]
fn segments_that_one_launch_runs_are_named() {
    let update = "    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.mul(x, 2.0), x)\n";
    let definition = define(&format!("def updates(fd):\n{}", update.repeat(3))).expect("defines");
    let options = CompileOptions::default();
    let explanation = explain(&definition, &plan(&definition, &options).expect("plans"), &options.hints)
        .expect("its own plan");
    assert_eq!(explanation.batches, [["seg0", "seg1", "seg2"]]);
    let line = "one launch for seg0 to seg2, 3 segments";
    assert!(explanation.to_string().lines().any(|text| text == line), "{explanation}");
    assert!(html(&explanation, "updates", &[]).contains(line));
    assert!(explained(&TWO_AXES).batches.is_empty());
}

/// A launch has room for 128 members of two buffers and a size.
#[test]
fn a_batch_on_a_gpu_is_as_many_launches_as_its_parameters_take() {
    let update = "    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.mul(x, 2.0), x)\n";
    let definition = define(&format!("def updates(fd):\n{}", update.repeat(300))).expect("defines");
    let plan = plan_for(&definition, CodeTarget::CUDA, &CompileOptions::default()).expect("plans");
    let explanation = explain(&definition, &plan, &Hints::default()).expect("its own plan");
    let launches: Vec<usize> = explanation.batches.iter().map(Vec::len).collect();
    assert_eq!(launches, [128, 128, 44]);
}
