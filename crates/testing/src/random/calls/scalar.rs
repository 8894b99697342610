//! Random scalar ops and casts, after calls that keep their operands in a moderate range.

use ferrofuse::{DType, Scalar};
use ops::call::{OpRef, lookup};
use ops::{ParamDefault, ScalarOp};

use super::caller::{Caller, operands};
use crate::random::program::{Given, Size, Tensor};

/// Scalar ops that need an operand of small magnitude.
const SMALL: [&str; 14] = [
    "exp", "exp2", "expm1", "sinh", "cosh", "asin", "acos", "atanh", "erfc", "erfinv", "erfcinv", "tan",
    "softplus", "pow",
];
/// Scalar ops that need a positive operand.
const POSITIVE: [&str; 11] =
    ["log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "acosh", "pow", "lgamma", "erfcinv"];
/// The destinations of casts.
const CAST_TO: [DType; 20] = [
    DType::F32,
    DType::F32,
    DType::BF16,
    DType::BF16,
    DType::F16,
    DType::F64,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::Bool,
    DType::F8E4M3,
    DType::F8E5M2,
    DType::F8E8M0,
    DType::C64,
    DType::C128,
];
const INTEGERS: [DType; 6] = [DType::I32, DType::I64, DType::U64, DType::I8, DType::U8, DType::U32];

/// The most common scalar ops of programs.
const COMMON: [&str; 8] = ["add", "mul", "sub", "mul", "add", "where", "maximum", "silu"];

/// A row of the tables of scalar ops, sometimes a common one.
pub(super) fn any_scalar_op(caller: &mut Caller<'_>) -> Option<()> {
    let rows: Vec<OpRef> = OpRef::all().filter(|op| !matches!(op, OpRef::Language(_))).collect();
    let op = match rows.get(caller.draws.below(rows.len() + 20)) {
        Some(&row) => row,
        None => lookup(caller.draws.one_of(&COMMON)).expect("the tables have it"),
    };
    scalar_op(caller, op)
}

pub(super) fn scalar_op(caller: &mut Caller<'_>, op: OpRef) -> Option<()> {
    let (name, params) = (op.name(), op.params());
    let needed = params.iter().filter(|param| param.default == ParamDefault::Required).count();
    let arity = if caller.draws.percent(60) { params.len() } else { needed.max(1) };
    let whole = takes_integers_alone(name).then(|| caller.draws.one_of(&INTEGERS));
    let mut first = if name == ScalarOp::Imag.name() { complex(caller)? } else { caller.tensor() };
    let mut others = vec![first];
    if let Some(dtype) = whole {
        first = caller.cast_to(first, dtype)?;
    } else if caller.draws.percent(90) {
        first = tamed(caller, name, first)?;
    }
    if name == "where" {
        first = condition(caller, first)?;
    }
    let mut arguments = operands([first]);
    while arguments.len() < arity {
        let operand = operand_beside(caller, &others);
        others.extend(operand.tensors());
        let operand = match (operand, whole) {
            (Given::Tensor(tensor), Some(dtype)) => Given::Tensor(caller.cast_to(tensor, dtype)?),
            (operand, _) => away_from_zero(caller, name, operand)?,
        };
        arguments.push((None, operand));
    }
    caller.add(name, arguments, 1).map(drop)
}

/// A tensor of complex numbers, made from two real ones if there is none.
fn complex(caller: &mut Caller<'_>) -> Option<Tensor> {
    let mut complex = caller.draft.tensors();
    complex.retain(|&tensor| caller.draft.dtype(tensor).is_complex());
    if !complex.is_empty() {
        return Some(caller.draws.one_of(&complex));
    }
    let real = caller.floats(0, 5)?;
    let imaginary = caller.alike(real);
    caller.add(ScalarOp::Complex.name(), operands([real, imaginary]), 1)
}

/// A divisor, an exponent or the like, mostly kept away from zero.
fn away_from_zero(caller: &mut Caller<'_>, op: &str, operand: Given) -> Option<Given> {
    let divides = ["div", "truediv", "mod", "fmod", "remainder", "pow"].contains(&op);
    match operand {
        Given::Tensor(tensor)
            if divides && caller.draft.dtype(tensor).is_float() && caller.draws.percent(80) =>
        {
            positive(caller, tensor).map(Given::Tensor)
        }
        other => Some(other),
    }
}

/// A comparison of a tensor, or itself if it is a condition.
fn condition(caller: &mut Caller<'_>, tensor: Tensor) -> Option<Tensor> {
    if caller.draft.dtype(tensor) == DType::Bool {
        return Some(tensor);
    }
    let op = caller.draws.one_of(&["gt", "le", "ne"]);
    let number = Given::Number(number(caller));
    caller.add(op, vec![(None, Given::Tensor(tensor)), (None, number)], 1)
}

fn tamed(caller: &mut Caller<'_>, op: &str, tensor: Tensor) -> Option<Tensor> {
    let mut tensor = tensor;
    if SMALL.contains(&op) {
        tensor = caller.add("tanh", operands([tensor]), 1)?;
    }
    if POSITIVE.contains(&op) { positive(caller, tensor) } else { Some(tensor) }
}

/// `abs(x) + 1.5`.
fn positive(caller: &mut Caller<'_>, tensor: Tensor) -> Option<Tensor> {
    let mut arguments = operands([caller.add("abs", operands([tensor]), 1)?]);
    arguments.push((None, Given::real(1.5)));
    caller.add("add", arguments, 1)
}

pub(super) fn cast(caller: &mut Caller<'_>) -> Option<()> {
    let dtype = caller.draws.one_of(&CAST_TO);
    let tensor = caller.tensor();
    caller.cast_to(tensor, dtype).map(drop)
}

/// An operand that fits others.
fn operand_beside(caller: &mut Caller<'_>, others: &[Tensor]) -> Given {
    let rank = caller.rank(others[0]);
    if rank > 0 && caller.draws.percent(3) {
        return Given::Size(Size::Of(others[0], caller.draws.below(rank)));
    }
    let fitting = caller.fitting(others);
    match caller.draws.below(4) {
        1.. if !fitting.is_empty() => Given::Tensor(caller.draws.one_of(&fitting)),
        _ => Given::Number(number(caller)),
    }
}

pub(super) fn number(caller: &mut Caller<'_>) -> Scalar {
    match caller.draws.below(40) {
        0 => Scalar::complex(DType::C128, 0.5, -1.25),
        1 | 2 => strange_number(caller),
        3..12 => Scalar::from_i64(DType::I64, caller.draws.between(0, 6) as i64 - 3),
        _ => Scalar::from_f64(DType::F64, (caller.draws.normal() * 64.0).round() / 64.0),
    }
}

fn strange_number(caller: &mut Caller<'_>) -> Scalar {
    let float = |x: f64| Scalar::from_f64(DType::F64, x);
    let int = |n: i64| Scalar::from_i64(DType::I64, n);
    let floats = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e-40, 1e300, 0.1].map(float);
    let others = [int(i64::MAX), int(i64::MIN), int(1 << 40), Scalar::from_bool(true)];
    if caller.draws.percent(60) { caller.draws.one_of(&floats) } else { caller.draws.one_of(&others) }
}

/// Whether a primitive has a meaning only on integers.
fn takes_integers_alone(op: &str) -> bool {
    ScalarOp::from_name(op)
        .is_some_and(|scalar_op| scalar_op.row().int.is_some() && scalar_op.row().float.is_none())
}
