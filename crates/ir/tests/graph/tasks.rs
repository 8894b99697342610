//! Tasks nest and overlap, know who defines and uses a value, and follow passes while they are closed.

use ferrofuse_ir::graph::{
    Fusion, GroupOptions, Task, TaskData, TaskError, TaskKind, Tasks, TensorOp, rewrite,
};
use ops::ScalarOp;

use super::Build;

fn task(name: &str, kind: TaskKind, parent: Option<Task>, view: Fusion) -> TaskData {
    TaskData { name: name.to_owned(), kind, parent, view }
}

#[test]
fn overlapping_segments_are_recomputation() {
    let mut b = Build::default();
    let x = b.input(&[None]);
    let e = b.map(ScalarOp::Exp, &[x]);
    let (y, z) = (b.map(ScalarOp::Neg, &[e]), b.map(ScalarOp::Abs, &[e]));
    let mut tasks = Tasks::new();
    let first = tasks.add(task("seg0", TaskKind::Segment, None, b.view(&[y]))).unwrap();
    let second = tasks.add(task("seg1", TaskKind::Segment, None, b.view(&[z]))).unwrap();
    assert!(!tasks.is_segment_edge(e), "a recomputed value does not pass between segments");
    assert_eq!(tasks.tasks_defining(y).collect::<Vec<_>>(), [first]);
    assert_eq!(tasks.tasks_using(x).collect::<Vec<_>>(), [first, second]);
    assert!(b.graph.verify_tasks(&tasks).is_empty());
}

#[test]
fn a_value_that_one_segment_gives_and_another_takes_is_an_edge() {
    let mut b = Build::default();
    let x = b.input(&[None]);
    let e = b.map(ScalarOp::Exp, &[x]);
    let y = b.map(ScalarOp::Neg, &[e]);
    let mut tasks = Tasks::new();
    tasks.add(task("seg0", TaskKind::Segment, None, b.view(&[e]))).unwrap();
    tasks.add(task("seg1", TaskKind::Segment, None, b.view_from(&[e], &[y]))).unwrap();
    assert!(tasks.is_segment_edge(e) && !tasks.is_segment_edge(x) && !tasks.is_segment_edge(y));
}

#[test]
fn a_nested_task_computes_nothing_its_parent_does_not() {
    let mut b = Build::default();
    let x = b.input(&[None]);
    let e = b.map(ScalarOp::Exp, &[x]);
    let y = b.map(ScalarOp::Neg, &[e]);
    let mut tasks = Tasks::new();
    let group =
        tasks.add(task("stage", TaskKind::Group(GroupOptions::default()), None, b.view(&[e]))).unwrap();
    let inside = tasks.add(task("seg0", TaskKind::Segment, Some(group), b.view(&[e]))).unwrap();
    assert_eq!(tasks.children(group).collect::<Vec<_>>(), [inside]);
    let outside = tasks.add(task("seg1", TaskKind::Segment, Some(group), b.view(&[y])));
    assert!(matches!(outside, Err(TaskError::Outside { node, .. }) if node == y.node));
}

#[test]
fn tasks_follow_a_pass_and_what_is_dropped_is_said() {
    let mut b = Build::default();
    let x = b.input(&[None]);
    let e = b.map(ScalarOp::Exp, &[x]);
    let s = b.map(ScalarOp::Sin, &[x]);
    let y = b.map(ScalarOp::Add, &[e, s]);
    let view = b.view(&[y]);
    let mut tasks = Tasks::new();
    tasks.add(task("kept", TaskKind::Segment, None, b.view(&[e]))).unwrap();
    let unreached = b.map(ScalarOp::Cos, &[x]);
    tasks.add(task("lost", TaskKind::Segment, None, b.view(&[unreached]))).unwrap();
    let (_, map) = rewrite(&mut b.graph, &view, |graph, facts, node, operands| match graph.node(node).op {
        TensorOp::Map(ScalarOp::Exp) => {
            let node = graph.add(TensorOp::Map(ScalarOp::Abs), operands, facts).unwrap();
            Some(graph.results(node).collect())
        }
        _ => None,
    });
    let (moved, dropped) = tasks.mapped(&b.graph, &map);
    let kept: Vec<&str> = moved.iter().map(|(_, data)| data.name.as_str()).collect();
    assert_eq!(kept, ["kept"]);
    assert_eq!(moved.iter().next().unwrap().1.view.outputs()[0].val, map.get(e).unwrap());
    assert_eq!(dropped.len(), 1);
    assert_eq!(dropped[0].name, "lost");
    assert!(dropped[0].reason.contains("has no counterpart"), "{}", dropped[0].reason);
}
