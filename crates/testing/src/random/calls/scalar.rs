//! Scalar ops and casts drawn, with what makes their operands tame.

use ferrofuse::{DType, Scalar};
use ir::ops::{Composite, FormOp, Prim};

use super::Caller;
use crate::random::program::{Given, Size, Tensor};

/// Scalar ops that want an operand of small size.
const SMALL: [&str; 14] = [
    "exp", "exp2", "expm1", "sinh", "cosh", "asin", "acos", "atanh", "erfc", "erfinv", "erfcinv", "tan",
    "softplus", "pow",
];
/// Scalar ops that want a positive operand.
const POSITIVE: [&str; 11] =
    ["log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "acosh", "pow", "lgamma", "erfcinv"];
/// What a cast goes to.
const CAST_TO: [DType; 13] = [
    DType::F32,
    DType::F32,
    DType::BF16,
    DType::BF16,
    DType::F16,
    DType::F64,
    DType::I32,
    DType::I64,
    DType::U64,
    DType::Bool,
    DType::F8E4M3,
    DType::F8E5M2,
    DType::F8E8M0,
];
const INTEGERS: [DType; 3] = [DType::I32, DType::I64, DType::U64];

impl Caller<'_> {
    /// Any row of the tables of scalar ops.
    pub(super) fn scalar_op(&mut self) {
        let op_place = |name| {
            let prim = Prim::ALL.iter().position(|op| op.name() == name);
            let composite = Composite::ALL.iter().position(|op| op.name() == name);
            prim.or(composite.map(|place| Prim::ALL.len() + place))
        };
        let place = match self.favoured.and_then(op_place) {
            Some(place) => place,
            None => self.draws.below(Prim::ALL.len() + Composite::ALL.len() + 20),
        };
        let common = ["add", "mul", "sub", "mul", "add", "where", "maximum", "silu"];
        let (op, arity) = match Prim::ALL.get(place) {
            Some(prim) => (prim.name(), prim.arity()),
            None => match Composite::ALL.get(place - Prim::ALL.len()) {
                Some(composite) => (composite.name(), composite.row().params.len()),
                None => {
                    let op = self.draws.one_of(&common);
                    (op, [1, 2, 3][usize::from(op != "silu") + usize::from(op == "where")])
                }
            },
        };
        if op == Prim::SegmentSet.name() {
            return;
        }
        let mut operands = vec![self.tensor()];
        let mut first = operands[0];
        let whole = takes_integers_alone(op).then(|| self.draws.one_of(&INTEGERS));
        if let Some(dtype) = whole {
            first = self.cast_to(first, dtype);
        } else if self.draws.percent(90) {
            first = self.tamed(op, first);
        }
        if op == "where" {
            first = self.condition(first);
        }
        let mut arguments = vec![(None, Given::Tensor(first))];
        while arguments.len() < arity {
            let operand = self.operand_beside(&operands);
            operands.extend(operand.tensors());
            let operand = match (operand, whole) {
                (Given::Tensor(tensor), Some(dtype)) => Given::Tensor(self.cast_to(tensor, dtype)),
                (operand, _) => self.away_from_zero(op, operand),
            };
            arguments.push((None, operand));
        }
        self.add(op, arguments, 1);
    }

    /// A divisor, an exponent or the like, mostly made not to be near zero.
    fn away_from_zero(&mut self, op: &str, operand: Given) -> Given {
        let divides = ["div", "truediv", "mod", "fmod", "remainder", "pow"].contains(&op);
        match operand {
            Given::Tensor(tensor)
                if divides && self.draft.dtype(tensor).is_float() && self.draws.percent(80) =>
            {
                Given::Tensor(self.positive(tensor))
            }
            other => other,
        }
    }

    /// A comparison of a tensor, or itself if it is a condition.
    fn condition(&mut self, tensor: Tensor) -> Tensor {
        if self.draft.tensors().contains(&tensor) && self.draft.dtype(tensor) == DType::Bool {
            return tensor;
        }
        let op = self.draws.one_of(&["gt", "le", "ne"]);
        let number = Given::Number(self.number());
        self.add(op, vec![(None, Given::Tensor(tensor)), (None, number)], 1)
    }

    fn tamed(&mut self, op: &str, tensor: Tensor) -> Tensor {
        let mut tensor = tensor;
        if SMALL.contains(&op) {
            tensor = self.add("tanh", vec![(None, Given::Tensor(tensor))], 1);
        }
        if POSITIVE.contains(&op) { self.positive(tensor) } else { tensor }
    }

    /// `abs(x) + 1.5`.
    fn positive(&mut self, tensor: Tensor) -> Tensor {
        let distance = self.add("abs", vec![(None, Given::Tensor(tensor))], 1);
        let shift = Given::Number(Scalar::from_f64(DType::F64, 1.5));
        self.add("add", vec![(None, Given::Tensor(distance)), (None, shift)], 1)
    }

    pub(super) fn cast(&mut self) {
        let dtype = self.draws.one_of(&CAST_TO);
        let tensor = self.tensor();
        self.cast_to(tensor, dtype);
    }

    fn cast_to(&mut self, tensor: Tensor, dtype: DType) -> Tensor {
        let arguments = vec![(None, Given::Tensor(tensor)), (Some("dtype"), Given::DType(dtype))];
        self.add_form(FormOp::Cast, arguments, 1)
    }

    pub(super) fn set(&mut self, op: &'static str) {
        let tensor = self.tensor();
        self.add(op, vec![(None, Given::Tensor(tensor))], 1);
    }

    /// An operand beside others.
    fn operand_beside(&mut self, others: &[Tensor]) -> Given {
        let rank = self.rank(others[0]);
        if rank > 0 && self.draws.percent(3) {
            return Given::Size(Size::Of(others[0], self.draws.below(rank)));
        }
        let fitting = self.fitting(others);
        match self.draws.below(4) {
            1.. if !fitting.is_empty() => Given::Tensor(self.draws.one_of(&fitting)),
            _ => Given::Number(self.number()),
        }
    }

    pub(super) fn number(&mut self) -> Scalar {
        match self.draws.below(20) {
            0 => self.strange_number(),
            1..6 => Scalar::from_i64(DType::I64, self.draws.between(0, 6) as i64 - 3),
            _ => Scalar::from_f64(DType::F64, (self.draws.normal() * 64.0).round() / 64.0),
        }
    }

    fn strange_number(&mut self) -> Scalar {
        let float = |x: f64| Scalar::from_f64(DType::F64, x);
        let int = |n: i64| Scalar::from_i64(DType::I64, n);
        let floats = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e-40, 1e300, 0.1].map(float);
        let others = [int(i64::MAX), int(i64::MIN), int(1 << 40), Scalar::from_bool(true)];
        if self.draws.percent(60) { self.draws.one_of(&floats) } else { self.draws.one_of(&others) }
    }
}

/// Whether a primitive has a meaning on integers, and none on floats or as logic.
fn takes_integers_alone(op: &str) -> bool {
    Prim::from_name(op).is_some_and(|prim| prim.row().int.is_some() && prim.row().float.is_none())
}
