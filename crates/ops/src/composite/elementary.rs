//! Composite rows: division and remainders, signs and bounds, interpolation, and simple functions of one primitive.

use super::CompositeRow;
use crate::param::{Param, ParamDefault, ParamKind};
use crate::typing::Typing;

const X: Param = Param::operand("x");
const LHS: Param = Param::operand("lhs");
const RHS: Param = Param::operand("rhs");

/// The rows.
pub(super) const ROWS: &[CompositeRow] = &[
    CompositeRow {
        name: "truediv",
        params: &[LHS, RHS],
        typing: Typing::Float,
        text: "lhs / rhs",
        doc: "Quotient of real numbers, of integers too.",
    },
    CompositeRow {
        name: "mod",
        params: &[LHS, RHS],
        typing: Typing::Arithmetic,
        text: "fmod(lhs, rhs)",
        doc: "Remainder of the truncated quotient, with the sign of the dividend; the same as fmod.",
    },
    CompositeRow {
        name: "remainder",
        params: &[LHS, RHS],
        typing: Typing::Arithmetic,
        text: "m = fmod(lhs, rhs); \
           where(logical_and(ne(m, 0), ne(lt(m, 0), lt(rhs, 0))), m + rhs, m)",
        doc: "Remainder of the floored quotient, with the sign of the divisor. An integer modulo 0 is itself; a float modulo 0 is NaN.",
    },
    CompositeRow {
        name: "frac",
        params: &[X],
        typing: Typing::Plain,
        text: "x - trunc(x)",
        doc: "The part of x behind the point, with the sign of x. Of an infinity, NaN.",
    },
    CompositeRow {
        name: "sign",
        params: &[X],
        typing: Typing::Plain,
        text: "where(gt(x, 0), 1, where(lt(x, 0), -1, x))",
        doc: "1, 0 or -1 as x is positive, zero or negative. Zeros keep their sign; NaN stays.",
    },
    CompositeRow {
        name: "clamp",
        params: &[
            X,
            Param::optional("min", ParamKind::Operand, ParamDefault::Lowest),
            Param::optional("max", ParamKind::Operand, ParamDefault::Highest),
        ],
        typing: Typing::Plain,
        text: "minimum(maximum(x, min), max)",
        doc: "x brought between the bounds; the upper one wins where they cross. NaN stays.",
    },
    CompositeRow {
        name: "lerp",
        params: &[Param::operand("start"), Param::operand("end"), Param::operand("weight")],
        typing: Typing::Float,
        text: "d = end - start; where(lt(weight, 0.5), start + weight * d, end - d * (1 - weight))",
        doc: "Linear interpolation, exact at weights 0 and 1.",
    },
    CompositeRow {
        name: "addcmul",
        params: &[Param::operand("a"), Param::operand("b"), Param::operand("c"), Param::operand("alpha")],
        typing: Typing::Arithmetic,
        text: "a + alpha * b * c",
        doc: "a + alpha b c.",
    },
    CompositeRow {
        name: "square",
        params: &[X],
        typing: Typing::Arithmetic,
        text: "x * x",
        doc: "x times itself. Integers wrap.",
    },
    CompositeRow {
        name: "hypot",
        params: &[X, Param::operand("y")],
        typing: Typing::Float,
        text: "p = abs(x); q = abs(y); m = maximum(p, q); r = minimum(p, q) / m; \
           h = where(eq(m, 0), m, m * sqrt(1 + r * r)); \
           where(logical_or(eq(p, inf), eq(q, inf)), inf, h)",
        doc: "The length of the vector (x, y), which overflows only where it is itself too large. Of an infinity, infinity, beside NaN too.",
    },
];
