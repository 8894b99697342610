//! Composites after graph passes: what is kept of them, which pass lost one, and what computes their products of matrices.

use std::collections::BTreeSet;

use ferrofuse_compiler::Plan;
use ferrofuse_compiler::passes::{PASSES, PassContext, Step};
use ir::definition::Definition;
use ir::graph::dump;
use rustc_hash::FxHashSet;
use segmenter::Engine;

use super::{cpu_plan, define};

/// A linear layer of `features` features, and the ops after it.
fn linear(features: i64) -> Definition {
    define(&format!(
        "
        T0 = fd.define_tensor(shape=[-1, {features}], contiguity=True, dtype=DataType.Float)
        T1 = fd.define_tensor(shape=[-1, {features}], contiguity=True, dtype=DataType.Float)
        T2 = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        T3 = fd.ops.linear(T0, T1, T2)
        fd.add_output(fd.ops.gelu(T3))"
    ))
}

fn names_of_kept(plan: &Plan) -> Vec<&str> {
    let kept = plan.patterns.iter().filter_map(|pattern| pattern.as_ref().ok());
    kept.map(|&task| plan.tasks.get(task).name.as_str()).collect()
}

fn has_library(plan: &Plan) -> bool {
    let engine = |view| matches!(&*plan.legality.of(&plan.graph, view), Ok(Engine::External(_)));
    plan.segments.iter().any(|segment| engine(&segment.view))
}

#[test]
fn a_kernel_multiplies_where_few_features_make_that_cheaper() {
    let shallow = cpu_plan(&linear(8));
    let [product] = shallow.products.each[..] else { panic!("{:?}", shallow.products) };
    assert!(product.is_decomposed() && product.kernel < product.library, "{product:?}");
    assert!(!has_library(&shallow), "kernels alone");
    assert_eq!(names_of_kept(&shallow), ["linear", "gelu"]);

    let deep = cpu_plan(&linear(768));
    assert!(deep.products.each.is_empty() && has_library(&deep));
    assert_eq!(names_of_kept(&deep), ["linear", "gelu"]);
}

#[test]
fn a_library_multiplies_where_no_bytes_are_saved() {
    let plan = cpu_plan(&define(
        "
        T0 = fd.define_tensor(shape=[-1, 8], contiguity=True, dtype=DataType.Float)
        T1 = fd.define_tensor(shape=[-1, 8], contiguity=True, dtype=DataType.Float)
        fd.add_output(fd.ops.linear(T0, T1))",
    ));
    let [product] = plan.products.each[..] else { panic!("{:?}", plan.products) };
    assert!(!product.is_decomposed() && has_library(&plan), "{product:?}");
}

#[test]
fn few_products_of_a_long_definition_are_judged() {
    let judged = |layers: usize| {
        let layer = "\n        T0 = fd.ops.sin(fd.ops.linear(T0, T1))".repeat(layers);
        let plan = cpu_plan(&define(&format!(
            "
        T0 = fd.define_tensor(shape=[-1, 8], contiguity=True, dtype=DataType.Float)
        T1 = fd.define_tensor(shape=[8, 8], contiguity=True, dtype=DataType.Float){layer}
        fd.add_output(T0)"
        )));
        plan.products.each.len()
    };
    assert_eq!([4, 20, 600].map(judged), [4, 8, 6]);
}

const REPEATED: &str = "
    T0 = fd.define_tensor(shape=[1, -1], contiguity=True, dtype=DataType.Float)
    T1 = fd.ops.expand(T0, [16, -1])
    fd.add_output(fd.ops.softmax(T1, dim=1))";

const ROUNDED: &str = "
    T0 = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    T1 = fd.ops.set(fd.ops.softmax(T0, dim=1))
    fd.add_output(fd.ops.neg(T1))";

#[test]
fn a_pattern_that_a_pass_loses_is_dropped_with_the_pass() {
    let plan = cpu_plan(&define(REPEATED));
    let reason = "sink_expansions computes it from something else than what it is given";
    assert_eq!(plan.patterns, [Err(reason.to_owned())]);
}

/// To revert a pass is to take the view before it: whatever later passes append, it prints unchanged.
#[test]
fn walking_back_through_all_passes_gives_equal_text() {
    let mut changed = BTreeSet::new();
    for definition in [linear(8), linear(768), define(ROUNDED), define(REPEATED)] {
        let plan = cpu_plan(&definition);
        let (mut graph, mut view) = definition.graph.fork(&definition.fusion);
        let written = view.clone();
        let mut texts = vec![dump(&graph, &view)];
        for row in PASSES {
            let context = PassContext { fusion: &view, expanded: &[], kept: &FxHashSet::default() };
            (view, _) = (row.pass)(&mut graph, &context);
            texts.push(dump(&graph, &view));
        }
        let changes = PASSES.iter().zip(texts.windows(2)).filter(|(_, pair)| pair[0] != pair[1]);
        changed.extend(changes.map(|(row, _)| row.name));
        let is_listed = |step: &&Step| PASSES.iter().any(|row| row.name == step.pass);
        for step in plan.steps.iter().rev().filter(is_listed) {
            assert_eq!(dump(&plan.graph, &step.view), texts.pop().expect("a text a pass"), "{}", step.pass);
        }
        assert_eq!([dump(&plan.graph, &written)], texts[..], "as it was written");
    }
    assert_eq!(changed, BTreeSet::from(["approximate", "simplify", "sink_expansions"]));
}
