//! Sizes that follow from scalars of a call, but not by the algebra of sizes: floats with integer values, quotients, signs.
//!
//! Takes a scalar value of a graph, returns it as a function of scalar inputs and sizes, and its value in a call. Reads no
//! tensor.

use std::collections::BTreeSet;

use index::Expr;
use ops::{Arith, Body, BodyArith, BodyStep, DType, Scalar, ScalarOp};
use rustc_hash::FxHashMap;
use thiserror::Error;

use super::{Graph, Node, TensorOp, Val};

/// A size as a function of the values that a call knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ComputedSize {
    /// Of one result.
    body: Body,
    params: Vec<Known>,
}

/// A value that a call knows before it computes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Known {
    /// The scalar input with this ordinal.
    Scalar(u32),
    /// A size.
    Size(Expr),
}

/// Why a number is no size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NoSize {
    /// It has a fraction, or is NaN.
    #[error("no whole number")]
    Fraction,
    /// It is too large, for any size or for one that is computed in this dtype.
    #[error("beyond the sizes that are computed in {0}")]
    Beyond(DType),
}

impl ComputedSize {
    /// A real scalar of a graph as such a function; `None` if it depends on elements of tensors, or is computed in a half
    /// type.
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
            let step = match (graph.op(node.into()), &operands?[..]) {
                (TensorOp::Constant(scalar), _) => BodyStep::Constant(*scalar),
                (TensorOp::Cast(dtype), &[from]) => BodyStep::Cast(*dtype, from),
                (TensorOp::Map(op), operands) => BodyStep::Apply(*op, operands.iter().copied().collect()),
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

    /// The sizes that it depends on.
    pub fn sizes(&self) -> impl Iterator<Item = &Expr> + '_ {
        self.params.iter().filter_map(|param| match param {
            Known::Size(size) => Some(size),
            Known::Scalar(_) => None,
        })
    }

    /// Its value, if everything that it depends on is known.
    pub fn value(&self, known: impl Fn(&Known) -> Option<Scalar>) -> Option<Scalar> {
        let cast = |(param, &dtype): (&Known, &DType)| Some(known(param)?.cast(dtype));
        let params: Vec<Option<Scalar>> = self.params.iter().zip(self.body.params()).map(cast).collect();
        self.body.eval(&mut Scalars, &params)[0]
    }

    /// Its value as an integer; a float may be off by rounding errors.
    ///
    /// # Errors
    /// If it is no integer, or so large that its dtype has no fractions there to tell.
    pub fn whole(&self, number: Scalar) -> Result<i64, NoSize> {
        let dtype = number.dtype();
        if dtype.is_int() {
            let whole = Some(number.as_i64()).filter(|&whole| dtype.is_signed_int() || whole >= 0);
            return whole.ok_or(NoSize::Beyond(dtype));
        }
        let is_single = self.body.dtypes().iter().any(|&dtype| dtype.is_float() && dtype != DType::F64);
        let (dtype, rounding) = match is_single {
            true => (DType::F32, f64::from(f32::EPSILON)),
            false => (DType::F64, f64::EPSILON),
        };
        let number = number.as_f64();
        if number.abs() >= 1.0 / rounding {
            return Err(NoSize::Beyond(dtype));
        }
        // The possible rounding error grows with the number, up to an eighth: a third is no rounding error.
        let is_near = (number - number.round()).abs() <= (4.0 * rounding * number.abs()).min(0.125);
        is_near.then_some(number.round() as i64).ok_or(NoSize::Fraction)
    }
}

/// The nodes that a value depends on, ascending, down to values that a call knows.
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
    match graph.op(node.into()) {
        TensorOp::Constant(_) => false,
        TensorOp::Input { .. } => true,
        _ => graph.as_size(node.into()).is_some(),
    }
}

fn known(graph: &Graph, leaf: Node) -> Option<Known> {
    match graph.op(leaf.into()) {
        TensorOp::Input { ordinal, ty, .. } => ty.shape.is_empty().then_some(Known::Scalar(*ordinal)),
        _ => graph.as_size(leaf.into()).map(Known::Size),
    }
}

/// Scalars, `None` if one is unknown or an op is undefined.
struct Scalars;

impl Arith for Scalars {
    type V = Option<Scalar>;

    fn apply(&mut self, op: ScalarOp, args: &[Self::V]) -> Self::V {
        let args: Option<Vec<Scalar>> = args.iter().copied().collect();
        op.of_scalars(&args?)
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
