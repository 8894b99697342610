//! Softmaxes whose maximum and sum are one fold give the same, infinite elements, NaN and no elements included: on the
//! evaluator for random programs, in kernels for columns.

use compiler::passes::{fold_online, softmax_folds};
use compiler::{PlanOptions, PlanRequest, cut};
use ferrofuse::{Definition, Hints, declared_layouts};
use ferrofuse_testing::differential::{Chosen, check_definition};
use ferrofuse_testing::random::{Input, Numbers, Placed, Placement};
use ir::graph::{Fusion, Graph};
use ops::DType;
use reference::evaluate::EvaluateOptions;
use rustc_hash::FxHashSet;
use target::Target;

use super::rewritten::{compare_programs, within_bounds};

/// Seeds, of whose programs some have a softmax.
const SEEDS: u64 = 600;

/// The fewest of them that must run.
const MIN_RUN: usize = 15;

#[test]
fn programs_with_softmaxes_give_the_same() {
    let online = |_, graph: &mut Graph, written: &Fusion| {
        let folds = softmax_folds(graph, written, &FxHashSet::default());
        (!folds.is_empty()).then(|| fold_online(graph, written, &folds).0)
    };
    compare_programs(SEEDS, MIN_RUN, &EvaluateOptions::default(), online, within_bounds);
}

/// The folds of a segment by itself are at once whatever their exponential; of a whole definition, if that is cheap.
#[test]
fn a_segment_by_itself_folds_f32_at_once() {
    let text = "def folds(fd):
    x = fd.define_tensor(shape=[16384, 2048], contiguity=True, dtype=DataType.Float)
    largest = fd.ops.max(x, dims=[0])
    total = fd.ops.sum(fd.ops.exp(x - fd.ops.broadcast(largest, is_broadcast_dim=[True, False])), dims=[0])
    fd.add_output(largest)
    fd.add_output(total)
";
    let definition = ferrofuse::define(text).unwrap_or_else(|error| panic!("{error}"));
    for is_segment in [false, true] {
        let options = PlanOptions { is_segment, ..PlanOptions::default() };
        assert_eq!(online(&definition, &Hints::default(), &options), usize::from(is_segment));
    }
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
                assert_eq!(online(&definition, &hints, &PlanOptions::default()), 1, "{dtype}");
                let chosen = Chosen { hints, ..Chosen::default() };
                let inputs = vec![matrix(dtype, rows, numbers)];
                let checked = check_definition(definition, inputs, &chosen);
                checked.unwrap_or_else(|failure| panic!("{rows} rows of {dtype}, {numbers:?}: {failure}"));
            }
        }
    }
}

/// How many softmaxes are one fold.
fn online(definition: &Definition, hints: &Hints, options: &PlanOptions) -> usize {
    let (graph, fusion, target) = (&definition.graph, &definition.fusion, &Target::cpu(512));
    let layouts = &declared_layouts(definition)[..];
    let cut = cut(PlanRequest { graph, fusion, tasks: &definition.tasks, layouts, target, hints, options })
        .expect("no choices, no errors");
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
