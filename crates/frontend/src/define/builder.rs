//! The builder of definitions: what the text reader, Python and Rust all drive.
//!
//! Takes declarations and calls, gives values, and at the end a [`Definition`]. Here are the state and the ways to add to
//! it; `declare` holds the inputs, `call` the ops.

use std::sync::Arc;

use index::{Expr, Facts};
use indexmap::IndexSet;
use ir::Span;
use ir::definition::{Action, Definition, Entry, NamedValue, Object, Record, Statement};
use ir::graph::{
    Axes, ComputedSize, Fusion, Graph, Node, Output, SymbolSource, Task, TaskData, TaskKind, Tasks, TensorOp,
    Type, Val,
};
use ops::{DType, Scalar, ScalarOp};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::arguments::describe;
use super::error::DefineError;
use super::groups::{OpenGroups, require_convex};
use super::random::Stateful;

/// Builds a definition, statement by statement.
///
/// A rejected call leaves it as it was.
#[derive(Clone, Debug, Default)]
pub struct DefinitionBuilder {
    pub(super) graph: Graph,
    pub(super) facts: Facts,
    pub(super) record: Record,
    pub(super) inputs: Vec<Val>,
    outputs: Vec<Output>,
    pub(super) patterns: Vec<(&'static str, Vec<Val>, Vec<Val>)>,
    /// Draws of random numbers that the call seeds, if there are any.
    pub(super) stateful: Option<Stateful>,
    /// The op being applied, for diagnostics.
    pub(super) op: &'static str,
    /// Its place in the source text.
    pub(super) span: Option<Span>,
    /// The axes in memory, outermost first, of results whose order the definition asks for.
    pub(super) orders: FxHashMap<Entry, Axes>,
    /// Which groups are open, and which nodes came to be in which.
    pub(super) groups: OpenGroups,
}

impl DefinitionBuilder {
    /// An empty definition.
    pub fn new() -> DefinitionBuilder {
        DefinitionBuilder::default()
    }

    /// A builder that goes on with what [`super::outline`] made, in which there are no draws of a call.
    pub fn going_on(definition: Definition) -> DefinitionBuilder {
        let Definition { graph, fusion, record, tasks, .. } = definition;
        let (inputs, outputs) = (fusion.inputs().to_vec(), fusion.outputs().to_vec());
        let facts = Facts::clone(fusion.facts());
        let pattern = |(_, data): (Task, &TaskData)| {
            let name = ops::lookup(&data.name).expect("a composite is an op").name();
            let outputs = data.view.outputs().iter().map(|output| output.val).collect();
            (name, data.view.inputs().to_vec(), outputs)
        };
        let patterns = tasks.patterns().map(pattern).collect();
        let groups = OpenGroups::going_on(graph.len(), record.groups(), &tasks);
        DefinitionBuilder {
            graph,
            facts,
            record,
            inputs,
            outputs,
            patterns,
            groups,
            ..DefinitionBuilder::default()
        }
    }

    /// Says where the next statement stands in the source text.
    pub fn set_span(&mut self, span: Option<Span>) {
        self.span = span;
    }

    /// Says which line, from 1, of the program that calls the builder the next statement stands in.
    pub fn set_line(&mut self, line: usize) {
        self.record.tell_lines();
        self.span = Some(Span::new(line, line));
    }

    /// Says what the source text is that places are in.
    pub fn set_source(&mut self, source: &str) {
        self.record.set_source(source);
    }

    /// The line that the next statement stands in, if lines were told.
    pub fn line(&self) -> Option<usize> {
        self.span.and_then(|span| self.record.line_of(span))
    }

    /// Gives a value the user's name; the first one stays.
    pub fn set_name(&mut self, value: NamedValue, name: &str) {
        self.record.set_name(value.entry, name);
    }

    /// What was written so far.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The nodes made so far.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The type of a value.
    pub fn ty(&self, value: NamedValue) -> &Type {
        self.graph.ty(value.val)
    }

    /// Whether a value is a scalar of the language rather than a tensor.
    pub fn is_scalar(&self, value: NamedValue) -> bool {
        self.record.entry(value.entry).is_scalar
    }

    /// Gives a tensor back, if `alias` is given written into the memory of that input, else in memory of its own, in the
    /// order of axes that `stride_order` asked for.
    ///
    /// # Errors
    /// For a scalar, and for an alias that is no input tensor or has another type.
    pub fn add_output(&mut self, output: &Object, alias: Option<&Object>) -> Result<(), DefineError> {
        self.or_as_before(|builder| builder.output(output, alias))
    }

    fn output(&mut self, output: &Object, alias: Option<&Object>) -> Result<(), DefineError> {
        self.op = "add_output";
        let tensor = self.output_tensor("output", output)?;
        let alias = alias.map(|alias| self.output_tensor("alias_input", alias)).transpose()?;
        let place = alias.map(|alias| self.alias_place(tensor, alias)).transpose()?;
        let order = self.orders.get(&tensor.entry).filter(|_| place.is_none()).cloned().unwrap_or_default();
        self.outputs.push(Output { val: tensor.val, alias: place, order });
        let action = Action::Output { value: tensor.entry, alias: alias.map(|alias| alias.entry) };
        self.add_statement(action, Vec::new());
        Ok(())
    }

    fn output_tensor(&self, argument: &str, object: &Object) -> Result<NamedValue, DefineError> {
        let given = match object.as_value() {
            Some(value) if !self.is_scalar(value) => return Ok(value),
            Some(_) => "a scalar".to_owned(),
            None => describe(object),
        };
        Err(self.reject("a tensor", given).argument(argument))
    }

    /// The number of the input that an output is written to.
    fn alias_place(&mut self, tensor: NamedValue, alias: NamedValue) -> Result<u32, DefineError> {
        let reject =
            |expected: String, given: String| Err(self.reject(expected, given).argument("alias_input"));
        let Some(place) = self.inputs.iter().position(|&input| input == alias.val) else {
            return reject("an input of the definition".to_owned(), "a computed tensor".to_owned());
        };
        let (output, input) = (self.ty(tensor), self.ty(alias));
        let same_shape = output.rank() == input.rank()
            && output.shape.iter().zip(&input.shape).all(|(a, b)| !self.facts.prove_ne(a, b));
        if output.dtype != input.dtype || !same_shape {
            return reject(format!("an input of type {output}"), format!("one of type {input}"));
        }
        let place = place as u32;
        if self.outputs.iter().any(|output| output.alias == Some(place)) {
            return reject(
                "an input that no other output is written to".to_owned(),
                "one that is".to_owned(),
            );
        }
        for (a, b) in output.shape.clone().iter().zip(input.shape.clone().iter()) {
            let equal = self.facts.assume_equal(a, b);
            equal
                .map_err(|_| self.reject(format!("size {a}"), format!("size {b}")).argument("alias_input"))?;
        }
        Ok(place)
    }

    /// Whether nothing is given back yet.
    pub fn is_empty(&self) -> bool {
        self.outputs.is_empty()
    }

    /// The finished definition.
    ///
    /// # Errors
    /// When nothing is given back, or no sizes satisfy what its ops ask for together.
    pub fn finish(self) -> Result<Definition, DefineError> {
        if self.is_empty() {
            let error = DefineError::new("FusionDefinition", "at least one output", "none");
            return Err(error.help("give results back with fd.add_output(...)"));
        }
        if let Some((node, error)) = self.graph.rejected(&self.facts) {
            let (op, span) = self.record.call_of(node).unwrap_or((self.op, None));
            let error = DefineError::from_shape(op, error).at(span);
            return Err(error.help("no sizes satisfy both this and what other ops ask of them"));
        }
        let facts = Arc::new(self.facts);
        let fusion = Fusion::new(&self.graph, self.inputs, self.outputs, Arc::clone(&facts))
            .expect("every argument was declared as an input, once");
        let mut tasks = Tasks::new();
        for (name, inputs, outputs) in self.patterns {
            let outputs = outputs.into_iter().map(Output::from).collect();
            let view = Fusion::new(&self.graph, inputs, outputs, Arc::clone(&facts))
                .expect("a composite depends on its operands only");
            let parent: Option<Task> = None;
            let added = tasks.add(TaskData { name: name.to_owned(), kind: TaskKind::Pattern, parent, view });
            added.expect("a task without a parent fits");
        }
        // A group of which no output needs anything asks for nothing.
        tasks.add_groups(&self.graph, &fusion, self.record.groups(), |node| self.groups.of_node(node));
        require_convex(&self.graph, &fusion, &self.record, &tasks)?;
        self.graph.debug_verify(&fusion);
        let draws = self.stateful.map_or(0, |stateful| stateful.draws);
        Ok(Definition { graph: self.graph, fusion, record: self.record, tasks, draws })
    }

    /// A diagnostic about the op being applied.
    pub(super) fn reject(&self, expected: impl Into<String>, given: impl Into<String>) -> DefineError {
        DefineError::new(self.op, expected, given)
    }

    /// Adds a node of one result.
    pub(super) fn add(&mut self, tensor_op: TensorOp, operands: &[Val]) -> Result<Val, DefineError> {
        Ok(self.add_node(tensor_op, operands)?.into())
    }

    /// Adds a node.
    pub(super) fn add_node(&mut self, tensor_op: TensorOp, operands: &[Val]) -> Result<Node, DefineError> {
        let node = self.graph.add(tensor_op, operands, &mut self.facts);
        let node = node.map_err(|error| DefineError::from_shape(self.op, error))?;
        let mut sizes = self.graph.node(node).results.iter().flat_map(|ty| &ty.shape);
        match sizes.any(Expr::is_overflow) {
            true => Err(self.reject("sizes of at most 63 bits", "a size beyond")),
            false => Ok(node),
        }
    }

    /// A constant.
    pub(super) fn constant(&mut self, scalar: Scalar) -> Result<Val, DefineError> {
        match scalar.dtype().is_complex() {
            true => self.complex_constant(scalar),
            false => self.add(TensorOp::Constant(scalar), &[]),
        }
    }

    /// The size of an axis as a scalar value.
    pub(super) fn size_val(&mut self, size: Expr) -> Result<Val, DefineError> {
        match size.as_const() {
            Some(n) => self.constant(Scalar::from_i64(DType::I64, n)),
            None => self.add(TensorOp::Size(size), &[]),
        }
    }

    /// A value converted; itself if it has the dtype already.
    pub(super) fn cast(&mut self, val: Val, dtype: DType) -> Result<Val, DefineError> {
        let from = self.graph.dtype(val);
        match self.graph.as_constant(val) {
            _ if from == dtype => Ok(val),
            _ if from.is_complex() || dtype.is_complex() => self.cast_complex(val, dtype),
            Some(scalar) => self.constant(scalar.cast(dtype)),
            None => self.add(TensorOp::Cast(dtype), &[val]),
        }
    }

    /// A size that a number or a scalar stands for; `None` if sizes and scalar inputs do not determine it.
    pub(super) fn as_size(&mut self, object: &Object) -> Option<Expr> {
        match object {
            Object::Value(value) => self.graph.as_size(value.val).or_else(|| self.computed_size(*value)),
            _ => object.as_int().map(Expr::constant),
        }
    }

    /// The symbol of a scalar that a call computes, as the algebra of sizes cannot say it.
    fn computed_size(&mut self, value: NamedValue) -> Option<Expr> {
        if !self.is_scalar(value) {
            return None;
        }
        let source = SymbolSource::Computed(Arc::new(ComputedSize::of(&self.graph, value.val)?));
        let symbol = self.graph.symbol_of(&source);
        let size = Expr::sym(symbol.unwrap_or_else(|| self.graph.add_symbol(source)));
        self.record.add_constraint(size.clone(), self.op, self.span);
        Some(size)
    }

    /// The value of a new result, with its line in the record.
    pub(super) fn value(&mut self, val: Val, is_scalar: bool) -> NamedValue {
        NamedValue { val, entry: self.record.add_entry(val, is_scalar) }
    }

    /// Records a call and gives its results.
    pub(super) fn record_call(
        &mut self,
        op: &'static str,
        arguments: Vec<(&'static str, Object)>,
        results: &[NamedValue],
    ) {
        let results = results.iter().map(|value| value.entry).collect();
        self.add_statement(Action::Call { op, arguments }, results);
    }

    /// Adds a line to the record.
    pub(super) fn add_statement(&mut self, action: Action, results: Vec<Entry>) {
        let group = self.groups.innermost();
        self.record.add_statement(Statement { action, results, group, span: self.span });
    }

    /// Remembers that these values are a composite that the user wrote.
    pub(super) fn add_pattern(&mut self, name: &'static str, operands: &[Object], outputs: &[Val]) {
        let inputs: IndexSet<Val> = operands
            .iter()
            .filter_map(Object::as_value)
            .flat_map(|value| self.real_vals(value.val))
            .collect();
        let outputs = outputs.iter().flat_map(|&val| self.real_vals(val)).collect();
        self.patterns.push((name, inputs.into_iter().collect(), outputs));
    }

    /// What a value is in the graph: of a complex number that an op made, the parts.
    fn real_vals(&self, val: Val) -> SmallVec<[Val; 2]> {
        match self.graph.op(val) {
            TensorOp::Map(ScalarOp::Complex) => SmallVec::from_slice(self.graph.operands(val)),
            _ => SmallVec::from_slice(&[val]),
        }
    }
}
