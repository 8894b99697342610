//! The parts of an outlined view that are written as the user wrote them: composites of which the view computes everything,
//! and groups.
//! Takes the tasks of a graph and the record of the definition; returns for values the call that defines them, and for nodes
//! the group that they are in. A call is checked by the values that it makes: the same ops on the same operands.

use index::Expr;
use ir::definition::{Action, Entry, Object, Record, Statement};
use ir::graph::{Fusion, Graph, Node, Task, TaskKind, Tasks, TensorOp, Val, ValMap};
use rustc_hash::FxHashMap;

/// The definition that an outlined view is compared with.
#[derive(Clone, Copy)]
pub struct AsWritten<'d> {
    /// The record of the definition that the graph belongs to.
    pub record: &'d Record,
    /// The composites and groups, as views of the graph.
    pub tasks: &'d Tasks,
    /// The values that passes made of the definition's, if some ran: a composite is then written for the values that replace
    /// it, within the error bounds of its ops, rather than for equal ops.
    pub passed: Option<&'d ValMap>,
}

/// A composite as it was called.
pub(super) struct Call<'d> {
    pub op: &'static str,
    pub arguments: &'d [(&'static str, Object)],
    /// Its results in the graph that is outlined.
    pub results: Vec<Val>,
    /// The nodes that it consists of there.
    pub view: &'d Fusion,
    /// Whether it was written in the outlined definition, or failed to be.
    pub is_tried: bool,
}

impl<'d> AsWritten<'d> {
    /// The value of the graph that a value of the definition became.
    pub(super) fn became(&self, val: Val) -> Option<Val> {
        self.passed.map_or(Some(val), |map| map.get(val))
    }

    /// The composites that a view computes completely and whose operands it has, in the order in which they were written. An
    /// operand that no node reads may be outside of the view.
    pub(super) fn calls(&self, outlined: &Fusion) -> Vec<Call<'d>> {
        let mut views: FxHashMap<(&str, Val), &Fusion> = FxHashMap::default();
        for (_, data) in self.tasks.patterns() {
            views.extend(
                data.view.outputs().first().map(|output| ((data.name.as_str(), output.val), &data.view)),
            );
        }
        let is_there = |&val: &Val| outlined.is_input(val) || outlined.contains(val.node);
        let is_within = |view: &Fusion| {
            view.inputs().iter().all(is_there) && view.order().iter().all(|&node| outlined.contains(node))
        };
        let call = |statement: &'d Statement| {
            let Action::Call { op, arguments } = &statement.action else { return None };
            let result = |&entry: &Entry| self.became(self.record.entry(entry).val);
            let results: Vec<Val> = statement.results.iter().map(result).collect::<Option<_>>()?;
            let view = *views.get(&(*op, *results.first()?))?;
            is_within(view).then_some(Call { op, arguments, results, view, is_tried: false })
        };
        self.record.statements().iter().filter_map(call).collect()
    }

    /// The innermost group of each node that is in one.
    pub(super) fn groups(&self) -> FxHashMap<Node, Task> {
        let groups = self.tasks.groups().map(|(task, data, _)| (task, &data.view));
        groups.flat_map(|(task, view)| view.order().iter().map(move |&node| (node, task))).collect()
    }

    /// A group and those around it, outermost first.
    pub(super) fn around(&self, group: Option<Task>) -> Vec<Task> {
        let is_group = |task: &Task| matches!(self.tasks.get(*task).kind, TaskKind::Group(_));
        let parent = |&task: &Task| self.tasks.get(task).parent.filter(is_group);
        let mut chain: Vec<Task> = std::iter::successors(group, parent).collect();
        chain.reverse();
        chain
    }
}

/// Whether a value of one graph is computed like a value of another; `known` maps values of the first to values of the
/// second. Sizes are ignored: they follow from operands, and each graph has its own symbols.
pub(super) fn is_same(old: (&Graph, Val), new: (&Graph, Val), known: &mut FxHashMap<Val, Val>) -> bool {
    let ((old_graph, old), (new_graph, new)) = (old, new);
    if let Some(&same) = known.get(&old) {
        return same == new;
    }
    let (before, after) = (old_graph.node(old.node), new_graph.node(new.node));
    let is_same = old.result == new.result
        && without_sizes(&before.op) == without_sizes(&after.op)
        && before.operands.len() == after.operands.len()
        && old_graph.dtype(old) == new_graph.dtype(new)
        && before
            .operands
            .iter()
            .zip(&after.operands)
            .all(|(&old, &new)| self::is_same((old_graph, old), (new_graph, new), known));
    if is_same {
        known.insert(old, new);
    }
    is_same
}

/// An op with all its sizes set to 0.
fn without_sizes(op: &TensorOp) -> TensorOp {
    let mut op = op.clone();
    let erase = |size: &mut Expr| *size = Expr::zero();
    match &mut op {
        TensorOp::Size(size) | TensorOp::Iota(size) => erase(size),
        TensorOp::Expand(sizes) | TensorOp::Reshape(sizes) => sizes.iter_mut().for_each(erase),
        TensorOp::Slice { starts: first, sizes: second } | TensorOp::Pad { before: first, after: second } => {
            first.iter_mut().chain(second).for_each(erase);
        }
        _ => {}
    }
    op
}
