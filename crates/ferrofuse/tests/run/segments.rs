//! Segments as separate definitions: how they print and map back, and that they run like the whole.

use std::collections::{BTreeMap, HashMap};

use ferrofuse::{
    Argument, Array, ArrayView, CallOptions, CodeTarget, CompileOptions, DType, Definition, EmitOptions,
    Executable, Hints, Interrupt, Machine, Output, PlanOptions, Segment, SegmentError, Segmentation, Stage,
    Stream, Tensor, Val, check, define, emit, explain, explain_segments, listed_segmentation, parse_schedule,
    plan, read_segmentation, segments, tasks, value_name, value_named,
};
use frontend::text::{NameStyle, numbers, print};

use crate::examples::{examples, inputs};
use crate::tensors::views;

const REDUCTION: &str = "
def f(fd):
    T0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
    T1 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
    T2 = fd.ops.sum(T0, dims=[1], keepdim=False, dtype=DataType.Float)
    T3 = fd.ops.broadcast(T2, is_broadcast_dim=[False, True])
    S3 = fd.ops.segment_set(T3)
    T4 = fd.ops.add(T1, S3)
    fd.add_output(T4)
";

pub fn cut(definition: &Definition, segmentation: Option<&str>) -> Result<Vec<Segment>, SegmentError> {
    let chosen = segmentation.map(|text| read_segmentation(definition, text)).transpose()?;
    let plan_options = PlanOptions { segmentation: chosen, ..PlanOptions::default() };
    let options = CompileOptions { plan: plan_options, ..CompileOptions::default() };
    let cut = ferrofuse::cut(definition, &options).map_err(|error| ferrofuse::of_plan(definition, error))?;
    segments(definition, &cut, &Hints::default())
}

#[test]
fn a_cut_of_another_definition_is_rejected() {
    let [one, other] = [REDUCTION, REDUCTION.replace("fd.ops.add(", "fd.ops.mul(").as_str()]
        .map(|text| define(text).unwrap());
    let cut = ferrofuse::cut(&other, &CompileOptions::default()).unwrap();
    let error = segments(&one, &cut, &Hints::default()).unwrap_err();
    assert_eq!(error.to_string(), "the cut is of another definition");
}

#[test]
fn a_plan_of_another_definition_is_rejected() {
    let other = "def f(fd):\n    x = fd.define_tensor(shape=[-1])\n    fd.add_output(fd.ops.exp(x))\n";
    let [one, other] = [REDUCTION, other].map(|text| define(text).expect("defines"));
    let (options, hints, said) =
        (CompileOptions::default(), Hints::default(), "the cut is of another definition");
    let [own, foreign] = [&one, &other].map(|definition| plan(definition, &options).expect("plans"));
    assert_eq!(explain(&one, &foreign, &hints).unwrap_err().to_string(), said);
    let parts = segments(&other, &foreign, &hints).expect("its own cut");
    let explanation = explain(&one, &own, &hints).expect("its own plan");
    let explained = |parts: &[Segment], plan| {
        explain_segments(explanation.clone(), &one, plan, parts, CodeTarget::HOST, &options)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(explained(&parts, &foreign), said);
    assert!(
        explained(&parts, &own).starts_with("segment seg0: its input 0 is "),
        "{}",
        explained(&parts, &own)
    );
    let llvm = options.machine.llvm();
    for stage in Stage::all() {
        let target = stage.usual_target();
        let emit_options = EmitOptions { target, segment: None, names: NameStyle::Long, llvm: llvm.as_ref() };
        let error = emit(stage, &one, &foreign, &emit_options).unwrap_err();
        assert_eq!(error.to_string(), said, "{stage}");
        if !matches!(stage, Stage::Definition | Stage::Graph | Stage::Lambdas | Stage::Segments) {
            let error = ferrofuse::emit_segments(stage, &one, &parts, &emit_options, &options).unwrap_err();
            assert!(error.to_string().starts_with("segment seg0: its input 0 is "), "{stage}: {error}");
        }
    }
}

/// Segments of one definition do not run as another.
#[test]
fn segments_of_another_definition_are_rejected() {
    let [sums, wide, pair] = [
        "    fd.add_output(fd.ops.sum(x, dims=[1]))\n",
        "    fd.add_output(fd.ops.sum(x, dims=[1], dtype=DataType.Double))\n",
        "    y = fd.ops.sum(x, dims=[1])\n    fd.add_output(y)\n    fd.add_output(fd.ops.argsort(y, 0))\n",
    ]
    .map(|body| {
        let input = "fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)";
        define(&format!("def f(fd):\n    x = {input}\n{body}")).expect("defines")
    });
    let chained = |definition: &Definition, segments: &[Segment]| {
        Executable::from_segments(definition.clone(), segments, CompileOptions::default())
            .map(drop)
            .map_err(|error| error.to_string())
    };
    let [of_sums, of_pair] = [&sums, &pair].map(|definition| cut(definition, None).expect("it is cut"));
    assert_eq!(chained(&sums, &of_sums), Ok(()));
    let error = chained(&wide, &of_sums).unwrap_err();
    assert!(error.starts_with("segment seg0: its output 0 is f32["), "{error}");
    assert!(error.contains(", where the definition has f64["), "{error}");
    assert_eq!(chained(&pair, &of_sums), Err("no segment makes output 1".to_owned()));
    let backwards: Vec<Segment> = of_pair.iter().rev().cloned().collect();
    assert_eq!(backwards.len(), 2, "a kernel and a sort");
    let error = chained(&pair, &backwards).unwrap_err();
    assert!(error.ends_with("is a value that no segment before it makes"), "{error}");
    let chosen = Segmentation::new(vec![pair.fusion.outputs().iter().map(|output| output.val).collect()]);
    let plan_options = PlanOptions { segmentation: Some(chosen), ..PlanOptions::default() };
    let options = CompileOptions { plan: plan_options, ..CompileOptions::default() };
    let error = ferrofuse::cut(&sums, &options).unwrap_err();
    assert!(error.to_string().ends_with("is no value of the definition"), "{error}");
    let cut_of_pair = ferrofuse::cut(&pair, &CompileOptions::default()).expect("it is cut");
    assert_eq!(tasks(&wide, &cut_of_pair).unwrap_err().to_string(), "the cut is of another definition");
}

#[test]
fn segments_of_other_sizes_are_rejected() {
    let input = "fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)";
    let [same, transposed, sized, unsized_] = [
        "    fd.add_output(fd.ops.exp(fd.ops.neg(x)))\n",
        "    fd.add_output(fd.ops.exp(fd.ops.permute(x, dims=[1, 0])))\n",
        "    y = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)\n    \
         z = fd.ops.segment_set(fd.ops.mul(fd.ops.sum(x, dims=[1]), fd.ops.size(y, 0)))\n    \
         fd.add_output(fd.ops.exp(z))\n    fd.add_output(fd.ops.neg(y))\n",
        "    y = fd.define_tensor(shape=[5], contiguity=True, dtype=DataType.Float)\n    \
         z = fd.ops.segment_set(fd.ops.mul(fd.ops.sum(x, dims=[1]), fd.ops.size(y, 0)))\n    \
         fd.add_output(fd.ops.exp(z))\n    fd.add_output(fd.ops.neg(y))\n",
    ]
    .map(|body| define(&format!("def f(fd):\n    x = {input}\n{body}")).expect("defines"));
    let chained = |definition: &Definition, of: &Definition| {
        let segments = cut(of, None).expect("it is cut");
        Executable::from_segments(definition.clone(), &segments, CompileOptions::default())
            .map(drop)
            .map_err(|error| error.to_string())
    };
    for definition in [&same, &transposed, &sized, &unsized_] {
        assert_eq!(chained(definition, definition), Ok(()));
    }
    let said = "segment seg0: its output 0 is f32[i0, i1], where the definition has f32[i1, i0]";
    assert_eq!(chained(&transposed, &same), Err(said.to_owned()));
    let error = chained(&unsized_, &sized).unwrap_err();
    assert!(error.ends_with(" is i2, which is no size of the definition"), "{error}");
}

#[test]
fn segmentations_made_in_rust_are_checked() {
    let definition = define(REDUCTION).expect("defines");
    let lists = [vec!["T4".to_owned()], vec![]];
    let error = listed_segmentation(&definition, &lists).unwrap_err();
    assert_eq!(error.to_string(), "segmentation[1]: a segment must make at least one tensor");
    let value = |name: &str| value_named(&definition, name).expect("a value");
    let rejected = |segments: Vec<Vec<Val>>, names: &[&str]| {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        let segmentation = Some(Segmentation { segments, names });
        let plan_options = PlanOptions { segmentation, ..PlanOptions::default() };
        let options = CompileOptions { plan: plan_options, ..CompileOptions::default() };
        let error = ferrofuse::compile(definition.clone(), options).map(drop).unwrap_err().to_string();
        error.strip_prefix("the segmentation does not fit the definition: ").expect(&error).to_owned()
    };
    let both = || vec![vec![value("S3")], vec![value("T4")]];
    assert_eq!(rejected(both(), &["p", "p"]), "two segments are named `p`");
    let said =
        "segment 1: a segment's name has letters, digits and `_`, and begins with no digit; found `p q`";
    assert_eq!(rejected(both(), &["p", "p q"]), said);
    let said = "segment 2: a segment must make at least one tensor";
    assert_eq!(rejected([both(), vec![vec![]]].concat(), &[]), said);
    let said = "no segment makes the output `T4` (`add` on line 8)";
    assert_eq!(rejected(vec![vec![value("S3")]], &[]), said);
}

#[test]
fn outputs_are_compared_one_for_one() {
    let definition = define(REDUCTION).expect("defines");
    let arrays = inputs(&definition, &[2, 3]);
    let (views, machine) = (views(&arrays), Machine::shared());
    let checked = |outputs: &[ArrayView<'_>]| {
        let (stream, interrupt) = (Stream::new(0), Interrupt::default());
        check::checked(&definition, &views, stream, outputs.iter().cloned(), &machine, &interrupt)
            .map(|compared| compared.len())
            .map_err(|error| error.to_string())
    };
    assert_eq!(checked(&[]), Err("expected as many outputs as the definition has, 1, got 0".to_owned()));
    let wrong = Array::zeros(DType::F32, &[2]).expect("memory");
    assert_eq!(checked(&[wrong.view()]), Err("output 0: f32[2] where f32[2, 3] was expected".to_owned()));
}

fn bytes(array: &ArrayView<'_>) -> Vec<u8> {
    array.to_array().expect("small").as_bytes().to_vec()
}

/// A value of a definition that is run segment by segment, in its original layout.
enum Value {
    Given(Array),
    Made(Tensor),
}

impl Value {
    fn view(&self) -> ArrayView<'_> {
        match self {
            Value::Given(array) => array.view(),
            Value::Made(tensor) => tensor.view(),
        }
    }
}

impl From<Output<'_>> for Value {
    fn from(output: Output<'_>) -> Value {
        match output {
            Output::Made(tensor) => Value::Made(tensor),
            Output::View { view, .. } => Value::Given(view.to_array().expect("small")),
        }
    }
}

/// The outputs of the segments run one by one, with values by name.
fn by_hand(definition: &Definition, segments: &[Segment], arrays: &[Array]) -> Vec<Vec<u8>> {
    let mut values = given(definition, arrays);
    for segment in segments {
        let given: Vec<ArrayView<'_>> = segment.inputs.iter().map(|name| values[name].view()).collect();
        let executable = Executable::by_size(segment.definition().clone(), CompileOptions::default());
        let outputs = executable.run(&given).expect("it runs");
        let made: Vec<Value> = outputs.into_iter().map(Value::from).collect();
        values.extend(segment.outputs.iter().cloned().zip(made));
    }
    let of = |output: &ir::graph::Output| {
        let found = values.iter().find(|(name, _)| value_named(definition, name) == Some(output.val));
        bytes(&found.expect("some segment makes it").1.view())
    };
    definition.fusion.outputs().iter().map(of).collect()
}

/// The inputs and the sizes by name.
fn given(definition: &Definition, arrays: &[Array]) -> HashMap<String, Value> {
    let sizes = definition.signature().bind(&views(arrays), &[]).expect("they fit");
    let mut values = HashMap::new();
    for (&val, array) in definition.fusion.inputs().iter().zip(arrays) {
        values.insert(definition.name_of(val), Value::Given(array.view().to_array().expect("small")));
    }
    for (sym, size) in sizes.known().chain(Stream::new(0).symbols(&definition.graph)) {
        values.insert(sym.to_string(), Value::Given(Array::from_slice(&[], &[size]).expect("small")));
    }
    values
}

fn chained(definition: &Definition, segments: &[Segment], arrays: &[Array]) -> Vec<Vec<u8>> {
    let chain =
        Executable::from_segments(definition.clone(), segments, CompileOptions::default()).expect("segments");
    let views = views(arrays);
    let options = CallOptions { stream: Some(Stream::new(0)), ..CallOptions::default() };
    let outputs = chain.run_with(&options, &views).expect("it runs");
    outputs.iter().map(|output| bytes(&output.view())).collect()
}

/// The segments, read back from their texts.
fn reread(segments: &[Segment]) -> Vec<Segment> {
    let reread = |segment: &Segment| {
        let mut reread = segment.clone();
        let text = print(segment.definition(), NameStyle::Short);
        reread.replace(define(&text).expect("defines")).expect("it takes and gives the same");
        reread
    };
    segments.iter().map(reread).collect()
}

/// Whether the chain of segments gives the evaluator's results, within the bounds of the ops.
fn agrees(definition: &Definition, segments: &[Segment], arrays: &[Array]) -> bool {
    let chain =
        Executable::from_segments(definition.clone(), segments, CompileOptions::default()).expect("segments");
    let (views, stream, machine) = (views(arrays), Stream::new(0), Machine::shared());
    let options = CallOptions { stream: Some(stream), ..CallOptions::default() };
    let outputs = chain.run_with(&options, &views).expect("it runs");
    let viewed = outputs.iter().map(|output| output.view());
    let compared = check::checked(definition, &views, stream, viewed, &machine, &Interrupt::default());
    compared.expect("it evaluates").iter().all(|comparison| comparison.matches())
}

#[test]
fn a_reduction_and_what_is_added_are_the_definitions_of_nvfuser() {
    let definition = define(REDUCTION).expect("defines");
    let segments = cut(&definition, None).expect("segments");
    let texts: Vec<String> =
        segments.iter().map(|segment| print(segment.definition(), NameStyle::Short)).collect();
    assert_eq!(
        texts,
        [
            "def nvfuser_fusion(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
    T1 = fd.ops.sum(T0, dims=[1])
    T2 = fd.ops.broadcast(T1, is_broadcast_dim=[False, True])
    fd.add_output(T2)
",
            "def nvfuser_fusion(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
    T1 = fd.define_tensor(shape=[-1, 1], contiguity=[True, None], dtype=DataType.Float, is_cpu=False)
    T2 = fd.ops.add(T0, T1)
    fd.add_output(T2)
"
        ]
    );
    assert_eq!(segments[0].index_map, BTreeMap::from([(0, 0), (1, 2), (2, 3)]));
    assert_eq!(segments[1].index_map, BTreeMap::from([(0, 1), (1, 3), (2, 5)]));
    assert_eq!(segments[1].inputs, ["T1", "S3"]);
    assert_eq!(segments[1].why, "in one kernel S3 is a boundary that the definition asks for");
    assert_eq!(segments[0].bytes_formula, "4*i0*i1 + 4*i0");
}

/// Values that are retransposed in two orders: one made by a kernel and one by a library, while others are in memory.
const ORDERS: &str = "
def f(fd):
    x = fd.define_tensor(shape=[64, 64], contiguity=True, dtype=DataType.Float)
    t = fd.ops.exp(x)
    y = fd.ops.matmul(x, fd.ops.segment_set(fd.ops.neg(t)))
    a = fd.ops.segment_set(fd.ops.sin(y))
    fd.add_output(t)
    fd.add_output(fd.ops.stride_order(t, stride_order=[0, 1]))
    fd.add_output(fd.ops.stride_order(y, stride_order=[0, 1]))
    fd.add_output(fd.ops.sum(fd.ops.cos(a), dims=[0]))
";

#[test]
fn copies_in_another_order_wait_until_all_segments_are_done() {
    let definition = define(ORDERS).expect("defines");
    let x: Vec<f32> = (0..64 * 64).map(|number| (number % 13) as f32 / 8.0).collect();
    let x = Array::from_slice(&[64, 64], &x).expect("small");
    let made = cut(&definition, None).expect("segments");
    assert!(made.len() >= 3, "{} segments", made.len());
    let options = CompileOptions::default();
    let whole = Executable::new(definition.clone(), options.clone()).expect("compiles");
    let chain = Executable::from_segments(definition.clone(), &made, options).expect("segments");
    let (outputs, whole) = whole.run_timed(&[x.view()]).expect("it runs");
    let mut arguments = [Argument::from(x.view())];
    let (through, segments) =
        chain.run_in_place_timed(&CallOptions::default(), &mut arguments).expect("it runs");
    for (output, other) in outputs.iter().zip(&*through) {
        assert_eq!(other.view().layout(), output.view().layout());
        assert_eq!(bytes(&other.view()), bytes(&output.view()));
    }
    assert_eq!(through[1].view().layout().strides[..], [1, 64]);
    assert!(segments.peak_bytes <= whole.peak_bytes, "{} and {}", segments.peak_bytes, whole.peak_bytes);
}

#[test]
fn examples_by_hand_and_as_a_chain_give_equal_bits() {
    for (name, text) in examples() {
        let definition = define(&text).expect("defines");
        let segments = cut(&definition, None).unwrap_or_else(|error| panic!("{name}: {error}"));
        for sizes in [&[2, 3, 5, 4][..], &[3, 1, 70]] {
            let arrays = inputs(&definition, sizes);
            let executable = Executable::by_size(definition.clone(), CompileOptions::default());
            if executable.run(&views(&arrays)).is_err() {
                continue; // drawn sizes seldom line up, and drawn numbers are seldom indices
            }
            let chain = chained(&definition, &segments, &arrays);
            assert!(chain == by_hand(&definition, &segments, &arrays), "{name} by hand");
            assert!(chain == chained(&definition, &reread(&segments), &arrays), "{name} read from its text");
            assert!(agrees(&definition, &segments, &arrays), "{name} and the evaluator");
        }
    }
}

#[test]
fn index_maps_lead_to_values_of_the_same_type() {
    for (name, text) in examples() {
        let definition = define(&text).expect("defines");
        for segment in cut(&definition, None).expect("segments") {
            let inner = by_number(segment.definition());
            let outer = by_number(&definition);
            for (own, whole) in &segment.index_map {
                let Some(whole) = outer.get(whole) else { continue }; // inside a composite
                assert_eq!(inner[own], *whole, "{name}: {} {own}", segment.name);
            }
        }
    }
}

/// The dtype and rank of each value.
fn by_number(definition: &Definition) -> BTreeMap<usize, (ferrofuse::DType, usize)> {
    let ty = |entry| definition.graph.ty(definition.record.entry(entry).val);
    numbers(definition)
        .into_iter()
        .map(|(entry, number)| (number, (ty(entry).dtype, ty(entry).rank())))
        .collect()
}

/// The backward pass of a modulated layer norm, cut as nvFuser cut it.
#[test]
fn a_cut_after_the_first_two_outputs_passes_no_tensor_of_full_size() {
    let (_, text) = examples().into_iter().find(|(name, _)| name.contains("modulated")).expect("there");
    let definition = define(&text).expect("defines");
    let made = "segment a -> d_shift, d_scale\nsegment b -> d_bias, d_weight, tv50";
    let segments = cut(&definition, Some(made)).expect("segments");
    let outputs: Vec<&[String]> = segments.iter().map(|segment| segment.outputs.as_slice()).collect();
    assert_eq!(outputs, [&["d_shift", "d_scale"][..], &["d_bias", "d_weight", "tv50"]]);
    let given: Vec<&str> =
        definition.fusion.inputs().iter().map(|&val| definition.record.name_of(val).unwrap()).collect();
    for segment in &segments {
        assert!(segment.inputs.iter().all(|input| given.contains(&input.as_str())), "{:?}", segment.inputs);
    }
    let recomputed = ["mean_rows", "invstd_rows", "tv9", "centred", "normalized", "weight_wide", "g"];
    assert_eq!(segments[1].recomputed, recomputed);
    assert_eq!(segments[1].bytes_formula, "6*i0*i1*i2 + 8*i0*i1 + 2*i0*i2 + 16*i2*((i0 + 15) // 16) + 6*i2");
    assert_eq!(segments[1].why, "no tensor passes between it and another segment");
    assert!(agrees(&definition, &segments, &inputs(&definition, &[2, 3, 5, 4])));
}

#[test]
fn a_size_that_another_segment_makes_is_a_scalar_input() {
    let definition = define(
        "
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    count = fd.define_scalar(dtype=DataType.Int)
    twice = fd.ops.mul(count, 2)
    places = fd.ops.iota(twice, dtype=DataType.Int)
    rows = fd.ops.full(shape=[twice, x.size(0)], fill_value=twice, dtype=DataType.Int)
    fd.add_output(fd.ops.add(fd.ops.broadcast(places, is_broadcast_dim=[False, True]), rows))
",
    )
    .expect("defines");
    let output = value_name(&definition, definition.fusion.outputs()[0].val);
    let cut =
        cut(&definition, Some(&format!("segment a -> twice\nsegment b -> {output}"))).expect("segments");
    assert_eq!(
        print(cut[1].definition(), NameStyle::Short),
        "def nvfuser_fusion(fd : FusionDefinition) -> None :
    S0 = fd.define_scalar(None, dtype=DataType.Int)
    T1 = fd.ops.iota(length=S0, start=0, step=1, dtype=DataType.Int)
    T2 = fd.ops.full(shape=[1, 1], fill_value=S0, dtype=DataType.Int)
    S3 = fd.define_scalar(None, dtype=DataType.Int)
    T4 = fd.ops.expand(T2, shape=[S0, S3])
    T5 = fd.ops.broadcast(T1, is_broadcast_dim=[False, True])
    T6 = fd.ops.add(T5, T4)
    fd.add_output(T6)
"
    );
    assert_eq!(cut[1].inputs, ["twice", "i0"]);
    let arrays = [Array::from_slice(&[5], &[0.0_f32; 5]), Array::from_slice(&[], &[3_i64])]
        .map(|array| array.expect("small"));
    let chain = chained(&definition, &cut, &arrays);
    let whole = Executable::by_size(definition.clone(), CompileOptions::default());
    let whole = whole.run(&views(&arrays)).expect("it runs");
    assert!(chain == [bytes(&whole[0].view())] && chain == chained(&definition, &reread(&cut), &arrays));
    assert!(chain == by_hand(&definition, &cut, &arrays));
}

const CHAIN: &str = "
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    a = fd.ops.exp(x)
    b = fd.ops.sum(a, dims=[1])
    c = fd.ops.neg(a)
    d = fd.ops.add(c, fd.ops.broadcast_in_dim(b, shape=[x.size(0), x.size(1)], broadcast_dims=[0]))
    fd.add_output(b)
    fd.add_output(d)
";

#[test]
fn segmentations_that_cannot_be_are_rejected_by_name_and_line() {
    let definition = define(CHAIN).expect("defines");
    for (text, expected) in [
        ("segment a -> b", "no segment makes the output `d`"),
        ("segment a -> b, q\n", "line 1: the definition has no value `q`, or does not compute it"),
        ("segment a -> b, x\n", "line 1: the definition has no value `x`, or does not compute it"),
        ("# two\nsegment a -> b, a\nsegment b -> a, d\n", "line 3: `a` is made by line 2 already"),
        (
            "segment a/b -> b",
            "line 1: a segment's name has letters, digits and `_`, and begins with no digit; found `a/b`",
        ),
        ("a, b", "line 1: expected `segment NAME -> VALUE, VALUE…`, found `a, b`"),
        (
            "segment a -> a, d\nsegment b -> b",
            "the segments wait for each other: a needs `b` of b, b needs `a` of a",
        ),
    ] {
        let error = cut(&definition, Some(text)).expect_err(text);
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn segments_in_any_order_are_put_in_one_that_runs() {
    let definition = define(CHAIN).expect("defines");
    let segments = cut(&definition, Some("segment x -> d\nsegment y -> a, b")).expect("segments");
    let outputs: Vec<&[String]> = segments.iter().map(|segment| segment.outputs.as_slice()).collect();
    assert_eq!(outputs, [&["a", "b"][..], &["d"]]);
    assert_eq!(segments.iter().map(|segment| segment.name.as_str()).collect::<Vec<_>>(), ["y", "x"]);
    assert!(agrees(&definition, &segments, &inputs(&definition, &[3, 4])));
}

#[test]
fn an_edited_segment_runs_if_it_takes_and_gives_what_it_did() {
    let definition = define(CHAIN).expect("defines");
    let mut segments = cut(&definition, Some("segment x -> a, b\nsegment y -> d")).expect("segments");
    let arrays = inputs(&definition, &[3, 4]);
    let before = chained(&definition, &segments, &arrays);
    let text = print(segments[1].definition(), NameStyle::Long);
    let twice = text.replace("neg(", "neg(2.0 * ");
    segments[1].replace(define(&twice).expect("defines")).expect("it takes and gives the same");
    assert!(before != chained(&definition, &segments, &arrays));
    for (from, to, expected) in [
        ("DataType.Float", "DataType.Double", "y: input 0 is f64[i0, i1] and was f32[i0, i1]"),
        ("shape=[-1, -1]", "shape=[-1, 4]", "y: input 0 is f32[i0, 4] and was f32[i0, i1]"),
        ("    fd.add", "    tv9 = fd.define_tensor(shape=[-1])\n    fd.add", "y: it has 3 inputs and had 2"),
    ] {
        let error = segments[1].replace(define(&text.replace(from, to)).expect("defines")).expect_err(to);
        assert_eq!(error.to_string(), format!("{expected}; an edited segment keeps its inputs and outputs"));
    }
}

#[test]
fn a_schedule_runs_where_the_segment_has_its_loops() {
    let definition = define(CHAIN).expect("defines");
    let mut segments = cut(&definition, Some("segment x -> a, b\nsegment y -> d")).expect("segments");
    let arrays = inputs(&definition, &[3, 4]);
    segments[1].schedule = Some(parse_schedule("schedule lanes 4\nrow x0\ninner x1").expect("a schedule"));
    assert!(agrees(&definition, &segments, &arrays));
    segments[1].schedule = Some(parse_schedule("schedule lanes 4\nrow x7\ninner x1").expect("a schedule"));
    let error =
        Executable::from_segments(definition, &segments, CompileOptions::default()).expect_err("no x7");
    assert_eq!(error.to_string(), "the schedule of y does not fit it: the segment has no axis x7");
}

#[test]
fn a_value_tells_its_tasks() {
    let definition = define(REDUCTION).expect("defines");
    let plan = plan(&definition, &CompileOptions::default()).expect("plans");
    let tasks = tasks(&definition, &plan).expect("no cycle");
    let value = |name| value_named(&definition, name).expect("a value of the definition");
    let names = |found: Vec<ferrofuse::Task>| -> Vec<String> {
        found.into_iter().map(|task| tasks.get(task).name.clone()).collect()
    };
    assert_eq!(names(tasks.tasks_defining(value("S3")).collect()), ["seg0"]);
    assert_eq!(names(tasks.tasks_using(value("S3")).collect()), ["seg1"]);
    assert_eq!(names(tasks.tasks_using(value("T1")).collect()), ["seg1"]);
    let edges = ["T0", "T1", "T2", "T3", "S3", "T4"].map(|name| tasks.is_segment_edge(value(name)));
    assert_eq!(edges, [false, false, false, false, true, false]);
}

/// A rejected index is reported with the op and the line of the definition, not those in the segment.
#[test]
fn an_index_that_a_segment_rejects_is_the_users() {
    let definition = define(
        "def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    places = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    taken = fd.ops.index_select(fd.ops.segment_set(fd.ops.exp(x)), places, 0)
    fd.add_output(taken)
",
    )
    .expect("defines");
    let segments = cut(&definition, None).expect("segments");
    assert_eq!(segments.len(), 2);
    let chain = Executable::from_segments(definition, &segments, CompileOptions::default()).expect("a chain");
    let (x, places) = (Array::from_slice(&[3], &[0.0_f32; 3]), Array::from_slice(&[2], &[1_i64, -4]));
    let (x, places) = (x.expect("small"), places.expect("small"));
    let mut arguments = [Argument::from(x.view()), Argument::from(places.view())];
    let rejected =
        chain.run_in_place_timed(&CallOptions::default(), &mut arguments).expect_err("-4 is none of 3");
    assert_eq!(rejected.to_string(), "line 4: `index_select`: index -4 is out of range for axis 0 of size 3");
}
