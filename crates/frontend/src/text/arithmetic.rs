//! Numbers that the reader evaluates before ops see them: literals, `float("inf")`, `complex(1.0, -0.0)`, and operators
//! between numbers, with Python's results. Results beyond 64 bits are rejected.

use std::cmp::Ordering;

use ir::Span;
use ops::{DType, Scalar};
use syntax::{ArgumentSyntax, RawDiagnostic, Tree, TreeKind};

/// The number that an expression without names evaluates to.
///
/// # Errors
/// For an expression that is no number, and as [`binary`].
pub(super) fn constant(tree: &Tree) -> Result<Scalar, RawDiagnostic> {
    match &tree.kind {
        TreeKind::Bool(value) => Ok(Scalar::from_bool(*value)),
        TreeKind::Unary(operator, operand) => unary(operator, constant(operand)?, tree.span),
        TreeKind::Binary(operator, a, b) => binary(operator, constant(a)?, constant(b)?, tree.span),
        TreeKind::Call(callee, arguments) => {
            let called = callee.path().and_then(|path| call(&path, tree, arguments));
            called.unwrap_or_else(|| Err(not_a_number(tree.span)))
        }
        kind => literal(kind).ok_or_else(|| not_a_number(tree.span)),
    }
}

/// The number of a literal; `None` for a truth value.
pub(super) fn literal(kind: &TreeKind) -> Option<Scalar> {
    Some(match kind {
        TreeKind::Int(n) => Scalar::from_i64(DType::I64, *n),
        TreeKind::Wide(n) => Scalar::from_u64(DType::U64, *n),
        TreeKind::Float(x) => Scalar::from_f64(DType::F64, *x),
        TreeKind::Imaginary(x) => Scalar::complex(DType::C128, 0.0, *x),
        _ => return None,
    })
}

/// The number that a call of `float` or `complex` returns; `None` for a call of anything else.
pub(super) fn call(
    path: &[&str],
    tree: &Tree,
    arguments: &[ArgumentSyntax],
) -> Option<Result<Scalar, RawDiagnostic>> {
    match path {
        ["float"] => Some(float(arguments).ok_or_else(|| {
            RawDiagnostic::new(tree.span, "this is not a number", "expected float(\"inf\") or the like")
        })),
        ["complex"] => Some(complex(arguments).ok_or_else(|| {
            RawDiagnostic::new(tree.span, "this is not a complex number", "expected complex(1.0, 2.0)")
        })),
        _ => None,
    }
}

/// The value of `float("inf")`, `float("-inf")`, `float("nan")` or `float(1)`.
fn float(arguments: &[ArgumentSyntax]) -> Option<Scalar> {
    let [ArgumentSyntax { keyword: None, value }] = arguments else { return None };
    let value = match &value.kind {
        TreeKind::Text(text) => text.trim().parse().ok()?,
        _ => real(value)?,
    };
    Some(Scalar::from_f64(DType::F64, value))
}

fn complex(arguments: &[ArgumentSyntax]) -> Option<Scalar> {
    let part =
        |argument: &ArgumentSyntax| argument.keyword.is_none().then(|| real(&argument.value)).flatten();
    match arguments {
        [re] => Some(Scalar::complex(DType::C128, part(re)?, 0.0)),
        [re, im] => Some(Scalar::complex(DType::C128, part(re)?, part(im)?)),
        _ => None,
    }
}

fn real(tree: &Tree) -> Option<f64> {
    constant(tree).ok().filter(|scalar| !scalar.dtype().is_complex()).map(|scalar| scalar.as_f64())
}

/// A sign or `~` before a number.
///
/// # Errors
/// As [`binary`].
pub(super) fn unary(operator: &str, scalar: Scalar, span: Span) -> Result<Scalar, RawDiagnostic> {
    let zero = |dtype| Scalar::from_i64(dtype, 0);
    match (operator, scalar.dtype()) {
        ("+", dtype) if dtype != DType::Bool => Ok(scalar),
        ("-", dtype) if dtype.is_complex() => {
            Ok(Scalar::complex(dtype, -scalar.as_f64(), -scalar.imag().as_f64()))
        }
        ("-", dtype) if dtype.is_float() => Ok(Scalar::from_f64(dtype, -scalar.as_f64())),
        ("~", dtype) if dtype.is_float() || dtype.is_complex() => {
            Err(rejected(operator, span, "expected an integer"))
        }
        // ~n is -1 - n.
        ("~", _) => binary("-", Scalar::from_i64(DType::I64, -1), scalar, span),
        ("-", _) => binary("-", zero(DType::I64), scalar, span),
        _ => binary("+", zero(DType::I64), scalar, span),
    }
}

/// The result of Python's operator on two of its numbers.
///
/// # Errors
/// For integers beyond 64 bits, a division by zero, a real power that is too large, and operators that the numbers do
/// not support.
pub(super) fn binary(operator: &str, a: Scalar, b: Scalar, span: Span) -> Result<Scalar, RawDiagnostic> {
    let (is_complex, is_float) =
        (|scalar: Scalar| scalar.dtype().is_complex(), |scalar: Scalar| scalar.dtype().is_float());
    let result = match comparison(operator) {
        Some(holds) => compared(holds, a, b),
        None if is_complex(a) || is_complex(b) => of_complex(operator, parts(a), parts(b)),
        None if is_float(a) || is_float(b) => of_floats(operator, a.as_f64(), b.as_f64()),
        None => of_integers(operator, integer(a), integer(b)).map(|result| match result.dtype() {
            DType::I64 if is_logical(operator, a, b) => Scalar::from_bool(result.as_i64() != 0),
            _ => result,
        }),
    };
    result.map_err(|label| rejected(operator, span, label))
}

fn not_a_number(span: Span) -> RawDiagnostic {
    RawDiagnostic::new(span, "this is not a number", "expected a number")
}

fn rejected(operator: &str, span: Span, label: &str) -> RawDiagnostic {
    RawDiagnostic::new(span, format!("`{operator}` of these numbers is no number"), label)
}

/// Whether a comparison holds, given the order of two numbers; with a NaN there is none.
type Holds = fn(Option<Ordering>) -> bool;

fn comparison(operator: &str) -> Option<Holds> {
    Some(match operator {
        "==" => |order| order == Some(Ordering::Equal),
        "!=" => |order| order != Some(Ordering::Equal),
        "<" => |order| order == Some(Ordering::Less),
        "<=" => |order| matches!(order, Some(Ordering::Less | Ordering::Equal)),
        ">" => |order| order == Some(Ordering::Greater),
        ">=" => |order| matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        _ => return None,
    })
}

fn compared(holds: Holds, a: Scalar, b: Scalar) -> Result<Scalar, &'static str> {
    let order = match (a.dtype(), b.dtype()) {
        (x, y) if x.is_complex() || y.is_complex() => {
            let is_equality = holds(Some(Ordering::Less)) == holds(Some(Ordering::Greater));
            if !is_equality {
                return Err("complex numbers have no order");
            }
            let imaginary =
                [a, b].map(|scalar| if scalar.dtype().is_complex() { scalar.imag().as_f64() } else { 0.0 });
            real_order(a.real(), b.real()).filter(|order| order.is_eq() && imaginary[0] == imaginary[1])
        }
        _ => real_order(a, b),
    };
    Ok(Scalar::from_bool(holds(order)))
}

/// The order of two real numbers; none with a NaN.
fn real_order(a: Scalar, b: Scalar) -> Option<Ordering> {
    match (a.dtype().is_float(), b.dtype().is_float()) {
        (true, true) => a.as_f64().partial_cmp(&b.as_f64()),
        (false, true) => order_of(integer(a), b.as_f64()),
        (true, false) => order_of(integer(b), a.as_f64()).map(Ordering::reverse),
        (false, false) => Some(integer(a).cmp(&integer(b))),
    }
}

/// The order of an integer and a float, which is not rounded to the other.
fn order_of(n: i128, x: f64) -> Option<Ordering> {
    // All integers here have fewer bits than an i128, to which larger floats saturate.
    let of_whole = n.cmp(&(x.floor() as i128));
    let has_fraction = x.floor() < x;
    (!x.is_nan()).then(|| if has_fraction { of_whole.then(Ordering::Less) } else { of_whole })
}

/// Whether an operator on two truth values returns a truth value.
fn is_logical(operator: &str, a: Scalar, b: Scalar) -> bool {
    matches!(operator, "&" | "|" | "^") && a.dtype() == DType::Bool && b.dtype() == DType::Bool
}

fn integer(scalar: Scalar) -> i128 {
    match scalar.dtype() {
        DType::U64 => i128::from(scalar.as_i64() as u64),
        _ => i128::from(scalar.as_i64()),
    }
}

fn parts(scalar: Scalar) -> [f64; 2] {
    [scalar.as_f64(), scalar.imag().as_f64()]
}

fn of_integers(operator: &str, a: i128, b: i128) -> Result<Scalar, &'static str> {
    let divides = || if b == 0 { Err("division by zero") } else { Ok(()) };
    let negative = || if b < 0 { Err("a shift by a negative number") } else { Ok(()) };
    let result = match operator {
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "/" => {
            divides()?;
            return Ok(Scalar::from_f64(DType::F64, quotient(a, b)));
        }
        "//" => {
            divides()?;
            Some(a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0))
        }
        "%" => {
            divides()?;
            let remainder = a.rem_euclid(b);
            Some(if b < 0 && remainder != 0 { remainder + b } else { remainder })
        }
        "**" if b < 0 => return of_floats(operator, a as f64, b as f64),
        "**" => u32::try_from(b).ok().map_or_else(|| small_power(a, b), |b| a.checked_pow(b)),
        "&" => Some(a & b),
        "|" => Some(a | b),
        "^" => Some(a ^ b),
        "<<" => {
            negative()?;
            let factor =
                u32::try_from(b).ok().and_then(|b| 1_i128.checked_shl(b)).filter(|factor| *factor > 0);
            if a == 0 { Some(0) } else { factor.and_then(|factor| a.checked_mul(factor)) }
        }
        ">>" => {
            negative()?;
            Some(a >> b.min(127))
        }
        _ => return Err("integers do not have this operator"),
    };
    let beyond = "expected an integer that 64 bits hold";
    let result = result.ok_or(beyond)?;
    match (i64::try_from(result), u64::try_from(result)) {
        (Ok(n), _) => Ok(Scalar::from_i64(DType::I64, n)),
        (_, Ok(n)) => Ok(Scalar::from_u64(DType::U64, n)),
        _ => Err(beyond),
    }
}

/// The quotient of two integers of at most 65 bits, rounded once.
fn quotient(a: i128, b: i128) -> f64 {
    let (dividend, divisor) = (a.unsigned_abs(), b.unsigned_abs());
    let shift = dividend.leading_zeros().min(126);
    let (scaled, rest) = ((dividend << shift) / divisor, (dividend << shift) % divisor);
    // The last bit says whether something is left, as more bits than those of a float are there.
    let magnitude = (scaled | u128::from(rest != 0)) as f64 * 2_f64.powi(-(shift as i32));
    if (a < 0) == (b < 0) { magnitude } else { -magnitude }
}

/// A power with a large exponent, of the integers that stay small.
fn small_power(a: i128, exponent: i128) -> Option<i128> {
    match a {
        0 | 1 => Some(a),
        -1 => Some(if exponent % 2 == 0 { 1 } else { -1 }),
        _ => None,
    }
}

fn of_floats(operator: &str, x: f64, y: f64) -> Result<Scalar, &'static str> {
    let is_division = matches!(operator, "/" | "//" | "%");
    if y == 0.0 && is_division || operator == "**" && x == 0.0 && y < 0.0 {
        return Err("division by zero");
    }
    let result = match operator {
        "+" => x + y,
        "-" => x - y,
        "*" => x * y,
        "/" => x / y,
        "//" => floored(x, y),
        "%" => remainder(x, y),
        "**" if x < 0.0 && x.is_finite() && y.is_finite() && y.fract() != 0.0 => {
            return of_complex("**", [x, 0.0], [y, 0.0]);
        }
        "**" => x.powf(y),
        _ => return Err("floats do not have this operator"),
    };
    match operator == "**" && x.is_finite() && y.is_finite() && result.is_infinite() {
        true => Err("a power that is too large"),
        false => Ok(Scalar::from_f64(DType::F64, result)),
    }
}

/// The remainder with the sign of the divisor.
fn remainder(x: f64, y: f64) -> f64 {
    let remainder = x % y;
    if remainder == 0.0 {
        return 0.0_f64.copysign(y);
    }
    if (remainder < 0.0) == (y < 0.0) { remainder } else { remainder + y }
}

/// The floored quotient: of what is left when the remainder is taken off, which is nearly whole.
fn floored(x: f64, y: f64) -> f64 {
    let rest = x % y;
    let is_above = rest != 0.0 && (rest < 0.0) != (y < 0.0);
    let quotient = (x - rest) / y - f64::from(is_above);
    if quotient == 0.0 {
        return 0.0_f64.copysign(x / y);
    }
    let whole = quotient.floor();
    if quotient - whole > 0.5 { whole + 1.0 } else { whole }
}

fn of_complex(operator: &str, a: [f64; 2], b: [f64; 2]) -> Result<Scalar, &'static str> {
    let [re, im] = match operator {
        "+" => [a[0] + b[0], a[1] + b[1]],
        "-" => [a[0] - b[0], a[1] - b[1]],
        "*" => complex_product(a, b),
        "/" if b == [0.0; 2] => return Err("division by zero"),
        "/" => complex_quotient(a, b),
        "**" if a == [0.0; 2] && (b[0] < 0.0 || b[1] != 0.0) => return Err("division by zero"),
        "**" => complex_power(a, b),
        _ => return Err("complex numbers do not have this operator"),
    };
    let is_of_finite = operator == "**" && [a, b].as_flattened().iter().all(|part| part.is_finite());
    match is_of_finite && !(re.is_finite() && im.is_finite()) {
        true => Err("a power that is too large"),
        false => Ok(Scalar::complex(DType::C128, re, im)),
    }
}

fn complex_product([a, b]: [f64; 2], [c, d]: [f64; 2]) -> [f64; 2] {
    [a * c - b * d, a * d + b * c]
}

/// Smith's algorithm (1962), which divides by the larger part first.
fn complex_quotient([a, b]: [f64; 2], [c, d]: [f64; 2]) -> [f64; 2] {
    if c.abs() >= d.abs() {
        let ratio = d / c;
        let scale = c + d * ratio;
        return [(a + b * ratio) / scale, (b - a * ratio) / scale];
    }
    let ratio = c / d;
    let scale = c * ratio + d;
    [(a * ratio + b) / scale, (b * ratio - a) / scale]
}

/// By products where the exponent is a small integer, else by length and angle.
fn complex_power(base: [f64; 2], exponent: [f64; 2]) -> [f64; 2] {
    let [power, imaginary] = exponent;
    if imaginary == 0.0 && power.fract() == 0.0 && power.abs() <= 100.0 {
        let product = (0..power.abs() as u32).fold([1.0, 0.0], |product, _| complex_product(product, base));
        return if power < 0.0 { complex_quotient([1.0, 0.0], product) } else { product };
    }
    if base == [0.0; 2] {
        return [0.0; 2];
    }
    let (length, angle) = (base[0].hypot(base[1]), base[1].atan2(base[0]));
    let length_of_power = length.powf(power) * (-angle * imaginary).exp();
    let angle_of_power = angle * power + imaginary * length.ln();
    [length_of_power * angle_of_power.cos(), length_of_power * angle_of_power.sin()]
}
