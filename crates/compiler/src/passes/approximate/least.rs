//! Lower bounds of values: what is known without any data. NaN is beside every bound.

use ir::graph::{Form, Fusion, Graph, Val};
use ops::{Monoid, Prim};
use rustc_hash::FxHashMap;

/// The bounds of a view's values.
pub(super) struct Least<'g> {
    graph: &'g Graph,
    known: FxHashMap<Val, f64>,
}

impl<'g> Least<'g> {
    pub fn new(graph: &'g Graph, fusion: &Fusion) -> Least<'g> {
        let mut least = Least { graph, known: FxHashMap::default() };
        for &node in fusion.order() {
            let val = Val::from(node);
            // Rounding is monotone, so a bound that every type holds stands for rounded results too.
            let held =
                least.derive(val).and_then(|bound| [1.0, 0.5, 0.0].into_iter().find(|&held| bound >= held));
            if let Some(bound) = held {
                least.known.insert(val, bound);
            }
        }
        least
    }

    /// No element of the value is below this.
    pub fn of(&self, val: Val) -> Option<f64> {
        self.known.get(&val).copied()
    }

    pub fn is_nonnegative(&self, val: Val) -> bool {
        self.of(val).is_some_and(|bound| bound >= 0.0)
    }

    fn derive(&self, val: Val) -> Option<f64> {
        let operands = self.graph.operands(val);
        match self.graph.form(val) {
            Form::Constant(scalar) if scalar.dtype().is_float() => Some(scalar.as_f64()),
            Form::Cast(dtype) if dtype.is_float() => self.of(operands[0]),
            Form::Broadcast(_)
            | Form::Expand(_)
            | Form::Squeeze(_)
            | Form::Reshape(_)
            | Form::Permute(_)
            | Form::Slice { .. } => self.of(operands[0]),
            Form::Fold { monoid: Monoid::Sum, .. } if self.is_nonnegative(operands[0]) => {
                Some(if self.holds_its_greatest(val) { 0.5 } else { 0.0 })
            }
            Form::Map(prim) => self.derive_map(*prim, operands),
            _ => None,
        }
    }

    fn derive_map(&self, prim: Prim, operands: &[Val]) -> Option<f64> {
        let all_nonnegative = || operands.iter().all(|&val| self.is_nonnegative(val));
        match prim {
            Prim::Exp | Prim::Exp2 | Prim::Abs | Prim::Sqrt | Prim::Rsqrt => Some(0.0),
            Prim::Mul if operands[0] == operands[1] => Some(0.0),
            Prim::Mul | Prim::Div | Prim::Reciprocal if all_nonnegative() => Some(0.0),
            Prim::Add => Some(self.of(operands[0])? + self.of(operands[1])?),
            Prim::Maximum => match (self.of(operands[0]), self.of(operands[1])) {
                (Some(a), Some(b)) => Some(a.max(b)),
                (a, b) => a.or(b),
            },
            _ => None,
        }
    }

    /// Whether this sum has a term exp(0): it runs over exp(x - m) where m is the greatest x along the same axes, as in
    /// softmax. (There m is an element; without elements the sum is of none, and nobody divides by it.)
    pub fn holds_its_greatest(&self, sum: Val) -> bool {
        let Form::Fold { monoid: Monoid::Sum, axes } = self.graph.form(sum) else { return false };
        let power = self.graph.operands(sum)[0];
        let Form::Map(Prim::Exp) = self.graph.form(power) else { return false };
        let shifted = self.graph.operands(power)[0];
        let Form::Map(Prim::Sub) = self.graph.form(shifted) else { return false };
        let [x, greatest] = *self.graph.operands(shifted) else { return false };
        let greatest = self.unspread(greatest);
        let same_axes = matches!(self.graph.form(greatest), Form::Fold { monoid: Monoid::Max, axes: over } if over == axes);
        same_axes && self.graph.operands(greatest)[0] == x
    }

    /// The value behind axes that were put in or repeated.
    fn unspread(&self, mut val: Val) -> Val {
        while let Form::Broadcast(_) | Form::Expand(_) = self.graph.form(val) {
            val = self.graph.operands(val)[0];
        }
        val
    }
}
