//! Random definitions run as segments: those of the compiler and those of random segmentations, which overlap, give the
//! evaluator's results for the whole.

use ferrofuse::{
    ArrayView, CallOptions, CodeTarget, CompileOptions, Definition, EmitOptions, Error, Executable, Executor,
    Hints, Interrupt, Machine, NameStyle, Plan, PlanOptions, Segment, Segmentation, Stage, Stream, check,
    emit, plan, segments, value_named,
};
use ferrofuse_testing::random::{Draws, Placed, generate, place, segmentation};

/// Programs that are cut into segments.
const SEEDS: u64 = 200;

/// The fewest of them that must run: others have indices or sizes that are wrong.
const MIN_RUN: usize = 120;

fn cut(definition: &Definition, chosen: Option<Segmentation>) -> Vec<Segment> {
    let plan_options = PlanOptions { segmentation: chosen, ..PlanOptions::default() };
    let options = CompileOptions { plan: plan_options, ..CompileOptions::default() };
    let plan = plan(definition, &options).expect("a segmentation that fits");
    segments(definition, &plan, &Hints::default()).expect("segments")
}

/// Whether the segments ran; false if they were rejected for their inputs, like the whole.
fn require_agreement(seed: u64, definition: &Definition, segments: &[Segment], placed: &[Placed]) -> bool {
    let views: Vec<ArrayView<'_>> = placed.iter().map(Placed::view).collect();
    let options = CompileOptions { executor: Executor::Evaluator, ..CompileOptions::default() };
    let chain = Executable::from_segments(definition.clone(), segments, options).expect("segments run");
    let (machine, stream) = (Machine::shared(), Stream::default());
    let call_options = CallOptions { stream: Some(stream), ..CallOptions::default() };
    let outputs = chain.run_with(&call_options, &views);
    let whole =
        check::expected(definition, &views, stream, &machine.workers(&Interrupt::default()), usize::MAX);
    let Ok(whole) = whole else {
        assert!(outputs.is_err(), "seed {seed}: the whole is rejected, and its segments are not");
        return false;
    };
    let outputs = outputs.unwrap_or_else(|error: Error| panic!("seed {seed}: {error}"));
    let viewed = outputs.iter().map(|output| output.view());
    let compared = check::against(&whole, viewed, &machine.workers(&Interrupt::default()));
    for (number, comparison) in compared.expect("equal types").iter().enumerate() {
        assert!(comparison.matches(), "seed {seed}, output {number}: {comparison:?}");
    }
    true
}

#[test]
fn random_definitions_run_as_segments() {
    let mut ran = 0;
    for seed in 0..SEEDS {
        let program = generate(seed);
        let Ok(definition) = program.define() else { continue };
        let placed = place(&program.inputs);
        let drawn = segmentation(&definition, &mut Draws::new(seed));
        for chosen in [None, Some(drawn)] {
            let segments = cut(&definition, chosen);
            ran += usize::from(require_agreement(seed, &definition, &segments, &placed));
        }
    }
    assert!(ran >= 2 * MIN_RUN, "only {ran} ran");
}

/// A plan's segmentation reads back from its text, and a definition is planned with it; printed again it is the same.
#[test]
fn segmentations_read_back() {
    let missing = llvm::Error::NotFound { tried: Vec::new(), hint: "not needed" };
    let text = |definition: &Definition, plan: &Plan| {
        let options = EmitOptions {
            target: CodeTarget::HOST,
            segment: None,
            names: NameStyle::default(),
            llvm: Err(&missing),
        };
        emit(Stage::Segments, definition, plan, &options).expect("it has text")
    };
    for seed in 0..SEEDS {
        let Ok(definition) = generate(seed).define() else { continue };
        let options = CompileOptions::default();
        let printed = text(&definition, &plan(&definition, &options).expect("it is planned"));
        let named = |name: &str| value_named(&definition, name);
        let chosen = Segmentation::parse(&printed, &named).expect("it reads back");
        let plan_options = PlanOptions { segmentation: Some(chosen), ..PlanOptions::default() };
        let options = CompileOptions { plan: plan_options, ..options };
        let again =
            plan(&definition, &options).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{printed}"));
        assert_eq!(text(&definition, &again), printed, "seed {seed}");
    }
}
