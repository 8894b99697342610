//! Patterns: composites that the user wrote, as views of what they are made of.
//!
//! A pass keeps the value of whatever it maps, so after the pass a pattern is what leads from the values its inputs became
//! to those its outputs became. Where the pass permuted an input, the value before that permutation counts as the input. A
//! pattern is lost where a pass computes its outputs from something else, or no longer at all.

use indexmap::IndexSet;

use super::container::Graph;
use super::fusion::{Fusion, Output};
use super::node::Val;
use super::rewrite::ValMap;
use super::task::{Task, TaskData, TaskKind, Tasks};

impl Tasks {
    /// The patterns, in the order in which they were written.
    pub fn patterns(&self) -> impl Iterator<Item = (Task, &TaskData)> {
        self.of_kind(TaskKind::Pattern)
    }

    /// Adds the patterns of others as passes left them, each pass with its name and its map of values. Returns for each
    /// pattern, in order, its task here, or the pass that lost it and how.
    pub fn add_patterns_after<'m>(
        &mut self,
        written: &Tasks,
        graph: &Graph,
        passes: impl Iterator<Item = (&'static str, &'m ValMap)> + Clone,
    ) -> Vec<Result<Task, String>> {
        let moved = |data: &TaskData| {
            passes.clone().try_fold(data.view.in_fork(graph), |view, (pass, map)| {
                moved(graph, view, map).map_err(|reason| format!("{pass} {reason}"))
            })
        };
        let views: Vec<_> = written.patterns().map(|(_, data)| (data.name.clone(), moved(data))).collect();
        let added = views.into_iter().map(|(name, view)| {
            let task = TaskData { name, kind: TaskKind::Pattern, parent: None, view: view? };
            Ok(self.add(task).expect("a task without a parent always fits"))
        });
        added.collect()
    }
}

/// A pattern's view after a pass.
fn moved(graph: &Graph, view: Fusion, map: &ValMap) -> Result<Fusion, String> {
    let outputs = view.outputs().iter().map(|output| output.val);
    if view.inputs().iter().copied().chain(outputs).all(|val| map.get(val) == Some(val)) {
        return Ok(view);
    }
    let became = |val: Val| map.get(val).ok_or_else(|| "computes it no more".to_owned());
    let inputs: IndexSet<Val> = view.inputs().iter().map(|&val| became(val)).collect::<Result<_, _>>()?;
    let outputs = view.outputs().iter().map(|output| Ok(became(output.val)?.into()));
    let outputs: Vec<Output> = outputs.collect::<Result<_, String>>()?;
    let of = |inputs: IndexSet<Val>| {
        Fusion::new(graph, inputs.into_iter().collect(), outputs.clone(), view.facts().clone())
    };
    if let Ok(moved) = of(inputs.clone()) {
        return Ok(moved);
    }
    let sources = inputs.iter().filter_map(|&val| graph.permuted(val));
    let both = of(inputs.iter().copied().chain(sources).collect());
    let both = both.map_err(|_| "computes it from something else than what it is given".to_owned())?;
    let used = both.inputs().iter().copied().filter(|&val| !both.uses(val).is_empty());
    Ok(of(used.collect()).expect("what nothing uses is not needed"))
}
