//! Sizes that follow from scalars of a call, but not by the algebra of sizes: floats that come out whole, quotients, signs.
//!
//! Takes a scalar value of a graph, gives it as a function of scalar inputs and sizes, and the number that a call makes of
//! it. Looks at no tensor.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::{Form, Graph, Node, Val};
use crate::index::Expr;
use crate::ops::{Arith, Body, BodyArith, BodyStep, Prim};
use crate::{DType, Scalar};

/// A size as a function of what a call knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ComputedSize {
    /// Of one result.
    body: Body,
    params: Vec<Known>,
}

/// What a call knows before it computes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Known {
    /// The scalar input with this ordinal.
    Scalar(u32),
    /// A size.
    Size(Expr),
}

impl ComputedSize {
    /// A real scalar of a graph as such a function; `None` where it depends on the elements of tensors, or is made in halves.
    pub fn of(graph: &Graph, val: Val) -> Option<ComputedSize> {
        let dtype = graph.dtype(val);
        if !dtype.is_int() && !dtype.is_float() {
            return None;
        }
        let (leaves, inner): (Vec<Node>, Vec<Node>) =
            needed(graph, val).into_iter().partition(|&node| is_known(graph, node));
        let params: Option<Vec<Known>> = leaves.iter().map(|&leaf| known(graph, leaf)).collect();
        let dtypes: Vec<DType> = leaves.iter().map(|&leaf| graph.dtype(leaf.into())).collect();
        let mut numbers: FxHashMap<Val, usize> =
            leaves.iter().enumerate().map(|(number, &leaf)| (leaf.into(), number)).collect();
        let mut steps = Vec::new();
        for node in inner {
            let operands: Option<Vec<usize>> =
                graph.node(node).operands.iter().map(|operand| numbers.get(operand).copied()).collect();
            let step = match (graph.form(node.into()), &operands?[..]) {
                (Form::Constant(scalar), _) => BodyStep::Constant(*scalar),
                (Form::Cast(dtype), &[from]) => BodyStep::Cast(*dtype, from),
                (Form::Map(prim), operands) => BodyStep::Apply(*prim, operands.iter().copied().collect()),
                _ => return None,
            };
            numbers.insert(node.into(), leaves.len() + steps.len());
            steps.push(step);
        }
        let body = Body::new(&dtypes, steps, [numbers[&val]])?;
        Some(ComputedSize { body, params: params? })
    }

    /// The scalar inputs that it depends on.
    pub fn scalars(&self) -> impl Iterator<Item = u32> + '_ {
        self.params.iter().filter_map(|param| match param {
            Known::Scalar(ordinal) => Some(*ordinal),
            Known::Size(_) => None,
        })
    }

    /// What it comes to, where all that it depends on is known.
    pub fn value(&self, known: impl Fn(&Known) -> Option<Scalar>) -> Option<Scalar> {
        let cast = |(param, &dtype): (&Known, &DType)| Some(known(param)?.cast(dtype));
        let params: Vec<Option<Scalar>> = self.params.iter().zip(self.body.params()).map(cast).collect();
        self.body.eval(&mut Scalars, &params)[0]
    }

    /// The whole number that what it comes to is: of a float, but for what rounding may have made of it.
    pub fn whole(&self, number: Scalar) -> Option<i64> {
        let dtype = number.dtype();
        if dtype.is_int() {
            return Some(number.as_i64()).filter(|&whole| dtype.is_signed_int() || whole >= 0);
        }
        let is_single = self.body.dtypes().iter().any(|&dtype| dtype.is_float() && dtype != DType::F64);
        let rounding = if is_single { f64::from(f32::EPSILON) } else { f64::EPSILON };
        let number = number.as_f64();
        let is_near = (number - number.round()).abs() <= 4.0 * rounding * number.abs();
        // Beyond 2^53 floats say nothing of the last digits.
        (is_near && number.abs() <= (1_u64 << 53) as f64).then_some(number.round() as i64)
    }
}

/// The nodes that a value depends on, ascending, down to what a call knows.
fn needed(graph: &Graph, val: Val) -> BTreeSet<Node> {
    let mut nodes = BTreeSet::new();
    let mut stack = vec![val.node];
    while let Some(node) = stack.pop() {
        if nodes.insert(node) && !is_known(graph, node) {
            stack.extend(graph.node(node).operands.iter().map(|operand| operand.node));
        }
    }
    nodes
}

fn is_known(graph: &Graph, node: Node) -> bool {
    match graph.form(node.into()) {
        Form::Constant(_) => false,
        Form::Input { .. } => true,
        _ => graph.as_size(node.into()).is_some(),
    }
}

fn known(graph: &Graph, leaf: Node) -> Option<Known> {
    match graph.form(leaf.into()) {
        Form::Input { ordinal, ty, .. } => ty.shape.is_empty().then_some(Known::Scalar(*ordinal)),
        _ => graph.as_size(leaf.into()).map(Known::Size),
    }
}

/// Scalars, `None` where one is not known or an op has no meaning.
struct Scalars;

impl Arith for Scalars {
    type V = Option<Scalar>;

    fn apply(&mut self, prim: Prim, args: &[Self::V]) -> Self::V {
        let args: Option<Vec<Scalar>> = args.iter().copied().collect();
        prim.of_scalars(&args?)
    }

    fn constant(&mut self, value: f64) -> Self::V {
        Some(Scalar::from_f64(DType::F64, value))
    }
}

impl BodyArith for Scalars {
    fn scalar(&mut self, constant: Scalar) -> Self::V {
        Some(constant)
    }

    fn cast(&mut self, value: &Self::V, _: DType, to: DType) -> Self::V {
        value.map(|value| value.cast(to))
    }
}
