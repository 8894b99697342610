//! Composite rows: activation functions.

use super::CompositeRow;
use crate::param::{Param, ParamDefault, ParamKind};
use crate::typing::Typing;

const X: Param = Param::operand("x");

const fn number(name: &'static str, default: f64) -> Param {
    Param::optional(name, ParamKind::Operand, ParamDefault::Float(default))
}

/// The rows.
pub(super) const ROWS: &[CompositeRow] = &[
    CompositeRow {
        name: "sigmoid",
        params: &[X],
        typing: Typing::Float,
        text: "reciprocal(1 + exp(-x))",
        doc: "The logistic function, 1 / (1 + exp(-x)).",
    },
    CompositeRow {
        name: "silu",
        params: &[X],
        typing: Typing::Plain,
        text: "x / (1 + exp(-x))",
        doc: "x times its logistic function.",
    },
    CompositeRow {
        name: "relu",
        params: &[X],
        typing: Typing::Plain,
        text: "maximum(x, 0)",
        doc: "x where positive, else 0. NaN stays.",
    },
    CompositeRow {
        name: "leaky_relu",
        params: &[X, number("negative_slope", 0.01)],
        typing: Typing::Plain,
        text: "where(ge(x, 0), x, x * negative_slope)",
        doc: "x where not negative, else x times the slope.",
    },
    CompositeRow {
        name: "gelu",
        params: &[X],
        typing: Typing::Plain,
        text: "0.5 * x * (1 + erf(x * 0.7071067811865476))",
        doc: "x times the normal distribution function of x.",
    },
    CompositeRow {
        name: "tanh_gelu",
        params: &[X],
        typing: Typing::Plain,
        text: "0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))",
        doc: "Gelu with its tanh approximation.",
    },
    CompositeRow {
        name: "softplus",
        params: &[X, number("beta", 1.0), number("threshold", 20.0)],
        typing: Typing::Plain,
        text: "scaled = x * beta; where(gt(scaled, threshold), x, log1p(exp(scaled)) / beta)",
        doc: "log(1 + exp(beta x)) / beta; x itself where beta x is above the threshold.",
    },
    CompositeRow {
        name: "threshold",
        params: &[X, Param::operand("threshold"), Param::operand("value")],
        typing: Typing::Plain,
        text: "where(le(x, threshold), value, x)",
        doc: "x where above the threshold, else the value. NaN stays.",
    },
    CompositeRow {
        name: "elu",
        params: &[X, number("alpha", 1.0)],
        typing: Typing::Plain,
        text: "where(gt(x, 0), x, alpha * expm1(x))",
        doc: "x where positive, else alpha times exp(x) - 1.",
    },
    CompositeRow {
        name: "celu",
        params: &[X, number("alpha", 1.0)],
        typing: Typing::Plain,
        text: "where(gt(x, 0), x, alpha * expm1(x / alpha))",
        doc: "x where positive, else alpha times exp(x / alpha) - 1.",
    },
    CompositeRow {
        name: "selu",
        params: &[X],
        typing: Typing::Plain,
        text: "1.0507009873554805 * where(gt(x, 0), x, 1.6732632423543772 * expm1(x))",
        doc: "Elu scaled so that mean 0 and variance 1 stay.",
    },
    CompositeRow {
        name: "hardsigmoid",
        params: &[X],
        typing: Typing::Plain,
        text: "minimum(maximum(x / 6 + 0.5, 0), 1)",
        doc: "0 below -3, 1 above 3, and the line between.",
    },
    CompositeRow {
        name: "hardswish",
        params: &[X],
        typing: Typing::Plain,
        text: "x * minimum(maximum(x / 6 + 0.5, 0), 1)",
        doc: "x times its hardsigmoid.",
    },
    CompositeRow {
        name: "relu6",
        params: &[X],
        typing: Typing::Plain,
        text: "minimum(maximum(x, 0), 6)",
        doc: "x brought between 0 and 6. NaN stays.",
    },
    CompositeRow {
        name: "mish",
        params: &[X],
        typing: Typing::Plain,
        text: "x * tanh(softplus(x))",
        doc: "x times the tanh of its softplus.",
    },
    CompositeRow {
        name: "logsigmoid",
        params: &[X],
        typing: Typing::Plain,
        text: "minimum(x, 0) - log1p(exp(-abs(x)))",
        doc: "The logarithm of the logistic function.",
    },
    CompositeRow {
        name: "softsign",
        params: &[X],
        typing: Typing::Plain,
        text: "x * reciprocal(1 + abs(x))",
        doc: "x over 1 + |x|.",
    },
    CompositeRow {
        name: "softshrink",
        params: &[X, number("lambd", 0.5)],
        typing: Typing::Plain,
        text: "where(gt(x, lambd), x - lambd, where(lt(x, -lambd), x + lambd, x * 0))",
        doc: "x moved towards 0 by lambd, 0 where it is nearer. NaN stays.",
    },
    CompositeRow {
        name: "hardshrink",
        params: &[X, number("lambd", 0.5)],
        typing: Typing::Plain,
        text: "where(le(abs(x), lambd), 0, x)",
        doc: "x where further from 0 than lambd, else 0. NaN stays.",
    },
    CompositeRow {
        name: "tanhshrink",
        params: &[X],
        typing: Typing::Plain,
        text: "x - tanh(x)",
        doc: "x less its tanh.",
    },
];
