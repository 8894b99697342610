//! Composite rows: activation functions and two of their gradients.

use super::composite::CompositeRow;
use super::param::{Param, ParamDefault, ParamKind};
use super::typing::Typing;

const X: Param = Param::operand("x");

const fn number(name: &'static str, default: f64) -> Param {
    Param::optional(name, ParamKind::Operand, ParamDefault::Float(default))
}

pub(super) const SIGMOID: CompositeRow = CompositeRow {
    name: "sigmoid",
    params: &[X],
    typing: Typing::Float,
    text: "reciprocal(1 + exp(-x))",
    doc: "The logistic function, 1 / (1 + exp(-x)).",
};

pub(super) const SILU: CompositeRow = CompositeRow {
    name: "silu",
    params: &[X],
    typing: Typing::Plain,
    text: "x / (1 + exp(-x))",
    doc: "x times its logistic function.",
};

pub(super) const RELU: CompositeRow = CompositeRow {
    name: "relu",
    params: &[X],
    typing: Typing::Plain,
    text: "maximum(x, 0)",
    doc: "x where positive, else 0. NaN stays.",
};

pub(super) const LEAKY_RELU: CompositeRow = CompositeRow {
    name: "leaky_relu",
    params: &[X, number("negative_slope", 0.01)],
    typing: Typing::Plain,
    text: "where(ge(x, 0), x, x * negative_slope)",
    doc: "x where not negative, else x times the slope.",
};

pub(super) const GELU: CompositeRow = CompositeRow {
    name: "gelu",
    params: &[X],
    typing: Typing::Plain,
    text: "0.5 * x * (1 + erf(x * 0.7071067811865476))",
    doc: "x times the normal distribution function of x.",
};

pub(super) const TANH_GELU: CompositeRow = CompositeRow {
    name: "tanh_gelu",
    params: &[X],
    typing: Typing::Plain,
    text: "0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))",
    doc: "Gelu with its tanh approximation.",
};

pub(super) const GELU_BACKWARD: CompositeRow = CompositeRow {
    name: "gelu_backward",
    params: &[Param::operand("grad"), X],
    typing: Typing::Plain,
    text: "cdf = 0.5 * (1 + erf(x * 0.7071067811865476)); \
           pdf = 0.3989422804014327 * exp(-0.5 * x * x); \
           grad * (cdf + x * pdf)",
    doc: "The gradient of gelu at x, times `grad`.",
};

pub(super) const TANH_GELU_BACKWARD: CompositeRow = CompositeRow {
    name: "tanh_gelu_backward",
    params: &[Param::operand("grad"), X],
    typing: Typing::Plain,
    text: "t = tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)); \
           slope = 0.7978845608028654 * (1 + 0.134145 * x * x); \
           grad * 0.5 * (1 + t + x * (1 - t * t) * slope)",
    doc: "The gradient of tanh_gelu at x, times `grad`.",
};

pub(super) const SOFTPLUS: CompositeRow = CompositeRow {
    name: "softplus",
    params: &[X, number("beta", 1.0), number("threshold", 20.0)],
    typing: Typing::Plain,
    text: "scaled = x * beta; where(gt(scaled, threshold), x, log1p(exp(scaled)) / beta)",
    doc: "log(1 + exp(beta x)) / beta; x itself where beta x is above the threshold.",
};

pub(super) const THRESHOLD: CompositeRow = CompositeRow {
    name: "threshold",
    params: &[X, Param::operand("threshold"), Param::operand("value")],
    typing: Typing::Plain,
    text: "where(le(x, threshold), value, x)",
    doc: "x where above the threshold, else the value. NaN stays.",
};
