//! Folds the maximum of a softmax and the sum of its exponentials at once, so that elements are read once for both (Milakov
//! and Gimelshein 2018, Online normalizer calculation for softmax).
//!
//! `m = max(x)` and `sum(exp(x - m))` become a fold of x and 1 by a lambda: of two runs, the sums are rescaled to the larger
//! maximum. The sum is of f64, as rescaling rounds it; the exponential of single elements is as precise as it was. Runs
//! begin with the smallest finite maximum, so that elements of -inf count for nothing; the sum is zero if there are no
//! others. `distribute` is the reverse. The pipeline decides which pairs it pays for.

use index::Expr;
use ir::graph::{Axes, Fusion, Graph, Node, TensorOp, Val, ValMap, rewrite};
use ops::{Body, BodyStep, DType, Lambda, Monoid, Scalar, ScalarOp};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::approximate::constant;
use super::node_builder::NodeBuilder;

/// The two folds of a softmax.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftmaxFolds {
    /// The maximum of the elements.
    pub maximum: Node,
    /// The sum of exp of each element less the maximum.
    pub sum: Node,
    /// The exponential: exp, or a cheaper one.
    exponential: ScalarOp,
    /// The reciprocal that elements are multiplied by, if nothing else uses the sum.
    reciprocal: Option<ScalarOp>,
}

impl SoftmaxFolds {
    /// Whether the exponential takes so little time that memory decides.
    pub fn is_cheap(&self) -> bool {
        self.exponential.is_short_exp2()
    }
}

/// The folds of softmaxes of f32, in the order of their sums. Values that are `kept` in memory stay.
pub fn softmax_folds(graph: &Graph, fusion: &Fusion, kept: &FxHashSet<Val>) -> Vec<SoftmaxFolds> {
    let all = fusion.order().iter().filter_map(|&sum| folds_of(graph, sum));
    let reciprocal = |sum: Node| reciprocal_of(graph, fusion, sum).filter(|_| !kept.contains(&sum.into()));
    all.map(|folds| SoftmaxFolds { reciprocal: reciprocal(folds.sum), ..folds }).collect()
}

/// The op of the reciprocal of a sum, if that is all that the sum is used for, broadcast.
fn reciprocal_of(graph: &Graph, fusion: &Fusion, sum: Node) -> Option<ScalarOp> {
    let only_user = |node: Node| match fusion.uses(node.into()) {
        &[user] if !fusion.is_output(node.into()) => Some(user),
        _ => None,
    };
    let broadcast = only_user(sum)?;
    let reciprocal = only_user(broadcast)?;
    match (&graph.node(broadcast).op, &graph.node(reciprocal).op) {
        (TensorOp::Broadcast(_), TensorOp::Map(op)) if op.in_language() == [ScalarOp::Reciprocal] => {
            Some(*op)
        }
        _ => None,
    }
}

/// The folds of a softmax of this sum, if it is that of one.
fn folds_of(graph: &Graph, sum: Node) -> Option<SoftmaxFolds> {
    let operand = |val: Val, place: usize| graph.operands(val).get(place).copied();
    let TensorOp::Fold { monoid: Monoid::Sum, axes } = &graph.node(sum).op else { return None };
    let power = operand(sum.into(), 0)?;
    let TensorOp::Map(exponential) = *graph.op(power) else { return None };
    let exponent = operand(power, 0)?;
    let difference = match (exponential, graph.op(exponent)) {
        (exp, _) if exp.is_exp() => exponent,
        (exp2, TensorOp::Map(ScalarOp::Mul)) if exp2.is_short_exp2() => {
            let factor = constant(graph, operand(exponent, 1)?)?;
            operand(exponent, 0).filter(|_| factor == log2_e())?
        }
        _ => return None,
    };
    let TensorOp::Map(ScalarOp::Sub) = graph.op(difference) else { return None };
    let (x, subtrahend) = (operand(difference, 0)?, operand(difference, 1)?);
    let TensorOp::Broadcast(is_new) = graph.op(subtrahend) else { return None };
    let largest = operand(subtrahend, 0)?;
    let keeps = is_new.iter().enumerate().all(|(axis, &is_new)| is_new == axes.contains(&(axis as u8)));
    let is_maximum = match graph.op(largest) {
        TensorOp::Fold { monoid: Monoid::Max, axes: of } => of == axes && operand(largest, 0) == Some(x),
        _ => false,
    };
    let fits = keeps && is_maximum && graph.dtype(x) == DType::F32;
    fits.then_some(SoftmaxFolds { maximum: largest.node, sum, exponential, reciprocal: None })
}

fn log2_e() -> Scalar {
    Scalar::from_f64(DType::F32, std::f64::consts::LOG2_E)
}

/// Folds these pairs at once.
pub fn fold_online(graph: &mut Graph, fusion: &Fusion, chosen: &[SoftmaxFolds]) -> (Fusion, ValMap) {
    let mut made: FxHashMap<Node, Val> = FxHashMap::default();
    // The stored reciprocals of sums that are used for nothing else.
    let mut reciprocals: FxHashMap<Val, Val> = FxHashMap::default();
    rewrite(graph, fusion, |graph, facts, node, operands| {
        if let Some(&val) = made.get(&node) {
            return Some(vec![val]);
        }
        if let (TensorOp::Map(_), [broadcast]) = (&graph.node(node).op, operands)
            && let TensorOp::Broadcast(is_new) = graph.op(*broadcast).clone()
            && let Some(&reciprocal) = reciprocals.get(&graph.operands(*broadcast)[0])
        {
            return Some(vec![NodeBuilder { graph, facts }.add(TensorOp::Broadcast(is_new), &[reciprocal])]);
        }
        let folds = chosen.iter().find(|folds| folds.maximum == node)?;
        let TensorOp::Fold { axes, .. } = graph.node(node).op.clone() else { return None };
        let mut online = Online { nodes: NodeBuilder { graph, facts }, axes };
        let (largest, sum) = online.of(operands[0], folds.exponential);
        // Kernels that walk the elements again need not compute these for each row.
        let stored = online.nodes.map(ScalarOp::SegmentSet, &[largest]);
        let sum = match folds.reciprocal {
            None => online.nodes.map(ScalarOp::SegmentSet, &[sum]),
            Some(op) => {
                let reciprocal = online.nodes.map(op, &[sum]);
                reciprocals.insert(sum, online.nodes.map(ScalarOp::SegmentSet, &[reciprocal]));
                sum
            }
        };
        made.insert(folds.sum, sum);
        Some(vec![stored])
    })
}

/// A fold under construction.
struct Online<'g> {
    nodes: NodeBuilder<'g>,
    axes: Axes,
}

impl Online<'_> {
    /// The maximum of x and the sum.
    fn of(&mut self, x: Val, exponential: ScalarOp) -> (Val, Val) {
        let shape = self.nodes.graph.shape(x).clone();
        let one = self.nodes.constant(Scalar::one(DType::F64));
        let one = self.nodes.add(TensorOp::Broadcast(shape.iter().map(|_| true).collect()), &[one]);
        let count = self.axes.iter().fold(Expr::one(), |n, &axis| n * shape[usize::from(axis)].clone());
        let ones = self.nodes.add(TensorOp::Expand(shape), &[one]);
        let fold = TensorOp::Fold { monoid: Monoid::Lambda(combine(exponential)), axes: self.axes.clone() };
        let largest = self.nodes.add(fold, &[x, ones]);
        let total = Val { node: largest.node, result: 1 };
        let zero = self.nodes.constant(Scalar::zero(DType::F64));
        let is_none = self.nodes.map(ScalarOp::Eq, &[total, zero]);
        let lowest = self.nodes.constant(Scalar::lowest(DType::F32));
        let largest = self.nodes.map(ScalarOp::Where, &[is_none, lowest, largest]);
        let (of_none, sum) = (self.sum_of_none(count), self.nodes.cast(total, DType::F32));
        (largest, self.nodes.map(ScalarOp::Where, &[is_none, of_none, sum]))
    }

    /// The sum where no element is larger than -inf: NaN, or 0 of no elements.
    fn sum_of_none(&mut self, count: Expr) -> Val {
        let nan = self.nodes.constant(Scalar::from_f64(DType::F32, f64::NAN));
        if count.as_const().is_some_and(|count| count > 0) {
            return nan;
        }
        let (count, none) =
            (self.nodes.add(TensorOp::Size(count), &[]), self.nodes.constant(Scalar::zero(DType::I64)));
        let is_empty = self.nodes.map(ScalarOp::Eq, &[count, none]);
        let zero = self.nodes.constant(Scalar::zero(DType::F32));
        self.nodes.map(ScalarOp::Where, &[is_empty, zero, nan])
    }
}

/// The maximum and the sum of two runs: what is rescaled again and again by the precise exponential, single elements, which
/// come second, by that of the softmax.
fn combine(exponential: ScalarOp) -> Lambda {
    let (lowest, zero) = (Scalar::from_f64(DType::F32, f32::MIN.into()), Scalar::zero(DType::F64));
    let is_power_of_2 = !exponential.is_exp();
    let factor = if is_power_of_2 { log2_e() } else { Scalar::one(DType::F32) };
    let apply = |op: ScalarOp, operands: [usize; 2]| {
        BodyStep::Apply(op, SmallVec::from_slice(&operands[..op.arity()]))
    };
    let [first, first_sum, second, second_sum] = [0, 1, 2, 3];
    let steps = vec![
        apply(ScalarOp::Maximum, [first, second]),
        apply(ScalarOp::Sub, [first, 4]),
        apply(ScalarOp::ExpNonpositive, [5, 5]),
        BodyStep::Cast(DType::F64, 6),
        apply(ScalarOp::Mul, [first_sum, 7]),
        apply(ScalarOp::Sub, [second, 4]),
        BodyStep::Constant(factor),
        apply(ScalarOp::Mul, [9, 10]),
        apply(exponential, [if is_power_of_2 { 11 } else { 9 }; 2]),
        BodyStep::Cast(DType::F64, 12),
        apply(ScalarOp::Mul, [second_sum, 13]),
        apply(ScalarOp::Add, [8, 14]),
    ];
    let states = [DType::F32, DType::F64, DType::F32, DType::F64];
    let body = Body::new(&states, steps, [4, 15]).expect("steps after their operands, in their dtypes");
    Lambda::new(body, [lowest, zero]).expect("a body of two runs")
}
