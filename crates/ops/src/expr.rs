//! Expressions over primitives: the definitions of composites, monoids and expansions.
//!
//! An expression is parsed once from text such as `x * reciprocal(1 + exp(-x))` ([`mod@super::expr_parser`]) and evaluated
//! over any [`Arith`]: numbers, dtypes, graph nodes, kernel values. It has no dtypes; evaluation does the typing.

use smallvec::SmallVec;

use super::ScalarOp;

/// The values that expressions are evaluated over: anything that primitives can be applied to.
pub trait Arith {
    /// A value.
    type V: Clone;

    /// `op` applied to `args`.
    fn apply(&mut self, op: ScalarOp, args: &[Self::V]) -> Self::V;

    /// A number written in the expression. It takes the dtype that the expression computes in; in an expression that
    /// applies to integers all numbers are whole.
    fn constant(&mut self, value: f64) -> Self::V;
}

/// A parsed expression: nodes with operands before users, equal nodes once, and the nodes that are results.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalarExpr {
    nodes: Vec<ExprNode>,
    results: Vec<usize>,
}

/// A node of an expression; operands are numbers of earlier nodes.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprNode {
    /// The parameter of this number.
    Param(usize),
    /// A number.
    Constant(f64),
    /// A primitive and its operands.
    Apply(ScalarOp, SmallVec<[usize; 3]>),
}

impl ExprNode {
    /// Equality with numbers by their bits: -0 is not 0.
    fn is_same(&self, other: &ExprNode) -> bool {
        match (self, other) {
            (ExprNode::Constant(a), ExprNode::Constant(b)) => a.to_bits() == b.to_bits(),
            _ => self == other,
        }
    }
}

impl ScalarExpr {
    pub(super) const fn new() -> ScalarExpr {
        ScalarExpr { nodes: Vec::new(), results: Vec::new() }
    }

    /// The number of a node equal to `node`, made if there is none.
    pub(super) fn intern(&mut self, node: ExprNode) -> usize {
        self.nodes.iter().position(|known| known.is_same(&node)).unwrap_or_else(|| {
            self.nodes.push(node);
            self.nodes.len() - 1
        })
    }

    pub(super) fn set_results(&mut self, results: Vec<usize>) {
        self.results = results;
    }

    /// The nodes, operands before users.
    pub fn nodes(&self) -> &[ExprNode] {
        &self.nodes
    }

    /// The nodes whose values are the results.
    pub fn results(&self) -> &[usize] {
        &self.results
    }

    /// The value of an expression with one result, for these values of its parameters.
    pub fn eval<A: Arith>(&self, arith: &mut A, params: &[A::V]) -> A::V {
        debug_assert_eq!(self.results.len(), 1, "an expression with several results");
        self.values(arith, params).swap_remove(self.results[0])
    }

    /// The values of all results, for these values of the parameters.
    pub fn eval_all<A: Arith>(&self, arith: &mut A, params: &[A::V]) -> Vec<A::V> {
        let values = self.values(arith, params);
        self.results.iter().map(|&node| values[node].clone()).collect()
    }

    fn values<A: Arith>(&self, arith: &mut A, params: &[A::V]) -> Vec<A::V> {
        let mut values: Vec<A::V> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let value = match node {
                ExprNode::Param(number) => params[*number].clone(),
                ExprNode::Constant(value) => arith.constant(*value),
                ExprNode::Apply(op, operands) => {
                    let args: SmallVec<[A::V; 3]> =
                        operands.iter().map(|&operand| values[operand].clone()).collect();
                    arith.apply(*op, &args)
                }
            };
            values.push(value);
        }
        values
    }
}

/// Building an expression is itself an evaluation, which is how calls of composites are resolved.
impl Arith for ScalarExpr {
    type V = usize;

    fn apply(&mut self, op: ScalarOp, args: &[usize]) -> usize {
        self.intern(ExprNode::Apply(op, SmallVec::from_slice(args)))
    }

    fn constant(&mut self, value: f64) -> usize {
        self.intern(ExprNode::Constant(value))
    }
}

/// Double precision numbers, with bools as 0 and 1: the meaning of an expression before any rounding to a dtype.
#[derive(Clone, Copy, Debug, Default)]
pub struct Real;

impl Arith for Real {
    type V = f64;

    fn apply(&mut self, op: ScalarOp, args: &[f64]) -> f64 {
        op.of_reals(args)
    }

    fn constant(&mut self, value: f64) -> f64 {
        value
    }
}
