//! The user's groups and segments: where groups are kept, what is rejected, what passes leave of them.

use ferrofuse_compiler::{PlanError, PlanOptions};
use ir::definition::Definition;
use ir::graph::{TaskKind, Val};
use segmenter::{GroupError, Segmentation, greedy, unfused};
use target::Target;

use super::{cpu_plan, first_kernel, try_plan};

/// A definition from the lines of its body, which keep their indentation; `x` is f32[i0, i1].
fn define(body: &str) -> Definition {
    let input = "    x = fd.define_tensor(shape=[-1, -1], contiguity=True)";
    let source = format!("def f(fd):\n{input}{body}\n");
    frontend::text::parse(&source).unwrap_or_else(|error| panic!("{error}\n{source}")).definition
}

fn rejected(definition: &Definition, segmentation: Option<Segmentation>) -> String {
    let options = PlanOptions { segmentation, ..PlanOptions::default() };
    match try_plan(definition, &Target::cpu(512), &options) {
        Err(PlanError::Group(error)) => error.in_words(|val| definition.record.in_words(val)).to_string(),
        other => panic!("{other:?}"),
    }
}

/// The values of these names, each made by a separate segment.
fn apart(definition: &Definition, names: &[&str]) -> Segmentation {
    let statements = || definition.record.statements().iter().flat_map(|statement| &statement.results);
    let named = |name: &&str| -> Val {
        let entry =
            statements().find(|&&entry| definition.record.entry(entry).name.as_deref() == Some(*name));
        definition.record.entry(*entry.expect("a name of the definition")).val
    };
    Segmentation::new(names.iter().map(|name| vec![named(name)]).collect())
}

const WIDENED: &str = "
    h = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    y = fd.ops.cast(h, dtype=DataType.Float)
    rows = fd.ops.sum(y, dims=[1], keepdim=True)
    columns = fd.ops.sum(fd.ops.div(y, rows), dims=[0], keepdim=True)
    fd.add_output(fd.ops.mul(y, columns))";

#[test]
fn what_stays_is_not_computed_again() {
    let computed = |definition: &Definition| {
        let plan = cpu_plan(definition);
        let widened = plan.map.get(apart(definition, &["y"]).segments[0][0]).unwrap();
        let computing = plan.segments.iter().filter(|segment| segment.view.contains(widened.node)).count();
        (plan.segments.len(), computing)
    };
    assert_eq!(computed(&define(WIDENED)), (2, 2), "free to be computed again");
    let once = WIDENED.replace("    y =", "    with fd.group(\"once\", stay=True):\n        y =");
    assert_eq!(computed(&define(&once)).1, 1, "in one segment");
}

#[test]
fn a_segment_has_the_device_and_stream_of_its_innermost_group() {
    let plan = cpu_plan(&define(
        "
    with fd.group(\"far\", device=\"cuda:1\"):
        y = fd.ops.exp(x)
        with fd.group(\"aside\", stream=2):
            z = fd.ops.sin(y)
    fd.add_output(fd.ops.add(y, z))",
    ));
    let places: Vec<String> = plan.segments.iter().map(|segment| segment.at.to_string()).collect();
    assert_eq!(places, ["cuda:1", "cuda:1, stream 2", "the device of the call"]);
    let groups: Vec<&str> = plan.tasks.groups().map(|(_, data, _)| data.name.as_str()).collect();
    assert_eq!(groups, ["far", "aside"]);
    assert_eq!(plan.tasks.of_kind(TaskKind::Segment).count(), 3);
    assert!(plan.graph.verify_tasks(&plan.tasks).is_empty());
}

#[test]
fn a_label_alone_changes_nothing() {
    let plain = define("\n    fd.add_output(fd.ops.exp(fd.ops.add(fd.ops.mul(x, x), x)))");
    let labelled = define(
        "
    with fd.group(\"product\"):
        y = fd.ops.mul(x, x)
    fd.add_output(fd.ops.exp(fd.ops.add(y, x)))",
    );
    let [plain, labelled] = [plain, labelled].map(|definition| cpu_plan(&definition));
    assert_eq!(first_kernel(&plain), first_kernel(&labelled));
}

#[test]
fn groups_that_no_kernel_computes_are_rejected_with_the_value_and_its_line() {
    let definition = define(
        "
    with fd.group(\"norm\", stay=True):
        rows = fd.ops.mul(x, fd.ops.sum(x, dims=[1], keepdim=True))
        columns = fd.ops.sum(rows, dims=[0], keepdim=True)
        y = fd.ops.mul(rows, columns)
    fd.add_output(y)",
    );
    assert_eq!(
        rejected(&definition, None),
        "group `norm` cannot stay in one segment: in one kernel `sum` on line 4 leaves no axis that workers could divide"
    );
}

#[test]
fn segmentations_of_the_user_keep_groups() {
    let stays = define(
        "
    with fd.group(\"pair\", stay=True):
        y = fd.ops.exp(x)
        z = fd.ops.sin(y)
    fd.add_output(y)
    fd.add_output(z)",
    );
    assert_eq!(
        rejected(&stays, Some(apart(&stays, &["y", "z"]))),
        "group `pair` stays in one segment, but seg0 and seg1 compute ops of it"
    );
    let spans = define(
        "
    with fd.group(\"far\", device=\"cuda:1\"):
        y = fd.ops.exp(x)
    z = fd.ops.sin(y)
    fd.add_output(z)",
    );
    assert_eq!(
        rejected(&spans, Some(apart(&spans, &["z"]))),
        "seg0 computes ops for cuda:1 and ops for the device of the call; a segment has one device and one stream"
    );
    try_plan(
        &spans,
        &Target::cpu(512),
        &PlanOptions { segmentation: Some(apart(&spans, &["y", "z"])), ..PlanOptions::default() },
    )
    .expect("cut where the device changes");
}

#[test]
fn the_segmentations_to_compare_with_keep_groups_too() {
    let definition = define(
        "
    with fd.group(\"pair\", stay=True):
        y = fd.ops.sin(fd.ops.exp(x))
    with fd.group(\"far\", device=\"cuda:1\"):
        z = fd.ops.cos(fd.ops.neg(y))
    fd.add_output(z)",
    );
    let Definition { graph, fusion, tasks, .. } = &definition;
    assert_eq!(greedy(graph, fusion, tasks).segments.len(), 2);
    assert_eq!(unfused(graph, fusion, tasks).segments.len(), 3);
    for segmentation in [greedy(graph, fusion, tasks), unfused(graph, fusion, tasks)] {
        let options = PlanOptions { segmentation: Some(segmentation), ..PlanOptions::default() };
        try_plan(&definition, &Target::cpu(512), &options).expect("it fits");
    }
}

#[test]
fn a_group_of_which_passes_leave_nothing_is_dropped_with_the_reason() {
    let definition = define(
        "
    y = fd.ops.neg(x)
    with fd.group(\"copy\", stay=True):
        z = fd.ops.set(y)
    fd.add_output(fd.ops.exp(z))",
    );
    let plan = cpu_plan(&definition);
    let dropped: Vec<(&str, &str)> =
        plan.dropped.iter().map(|dropped| (dropped.name.as_str(), dropped.reason.as_str())).collect();
    assert_eq!(dropped, [("copy", "nothing of it is left to compute")]);
    assert_eq!(plan.tasks.groups().count(), 0);
    assert_eq!(definition.tasks.groups().count(), 1, "the view before the passes has it still");
}

#[test]
fn words_for_a_value_change_no_other_error() {
    let split =
        GroupError::Split { group: "a".to_owned(), segments: vec!["seg0".to_owned(), "seg1".to_owned()] };
    assert_eq!(split.clone().in_words(|_| unreachable!("no value stands in the way")), split);
}
