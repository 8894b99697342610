//! Composite rows: questions with a truth value.

use super::CompositeRow;
use crate::param::Param;
use crate::typing::Typing;

const X: &[Param] = &[Param::operand("x")];

/// The columns of a test of one number; integers and bools are taken as f32.
const fn test(name: &'static str, text: &'static str, doc: &'static str) -> CompositeRow {
    CompositeRow { name, params: X, typing: Typing::Test, text, doc }
}

/// The rows.
pub(super) const ROWS: &[CompositeRow] = &[
    test(
        "signbit",
        "logical_or(lt(x, 0), lt(1 / x, 0))",
        "Is x negative, -0 included? False for NaN of either sign.",
    ),
    test("isfinite", "lt(abs(x), inf)", "Is x neither infinite nor NaN?"),
    test("isinf", "eq(abs(x), inf)", "Is x an infinity?"),
    test("isnan", "ne(x, x)", "Is x not a number?"),
    test("isposinf", "eq(x, inf)", "Is x plus infinity?"),
    test("isneginf", "eq(x, -inf)", "Is x minus infinity?"),
    test("isreal", "logical_or(eq(x, x), ne(x, x))", "Is x without an imaginary part? Always true."),
    CompositeRow {
        name: "logical_xor",
        params: &[Param::operand("lhs"), Param::operand("rhs")],
        typing: Typing::Logical,
        text: "ne(lhs, rhs)",
        doc: "Does exactly one hold? A number holds unless it is 0.",
    },
];
