//! Cheaper forms of ops whose results are rounded to a half type: exp, reciprocals, quotients, 1 + tanh, products whose
//! factors of two cancel, and sums of products. And of exp in sums that are larger than the error.
//!
//! The choice is made here, on the nodes, before anything is cut into segments, so a recomputed copy has the same bits.
//! Tolerances (`tolerance.rs`) are chosen so that stored values stay within one unit in the last place of the half type; the
//! rows of the cheaper ops tell the evaluator how far it may be. The pass runs first, so that the evaluator can be asked
//! about the very view that is compiled.

mod fused;
mod lower_bounds;
mod tolerance;

use ir::graph::{Fusion, Graph, Node, TensorOp, Val, ValMap, rewrite};
use ops::{ExpRange, Scalar, ScalarOp};

use super::PassContext;
use super::node_builder::NodeBuilder;

/// A cheaper way to compute a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cheaper {
    /// exp as this power of 2. The factor of its operand and log2(e) become one factor.
    Power(ScalarOp),
    /// exp as this op for a range of operands or results.
    InRange(ScalarOp),
    /// The same operand under this cheaper op.
    Reciprocal(ScalarOp),
    /// exp of at most 0, for sums that have exp(0) as a term.
    Term,
    /// `a / b` as `a` times one over `b`.
    Product,
    /// `1 + tanh(u)` as `2 / (1 + exp(-2 u))`, where nothing cancels; tanh is this operand.
    Logistic {
        /// Which operand the tanh is.
        tanh: usize,
        /// The power of 2 that exp becomes.
        power: ScalarOp,
    },
    /// `a * b + c`, `a * b - c` or `c - a * b` in one, which rounds once.
    Fused {
        /// Which operand the product is.
        product: usize,
    },
    /// `(a / 2) * (2 b)` as `a * b`, which is the same short of the ends of f32.
    Unscaled,
}

/// The pass. Products that are kept in memory are not fused into a sum; its bounds hold for both.
pub fn approximate(graph: &mut Graph, context: &PassContext<'_>) -> (Fusion, ValMap) {
    let PassContext { fusion, kept, .. } = *context;
    let mut chosen = tolerance::choose(graph, fusion);
    for (node, cheaper) in fused::fused(graph, fusion, kept) {
        chosen.entry(node).or_insert(cheaper);
    }
    rewrite(graph, fusion, |graph, facts, node, operands| {
        let cheaper = *chosen.get(&node)?;
        let mut nodes = NodeBuilder { graph, facts };
        let result = match cheaper {
            Cheaper::Fused { product } => nodes.fused(node, operands, product)?,
            Cheaper::Unscaled => nodes.unscaled(operands)?,
            Cheaper::Power(power) => nodes.power(power, operands[0], 1.0),
            Cheaper::Term => nodes.map(ScalarOp::ExpTerm, operands),
            Cheaper::InRange(op) | Cheaper::Reciprocal(op) => nodes.map(op, operands),
            Cheaper::Product => {
                let inverse = nodes.map(ScalarOp::ReciprocalHalf, &operands[1..]);
                nodes.map(ScalarOp::Mul, &[operands[0], inverse])
            }
            Cheaper::Logistic { tanh, power } => nodes.logistic(operands[tanh], power),
        };
        Some(vec![result])
    })
}

/// The number that all elements of a value equal.
pub(super) fn constant(graph: &Graph, val: Val) -> Option<Scalar> {
    let operand = || constant(graph, graph.operands(val)[0]);
    match *graph.op(val) {
        TensorOp::Constant(scalar) => Some(scalar),
        TensorOp::Cast(dtype) => Some(operand()?.cast(dtype)),
        TensorOp::Broadcast(_) | TensorOp::Expand(_) => operand(),
        _ => None,
    }
}

/// Nodes of f32.
impl NodeBuilder<'_> {
    fn number(&mut self, value: f32) -> Val {
        let number = Scalar::from_f64(ops::DType::F32, value.into());
        self.constant(number)
    }

    /// A product as a value multiplied by a number, and that number.
    fn scaled(&self, val: Val) -> Option<(Val, f32)> {
        let TensorOp::Map(ScalarOp::Mul) = self.graph.op(val) else { return None };
        let &[a, b] = self.graph.operands(val) else { return None };
        let number = |val| constant(self.graph, val).map(|number| number.as_f64() as f32);
        number(b).map(|factor| (a, factor)).or_else(|| Some((b, number(a)?)))
    }

    /// The product of the values that these are multiples of, if one factor is 1/2 and the other 2. Factors farther from 1
    /// could take a product out of the range of f32.
    fn unscaled(&mut self, operands: &[Val]) -> Option<Val> {
        let ((a, left), (b, right)) = (self.scaled(operands[0])?, self.scaled(operands[1])?);
        let cancel = matches!((left, right), (0.5, 2.0) | (2.0, 0.5));
        cancel.then(|| self.map(ScalarOp::Mul, &[a, b]))
    }

    /// `exp(factor * x)` as a power of 2. A factor of x itself joins `factor`, if the result stays a normal number.
    fn power(&mut self, power: ScalarOp, x: Val, factor: f32) -> Val {
        let factor = f64::from(factor) * std::f64::consts::LOG2_E;
        let (inner, own) = match self.graph.op(x) {
            TensorOp::Map(ScalarOp::Neg) => (self.graph.operands(x)[0], -1.0),
            _ => self.scaled(x).unwrap_or((x, 1.0)),
        };
        let joined = (factor * f64::from(own)) as f32;
        let (x, factor) = if joined.is_normal() { (inner, joined) } else { (x, factor as f32) };
        let exponent = self.scaled_cubic(x, factor).unwrap_or_else(|| {
            let factor = self.number(factor);
            self.map(ScalarOp::Mul, &[x, factor])
        });
        self.map(power, &[exponent])
    }

    /// `factor * (x + k x^3)`, as in gelu, as `x * (factor + factor k x^2)`: three operations for four.
    fn scaled_cubic(&mut self, sum: Val, factor: f32) -> Option<Val> {
        let TensorOp::Map(ScalarOp::MulAdd) = self.graph.op(sum) else { return None };
        let &[a, b, x] = self.graph.operands(sum) else { return None };
        let (number, others) = self.factors([a, b])?;
        let number = (f64::from(factor) * number) as f32;
        if others != [x; 3] || !number.is_normal() {
            return None;
        }
        let (number, factor) = (self.number(number), self.number(factor));
        let square = self.map(ScalarOp::Mul, &[x, x]);
        let slope = self.map(ScalarOp::MulAdd, &[square, number, factor]);
        Some(self.map(ScalarOp::Mul, &[x, slope]))
    }

    /// A product of at most three values, and a number.
    fn factors(&self, product: [Val; 2]) -> Option<(f64, Vec<Val>)> {
        let (mut number, mut others, mut left) = (1.0, Vec::new(), product.to_vec());
        while let Some(val) = left.pop() {
            if let Some(constant) = constant(self.graph, val) {
                number *= constant.as_f64();
            } else if let TensorOp::Map(ScalarOp::Mul) = self.graph.op(val) {
                left.extend(self.graph.operands(val));
            } else {
                others.push(val);
            }
            if others.len() + left.len() > 4 {
                return None;
            }
        }
        Some((number, others))
    }

    /// A sum or difference whose operand of this number is a product, unless that became something cheaper.
    fn fused(&mut self, node: Node, operands: &[Val], product: usize) -> Option<Val> {
        let TensorOp::Map(ScalarOp::Mul) = self.graph.op(operands[product]) else { return None };
        let [mut a, b] = *self.graph.operands(operands[product]) else { return None };
        let mut c = operands[1 - product];
        if let TensorOp::Map(ScalarOp::Sub) = self.graph.node(node).op {
            let negated = if product == 0 { &mut c } else { &mut a };
            *negated = self.map(ScalarOp::Neg, &[*negated]);
        }
        Some(self.map(ScalarOp::MulAdd, &[a, b, c]))
    }

    /// `2 / (1 + exp(-2 u))` for the operand u of a tanh.
    fn logistic(&mut self, tanh: Val, power: ScalarOp) -> Val {
        let u = self.graph.operands(tanh)[0];
        let (one, two) = (self.number(1.0), self.number(2.0));
        let power = self.power(power.in_range(ExpRange::Addend), u, -2.0);
        let sum = self.map(ScalarOp::Add, &[power, one]);
        let inverse = self.map(ScalarOp::ReciprocalHalf, &[sum]);
        self.map(ScalarOp::Mul, &[inverse, two])
    }
}
