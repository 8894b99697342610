//! Calls through segments hold no more memory at a time than calls of the whole with the same cut: bytes are counted, not
//! time.

use compiler::SegmentPlan;
use ferrofuse::{
    Argument, Array, CallOptions, CompileOptions, Definition, Executable, Executor, Hints, Plan, PlanOptions,
    Segment, Segmentation, Stream, define, plan, segments,
};
use ferrofuse_testing::random::{Draws, Placed, Program, WritableInputs, generate, place, segmentation};
use ir::graph::Val;
use rustc_hash::FxHashSet;

/// Programs that are cut into segments.
const SEEDS: u64 = 200;

/// The fewest of them that must run: others have indices or sizes that are wrong.
const MIN_RUN: usize = 190;

/// Programs whose segments hold more one by one than in one plan, in which the passes saw the whole: some kept values are
/// not needed then, or are copies in another order of an earlier segment's values. Cut like the plan they hold no more.
const LARGER: [u64; 6] = [41, 67, 108, 125, 139, 160];

/// Of these, programs that return an expansion, or keep a scalar of attention: they hold one element more.
const BY_AN_ELEMENT: [u64; 2] = [67, 108];

/// The options of a plan by a segmentation.
fn cut(segmentation: Segmentation) -> CompileOptions {
    let plan = PlanOptions { segmentation: Some(segmentation), ..PlanOptions::default() };
    CompileOptions { plan, executor: Executor::Interpreter, ..CompileOptions::default() }
}

/// The values of a segmentation that are needed after the passes saw the whole, each in the segment in which the plan makes
/// it.
fn as_planned(segmentation: &Segmentation, plan: &Plan) -> Segmentation {
    let given_back = plan.computed.outputs().iter().map(|output| output.val);
    let taken = plan.segments.iter().flat_map(|segment| segment.view.inputs());
    let needed: FxHashSet<Val> = given_back.chain(taken.copied()).collect();
    let kept = |of: &SegmentPlan| {
        let outputs: FxHashSet<Val> = of.view.outputs().iter().map(|output| output.val).collect();
        let is_made = |became: Val| outputs.contains(&became) && needed.contains(&became);
        let vals = segmentation.segments.iter().flatten().copied();
        vals.filter(|val| plan.kept(*val).is_some_and(is_made)).collect::<Vec<Val>>()
    };
    let segments = plan.segments.iter().map(kept).filter(|made| !made.is_empty()).collect();
    Segmentation::new(segments)
}

fn cut_by(definition: &Definition, cut: &CompileOptions) -> Plan {
    plan(definition, cut).expect("a segmentation that fits")
}

fn chained(definition: &Definition, cut: &CompileOptions) -> Vec<Segment> {
    let plan = cut_by(definition, cut);
    segments(definition, &plan, &Hints::default()).expect("segments")
}

/// The most bytes that calls hold at a time: of the whole with a segmentation, and through its segments.
struct Peaks {
    whole: usize,
    through: usize,
}

/// None for a program that does not run.
fn peaks(definition: &Definition, program: &Program, segmentation: Segmentation) -> Option<Peaks> {
    let placed: Vec<Placed> = place(&program.inputs);
    let call = CallOptions { stream: Some(Stream::default()), ..CallOptions::default() };
    let cut = cut(segmentation);
    let whole = Executable::by_size(definition.clone(), cut.clone());
    let mut inputs = WritableInputs::new(&placed);
    let (_, whole) = whole.run_in_place_timed(&call, &mut inputs.arguments()).ok()?;
    let segments = chained(definition, &cut);
    let chain = Executable::from_segments(definition.clone(), &segments, cut).expect("segments");
    let mut inputs = WritableInputs::new(&placed);
    let (_, through) = chain.run_in_place_timed(&call, &mut inputs.arguments()).expect("the whole runs");
    Some(Peaks { whole: whole.peak_bytes, through: through.peak_bytes })
}

/// Whether some segment of a segmentation is not a kernel.
fn is_divided(plan: &Plan) -> bool {
    plan.parts.windows(2).any(|parts| parts[0] == parts[1])
}

#[test]
fn calls_through_segments_hold_what_the_cut_holds() {
    let (mut ran, mut larger) = (0, Vec::new());
    for seed in 0..SEEDS {
        let program = generate(seed);
        let Ok(definition) = program.define() else { continue };
        let chosen = segmentation(&definition, &mut Draws::new(seed));
        let Some(Peaks { whole, through }) = peaks(&definition, &program, chosen.clone()) else { continue };
        ran += 1;
        // The inputs of a segment are held until the last of its parts has run.
        if is_divided(&cut_by(&definition, &cut(chosen.clone()))) {
            continue;
        }
        if through > whole {
            larger.push(seed);
        }
        if through > whole && !BY_AN_ELEMENT.contains(&seed) {
            let planned = as_planned(&chosen, &cut_by(&definition, &cut(chosen.clone())));
            let planned = peaks(&definition, &program, planned).expect("it ran");
            assert!(
                planned.through <= planned.whole,
                "seed {seed}: {through} bytes, and {whole} by one plan"
            );
        }
    }
    assert_eq!(larger, LARGER);
    assert!(ran >= MIN_RUN, "only {ran} ran");
}

/// An in-place output that waits for a later segment to read the input, and a copy in another order, which comes last.
#[test]
fn in_place_outputs_that_wait_are_counted() {
    let definition = define(
        "def f(fd):
    x = fd.define_tensor(shape=[64, 64], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.exp(x), x)
    t = fd.ops.sin(x)
    fd.add_output(t)
    fd.add_output(fd.ops.stride_order(t, stride_order=[0, 1]))
",
    )
    .expect("defines");
    let outputs: Vec<Val> = definition.fusion.outputs().iter().map(|output| output.val).collect();
    let segments = vec![vec![outputs[0]], vec![outputs[1], outputs[2]]];
    let cut = cut(Segmentation::new(segments));
    let chain =
        Executable::from_segments(definition.clone(), &chained(&definition, &cut), cut).expect("segments");
    let mut x = Array::from_slice(&[64, 64], &[0.5_f32; 64 * 64]).expect("small");
    let mut arguments = [Argument::from(x.view_mut())];
    let (_, report) = chain.run_in_place_timed(&CallOptions::default(), &mut arguments).expect("runs");
    assert_eq!(report.peak_bytes, 3 * 64 * 64 * 4);
}

/// A permuted tensor, read and returned beside the tensor itself: one piece of memory until both are returned.
#[test]
fn views_of_what_another_segment_made_share_its_memory() {
    let definition = define(
        "def f(fd):
    x = fd.define_tensor(shape=[64, 64], contiguity=True, dtype=DataType.Float)
    t = fd.ops.exp(x)
    u = fd.ops.permute(t, dims=[1, 0])
    fd.add_output(fd.ops.sum(u, dims=[0]))
    fd.add_output(t)
    fd.add_output(u)
",
    )
    .expect("defines");
    let [sum, t, u] = [0, 1, 2].map(|place| definition.fusion.outputs()[place].val);
    let cut = cut(Segmentation::new(vec![vec![t], vec![u], vec![sum]]));
    let segments = chained(&definition, &cut);
    let whole = Executable::by_size(definition.clone(), cut.clone());
    let chain = Executable::from_segments(definition, &segments, cut).expect("segments");
    let numbers: Vec<f32> = (0..64 * 64).map(|number| (number % 97) as f32 / 64.0).collect();
    let x = Array::from_slice(&[64, 64], &numbers).expect("small");
    let mut arguments = [Argument::from(x.view())];
    let (outputs, report) = chain.run_in_place_timed(&CallOptions::default(), &mut arguments).expect("runs");
    let expected = whole.run(&[x.view()]).expect("runs");
    for (output, expected) in outputs.iter().zip(&*expected) {
        let [output, expected] = [output, expected].map(|output| output.to_array().expect("small"));
        assert_eq!(output.as_slice::<f32>(), expected.as_slice::<f32>());
    }
    assert_eq!(report.peak_bytes, 2 * 64 * 64 * 4 + 64 * 4);
}
