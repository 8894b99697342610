//! Lower bounds of values that hold for any data. NaN is possible beside every bound.

use ir::graph::{Fusion, Graph, TensorOp, Val};
use ops::{Monoid, ScalarOp};
use rustc_hash::FxHashMap;

use super::constant;

/// Below this, numbers of f32 are 256 apart and more, and exp(-256) is zero.
const FAR_BELOW_ZERO: f64 = -(1_i64 << 32) as f64;

/// The bounds of a view's values.
pub(super) struct LowerBounds<'g> {
    graph: &'g Graph,
    known: FxHashMap<Val, f64>,
}

impl<'g> LowerBounds<'g> {
    /// Bounds of all values of a view, operands first.
    pub fn new(graph: &'g Graph, fusion: &Fusion) -> LowerBounds<'g> {
        let mut bounds = LowerBounds { graph, known: FxHashMap::default() };
        for &node in fusion.order() {
            let val = Val::from(node);
            // Rounding is monotone, so a bound that every type can represent holds for rounded results too.
            let held =
                bounds.derive(val).and_then(|bound| [1.0, 0.5, 0.0].into_iter().find(|&held| bound >= held));
            if let Some(bound) = held {
                bounds.known.insert(val, bound);
            }
        }
        bounds
    }

    /// No element of the value is below this.
    pub fn of(&self, val: Val) -> Option<f64> {
        self.known.get(&val).copied()
    }

    /// Whether a value is proved to be 0 or more, or NaN.
    pub fn is_nonnegative(&self, val: Val) -> bool {
        self.of(val).is_some_and(|bound| bound >= 0.0)
    }

    fn derive(&self, val: Val) -> Option<f64> {
        let operands = self.graph.operands(val);
        match self.graph.op(val) {
            TensorOp::Constant(scalar) if scalar.dtype().is_float() => Some(scalar.as_f64()),
            TensorOp::Cast(dtype) if dtype.is_float() => self.of(operands[0]),
            TensorOp::Broadcast(_)
            | TensorOp::Expand(_)
            | TensorOp::Squeeze(_)
            | TensorOp::Reshape(_)
            | TensorOp::Permute(_)
            | TensorOp::Slice { .. } => self.of(operands[0]),
            TensorOp::Fold { monoid: Monoid::Sum, .. } if self.is_nonnegative(operands[0]) => {
                Some(if self.holds_its_max(val) { 0.5 } else { 0.0 })
            }
            TensorOp::Map(op) => self.derive_map(*op, operands),
            _ => None,
        }
    }

    fn derive_map(&self, op: ScalarOp, operands: &[Val]) -> Option<f64> {
        let all_nonnegative = || operands.iter().all(|&val| self.is_nonnegative(val));
        match op {
            ScalarOp::Exp | ScalarOp::Exp2 | ScalarOp::Abs | ScalarOp::Sqrt | ScalarOp::Rsqrt => Some(0.0),
            ScalarOp::Mul if operands[0] == operands[1] => Some(0.0),
            ScalarOp::Mul | ScalarOp::Div | ScalarOp::Reciprocal if all_nonnegative() => Some(0.0),
            ScalarOp::Add => Some(self.of(operands[0])? + self.of(operands[1])?),
            ScalarOp::Maximum => match (self.of(operands[0]), self.of(operands[1])) {
                (Some(a), Some(b)) => Some(a.max(b)),
                (a, b) => a.or(b),
            },
            _ => None,
        }
    }

    /// Whether this sum has a term exp(0): it runs over exp(x - m) where m is the largest x along the same axes, as in
    /// softmax. (There m is an element; without elements the sum is empty, and nothing divides by it.)
    pub fn holds_its_max(&self, sum: Val) -> bool {
        self.subtracted(sum).is_some_and(|subtracted| self.is_max_of(subtracted, sum))
    }

    /// Whether this sum has a term exp(0) or is zero: m may also be so far below zero that exp(x - m) of the next smaller x
    /// is zero.
    pub fn holds_its_max_or_nothing(&self, sum: Val) -> bool {
        self.holds_its_max(sum)
            || self.subtracted(sum).is_some_and(|subtracted| match self.graph.op(subtracted) {
                TensorOp::Map(ScalarOp::Maximum) => {
                    let &[max, lowest] = self.graph.operands(subtracted) else { return false };
                    let lowest = self.graph.as_constant(lowest).map(|lowest| lowest.as_f64());
                    lowest.is_some_and(|lowest| lowest <= FAR_BELOW_ZERO) && self.is_max_of(max, sum)
                }
                _ => false,
            })
    }

    /// The value subtracted from x, if this sum runs over exp(x - m).
    fn subtracted(&self, sum: Val) -> Option<Val> {
        self.difference(sum).map(|[_, max]| self.unspread(max))
    }

    /// x and m, if this sum runs over exp(x - m).
    fn difference(&self, sum: Val) -> Option<[Val; 2]> {
        let TensorOp::Fold { monoid: Monoid::Sum, .. } = self.graph.op(sum) else { return None };
        let power = self.unguarded(self.graph.operands(sum)[0]);
        let TensorOp::Map(ScalarOp::Exp) = self.graph.op(power) else { return None };
        let shifted = self.graph.operands(power)[0];
        let TensorOp::Map(ScalarOp::Sub) = self.graph.op(shifted) else { return None };
        self.graph.operands(shifted).try_into().ok()
    }

    /// The exp(x - m) within a guard that makes it 1 where x is m, even if both are infinite; other values as they are.
    pub fn unguarded(&self, val: Val) -> Val {
        let TensorOp::Map(ScalarOp::Where) = self.graph.op(val) else { return val };
        let &[condition, one, power] = self.graph.operands(val) else { return val };
        let is_power = matches!(self.graph.op(power), TensorOp::Map(ScalarOp::Exp));
        let is_guard = is_power
            && matches!(self.graph.op(condition), TensorOp::Map(ScalarOp::Eq))
            && self.graph.operands(condition) == self.graph.operands(self.graph.operands(power)[0])
            && constant(self.graph, one).is_some_and(|one| one.as_f64() == 1.0);
        if is_guard { power } else { val }
    }

    /// Whether this is the largest x of a sum over exp(x - m), along the same axes.
    fn is_max_of(&self, max: Val, sum: Val) -> bool {
        let TensorOp::Fold { axes, .. } = self.graph.op(sum) else { return false };
        let same_axes =
            matches!(self.graph.op(max), TensorOp::Fold { monoid: Monoid::Max, axes: over } if over == axes);
        same_axes && self.difference(sum).is_some_and(|[x, _]| self.graph.operands(max)[0] == x)
    }

    /// The value before axes were inserted or repeated.
    fn unspread(&self, mut val: Val) -> Val {
        while let TensorOp::Broadcast(_) | TensorOp::Expand(_) = self.graph.op(val) {
            val = self.graph.operands(val)[0];
        }
        val
    }
}
