//! Lambdas: functions of a few scalars as written, and the bodies that they become once dtypes are known. Bodies are of real
//! numbers: a complex parameter or result is two of them, its parts.
//!
//! A function contains only calls of ops on its parameters and on numbers: it has no access to values of the definition. Its
//! use determines its dtypes, so one function may become several bodies.

use ir::definition::{CallArgument, Function, NamedValue, Object, Term};
use ir::graph::{Graph, InputLayout, Node, TensorOp, Type, Val};
use ops::{Body, BodyStep, DType};
use rustc_hash::FxHashMap;

use crate::define::arguments::describe;
use crate::define::builder::OpBuilder;
use crate::define::error::DefineError;

/// The limit on the steps of a body.
const MAX_STEPS: usize = 256;

/// An expression of a function, applied to these parameters.
fn applied(ops: &mut OpBuilder, term: &Term, params: &[NamedValue]) -> Result<Object, DefineError> {
    match term {
        Term::Param(number) => match params.get(*number) {
            Some(&value) => Ok(Object::Value(value)),
            None => Err(DefineError::new("lambda", "its own parameters", format!("parameter {number}"))),
        },
        Term::Object(Object::Value(_)) => {
            Err(DefineError::new("lambda", "parameters and numbers", "a value of the definition"))
        }
        Term::Object(object) => Ok(object.clone()),
        Term::Call { op, arguments, span } => {
            let mut given = Vec::with_capacity(arguments.len());
            for (keyword, term) in arguments {
                let object = applied(ops, term, params)?;
                given.push(CallArgument { keyword: keyword.clone(), object, span: *span });
            }
            (ops.call)(ops, op, given).map_err(|error| error.at(*span))
        }
    }
}

/// The results of a function applied to the states of a fold, element by element. Its calls are no lines of the definition.
pub(super) fn finalized(
    ops: &mut OpBuilder,
    function: &Function,
    states: Vec<Val>,
) -> Result<Vec<Val>, DefineError> {
    let (op, count) = (ops.op, states.len());
    if function.params.len() != count {
        let given = format!("one of {}", function.params.len());
        return Err(ops.reject(format!("a lambda of {count} parameters"), given).argument("finalize"));
    }
    let mark = ops.record.mark();
    let params: Vec<NamedValue> = states.iter().map(|&state| ops.value(state, false)).collect();
    let shape = ops.shape(states[0]);
    let mut results = Vec::with_capacity(function.results.len());
    for term in &function.results {
        let made = applied(ops, term, &params)?;
        ops.op = op;
        match made.as_value().filter(|value| *ops.graph.shape(value.val) == shape) {
            Some(value) => results.push(value.val),
            None => {
                let given = describe(&made);
                let expected = "a lambda that computes element by element from its parameters";
                return Err(ops.reject(expected, given).argument("finalize"));
            }
        }
    }
    ops.record.truncate(mark);
    Ok(results)
}

/// The body of a function for parameters and results of these dtypes.
pub(super) fn body(
    ops: &OpBuilder,
    function: &Function,
    params: &[DType],
    results: &[DType],
) -> Result<Body, DefineError> {
    let reject = |expected: String, given: String| Err(ops.reject(expected, given).argument("combine"));
    if function.params.len() != params.len() {
        return reject(
            format!("a lambda of {} parameters", params.len()),
            format!("one of {}", function.params.len()),
        );
    }
    if function.results.len() != results.len() {
        return reject(
            format!("a lambda that gives {} results", results.len()),
            format!("one that gives {}", function.results.len()),
        );
    }
    let mut tracer = Tracer { ops: OpBuilder::new(ops.call), inputs: 0, params: Vec::new() };
    for &dtype in params {
        tracer.declare(dtype)?;
    }
    let mut vals = Vec::new();
    for (term, &dtype) in function.results.iter().zip(results) {
        let val = tracer.result(term, dtype)?;
        let given = tracer.ops.graph.dtype(val);
        if given != dtype {
            return reject(format!("a lambda that gives {dtype}"), format!("one that gives {given}"));
        }
        match dtype.is_complex() {
            true => vals.extend(tracer.ops.parts(val)?),
            false => vals.push(val),
        }
    }
    let params: Vec<DType> = params.iter().flat_map(|dtype| real_dtypes(*dtype)).collect();
    extract(&tracer.ops.graph, &params, &vals)
        .or_else(|reason| reject("a lambda that applies ops to scalars".to_owned(), reason.to_owned()))
}

/// Applies a function to scalars in a separate graph.
struct Tracer {
    ops: OpBuilder,
    inputs: u32,
    params: Vec<NamedValue>,
}

impl Tracer {
    /// Parameters are tensors of rank 0, so that numbers in expressions with them take their dtype.
    fn declare(&mut self, dtype: DType) -> Result<(), DefineError> {
        let val = match dtype.is_complex() {
            true => {
                let parts = [self.input(dtype.real())?, self.input(dtype.real())?];
                self.ops.pair(parts)?
            }
            false => self.input(dtype)?,
        };
        self.params.push(self.ops.value(val, false));
        Ok(())
    }

    fn input(&mut self, dtype: DType) -> Result<Val, DefineError> {
        let (ordinal, ty) = (self.inputs, Type::scalar(dtype));
        self.inputs += 1;
        self.ops.add(TensorOp::Input { ordinal, ty, layout: InputLayout::default() }, &[])
    }

    fn result(&mut self, term: &Term, dtype: DType) -> Result<Val, DefineError> {
        match self.object(term)? {
            Object::Value(value) => Ok(value.val),
            Object::Number(scalar) if dtype.is_complex() => self.ops.complex_constant(scalar.cast(dtype)),
            Object::Number(scalar) if !scalar.dtype().is_complex() => self.ops.constant(scalar.cast(dtype)),
            other => {
                let given = describe(&other);
                Err(DefineError::new("lambda", "scalars as results", given))
            }
        }
    }

    fn object(&mut self, term: &Term) -> Result<Object, DefineError> {
        applied(&mut self.ops, term, &self.params)
    }
}

/// The dtypes of the real numbers that a number consists of.
fn real_dtypes(dtype: DType) -> Vec<DType> {
    vec![dtype.real(); if dtype.is_complex() { 2 } else { 1 }]
}

/// The steps that results need, operands before users. All nodes of the graph have rank 0.
fn extract(graph: &Graph, params: &[DType], results: &[Val]) -> Result<Body, &'static str> {
    let mut numbers: FxHashMap<Val, usize> = FxHashMap::default();
    let mut steps: Vec<BodyStep> = Vec::new();
    for node in needed(graph, results) {
        let data = graph.node(node);
        let operand = |place: usize| numbers[&data.operands[place]];
        let step = match &data.op {
            TensorOp::Input { ordinal, .. } => {
                numbers.insert(node.into(), *ordinal as usize);
                continue;
            }
            TensorOp::Map(scalar_op) if scalar_op.moves_bits() => {
                numbers.insert(node.into(), operand(0));
                continue;
            }
            TensorOp::Constant(scalar) => BodyStep::Constant(*scalar),
            TensorOp::Cast(dtype) => BodyStep::Cast(*dtype, operand(0)),
            TensorOp::Map(scalar_op) => {
                BodyStep::Apply(*scalar_op, (0..data.operands.len()).map(operand).collect())
            }
            _ => return Err("one that moves or reduces tensors"),
        };
        numbers.insert(node.into(), params.len() + steps.len());
        steps.push(step);
    }
    if steps.len() > MAX_STEPS {
        return Err("one of more than 256 steps");
    }
    let results = results.iter().map(|val| numbers[val]);
    Body::new(params, steps, results).ok_or("one that computes in a half type: cast to f32 first")
}

/// The nodes that values depend on, ascending.
fn needed(graph: &Graph, results: &[Val]) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut stack: Vec<Node> = results.iter().map(|val| val.node).collect();
    while let Some(node) = stack.pop() {
        if !nodes.contains(&node) {
            nodes.push(node);
            stack.extend(graph.node(node).operands.iter().map(|val| val.node));
        }
    }
    nodes.sort_unstable();
    nodes
}
