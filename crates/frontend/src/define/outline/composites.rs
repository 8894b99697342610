//! The order in which an outlined view is written: node by node, except composites and groups, which are written as the user
//! wrote them.

use ir::definition::{CallArgument, Object};
use ir::graph::{GroupOptions, Node, Task, TaskKind, Tasks, Val};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::call::call;
use super::super::error::DefineError;
use super::Outliner;
use super::as_written::{Call, is_same};

impl Outliner<'_> {
    /// The nodes that outputs need; a composite needs only its operands.
    pub(super) fn needed(&self) -> FxHashSet<Node> {
        let mut needed = FxHashSet::default();
        let mut seen: FxHashSet<Val> = self.view.inputs().iter().copied().collect();
        let mut stack: Vec<Val> = self.view.outputs().iter().map(|output| output.val).collect();
        while let Some(val) = stack.pop() {
            if seen.insert(val) {
                needed.insert(val.node);
                match self.defining.get(&val) {
                    Some(&call) => stack.extend(self.calls[call].view.inputs()),
                    None => stack.extend(self.graph.operands(val)),
                }
            }
        }
        needed
    }

    /// Writes the call that makes a node's results: the composite that they belong to, else the node.
    pub(super) fn produce(&mut self, node: Node) -> Result<(), DefineError> {
        let is_missing = |outliner: &Self, val: &Val| !outliner.objects.contains_key(val);
        let missing: Vec<Val> = self.graph.results(node).filter(|val| is_missing(self, val)).collect();
        for call in missing.iter().filter_map(|val| self.defining.get(val).copied()).collect::<Vec<_>>() {
            if !std::mem::replace(&mut self.calls[call].is_tried, true) {
                self.call_as_written(call)?;
            }
        }
        if !missing.iter().any(|val| is_missing(self, val)) {
            return Ok(());
        }
        for operand in self.graph.node(node).operands.clone() {
            if is_missing(self, &operand) {
                self.produce(operand.node)?;
            }
        }
        self.enter(self.groups.get(&node).copied())?;
        self.node(node)
    }

    /// Writes a composite, if the language can express its operands and the call makes the same values here as there.
    fn call_as_written(&mut self, place: usize) -> Result<(), DefineError> {
        for &input in self.calls[place].view.inputs() {
            if !self.objects.contains_key(&input) {
                self.produce(input.node)?;
            }
        }
        let Call { op, arguments, view, .. } = self.calls[place];
        let results = self.calls[place].results.clone();
        let given =
            arguments.iter().map(|(name, object)| Some(CallArgument::keyword(name, self.again(object)?)));
        let Some(given) = given.collect::<Option<Vec<_>>>() else { return Ok(()) };
        let first = results.iter().map(|val| val.node).find_map(|node| self.groups.get(&node).copied());
        self.enter(first)?;
        let known = view.inputs().iter().filter_map(|&val| Some((val, self.objects[&val].as_value()?.val)));
        let mut known: FxHashMap<Val, Val> = known.collect();
        let (graph, is_exact) = (self.graph, self.written.passed.is_none());
        let made = self.builder.ops.or_as_before(|ops| {
            let made = call(ops, op, given)?;
            let objects = made.as_list().map_or_else(|| vec![made.clone()], <[Object]>::to_vec);
            let vals: Vec<Val> = objects.iter().filter_map(Object::as_value).map(|value| value.val).collect();
            let new = &ops.graph;
            let is_same = ops.draws.is_empty()
                && vals.len() == results.len()
                && results.iter().zip(&vals).all(|(&old, &val)| match is_exact {
                    true => is_same((graph, old), (new, val), &mut known),
                    false => graph.dtype(old) == new.dtype(val),
                });
            if is_same { Ok(objects) } else { Err(ops.reject("the same ops", "others")) }
        });
        for (val, object) in results.into_iter().zip(made.unwrap_or_default()) {
            self.define(val, object);
        }
        Ok(())
    }

    /// The object here for an argument of the definition, if there is one.
    fn again(&mut self, object: &Object) -> Option<Object> {
        match object {
            Object::Value(value) => {
                let val = self.written.became(value.val)?;
                match self.objects.get(&val) {
                    Some(known) => Some(known.clone()),
                    None => self.graph.as_size(val).and_then(|size| self.size(&size).ok()),
                }
            }
            Object::List(items) => {
                items.iter().map(|item| self.again(item)).collect::<Option<_>>().map(Object::List)
            }
            other => Some(other.clone()),
        }
    }

    /// Closes groups and opens others, so that this is the innermost.
    pub(super) fn enter(&mut self, group: Option<Task>) -> Result<(), DefineError> {
        let chain = self.written.around(group);
        let shared = chain.iter().zip(&self.open).take_while(|(new, open)| new == open).count();
        while self.open.len() > shared {
            self.open.pop();
            self.builder.leave_group();
        }
        for &task in &chain[shared..] {
            self.builder.enter_group(group_arguments(self.written.tasks, task))?;
            self.open.push(task);
        }
        Ok(())
    }
}

/// The arguments that open a group.
fn group_arguments(tasks: &Tasks, task: Task) -> Vec<CallArgument> {
    let data = tasks.get(task);
    let mut arguments = vec![CallArgument::positional(Object::Text(data.name.as_str().into()))];
    if let TaskKind::Group(GroupOptions { stay, at }) = &data.kind {
        arguments.extend(stay.then(|| CallArgument::keyword("stay", Object::bool(true))));
        let device = at.device.as_ref().map(|device| Object::Text(device.clone()));
        arguments.extend(device.map(|device| CallArgument::keyword("device", device)));
        let stream = at.stream.map(|stream| Object::int(stream.into()));
        arguments.extend(stream.map(|stream| CallArgument::keyword("stream", stream)));
    }
    arguments
}
