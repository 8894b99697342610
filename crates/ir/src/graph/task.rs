//! Tasks: fusions inside a fusion, as named views with a kind and a parent.
//!
//! Tasks nest and may overlap: a node in two segments is a recomputed node. They are labels: no node points at one, so
//! making or dropping tasks never changes the graph. Here are the queries for which tasks define or use a value; `frontend::define`
//! outlines a task as a definition of its own.

use cranelift_entity::{PrimaryMap, entity_impl};
use thiserror::Error;

use super::container::Graph;
use super::fusion::{Fusion, ViewError};
use super::group::GroupOptions;
use super::node::{Node, Val};
use super::rewrite::ValMap;

/// A task of a [`Tasks`] table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Task(u32);
entity_impl!(Task, "task");

/// The kind of a task.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TaskKind {
    /// A future kernel.
    Segment,
    /// A composite that the user wrote, such as a softmax.
    Pattern,
    /// The body of a fold or a scan, not connected to the fusion's own inputs and outputs.
    Lambda,
    /// A group of the user: nodes that stay in one segment, or on one device.
    Group(GroupOptions),
}

/// A task as stored.
#[derive(Clone, Debug)]
pub struct TaskData {
    pub name: String,
    /// Its kind.
    pub kind: TaskKind,
    /// The task it is nested in.
    pub parent: Option<Task>,
    /// Its inputs, outputs and nodes.
    pub view: Fusion,
}

/// Why a task does not fit its parent.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TaskError {
    /// It computes a node that its parent does not.
    #[error("task {name} computes {node}, which its parent {parent} does not")]
    Outside { name: String, parent: String, node: Node },
}

/// A task that a pass could not carry over, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    pub name: String,
    pub reason: String,
}

/// The tasks of one graph, in the order they were made.
#[derive(Clone, Debug, Default)]
pub struct Tasks {
    tasks: PrimaryMap<Task, TaskData>,
}

impl Tasks {
    /// No tasks.
    pub fn new() -> Tasks {
        Tasks::default()
    }

    /// Adds a task.
    ///
    /// # Errors
    /// When it computes something its parent does not.
    pub fn add(&mut self, data: TaskData) -> Result<Task, TaskError> {
        if let Some(parent) = data.parent {
            let outer = &self.tasks[parent];
            if let Some(&node) = data.view.order().iter().find(|&&node| !outer.view.contains(node)) {
                return Err(TaskError::Outside { name: data.name, parent: outer.name.clone(), node });
            }
        }
        Ok(self.tasks.push(data))
    }

    /// A task's data.
    pub fn get(&self, task: Task) -> &TaskData {
        &self.tasks[task]
    }

    /// All tasks.
    pub fn iter(&self) -> impl Iterator<Item = (Task, &TaskData)> {
        self.tasks.iter()
    }

    /// The tasks of one kind.
    pub fn of_kind(&self, kind: TaskKind) -> impl Iterator<Item = (Task, &TaskData)> {
        self.tasks.iter().filter(move |(_, data)| data.kind == kind)
    }

    /// The tasks nested directly in this one.
    pub fn children(&self, parent: Task) -> impl Iterator<Item = Task> {
        self.tasks.iter().filter(move |(_, data)| data.parent == Some(parent)).map(|(task, _)| task)
    }

    /// The tasks that have a value as an output.
    pub fn tasks_defining(&self, val: Val) -> impl Iterator<Item = Task> {
        self.tasks.iter().filter(move |(_, data)| data.view.is_output(val)).map(|(task, _)| task)
    }

    /// The tasks that take a value as an input.
    pub fn tasks_using(&self, val: Val) -> impl Iterator<Item = Task> {
        self.tasks.iter().filter(move |(_, data)| data.view.is_input(val)).map(|(task, _)| task)
    }

    /// Whether a value passes between segments: an output of one and an input of another.
    pub fn is_segment_edge(&self, val: Val) -> bool {
        let segment = |task: &Task| self.tasks[*task].kind == TaskKind::Segment;
        let builders: Vec<Task> = self.tasks_defining(val).filter(segment).collect();
        self.tasks_using(val).filter(segment).any(|user| builders.iter().any(|&builder| builder != user))
    }

    /// The tasks after a pass: those whose boundary is mapped and that are still closed. Dropped ones are reported; tasks
    /// nested in them move up to the parent.
    pub fn mapped(&self, graph: &Graph, map: &ValMap) -> (Tasks, Vec<Dropped>) {
        let mut kept = Tasks::new();
        let mut dropped = Vec::new();
        let mut places: Vec<Option<Task>> = Vec::new();
        for data in self.tasks.values() {
            let parent = data.parent.and_then(|parent| places[cranelift_entity::EntityRef::index(parent)]);
            let moved = self.map_view(graph, &data.view, map).and_then(|view| {
                kept.add(TaskData { view, parent, ..data.clone() }).map_err(|error| error.to_string())
            });
            match moved {
                Ok(task) => places.push(Some(task)),
                Err(reason) => {
                    dropped.push(Dropped { name: data.name.clone(), reason });
                    places.push(parent);
                }
            }
        }
        (kept, dropped)
    }

    fn map_view(&self, graph: &Graph, view: &Fusion, map: &ValMap) -> Result<Fusion, String> {
        let boundary = view.inputs().iter().copied().chain(view.outputs().iter().map(|output| output.val));
        if let Some(lost) = boundary.clone().find(|&val| map.get(val).is_none()) {
            return Err(format!("its boundary value {lost} has no counterpart"));
        }
        view.mapped(graph, |val| map.get(val).expect("checked above"))
            .map_err(|error: ViewError| error.to_string())
    }
}
