//! Calls through segments hold no more memory at a time than calls of the whole by the same cut, but for known programs: bytes
//! are counted, not timed.

use ferrofuse::{
    Argument, Array, CallOptions, CompileOptions, Definition, Executable, Executor, Hints, PlanOptions,
    Segment, Segmentation, Stream, define, plan, segments,
};
use ferrofuse_testing::random::{Draws, Placed, WritableInputs, generate, place, segmentation};
use ir::graph::Val;

/// Programs that are cut.
const SEEDS: u64 = 200;

/// The fewest of them that must run: others have indices or sizes that are wrong.
const MIN_RUN: usize = 190;

/// Programs whose segments hold more one by one than in one plan, and by how many bytes at most. None joins them unseen.
const MORE: [(u64, usize); 37] = [
    (3, 8),
    (12, 4096),
    (15, 96),
    (20, 316),
    (26, 184),
    (32, 12),
    (38, 512),
    (41, 8),
    (52, 8),
    (55, 264),
    (58, 8),
    (65, 150),
    (68, 16),
    (69, 8),
    (74, 96),
    (96, 1024),
    (99, 1024),
    (103, 256),
    (110, 168),
    (111, 41),
    (114, 192),
    (116, 100),
    (118, 7),
    (119, 4),
    (122, 230),
    (123, 8),
    (138, 1280),
    (140, 4),
    (145, 8),
    (151, 16),
    (161, 100),
    (162, 512),
    (164, 224),
    (177, 320),
    (183, 8),
    (189, 148),
    (199, 60),
];

/// The options of a plan by a random segmentation.
fn cut(definition: &Definition, seed: u64) -> CompileOptions {
    let segmentation = Some(segmentation(definition, &mut Draws::new(seed)));
    let plan = PlanOptions { segmentation, ..PlanOptions::default() };
    CompileOptions { plan, executor: Executor::Interpreter, ..CompileOptions::default() }
}

fn chained(definition: &Definition, cut: &CompileOptions) -> Vec<Segment> {
    let plan = plan(definition, cut).expect("a segmentation that fits");
    segments(definition, &plan, &Hints::default()).expect("segments")
}

/// The most bytes that calls of a program hold at a time: of the whole by a random segmentation, and through its segments.
fn peaks(seed: u64) -> Option<[usize; 2]> {
    let program = generate(seed);
    let definition = program.define().ok()?;
    let placed: Vec<Placed> = place(&program.inputs);
    let call = CallOptions { stream: Some(Stream::default()), ..CallOptions::default() };
    let cut = cut(&definition, seed);
    let whole = Executable::by_size(definition.clone(), cut.clone());
    let mut inputs = WritableInputs::new(&placed);
    let (_, whole) = whole.run_in_place_timed(&call, &mut inputs.arguments()).ok()?;
    let segments = chained(&definition, &cut);
    let chain = Executable::from_segments(definition, &segments, cut).expect("segments");
    let mut inputs = WritableInputs::new(&placed);
    let (_, through) = chain.run_in_place_timed(&call, &mut inputs.arguments()).expect("the whole runs");
    Some([whole.peak_bytes, through.peak_bytes])
}

#[test]
fn calls_through_segments_hold_what_the_cut_holds() {
    let mut ran = 0;
    for seed in 0..SEEDS {
        let Some([whole, through]) = peaks(seed) else { continue };
        ran += 1;
        let more = MORE.iter().find(|(known, _)| *known == seed).map_or(0, |(_, more)| *more);
        let is_known = through <= whole + more && (more == 0 || through > whole);
        assert!(is_known, "seed {seed}: {through} bytes, and {whole} by the same cut in one plan");
    }
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
    let plan = PlanOptions { segmentation: Some(Segmentation { segments }), ..PlanOptions::default() };
    let cut = CompileOptions { plan, executor: Executor::Interpreter, ..CompileOptions::default() };
    let chain =
        Executable::from_segments(definition.clone(), &chained(&definition, &cut), cut).expect("segments");
    let mut x = Array::from_slice(&[64, 64], &[0.5_f32; 64 * 64]).expect("small");
    let mut arguments = [Argument::from(x.view_mut())];
    let (_, report) = chain.run_in_place_timed(&CallOptions::default(), &mut arguments).expect("runs");
    assert_eq!(report.peak_bytes, 3 * 64 * 64 * 4);
}
