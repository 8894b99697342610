//! The state that ops are built with: the graph, the facts about sizes and the record of a definition, and the place in the
//! source of the op being applied.
//!
//! Families of ops are functions over the builder, which adds nodes, values and lines; `values` has constants and
//! conversions, `elementwise` scalar ops on tensors, `shapes` small changes of shape, `parts` complex numbers, `read` the
//! arguments that are values of the graph, `draws` random sequences, `checkpoint` the undoing of a rejected op.

mod checkpoint;
mod draws;
mod elementwise;
mod parts;
mod read;
mod shapes;
mod values;

use index::{Expr, Facts};
use indexmap::IndexSet;
use ir::Span;
use ir::definition::{Action, CallArgument, Entry, NamedValue, Object, Record, Statement};
use ir::graph::{Axes, Graph, Node, TensorOp, Val};
use ops::ScalarOp;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::error::DefineError;

pub(super) use draws::Draws;
pub(super) use elementwise::{Nodes, Term};
pub(super) use parts::Parts;

/// Applies an op by its name.
pub(in crate::define) type Call = fn(&mut OpBuilder, &str, Vec<CallArgument>) -> Result<Object, DefineError>;

/// An op that the user wrote and that consists of other ops: its name, operands and results.
#[derive(Clone, Debug)]
pub(in crate::define) struct Pattern {
    /// The name of the op.
    pub name: &'static str,
    /// Its operands.
    pub inputs: Vec<Val>,
    /// Its results.
    pub outputs: Vec<Val>,
}

/// Adds the nodes of ops.
#[derive(Clone, Debug)]
pub(in crate::define) struct OpBuilder {
    /// The nodes made so far.
    pub graph: Graph,
    /// The assumptions about sizes.
    pub facts: Facts,
    /// The definition record so far.
    pub record: Record,
    /// The composites made so far.
    pub patterns: Vec<Pattern>,
    /// The draws of random numbers that the call seeds.
    pub draws: Draws,
    /// The axes in memory, outermost first, of results whose order the definition requests.
    pub orders: FxHashMap<Entry, Axes>,
    /// The op being applied, for diagnostics.
    pub op: &'static str,
    /// Its place in the source text.
    pub span: Option<Span>,
    /// The innermost group that is open.
    pub group: Option<usize>,
    /// How lambdas apply ops: some ops take lambdas, so the function that calls any op is passed in.
    pub call: Call,
}

impl OpBuilder {
    /// A builder of an empty graph.
    pub fn new(call: Call) -> OpBuilder {
        OpBuilder {
            graph: Graph::default(),
            facts: Facts::default(),
            record: Record::default(),
            patterns: Vec::new(),
            draws: Draws::default(),
            orders: FxHashMap::default(),
            op: "",
            span: None,
            group: None,
            call,
        }
    }

    /// A diagnostic about the op being applied.
    pub fn reject(&self, expected: impl Into<String>, given: impl Into<String>) -> DefineError {
        DefineError::new(self.op, expected, given)
    }

    /// Adds a node of one result.
    pub fn add(&mut self, tensor_op: TensorOp, operands: &[Val]) -> Result<Val, DefineError> {
        Ok(self.add_node(tensor_op, operands)?.into())
    }

    /// Adds a node.
    pub fn add_node(&mut self, tensor_op: TensorOp, operands: &[Val]) -> Result<Node, DefineError> {
        let node = self.graph.add(tensor_op, operands, &mut self.facts);
        let node = node.map_err(|error| DefineError::from_shape(self.op, error))?;
        let sizes = || self.graph.node(node).results.iter().flat_map(|ty| &ty.shape);
        if sizes().any(Expr::is_overflow) {
            return Err(self.reject("sizes of at most 63 bits", "a size beyond, or one of too many parts"));
        }
        // No size is below zero.
        for size in sizes().filter(|size| size.as_sym().is_none() && size.as_const().is_none()) {
            self.record.add_constraint(size.clone(), self.op, self.span);
        }
        Ok(node)
    }

    /// Whether a value is a scalar of the language rather than a tensor.
    pub fn is_scalar(&self, value: NamedValue) -> bool {
        self.record.entry(value.entry).is_scalar
    }

    /// The value of a new result, with its line in the record.
    pub fn value(&mut self, val: Val, is_scalar: bool) -> NamedValue {
        NamedValue { val, entry: self.record.add_entry(val, is_scalar) }
    }

    /// Records a call and returns its results.
    pub fn record_call(
        &mut self,
        op: &'static str,
        arguments: Vec<(&'static str, Object)>,
        results: &[NamedValue],
    ) {
        let results = results.iter().map(|value| value.entry).collect();
        self.add_statement(Action::Call { op, arguments }, results);
    }

    /// Adds a line to the record.
    pub fn add_statement(&mut self, action: Action, results: Vec<Entry>) {
        self.record.add_statement(Statement { action, results, group: self.group, span: self.span });
    }

    /// Notes that these values are a composite that the user wrote.
    pub fn add_pattern(&mut self, name: &'static str, operands: &[Object], outputs: &[Val]) {
        let inputs: IndexSet<Val> = operands
            .iter()
            .filter_map(Object::as_value)
            .flat_map(|value| self.real_vals(value.val))
            .collect();
        let outputs = outputs.iter().flat_map(|&val| self.real_vals(val)).collect();
        self.patterns.push(Pattern { name, inputs: inputs.into_iter().collect(), outputs });
    }

    /// The values of the graph for a value: the parts of a complex number that an op made.
    fn real_vals(&self, val: Val) -> SmallVec<[Val; 2]> {
        match self.graph.op(val) {
            TensorOp::Map(ScalarOp::Complex) => SmallVec::from_slice(self.graph.operands(val)),
            _ => SmallVec::from_slice(&[val]),
        }
    }
}
