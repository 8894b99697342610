//! Composite rows: hyperbolic functions and their inverses, accurate near 0, and finite whenever the result is.

use super::CompositeRow;
use crate::param::Param;
use crate::typing::Typing;

const X: &[Param] = &[Param::operand("x")];

/// The rows.
pub(super) const ROWS: &[CompositeRow] = &[
    CompositeRow {
        name: "sinh",
        params: X,
        typing: Typing::Float,
        text: "a = abs(x); e = expm1(a); h = exp(0.5 * a); \
           s = where(lt(a, 1), 0.5 * (e + e / (e + 1)), 0.5 * h * h - 0.5 / h / h); \
           where(lt(x, 0), -s, where(gt(x, 0), s, x))",
        doc: "Hyperbolic sine.",
    },
    CompositeRow {
        name: "cosh",
        params: X,
        typing: Typing::Float,
        text: "h = exp(0.5 * abs(x)); 0.5 * h * h + 0.5 / h / h",
        doc: "Hyperbolic cosine.",
    },
    CompositeRow {
        name: "asinh",
        params: X,
        typing: Typing::Float,
        text: "a = abs(x); \
           s = where(gt(a, 1e9), log(a) + 0.6931471805599453, log1p(a + a * a / (1 + sqrt(a * a + 1)))); \
           where(lt(x, 0), -s, where(gt(x, 0), s, x))",
        doc: "Inverse hyperbolic sine.",
    },
    CompositeRow {
        name: "acosh",
        params: X,
        typing: Typing::Float,
        text: "t = x - 1; where(gt(x, 1e9), log(x) + 0.6931471805599453, log1p(t + sqrt(t) * sqrt(t + 2)))",
        doc: "Inverse hyperbolic cosine; below 1, NaN.",
    },
    CompositeRow {
        name: "atanh",
        params: X,
        typing: Typing::Float,
        text: "a = abs(x); s = 0.5 * log1p(2 * a / (1 - a)); where(lt(x, 0), -s, where(gt(x, 0), s, x))",
        doc: "Inverse hyperbolic tangent: of -1 and 1, infinities; beyond, NaN.",
    },
];
