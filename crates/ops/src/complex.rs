//! Rows: the meaning of ops on complex numbers, as expressions over their parts; and the three primitives between a complex
//! number and its parts.
//!
//! Complex numbers are pairs of reals from the builder on, so a row here is all that an op needs to take them. An op
//! without a row rejects them. The meanings are NumPy's and torch's; where the two differ, or infinities meet NaNs in ways
//! that only the C standard settles, the row's note says what we do.

use std::sync::LazyLock;

use super::call::lookup;
use super::composite::Composite;
use super::expr::ScalarExpr;
use super::expr_parser::{self, ExprError};
use super::row::{Algebra, CSpelling, CpuSpellings, Primitive};
use super::spread::Spread;
use super::typing::Typing;

/// The columns of a primitive that no kernel has: lowering makes loads and stores of it.
const fn boundary(name: &'static str, params: &'static [&'static str], typing: Typing) -> Primitive {
    Primitive {
        name,
        params,
        typing,
        algebra: Algebra::NONE,
        float: None,
        int: None,
        boolean: None,
        cuda: CSpelling::NONE,
        cpu: CpuSpellings { float: None, int: None, unsigned: None, boolean: None },
        ulp: 0.0,
        spread: Spread::Exact,
        doc: "",
    }
}

pub(super) const REAL: Primitive = Primitive {
    doc: "The real part of a complex number; a copy of a real one.",
    ..boundary("real", &["x"], Typing::Part)
};

pub(super) const IMAG: Primitive = Primitive {
    doc: "The imaginary part of a complex number. Real numbers are rejected.",
    ..boundary("imag", &["x"], Typing::Part)
};

pub(super) const COMPLEX: Primitive = Primitive {
    doc: "The complex number of two parts: c128 of f64, else c64.",
    ..boundary("complex", &["real", "imag"], Typing::Pair)
};

/// The meaning of an op on complex numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ComplexMeaning {
    /// An expression over real numbers: `a + bi` is the first operand, `c + di` the second. Two results are the parts of a
    /// complex number; one is a real number or a bool.
    Parts(&'static str),
    /// An expression over the complex numbers `x`, `y` and `z`.
    Numbers(&'static str),
    /// The expression of the composite of that name, over complex numbers.
    Own,
}
use ComplexMeaning::{Numbers, Own, Parts};

/// An op that takes complex numbers.
#[derive(Clone, Copy, Debug)]
pub struct ComplexRow {
    /// The name of a primitive or a composite.
    pub op: &'static str,
    /// Its meaning.
    pub meaning: ComplexMeaning,
}

const fn row(op: &'static str, meaning: ComplexMeaning) -> ComplexRow {
    ComplexRow { op, meaning }
}

/// Division by Smith's method (1962), as in NumPy and torch: nothing overflows unless the quotient does. By zero, each part
/// is divided by zero.
const QUOTIENT: ComplexMeaning = Parts(
    "swap = lt(abs(c), abs(d)); big = where(swap, d, c); small = where(swap, c, d); \
     r = small / big; s = 1 / (big + small * r); none = logical_and(eq(c, 0), eq(d, 0)); \
     re = where(swap, a * r + b, a + b * r) * s; im = where(swap, b * r - a, b - a * r) * s; \
     where(none, a / abs(c), re), where(none, b / abs(c), im)",
);

/// The square roots of 1 - w and 1 + w with the signs of zeros kept, from which Kahan (1987) has the inverse sine and cosine
/// on the right side of every cut. Of infinities only the angle remains.
const ROOTS: ComplexMeaning = Numbers(
    "a = real(x); b = imag(x); high = logical_or(isinf(a), isinf(b)); \
     p = sqrt(complex(1 - a, -b)); q = sqrt(complex(1 + a, b)); \
     angle = atan2(a, where(high, abs(b), real(p) * real(q) - imag(p) * imag(q))); \
     complex(where(eq(a, 0), a, angle), \
             where(high, where(signbit(b), -inf, inf), asinh(real(p) * imag(q) - imag(p) * real(q))))",
);

/// The logarithm of the modulus and the angle.
const LOGARITHM: ComplexMeaning = Parts(
    "u = abs(a); v = abs(b); p = maximum(u, v); q = minimum(u, v); k = (p - 1) * (p + 1) + q * q; \
     where(lt(abs(k), 0.5), 0.5 * log1p(k), log(hypot(a, b))), atan2(b, a)",
);

/// Every op that takes complex numbers, by theme.
pub static COMPLEX_ROWS: &[ComplexRow] = &[
    row("set", Parts("set(a), set(b)")),
    row("segment_set", Parts("segment_set(a), segment_set(b)")),
    row("neg", Parts("-a, -b")),
    row("add", Parts("a + c, b + d")),
    row("sub", Parts("a - c, b - d")),
    row("mul", Parts("a * c - b * d, a * d + b * c")),
    row("div", QUOTIENT),
    row("truediv", QUOTIENT),
    row(
        "reciprocal",
        Parts(
            "swap = lt(abs(a), abs(b)); big = where(swap, b, a); small = where(swap, a, b); \
             r = small / big; s = 1 / (big + small * r); none = logical_and(eq(a, 0), eq(b, 0)); \
             where(none, inf, where(swap, r, 1) * s), where(none, nan, where(swap, -1, -r) * s)",
        ),
    ),
    row("addcmul", Own),
    row("lerp", Numbers("x + z * (y - x)")),
    row("abs", Parts("hypot(a, b)")),
    // Of one infinite part, its sign.
    row(
        "sign",
        Parts(
            "r = hypot(a, b); none = eq(r, 0); p = where(none, 0, a / r); q = where(none, 0, b / r); \
             where(logical_and(isinf(a), isfinite(b)), sign(a), p), where(logical_and(isinf(b), isfinite(a)), sign(b), q)",
        ),
    ),
    row("eq", Parts("logical_and(eq(a, c), eq(b, d))")),
    row("ne", Parts("logical_or(ne(a, c), ne(b, d))")),
    row("isreal", Parts("eq(b, 0)")),
    row("isfinite", Parts("logical_and(isfinite(a), isfinite(b))")),
    row("isinf", Parts("logical_or(isinf(a), isinf(b))")),
    row("isnan", Parts("logical_or(isnan(a), isnan(b))")),
    // On the real line the imaginary part is unchanged, even if the modulus is infinite. An infinite or zero modulus stays
    // that if there is no angle.
    row(
        "exp",
        Parts(
            "e = exp(a); line = eq(b, 0); lost = logical_and(isinf(a), logical_not(isfinite(b))); \
             where(logical_or(line, lost), e, e * cos(b)), \
             where(line, b, where(logical_and(lost, eq(e, 0)), e, e * sin(b)))",
        ),
    ),
    row(
        "exp2",
        Parts(
            "e = exp2(a); t = 0.6931471805599453 * b; line = eq(b, 0); \
             lost = logical_and(isinf(a), logical_not(isfinite(b))); \
             where(logical_or(line, lost), e, e * cos(t)), \
             where(line, b, where(logical_and(lost, eq(e, 0)), e, e * sin(t)))",
        ),
    ),
    row("expm1", Parts("s = sin(0.5 * b); expm1(a) * cos(b) - 2 * s * s, exp(a) * sin(b)")),
    // Near the unit circle from the distance to it, which the modulus has lost.
    row("log", LOGARITHM),
    row(
        "log2",
        Parts(
            "u = abs(a); v = abs(b); p = maximum(u, v); q = minimum(u, v); k = (p - 1) * (p + 1) + q * q; \
             where(lt(abs(k), 0.5), 0.7213475204444817 * log1p(k), log2(hypot(a, b))), 1.4426950408889634 * atan2(b, a)",
        ),
    ),
    row(
        "log10",
        Parts(
            "u = abs(a); v = abs(b); p = maximum(u, v); q = minimum(u, v); k = (p - 1) * (p + 1) + q * q; \
             where(lt(abs(k), 0.5), 0.2171472409516259 * log1p(k), log10(hypot(a, b))), 0.4342944819032518 * atan2(b, a)",
        ),
    ),
    row(
        "log1p",
        Parts(
            "k = a * (2 + a) + b * b; \
             where(lt(abs(k), 0.5), 0.5 * log1p(k), log(hypot(1 + a, b))), atan2(b, 1 + a)",
        ),
    ),
    // The root in the right half plane without cancellation; for an infinite imaginary part infinite for any real part.
    row(
        "sqrt",
        Parts(
            "t = sqrt(0.5 * abs(a) + 0.5 * hypot(a, b)); u = where(eq(t, 0), t, 0.5 * abs(b) / t); \
             high = isinf(b); left = lt(a, 0); im = where(left, t, u); \
             where(high, inf, where(left, u, t)), \
             where(high, b, where(logical_and(ne(b, b), ne(a, -inf)), b, where(signbit(b), -im, im)))",
        ),
    ),
    row("rsqrt", Numbers("1 / sqrt(x)")),
    row(
        "pow",
        Numbers(
            "power = exp(y * log(x)); \
             where(eq(y, 0), 1, where(eq(x, 0), where(gt(real(y), 0), 0, complex(nan, nan)), power))",
        ),
    ),
    // Of the four: zero and infinite ones stay that if there is no angle.
    row(
        "sin",
        Parts(
            "where(eq(a, 0), a, sin(a) * cosh(b)), \
             where(logical_and(logical_not(isfinite(a)), logical_or(eq(b, 0), isinf(b))), b, cos(a) * sinh(b))",
        ),
    ),
    row(
        "cos",
        Parts(
            "where(logical_and(logical_not(isfinite(a)), isinf(b)), inf, cos(a) * cosh(b)), \
             where(logical_or(eq(a, 0), eq(b, 0)), where(ne(signbit(a), signbit(b)), 0, -0.0), -(sin(a) * sinh(b)))",
        ),
    ),
    row(
        "sinh",
        Parts(
            "where(logical_and(logical_not(isfinite(b)), logical_or(eq(a, 0), isinf(a))), a, sinh(a) * cos(b)), \
             where(eq(b, 0), b, cosh(a) * sin(b))",
        ),
    ),
    row(
        "cosh",
        Parts(
            "where(logical_and(logical_not(isfinite(b)), isinf(a)), inf, cosh(a) * cos(b)), \
             where(logical_or(eq(a, 0), eq(b, 0)), where(ne(signbit(a), signbit(b)), -0.0, 0), sinh(a) * sin(b))",
        ),
    ),
    row(
        "tan",
        Parts(
            "h = tanh(b); t = tan(a); s = 1 / cosh(b); u = 1 + h * h * t * t; none = logical_not(isfinite(a)); \
             where(eq(a, 0), a, where(logical_and(none, isinf(b)), 0, t * s * s / u)), \
             where(logical_or(isinf(b), logical_and(none, eq(b, 0))), h, h * (1 + t * t) / u)",
        ),
    ),
    row(
        "tanh",
        Parts(
            "h = tanh(a); t = tan(b); s = 1 / cosh(a); u = 1 + h * h * t * t; none = logical_not(isfinite(b)); \
             where(logical_or(isinf(a), logical_and(none, eq(a, 0))), h, h * (1 + t * t) / u), \
             where(eq(b, 0), b, where(logical_and(none, isinf(a)), 0, t * s * s / u))",
        ),
    ),
    row("asin", ROOTS),
    row(
        "acos",
        Numbers(
            "a = real(x); b = imag(x); high = logical_or(isinf(a), isinf(b)); \
             p = sqrt(complex(1 - a, -b)); q = sqrt(complex(1 + a, b)); \
             angle = where(high, atan2(abs(b), a), 2 * atan2(real(p), real(q))); \
             complex(where(eq(a, 0), 1.5707963267948966, angle), \
                     where(high, where(signbit(b), inf, -inf), asinh(real(q) * imag(p) - imag(q) * real(p))))",
        ),
    ),
    // -i asin(i x).
    row("asinh", Numbers("w = asin(complex(-imag(x), real(x))); complex(imag(w), -real(w))")),
    row(
        "acosh",
        Numbers(
            "a = real(x); b = imag(x); high = logical_or(isinf(a), isinf(b)); \
             p = sqrt(complex(a - 1, b)); q = sqrt(complex(a + 1, b)); \
             angle = where(high, atan2(b, a), 2 * atan2(imag(p), real(q))); half = 1.5707963267948966; \
             complex(where(high, inf, asinh(real(p) * real(q) + imag(p) * imag(q))), \
                     where(eq(a, 0), where(signbit(b), -half, half), angle))",
        ),
    ),
    row(
        "atanh",
        Parts(
            "k = abs(a); u = 1 - k; high = logical_or(isinf(a), isinf(b)); half = 1.5707963267948966; \
             r = where(logical_or(high, eq(a, 0)), 0, 0.25 * log1p(k / (0.25 * (u * u + b * b)))); \
             far = where(ne(b, b), b, where(signbit(b), -half, half)); \
             where(signbit(a), -r, r), where(high, far, 0.5 * atan2(b, 0.5 * (u * (1 + k) - b * b)))",
        ),
    ),
    row(
        "atan",
        Parts(
            "k = abs(b); u = 1 - k; high = logical_or(isinf(a), isinf(b)); half = 1.5707963267948966; \
             r = where(logical_or(high, eq(b, 0)), 0, 0.25 * log1p(k / (0.25 * (u * u + a * a)))); \
             far = where(ne(a, a), a, where(signbit(a), -half, half)); \
             where(high, far, 0.5 * atan2(a, 0.5 * (u * (1 + k) - a * a))), where(signbit(b), -r, r)",
        ),
    ),
    row("sigmoid", Own),
    row("silu", Own),
];

/// A row's meaning with its expression read.
#[derive(Clone, Copy, Debug)]
pub enum ComplexExpr {
    /// Over the parts of the operands, in order.
    Parts(&'static ScalarExpr),
    /// Over the operands as complex numbers.
    Numbers(&'static ScalarExpr),
}

impl ComplexRow {
    fn parse(&self) -> Result<Option<ScalarExpr>, ExprError> {
        let arity = lookup(self.op).map_or(0, |op| op.params().len());
        match self.meaning {
            Parts(text) => expr_parser::parse(text, &["a", "b", "c", "d"][..2 * arity]).map(Some),
            Numbers(text) => expr_parser::parse(text, &["x", "y", "z"][..arity]).map(Some),
            Own => Ok(None),
        }
    }
}

/// The meaning of the op with this name on complex numbers, if it takes them.
pub fn complex_meaning(op: &str) -> Option<ComplexExpr> {
    static KNOWN: LazyLock<Vec<Option<ScalarExpr>>> = LazyLock::new(|| {
        let read = |row: &ComplexRow| {
            // A text that is no expression is a bug of the table, which the tests of every row would show.
            row.parse().unwrap_or_else(|error| panic!("`{}` of complex numbers: {error}", row.op))
        };
        COMPLEX_ROWS.iter().map(read).collect()
    });
    let place = COMPLEX_ROWS.iter().position(|row| row.op == op)?;
    match (&COMPLEX_ROWS[place].meaning, &KNOWN[place]) {
        (Parts(_), Some(expr)) => Some(ComplexExpr::Parts(expr)),
        (_, Some(expr)) => Some(ComplexExpr::Numbers(expr)),
        (_, None) => Composite::from_name(op).map(|composite| ComplexExpr::Numbers(composite.expr())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_of_an_op_and_reads() {
        for row in COMPLEX_ROWS {
            assert!(lookup(row.op).is_ok(), "no op `{}`", row.op);
            let expr = complex_meaning(row.op).unwrap_or_else(|| panic!("`{}` has no meaning", row.op));
            let results = match expr {
                ComplexExpr::Parts(expr) => expr.results().len(),
                ComplexExpr::Numbers(expr) => expr.results().len(),
            };
            assert!((1..=2).contains(&results), "`{}` gives {results} results", row.op);
        }
    }

    #[test]
    fn rows_are_of_different_ops() {
        let mut ops: Vec<&str> = COMPLEX_ROWS.iter().map(|row| row.op).collect();
        ops.sort_unstable();
        ops.dedup();
        assert_eq!(ops.len(), COMPLEX_ROWS.len());
    }
}
