//! The relative error that each value may have, computed from the outputs backward, and which nodes may be cheaper for that.
//!
//! A cast to a half type tolerates an error in its operand of half that of the rounding. Products, quotients and sums of
//! nonnegative values pass relative errors on; differences and all other ops need exact operands.

use ir::graph::{Fusion, Graph, Node, TensorOp, Val};
use ops::{DType, ExpRange, Monoid, ScalarOp};
use rustc_hash::{FxHashMap, FxHashSet};

use super::lower_bounds::LowerBounds;
use super::{Cheaper, constant};

/// Relative errors of the cheaper ops: of powers including the rounding of the exponent, the largest first.
const POWERS: [(ScalarOp, f64); 2] =
    [(ScalarOp::Exp2Bf16, 1.0 / 8192.0), (ScalarOp::Exp2Half, 1.0 / 65536.0)];
const RECIPROCAL_ERROR: f64 = 1.0 / 16384.0;
/// The reciprocal of less is infinite, or less accurate.
const MIN_DIVISOR: f64 = f32::MIN_POSITIVE as f64;

/// The nodes that may be cheaper, and how.
pub(super) fn choose(graph: &Graph, fusion: &Fusion) -> FxHashMap<Node, Cheaper> {
    let mut chooser = Chooser {
        graph,
        fusion,
        lower_bounds: LowerBounds::new(graph, fusion),
        inexact: FxHashSet::default(),
        tolerances: FxHashMap::default(),
        chosen: FxHashMap::default(),
    };
    chooser.find_inexact();
    fusion.outputs().iter().for_each(|output| chooser.need(output.val, 0.0));
    fusion.order().iter().rev().for_each(|&node| chooser.visit(node));
    chooser.chosen
}

struct Chooser<'g> {
    graph: &'g Graph,
    fusion: &'g Fusion,
    lower_bounds: LowerBounds<'g>,
    /// Values that a cheaper op could make less accurate.
    inexact: FxHashSet<Val>,
    /// The smallest tolerance that a use of the value has. Uses come before definitions.
    tolerances: FxHashMap<Val, f64>,
    chosen: FxHashMap<Node, Cheaper>,
}

impl Chooser<'_> {
    fn find_inexact(&mut self) {
        for &node in self.fusion.order() {
            let val = Val::from(node);
            let rounded = matches!(self.graph.op(val), TensorOp::Cast(_));
            let inherits = !rounded && self.graph.operands(val).iter().any(|of| self.inexact.contains(of));
            if inherits || !self.cheaper(val).is_empty() {
                self.inexact.insert(val);
            }
        }
    }

    /// The cheaper forms of a value regardless of errors, with their relative errors, the largest first.
    fn cheaper(&self, val: Val) -> Vec<(Cheaper, f64)> {
        let TensorOp::Map(op) = *self.graph.op(val) else { return Vec::new() };
        if self.graph.dtype(val) != DType::F32 {
            return Vec::new();
        }
        let operands = self.graph.operands(val);
        match op {
            ScalarOp::Exp => {
                let range = self.range(val);
                POWERS.map(|(power, error)| (Cheaper::Power(power.in_range(range)), error)).to_vec()
            }
            ScalarOp::Reciprocal => {
                let is_normal = self.is_normal(operands[0]);
                let op = if is_normal { ScalarOp::ReciprocalHalf } else { ScalarOp::ReciprocalSigned };
                vec![(Cheaper::Reciprocal(op), RECIPROCAL_ERROR)]
            }
            ScalarOp::Div if self.is_normal(operands[1]) => vec![(Cheaper::Product, RECIPROCAL_ERROR)],
            ScalarOp::Add => {
                let tanh = [0, 1].into_iter().find(|&place| self.is_lone_tanh(operands[place]));
                let one = |place: usize| {
                    constant(self.graph, operands[1 - place]).is_some_and(|other| other.as_f64() == 1.0)
                };
                let Some(tanh) = tanh.filter(|&place| one(place)) else { return Vec::new() };
                let logistic = |(power, error)| (Cheaper::Logistic { tanh, power }, error + RECIPROCAL_ERROR);
                POWERS.map(logistic).to_vec()
            }
            _ => Vec::new(),
        }
    }

    /// What is known of the operand of an exponential, or of what its result is for.
    fn range(&self, exponential: Val) -> ExpRange {
        let is_added = |&user: &Node| {
            let operands = self.graph.operands(user.into());
            matches!(self.graph.node(user).op, TensorOp::Map(ScalarOp::Add))
                && operands.iter().any(|&other| self.lower_bounds.of(other).is_some_and(|bound| bound >= 0.5))
        };
        let users = self.fusion.uses(exponential);
        if self.lower_bounds.is_nonpositive(self.graph.operands(exponential)[0]) {
            ExpRange::Nonpositive
        } else if !self.fusion.is_output(exponential) && !users.is_empty() && users.iter().all(is_added) {
            ExpRange::Addend
        } else {
            ExpRange::Any
        }
    }

    /// Whether a value is proved to be no less than the smallest normal number, or NaN.
    fn is_normal(&self, val: Val) -> bool {
        self.lower_bounds.of(val).is_some_and(|bound| bound >= MIN_DIVISOR)
    }

    fn is_product(&self, val: Val) -> bool {
        matches!(self.graph.op(val), TensorOp::Map(ScalarOp::Mul)) && self.graph.dtype(val) == DType::F32
    }

    fn is_lone_tanh(&self, val: Val) -> bool {
        matches!(self.graph.op(val), TensorOp::Map(ScalarOp::Tanh)) && self.fusion.uses(val).len() == 1
    }

    fn is_exp(&self, val: Val) -> bool {
        matches!(self.graph.op(val), TensorOp::Map(ScalarOp::Exp))
            && matches!(self.graph.dtype(val), DType::F32 | DType::F64)
    }

    /// Whether this is exp(x - m) of f32 that is used by nothing but sums over it, where m is the largest x along the same
    /// axes. Such a sum is at least 1, or zero: the error of exp(-d), below 2^-23 + d / 2^29 of it, is less than the sum
    /// rounds off.
    fn is_term(&self, val: Val) -> bool {
        self.is_exp(val) && self.graph.dtype(val) == DType::F32 && self.is_summed(val)
    }

    /// Whether a power, or its guarded form, is used by nothing but such sums.
    fn is_summed(&self, val: Val) -> bool {
        let users = self.fusion.uses(val);
        let is_guard = |user: Val| self.lower_bounds.unguarded(user) == val && self.is_summed(user);
        let is_sum = |user: Val| self.lower_bounds.holds_its_max_or_nothing(user) || is_guard(user);
        !self.fusion.is_output(val) && !users.is_empty() && users.iter().all(|&user| is_sum(user.into()))
    }

    fn need(&mut self, val: Val, tolerance: f64) {
        let min = self.tolerances.entry(val).or_insert(f64::INFINITY);
        *min = min.min(tolerance);
    }

    /// Takes the cheaper form if the tolerance allows it, and passes the remaining tolerance on.
    fn visit(&mut self, node: Node) {
        let val = Val::from(node);
        let mut tolerance = self.tolerances.get(&val).copied().unwrap_or(0.0);
        let mut cheaper = self.cheaper(val).into_iter();
        if let Some((cheaper, error)) = cheaper.find(|&(_, error)| error <= tolerance) {
            self.chosen.insert(node, cheaper);
            tolerance -= error;
        } else if self.is_term(val) {
            self.chosen.insert(node, Cheaper::Term);
        } else if self.is_exp(val) && self.range(val) != ExpRange::Any {
            self.chosen.insert(node, Cheaper::InRange(ScalarOp::Exp.in_range(self.range(val))));
        }
        if tolerance > 0.0 && self.is_product(val) {
            self.chosen.insert(node, Cheaper::Unscaled);
        }
        let operands = self.graph.operands(val).to_vec();
        let inexact = operands.iter().filter(|operand| self.inexact.contains(operand)).count();
        for (place, &operand) in operands.iter().enumerate() {
            self.need(operand, self.passed_on(val, place, tolerance, inexact));
        }
    }

    /// The tolerance of an operand whose user has this one. Several operands that may be inexact share it.
    fn passed_on(&self, val: Val, place: usize, tolerance: f64, inexact: usize) -> f64 {
        let operands = self.graph.operands(val);
        let nonnegative = || operands.iter().all(|&operand| self.lower_bounds.is_nonnegative(operand));
        match self.graph.op(val) {
            TensorOp::Cast(to) if self.graph.dtype(operands[0]) == DType::F32 => rounding(*to),
            TensorOp::Broadcast(_)
            | TensorOp::Expand(_)
            | TensorOp::Squeeze(_)
            | TensorOp::Reshape(_)
            | TensorOp::Permute(_)
            | TensorOp::Slice { .. }
            | TensorOp::Cat(_) => tolerance,
            TensorOp::Fold { monoid: Monoid::Sum, .. } if nonnegative() => tolerance,
            TensorOp::Map(op) => match op {
                ScalarOp::Mul | ScalarOp::Div => tolerance / inexact.max(1) as f64,
                ScalarOp::Neg | ScalarOp::Abs | ScalarOp::Reciprocal => tolerance,
                ScalarOp::Add if nonnegative() => tolerance,
                ScalarOp::Where if place > 0 => tolerance,
                _ => 0.0,
            },
            _ => 0.0,
        }
    }
}

/// Half of the relative error that rounding to nearest may have: added to it, less than a unit in the last place.
fn rounding(to: DType) -> f64 {
    match to {
        DType::BF16 | DType::F16 => to.ulp(1.0) / 8.0,
        _ => 0.0,
    }
}
