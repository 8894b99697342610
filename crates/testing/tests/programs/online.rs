//! Softmaxes whose maximum and sum are one fold give the same, infinite elements, NaN and no elements included: on the
//! evaluator for random programs, in kernels for columns.

use compiler::passes::{fold_online, softmax_folds};
use compiler::target::Target;
use compiler::{PlanOptions, PlanRequest, cut};
use ferrofuse::{ArrayView, Definition, Hints, declared_layouts};
use ferrofuse_testing::differential::{Chosen, check_definition};
use ferrofuse_testing::random::{Input, Numbers, Placed, Placement, generate, place};
use ir::graph::Fusion;
use ops::DType;
use reference::evaluate::{EvaluateOptions, Serial, compare, evaluate};

/// Seeds, of whose programs some have a softmax.
const SEEDS: u64 = 600;

/// The fewest of them that must run.
const MIN_RUN: usize = 15;

#[test]
fn programs_with_softmaxes_give_the_same() {
    let mut ran = 0;
    for seed in 0..SEEDS {
        let program = generate(seed);
        let Ok(definition) = program.define() else { continue };
        let (mut graph, written) = definition.graph.fork(&definition.fusion);
        let folds = softmax_folds(&graph, &written);
        if folds.is_empty() {
            continue;
        }
        let (online, _) = fold_online(&mut graph, &written, &folds);
        graph.debug_verify(&online);
        let placed = place(&program.inputs);
        let views: Vec<ArrayView<'_>> = placed.iter().map(Placed::view).collect();
        let evaluated = |view: &Fusion| evaluate(&graph, view, &views, &EvaluateOptions::default());
        let Ok(before) = evaluated(&written) else { continue };
        let after = evaluated(&online).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        for (number, (before, after)) in before.outputs.iter().zip(&after.outputs).enumerate() {
            let found = compare(before, &after.value.view(), &Serial).expect("same type");
            assert!(found.matches(), "seed {seed}, output {number}: {found:?}");
        }
        ran += 1;
    }
    assert!(ran >= MIN_RUN, "only {ran} ran");
}

/// Softmaxes along the first axis, planned for columns that come from memory, and run on few elements.
#[test]
fn kernels_for_long_columns_give_the_same() {
    for dtype in [DType::BF16, DType::F16] {
        for rows in [0, 1, 7, 300] {
            for numbers in [Numbers::Normal, Numbers::Strange] {
                let definition = columns(dtype);
                let sizes = definition.graph.symbols().keys().zip([1 << 14, 1 << 11]);
                let hints = Hints::new(sizes);
                assert_eq!(online(&definition, &hints), 1, "{dtype}");
                let chosen = Chosen { hints, ..Chosen::default() };
                let inputs = vec![matrix(dtype, rows, numbers)];
                let checked = check_definition(definition, inputs, &chosen);
                checked.unwrap_or_else(|failure| panic!("{rows} rows of {dtype}, {numbers:?}: {failure}"));
            }
        }
    }
}

/// How many softmaxes are one fold.
fn online(definition: &Definition, hints: &Hints) -> usize {
    let (graph, fusion, target) = (&definition.graph, &definition.fusion, &Target::cpu(512));
    let (layouts, options) = (&declared_layouts(definition)[..], &PlanOptions::default());
    let cut =
        cut(PlanRequest { graph, fusion, layouts, target, hints, options }).expect("no choices, no errors");
    cut.softmaxes.online.len()
}

fn columns(dtype: DType) -> Definition {
    let language = if dtype == DType::BF16 { "BFloat16" } else { "Half" };
    let text = format!(
        "def columns(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.{language})
    wide = fd.ops.cast(x, dtype=DataType.Float)
    largest = fd.ops.max(wide, dims=[0])
    total = fd.ops.sum(fd.ops.exp(wide - fd.ops.max(wide, dims=[0], keepdim=True)), dims=[0])
    fd.add_output(largest)
    fd.add_output(fd.ops.cast(total, dtype=DataType.{language}))
    fd.add_output(fd.ops.cast(fd.ops.softmax(wide, dim=0), dtype=DataType.{language}))
"
    );
    ferrofuse::define(&text).unwrap_or_else(|error| panic!("{error}"))
}

/// A matrix of 70 columns.
fn matrix(dtype: DType, rows: usize, numbers: Numbers) -> Placed {
    let input = Input {
        dtype,
        sizes: vec![rows, 70],
        is_scalar: false,
        symbolic: Vec::new(),
        expanded: Vec::new(),
        declared_order: Vec::new(),
        placement: Placement::default(),
        numbers,
        seed: rows as u64,
        within: None,
    };
    input.place()
}
