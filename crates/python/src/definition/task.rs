//! The tasks of a value, for Python: composites, groups and segments, and the role of the value in each.

use ferrofuse::{Task, TaskData, TaskKind, Tasks};
use ir::graph::Val;
use pyo3::prelude::*;

/// A task that defines, uses or computes a value.
#[pyclass(frozen, name = "Task", module = "ferrofuse", eq)]
#[derive(PartialEq)]
pub struct ValueTask {
    /// "segment", "pattern", "lambda" or "group".
    #[pyo3(get)]
    kind: &'static str,
    /// Its name.
    #[pyo3(get)]
    name: String,
    /// The role of the value: the task "defines" (returns) it, "uses" it as an operand, or "computes" it on its way.
    #[pyo3(get)]
    role: &'static str,
    /// The name of the group around it.
    #[pyo3(get)]
    parent: Option<String>,
}

#[pymethods]
impl ValueTask {
    fn __repr__(&self) -> String {
        format!("<Task {} {}: {} it>", self.kind, self.name, self.role)
    }
}

impl ValueTask {
    /// The tasks of a value, in the order they were made.
    pub fn of(tasks: &Tasks, val: Val) -> Vec<ValueTask> {
        let role = |data: &TaskData| match &data.view {
            view if view.is_output(val) => Some("defines"),
            view if view.is_input(val) => Some("uses"),
            view => view.contains(val.node).then_some("computes"),
        };
        let value_task = |(_, data): (Task, &TaskData)| {
            let parent = data.parent.map(|parent| tasks.get(parent).name.clone());
            let kind = in_words(&data.kind);
            role(data).map(|role| ValueTask { kind, name: data.name.clone(), role, parent })
        };
        tasks.iter().filter_map(value_task).collect()
    }
}

fn in_words(kind: &TaskKind) -> &'static str {
    match kind {
        TaskKind::Segment => "segment",
        TaskKind::Pattern => "pattern",
        TaskKind::Lambda => "lambda",
        TaskKind::Group(_) => "group",
    }
}
