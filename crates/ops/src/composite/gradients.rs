//! Composite rows: gradients of activation functions, times the gradient of their result.

use super::CompositeRow;
use crate::param::Param;
use crate::typing::Typing;

const GRAD: Param = Param::operand("grad");
const X: Param = Param::operand("x");
const Y: Param = Param::operand("y");

/// The rows.
pub(super) const ROWS: &[CompositeRow] = &[
    CompositeRow {
        name: "gelu_backward",
        params: &[GRAD, X],
        typing: Typing::Plain,
        text: "cdf = 0.5 * (1 + erf(x * 0.7071067811865476)); \
           pdf = 0.3989422804014327 * exp(-0.5 * x * x); \
           grad * (cdf + x * pdf)",
        doc: "The gradient of gelu at x, times `grad`.",
    },
    CompositeRow {
        name: "tanh_gelu_backward",
        params: &[GRAD, X],
        typing: Typing::Plain,
        text: "t = tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)); \
           slope = 0.7978845608028654 * (1 + 0.134145 * x * x); \
           grad * 0.5 * (1 + t + x * (1 - t * t) * slope)",
        doc: "The gradient of tanh_gelu at x, times `grad`.",
    },
    CompositeRow {
        name: "silu_backward",
        params: &[GRAD, X],
        typing: Typing::Plain,
        text: "s = 1 / (1 + exp(-x)); grad * s * (1 + x * (1 - s))",
        doc: "The gradient of silu at x, times `grad`.",
    },
    CompositeRow {
        name: "sigmoid_backward",
        params: &[GRAD, Y],
        typing: Typing::Plain,
        text: "grad * y * (1 - y)",
        doc: "The gradient of sigmoid where its result is y, times `grad`.",
    },
    CompositeRow {
        name: "tanh_backward",
        params: &[GRAD, Y],
        typing: Typing::Plain,
        text: "grad * (1 - y * y)",
        doc: "The gradient of tanh where its result is y, times `grad`.",
    },
    CompositeRow {
        name: "threshold_backward",
        params: &[GRAD, X, Param::operand("threshold")],
        typing: Typing::Plain,
        text: "where(le(x, threshold), 0, grad)",
        doc: "`grad` where x is above the threshold, else 0: the gradient of relu at 0.",
    },
];
