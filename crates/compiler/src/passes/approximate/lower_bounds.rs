//! Lower bounds of values that hold for any data. NaN is possible beside every bound.

use ir::graph::{Axes, Fusion, Graph, TensorOp, Val};
use ops::{Monoid, ScalarOp};
use rustc_hash::FxHashMap;

use super::constant;

/// Below this, numbers of f32 are 256 apart and more, and exp(-256) is zero.
const FAR_BELOW_ZERO: f64 = -(1_i64 << 32) as f64;

/// The largest elements along axes, or a number where they are all smaller.
struct Largest<'g> {
    axes: &'g Axes,
    lowest: Option<f64>,
}

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
        self.subtracted(sum).is_some_and(|largest| largest.lowest.is_none())
    }

    /// Whether this sum has a term exp(0) or is zero: m may also be so far below zero that exp(x - m) of the next smaller x
    /// is zero.
    pub fn holds_its_max_or_nothing(&self, sum: Val) -> bool {
        self.subtracted(sum)
            .is_some_and(|largest| largest.lowest.is_none_or(|lowest| lowest <= FAR_BELOW_ZERO))
    }

    /// Whether this is x - m where m is no less than the largest x along some axes: 0 or less, or NaN.
    pub fn is_nonpositive(&self, difference: Val) -> bool {
        self.largest(difference).is_some()
    }

    /// The largest x, if this sum runs over exp(x - m) along the axes of m.
    fn subtracted(&self, sum: Val) -> Option<Largest<'g>> {
        let TensorOp::Fold { monoid: Monoid::Sum, axes } = self.graph.op(sum) else { return None };
        let power = self.unguarded(self.graph.operands(sum)[0]);
        let TensorOp::Map(ScalarOp::Exp) = self.graph.op(power) else { return None };
        self.largest(self.graph.operands(power)[0]).filter(|largest| largest.axes == axes)
    }

    /// The largest x that is subtracted from each x.
    fn largest(&self, difference: Val) -> Option<Largest<'g>> {
        let TensorOp::Map(ScalarOp::Sub) = self.graph.op(difference) else { return None };
        let &[x, subtrahend] = self.graph.operands(difference) else { return None };
        let (repeated, is_new) = self.unrepeated(subtrahend);
        let (max, lowest) = match self.graph.op(repeated) {
            TensorOp::Map(ScalarOp::Maximum) => {
                let &[max, lowest] = self.graph.operands(repeated) else { return None };
                (max, Some(self.graph.as_constant(lowest)?.as_f64()))
            }
            _ => (repeated, None),
        };
        let TensorOp::Fold { monoid: Monoid::Max, axes } = self.graph.op(max) else { return None };
        let is_beside =
            is_new.iter().enumerate().all(|(axis, &is_new)| is_new == axes.contains(&(axis as u8)));
        (is_beside && self.graph.operands(max)[0] == x).then_some(Largest { axes, lowest })
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

    /// The value before axes were inserted or repeated, and which axes it then has in addition.
    fn unrepeated(&self, mut val: Val) -> (Val, Vec<bool>) {
        let mut is_new = vec![false; self.graph.shape(val).len()];
        loop {
            match self.graph.op(val) {
                TensorOp::Expand(_) => {}
                TensorOp::Broadcast(inserted) => {
                    let own = is_new.iter_mut().filter(|is_new| !**is_new);
                    own.zip(inserted).for_each(|(is_new, &inserted)| *is_new = inserted);
                }
                _ => return (val, is_new),
            }
            val = self.graph.operands(val)[0];
        }
    }
}
