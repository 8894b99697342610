//! The builder of definitions, driven by the text reader, Python and Rust.
//!
//! Takes declarations and calls, returns values, and at the end a [`Definition`]. This file has the state, calls and the
//! end; `declare` has the inputs, `outputs` the outputs, `groups` the groups of ops.

mod declare;
mod groups;
mod outputs;

use std::sync::Arc;

use index::Facts;
use ir::Span;
use ir::definition::{CallArgument, Definition, NamedValue, Object, Record, SourceLine};
use ir::graph::{Fusion, Graph, Output, Task, TaskData, TaskKind, Tasks, Type, Val};

use super::builder::{Draws, OpBuilder, Pattern};
use super::call::call;
use super::error::DefineError;
use groups::{OpenGroups, require_convex};

/// Builds a definition, statement by statement.
///
/// A rejected call leaves it as it was.
#[derive(Clone, Debug)]
pub struct DefinitionBuilder {
    /// The builder of ops.
    pub(super) ops: OpBuilder,
    inputs: Vec<Val>,
    outputs: Vec<Output>,
    /// Which groups are open, and the group of each node.
    groups: OpenGroups,
}

impl Default for DefinitionBuilder {
    fn default() -> DefinitionBuilder {
        let (inputs, outputs, groups) = (Vec::new(), Vec::new(), OpenGroups::default());
        DefinitionBuilder { ops: OpBuilder::new(call), inputs, outputs, groups }
    }
}

impl DefinitionBuilder {
    /// An empty definition.
    pub fn new() -> DefinitionBuilder {
        DefinitionBuilder::default()
    }

    /// A builder that continues a definition. Outputs keep their memory order; a `stride_order` of other values is lost.
    pub fn going_on(definition: Definition) -> DefinitionBuilder {
        let Definition { graph, fusion, record, tasks, draws } = definition;
        let (inputs, outputs) = (fusion.inputs().to_vec(), fusion.outputs().to_vec());
        let facts = Facts::clone(fusion.facts());
        let pattern = |(_, data): (Task, &TaskData)| {
            let name = ops::lookup(&data.name).expect("a composite is an op").name();
            let outputs = data.view.outputs().iter().map(|output| output.val).collect();
            Pattern { name, inputs: data.view.inputs().to_vec(), outputs }
        };
        let patterns = tasks.patterns().map(pattern).collect();
        let groups = OpenGroups::going_on(graph.len(), record.groups(), &tasks);
        let draws = Draws::of(&graph, draws);
        let ops = OpBuilder { graph, facts, record, patterns, draws, ..OpBuilder::new(call) };
        DefinitionBuilder { ops, inputs, outputs, groups }
    }

    /// Sets the place of the next statement in the source text.
    pub fn set_span(&mut self, span: Option<Span>) {
        self.ops.span = span;
    }

    /// Sets the file and line, from 1, of the next statement in the program that calls the builder.
    pub fn set_line(&mut self, file: &str, line: usize) {
        self.ops.span = Some(self.ops.record.tell_line(file, line));
    }

    /// Sets the source text that places refer to.
    pub fn set_source(&mut self, source: &str) {
        self.ops.record.set_source(source);
    }

    /// The line of the next statement, if lines were set.
    pub fn line(&self) -> Option<SourceLine> {
        self.ops.span.and_then(|span| self.ops.record.line_of(span))
    }

    /// Gives a value the user's name; the first one stays.
    pub fn set_name(&mut self, value: NamedValue, name: &str) {
        self.ops.record.set_name(value.entry, name);
    }

    /// Records that a value is one of another definition: errors name the op there.
    pub fn take_site(&mut self, value: NamedValue, other: &Record, old: Val) {
        self.ops.record.take_site(value.val, other, old);
    }

    /// The record so far.
    pub fn record(&self) -> &Record {
        &self.ops.record
    }

    /// The nodes made so far.
    pub fn graph(&self) -> &Graph {
        &self.ops.graph
    }

    /// The type of a value.
    pub fn ty(&self, value: NamedValue) -> &Type {
        self.ops.graph.ty(value.val)
    }

    /// Whether a value is a scalar of the language rather than a tensor.
    pub fn is_scalar(&self, value: NamedValue) -> bool {
        self.ops.is_scalar(value)
    }

    /// Applies an op: any row of the tables of primitives, composites and tensor ops.
    ///
    /// # Errors
    /// For an unknown name, arguments that do not fit the parameters, dtypes and shapes that do not suit.
    pub fn call(&mut self, op: &str, arguments: Vec<CallArgument>) -> Result<Object, DefineError> {
        call(&mut self.ops, op, arguments)
    }

    /// Whether there is no output yet.
    pub fn is_empty(&self) -> bool {
        self.outputs.is_empty()
    }

    /// The finished definition.
    ///
    /// # Errors
    /// If there is no output, or no sizes satisfy the constraints of all its ops.
    pub fn finish(self) -> Result<Definition, DefineError> {
        if self.is_empty() {
            let error = DefineError::new("FusionDefinition", "at least one output", "none");
            return Err(error.help("give results back with fd.add_output(...)"));
        }
        if let Some((node, error)) = self.ops.graph.rejected(&self.ops.facts) {
            let (op, span) = self.ops.record.call_of(node).unwrap_or((self.ops.op, None));
            let error = DefineError::from_shape(op, error).at(span);
            return Err(error.help("no sizes satisfy both this and what other ops ask of them"));
        }
        let DefinitionBuilder { ops, inputs, outputs, groups } = self;
        let OpBuilder { graph, facts, record, patterns, draws, .. } = ops;
        let facts = Arc::new(facts);
        let fusion = Fusion::new(&graph, inputs, outputs, Arc::clone(&facts))
            .expect("every argument was declared as an input, once");
        let mut tasks = Tasks::new();
        for Pattern { name, inputs, outputs } in patterns {
            let outputs = outputs.into_iter().map(Output::from).collect();
            let view = Fusion::new(&graph, inputs, outputs, Arc::clone(&facts))
                .expect("a composite depends on its operands only");
            let parent: Option<Task> = None;
            let added = tasks.add(TaskData { name: name.to_owned(), kind: TaskKind::Pattern, parent, view });
            added.expect("a task without a parent fits");
        }
        // A group that no output depends on has no constraints.
        tasks.add_groups(&graph, &fusion, record.groups(), |node| groups.of_node(node));
        require_convex(&graph, &fusion, &record, &tasks)?;
        graph.debug_verify(&fusion);
        Ok(Definition { graph, fusion, record, tasks, draws: draws.count() })
    }
}
