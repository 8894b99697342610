//! Cheaper forms of ops whose results are rounded to a half type: exp, reciprocals, quotients, 1 + tanh, and products whose
//! factors of two cancel.
//!
//! The choice is made here, on the nodes, before anything is cut into segments, so a copy that is computed again has the same
//! bits. Tolerances (`tolerance.rs`) are chosen so that what is stored stays within one unit in the last place of the half
//! type; the rows of the cheaper ops tell the evaluator how far it may be. The pass runs first, so that the evaluator can be
//! asked about the very view that is compiled.

mod least;
#[cfg(test)]
mod tests;
mod tolerance;

use ir::Scalar;
use ir::graph::{Form, Fusion, Graph, Val, ValMap, rewrite};
use ir::index::Facts;
use ir::ops::Prim;

/// A cheaper way to compute a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cheaper {
    /// The same operands under another op.
    Op(Prim),
    /// `a / b` as `a` times one over `b`.
    Product,
    /// `1 + tanh(u)` as `2 / (1 + exp(-2 u))`, where nothing cancels; tanh is this operand.
    Logistic {
        /// Which operand the tanh is.
        tanh: usize,
    },
    /// `(a / 2) * (2 b)` as `a * b`, which is the same short of the ends of f32.
    Unscaled,
}

/// The pass.
pub fn approximate(graph: &mut Graph, fusion: &Fusion) -> (Fusion, ValMap) {
    let chosen = tolerance::choose(graph, fusion);
    rewrite(graph, fusion, |graph, facts, node, operands| {
        let cheaper = *chosen.get(&node)?;
        let mut nodes = Nodes { graph, facts };
        let result = match cheaper {
            Cheaper::Unscaled => nodes.unscaled(operands)?,
            Cheaper::Op(prim) => nodes.map(prim, operands),
            Cheaper::Product => {
                let inverse = nodes.map(Prim::ReciprocalHalf, &operands[1..]);
                nodes.map(Prim::Mul, &[operands[0], inverse])
            }
            Cheaper::Logistic { tanh } => nodes.logistic(operands[tanh]),
        };
        Some(vec![result])
    })
}

/// The number that a value is everywhere.
fn constant(graph: &Graph, val: Val) -> Option<Scalar> {
    let operand = || constant(graph, graph.operands(val)[0]);
    match *graph.form(val) {
        Form::Constant(scalar) => Some(scalar),
        Form::Cast(dtype) => Some(operand()?.cast(dtype)),
        Form::Broadcast(_) | Form::Expand(_) => operand(),
        _ => None,
    }
}

/// Appends nodes of f32.
struct Nodes<'g> {
    graph: &'g mut Graph,
    facts: &'g mut Facts,
}

impl Nodes<'_> {
    fn map(&mut self, prim: Prim, operands: &[Val]) -> Val {
        let node = self.graph.add(Form::Map(prim), operands, self.facts);
        node.expect("operands of one f32 type, or scalars, are accepted").into()
    }

    fn number(&mut self, value: f32) -> Val {
        let form = Form::Constant(Scalar::from_f64(ir::DType::F32, value.into()));
        self.graph.add(form, &[], self.facts).expect("constants are accepted").into()
    }

    /// A product as what is multiplied by a number, and that number.
    fn scaled(&self, val: Val) -> Option<(Val, f32)> {
        let Form::Map(Prim::Mul) = self.graph.form(val) else { return None };
        let &[a, b] = self.graph.operands(val) else { return None };
        let number = |val| constant(self.graph, val).map(|number| number.as_f64() as f32);
        number(b).map(|factor| (a, factor)).or_else(|| Some((b, number(a)?)))
    }

    /// The product of what these are multiples of, where one's factor is 1/2 and the other's 2. Of factors
    /// farther from 1 one could take its product past the ends of f32.
    fn unscaled(&mut self, operands: &[Val]) -> Option<Val> {
        let ((a, left), (b, right)) = (self.scaled(operands[0])?, self.scaled(operands[1])?);
        let cancel = matches!((left, right), (0.5, 2.0) | (2.0, 0.5));
        cancel.then(|| self.map(Prim::Mul, &[a, b]))
    }

    /// `2 / (1 + exp(-2 u))` for the operand u of a tanh. What u is multiplied by and the -2 are one factor,
    /// if that is finite.
    fn logistic(&mut self, tanh: Val) -> Val {
        let u = self.graph.operands(tanh)[0];
        let scaled = self.scaled(u).map(|(u, factor)| (u, -2.0 * factor));
        let (u, factor) = scaled.filter(|(_, factor)| factor.is_finite()).unwrap_or((u, -2.0));
        let (one, two, factor) = (self.number(1.0), self.number(2.0), self.number(factor));
        let exponent = self.map(Prim::Mul, &[u, factor]);
        let power = self.map(Prim::ExpHalf, &[exponent]);
        let sum = self.map(Prim::Add, &[power, one]);
        let inverse = self.map(Prim::ReciprocalHalf, &[sum]);
        self.map(Prim::Mul, &[inverse, two])
    }
}
