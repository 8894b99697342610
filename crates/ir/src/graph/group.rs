//! Groups: tasks that the user made, of the nodes added by calls inside a `with fd.group(...)` block.
//!
//! A node is in the innermost group that was open when it was added, and in those around that; constants may be anywhere.
//! Takes the group of each node, returns tasks with views, and follows passes by what each node became. The compiler applies
//! the constraints of groups to segments.

use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::container::Graph;
use super::fusion::{Fusion, Output};
use super::node::{Node, TensorOp, Val};
use super::rewrite::ValMap;
use super::task::{Dropped, Task, TaskData, TaskKind, Tasks};

/// The user's options of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct GroupOptions {
    /// Whether one segment computes all of it.
    pub stay: bool,
    /// Its device and stream; where it names none, those of the group around it apply.
    pub at: DeviceStream,
}

/// Where ops run; `None` means that of the call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DeviceStream {
    /// Such as `cuda:1`.
    pub device: Option<Arc<str>>,
    /// The number of a stream of the device.
    pub stream: Option<u32>,
}

impl DeviceStream {
    /// This device and stream, with those of another where there are none.
    pub fn or(&self, other: &DeviceStream) -> DeviceStream {
        DeviceStream {
            device: self.device.clone().or_else(|| other.device.clone()),
            stream: self.stream.or(other.stream),
        }
    }
}

impl fmt::Display for DeviceStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.device, self.stream) {
            (Some(device), Some(stream)) => write!(f, "{device}, stream {stream}"),
            (Some(device), None) => write!(f, "{device}"),
            (None, Some(stream)) => write!(f, "stream {stream}"),
            (None, None) => write!(f, "the device of the call"),
        }
    }
}

/// A group without its contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupDecl {
    pub name: String,
    /// Its options.
    pub options: GroupOptions,
    /// The number of the group around it, which comes before it.
    pub parent: Option<usize>,
}

/// Whether a node is a leaf rather than an op, and may be computed in any group.
fn is_leaf(op: &TensorOp) -> bool {
    matches!(op, TensorOp::Constant(_) | TensorOp::Size(_) | TensorOp::Input { .. })
}

impl Fusion {
    /// The view of these nodes of a view, which are in order: from values that others make to those that others use. `None`
    /// if no result is used.
    pub fn of_nodes(&self, graph: &Graph, nodes: &[Node]) -> Option<Fusion> {
        let is_member = |node: &Node| nodes.binary_search(node).is_ok();
        let leaves = |val: &Val| self.is_output(*val) || self.uses(*val).iter().any(|user| !is_member(user));
        let made = nodes.iter().flat_map(|&node| graph.results(node)).filter(leaves);
        let outputs: Vec<Output> = made.map(Output::from).collect();
        let is_taken = |val: &Val| self.is_input(*val) || !(is_member(&val.node) || is_leaf(graph.op(*val)));
        let operands = nodes.iter().flat_map(|&node| graph.node(node).operands.iter().copied());
        let mut inputs: Vec<Val> = operands.filter(is_taken).collect();
        inputs.sort_unstable();
        inputs.dedup();
        let view = Fusion::new(graph, inputs, outputs, self.facts().clone());
        view.ok().filter(|view| !view.outputs().is_empty())
    }
}

impl Tasks {
    /// Adds the groups of a view. A group without nodes of the view is dropped; those in it move up.
    pub fn add_groups(
        &mut self,
        graph: &Graph,
        fusion: &Fusion,
        groups: &[GroupDecl],
        group_of: impl Fn(Node) -> Option<usize>,
    ) -> Vec<Dropped> {
        let mut nodes: Vec<Vec<Node>> = vec![Vec::new(); groups.len()];
        for &node in fusion.order().iter().filter(|&&node| !is_leaf(&graph.node(node).op)) {
            let mut around = group_of(node);
            while let Some(group) = around {
                nodes[group].push(node);
                around = groups[group].parent;
            }
        }
        let mut dropped = Vec::new();
        let mut places: Vec<Option<Task>> = Vec::new();
        for (group, nodes) in groups.iter().zip(nodes) {
            let parent = group.parent.and_then(|parent| places[parent]);
            let Some(view) = fusion.of_nodes(graph, &nodes) else {
                let reason = "nothing of it is left to compute".to_owned();
                dropped.push(Dropped { name: group.name.clone(), reason });
                places.push(parent);
                continue;
            };
            let kind = TaskKind::Group(group.options.clone());
            let added = self.add(TaskData { name: group.name.clone(), kind, parent, view });
            places.push(Some(added.expect("what is in a group is in the one around it")));
        }
        dropped
    }

    /// The groups, each after the one around it.
    pub fn groups(&self) -> impl Iterator<Item = (Task, &TaskData, &GroupOptions)> {
        self.iter().filter_map(|(task, data)| match &data.kind {
            TaskKind::Group(options) => Some((task, data, options)),
            _ => None,
        })
    }

    /// Where a group runs, by its own options and those around it.
    pub fn device_stream(&self, group: Task) -> DeviceStream {
        let data = self.get(group);
        let own = match &data.kind {
            TaskKind::Group(options) => options.at.clone(),
            _ => DeviceStream::default(),
        };
        data.parent.map_or_else(|| own.clone(), |parent| own.or(&self.device_stream(parent)))
    }

    /// The groups after a pass, which gave `after` for `before`. A node that several became is in the group of the first of
    /// them; nodes that none became are in the group of the node that they were made for.
    pub fn groups_after(
        &self,
        graph: &Graph,
        before: &Fusion,
        after: &Fusion,
        map: &ValMap,
    ) -> (Tasks, Vec<Dropped>) {
        let mut numbers: FxHashMap<Task, usize> = FxHashMap::default();
        let mut decls = Vec::new();
        let mut group_of: FxHashMap<Node, usize> = FxHashMap::default();
        for (task, data, options) in self.groups() {
            numbers.insert(task, decls.len());
            group_of.extend(data.view.order().iter().map(|&node| (node, decls.len())));
            let parent = data.parent.and_then(|parent| numbers.get(&parent).copied());
            decls.push(GroupDecl { name: data.name.clone(), options: options.clone(), parent });
        }
        let mut moved: FxHashMap<Node, Option<usize>> = FxHashMap::default();
        for &node in before.order() {
            let group = group_of.get(&node).copied();
            let mut stack: Vec<Node> =
                graph.results(node).filter_map(|val| map.get(val)).map(|val| val.node).collect();
            while let Some(new) = stack.pop() {
                let is_ours = after.contains(new) && !moved.contains_key(&new);
                if is_ours && !is_leaf(&graph.node(new).op) {
                    moved.insert(new, group);
                    let computed = graph.node(new).operands.iter().filter(|val| !after.is_input(**val));
                    stack.extend(computed.map(|val| val.node));
                }
            }
        }
        let mut tasks = Tasks::new();
        let dropped = tasks.add_groups(graph, after, &decls, |node| moved.get(&node).copied().flatten());
        (tasks, dropped)
    }
}
