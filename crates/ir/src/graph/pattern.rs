//! Patterns: composites that the user wrote, as views of what they are made of.
//!
//! A pass keeps the value of whatever it maps, so a pattern behind it is what leads from what its inputs became to what its
//! outputs became. It is lost where a pass computes its outputs from something else, or no longer at all.

use indexmap::IndexSet;

use super::container::Graph;
use super::fusion::Fusion;
use super::node::Val;
use super::rewrite::ValMap;
use super::task::{Task, TaskData, TaskKind, Tasks};

impl Tasks {
    /// The patterns, in the order in which they were written.
    pub fn patterns(&self) -> impl Iterator<Item = (Task, &TaskData)> {
        self.of_kind(TaskKind::Pattern)
    }

    /// Adds the patterns of others as passes left them, each pass with its name and what it made of values: for each, in order,
    /// its task here, or the pass that lost it and how.
    pub fn add_patterns_after<'m>(
        &mut self,
        written: &Tasks,
        graph: &Graph,
        passes: impl Iterator<Item = (&'static str, &'m ValMap)> + Clone,
    ) -> Vec<Result<Task, String>> {
        let moved = |data: &TaskData| {
            passes.clone().try_fold(data.view.clone(), |view, (pass, map)| {
                moved(graph, &view, map).map_err(|reason| format!("{pass} {reason}"))
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

/// A pattern's view behind a pass.
fn moved(graph: &Graph, view: &Fusion, map: &ValMap) -> Result<Fusion, String> {
    let became = |val: Val| map.get(val).ok_or_else(|| "computes it no more".to_owned());
    let inputs: IndexSet<Val> = view.inputs().iter().map(|&val| became(val)).collect::<Result<_, _>>()?;
    let outputs = view.outputs().iter().map(|output| Ok(became(output.val)?.into()));
    let outputs = outputs.collect::<Result<_, String>>()?;
    let moved = Fusion::new(graph, inputs.into_iter().collect(), outputs, view.facts().clone());
    moved.map_err(|_| "computes it from something else than what it is given".to_owned())
}
