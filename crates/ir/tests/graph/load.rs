//! Collection under load: a quarter of a million nodes, a thousand views, tasks half of which are dropped. `--nocapture` shows the
//! times.

use std::sync::Arc;
use std::time::Instant;

use ferrofuse_ir::graph::{
    Fusion, Graph, GroupOptions, Output, Task, TaskData, TaskKind, Tasks, Val, ValMap, dump,
};
use index::Facts;
use ops::ScalarOp;

use super::Build;

/// Chains of ops on one input, each a view; a node of each chain is a constant.
const CHAINS: usize = 1000;
const LENGTH: usize = 249;

/// A chain of ops that no other chain has, and the value in its middle.
fn chain(b: &mut Build, x: Val, number: usize, length: usize) -> (Val, Val) {
    let start = b.constant(number as f64);
    let mut val = b.map(ScalarOp::Add, &[x, start]);
    let mut middle = val;
    for place in 1..length {
        let op = if place % 2 == 0 { ScalarOp::Exp } else { ScalarOp::Neg };
        val = b.map(op, &[val]);
        if place == length / 2 {
            middle = val;
        }
    }
    (middle, val)
}

fn view(graph: &Graph, facts: &Arc<Facts>, input: Val, output: Val) -> Fusion {
    Fusion::new(graph, vec![input], vec![Output::from(output)], Arc::clone(facts)).expect("a closed view")
}

fn add(tasks: &mut Tasks, name: String, kind: TaskKind, parent: Option<Task>, view: Fusion) -> Task {
    tasks.add(TaskData { name, kind, parent, view }).expect("inside of its parent")
}

/// Each chain as a group of two segments.
fn chains(b: &mut Build, x: Val) -> (Vec<Fusion>, Tasks) {
    let ends: Vec<(Val, Val)> = (0..CHAINS).map(|number| chain(b, x, number, LENGTH)).collect();
    let (facts, mut views, mut tasks) = (Arc::new(b.facts.clone()), Vec::new(), Tasks::new());
    for (number, &(middle, end)) in ends.iter().enumerate() {
        let whole = view(&b.graph, &facts, x, end);
        let group = TaskKind::Group(GroupOptions::default());
        let group = add(&mut tasks, format!("group{number}"), group, None, whole.clone());
        for (half, from, to) in [("first", x, middle), ("second", middle, end)] {
            let part = view(&b.graph, &facts, from, to);
            add(&mut tasks, format!("{half}{number}"), TaskKind::Segment, Some(group), part);
        }
        views.push(whole);
    }
    (views, tasks)
}

fn require_same(old: &Graph, was: &Fusion, kept: &Graph, is: &Fusion, map: &ValMap) {
    assert_eq!(is.order().len(), was.order().len());
    assert_eq!(map.get(was.outputs()[0].val), Some(is.outputs()[0].val));
    for (&before, &after) in was.order().iter().zip(is.order()) {
        assert_eq!(old.node(before).op, kept.node(after).op);
    }
}

#[test]
fn half_of_many_nodes_are_collected_with_their_views_and_tasks() {
    let mut b = Build::default();
    let x = b.input(&[None]);
    let (views, tasks) = chains(&mut b, x);
    assert!(b.graph.len() > CHAINS * LENGTH && tasks.iter().count() == 3 * CHAINS);
    let live: Vec<&Fusion> = views.iter().step_by(2).collect();
    let begin = Instant::now();
    let (kept, moved, map) = b.graph.collect(&live);
    println!("{} of {} nodes collected in {:?}", kept.len(), b.graph.len(), begin.elapsed());
    assert_eq!(kept.len(), 1 + live.len() * (LENGTH + 1));
    for (was, is) in live.iter().zip(&moved) {
        require_same(&b.graph, was, &kept, is, &map);
    }
    let begin = Instant::now();
    let (alive, dropped) = tasks.mapped(&kept, &map);
    println!("{} of {} tasks moved in {:?}", alive.iter().count(), tasks.iter().count(), begin.elapsed());
    assert_eq!((alive.iter().count(), dropped.len()), (3 * CHAINS / 2, 3 * CHAINS / 2));
    assert!(dropped.iter().all(|task| task.reason.contains("has no counterpart")), "{:?}", dropped[0]);
    drop((b, views, tasks));
    for (task, data) in alive.iter().take(30) {
        kept.debug_verify(&data.view);
        let parent = data.parent.map(|parent| alive.get(parent));
        assert!(parent.is_none_or(|parent| data.view.order().iter().all(|&node| parent.view.contains(node))));
        let end = data.view.outputs()[0].val;
        assert!(alive.tasks_defining(end).any(|defining| defining == task));
        assert_eq!(alive.is_segment_edge(end), data.name.starts_with("first"), "{}", data.name);
    }
}

#[test]
fn a_graph_that_is_collected_again_and_again_does_not_grow() {
    let mut b = Build::default();
    let mut x = b.input(&[None]);
    let (_, end) = chain(&mut b, x, 0, LENGTH);
    let mut whole = b.view(&[end]);
    let before = dump(&b.graph, &whole);
    for round in 1..=50 {
        for number in 0..20 {
            chain(&mut b, x, 100 * round + number, LENGTH);
        }
        let (kept, mut moved, map) = b.graph.collect(&[&whole]);
        assert_eq!(kept.len(), LENGTH + 2);
        (b.graph, whole, x) = (kept, moved.remove(0), map.get(x).expect("an input lives"));
    }
    assert_eq!(dump(&b.graph, &whole), before);
}
