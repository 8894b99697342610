//! Numbers, sizes and dtypes as the list of inputs writes them, small sums worked out.

use ir::Span;
use ops::DType;
use syntax::RawDiagnostic;
use syntax::{ArgumentSyntax, Tree, TreeKind};

/// Axes that an input may have.
const MAX_RANK: usize = 32;

/// A number as Python tells them apart.
#[derive(Clone, Copy)]
pub(super) enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    /// The number as a float, rounded to nearest.
    pub fn as_f64(&self) -> f64 {
        match *self {
            Number::Int(n) => n as f64,
            Number::Float(x) => x,
        }
    }
}

/// A number, or a product, sum, difference or power of numbers.
pub(super) fn number(tree: &Tree) -> Result<Number, RawDiagnostic> {
    let reject = || RawDiagnostic::new(tree.span, "this is not a number", "expected a number");
    match &tree.kind {
        TreeKind::Int(n) => Ok(Number::Int(*n)),
        TreeKind::Float(x) => Ok(Number::Float(*x)),
        TreeKind::Unary("-", operand) => match number(operand)? {
            Number::Int(n) => n.checked_neg().map(Number::Int).ok_or_else(reject),
            Number::Float(x) => Ok(Number::Float(-x)),
        },
        TreeKind::Binary(operator, a, b) => match (number(a)?, number(b)?) {
            (Number::Int(a), Number::Int(b)) => {
                integer_result(operator, a, b).map(Number::Int).ok_or_else(reject)
            }
            (a, b) => float_result(operator, a.as_f64(), b.as_f64()).map(Number::Float).ok_or_else(reject),
        },
        TreeKind::Call(callee, arguments) if callee.path().is_some_and(|path| path == ["float"]) => {
            float_text(arguments).map(Number::Float).ok_or_else(reject)
        }
        _ => Err(reject()),
    }
}

/// The value of `float("inf")`, `float("-inf")`, `float("nan")` or `float(1)`.
pub(in crate::text) fn float_text(arguments: &[ArgumentSyntax]) -> Option<f64> {
    match arguments {
        [ArgumentSyntax { keyword: None, value }] => match &value.kind {
            TreeKind::Text(text) => text.trim().parse().ok(),
            TreeKind::Int(n) => Some(*n as f64),
            TreeKind::Float(x) => Some(*x),
            _ => None,
        },
        _ => None,
    }
}

fn integer_result(operator: &str, a: i64, b: i64) -> Option<i64> {
    match operator {
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "//" if b > 0 => a.checked_div_euclid(b),
        "**" => a.checked_pow(u32::try_from(b).ok()?),
        _ => None,
    }
}

fn float_result(operator: &str, a: f64, b: f64) -> Option<f64> {
    match operator {
        "+" => Some(a + b),
        "-" => Some(a - b),
        "*" => Some(a * b),
        "/" => Some(a / b),
        "**" => Some(a.powf(b)),
        _ => None,
    }
}

pub(super) fn integer(tree: &Tree) -> Result<i64, RawDiagnostic> {
    match number(tree) {
        Ok(Number::Int(n)) => Ok(n),
        _ => Err(RawDiagnostic::new(tree.span, "this is not an integer", "expected an integer")),
    }
}

pub(super) fn integers(tree: &Tree) -> Result<Vec<i64>, RawDiagnostic> {
    match &tree.kind {
        TreeKind::List(items) => items.iter().map(integer).collect(),
        _ => Ok(vec![integer(tree)?]),
    }
}

pub(super) fn sizes(tree: &Tree) -> Result<Vec<i64>, RawDiagnostic> {
    checked_sizes(integers(tree)?, tree.span)
}

pub(super) fn checked_sizes(sizes: Vec<i64>, span: Span) -> Result<Vec<i64>, RawDiagnostic> {
    if sizes.len() > MAX_RANK {
        return Err(RawDiagnostic::new(span, "too many axes", format!("at most {MAX_RANK}")));
    }
    match sizes.iter().find(|&&size| size < 0) {
        Some(size) => {
            Err(RawDiagnostic::new(span, format!("the size {size} is negative"), "expected 0 or more"))
        }
        None => Ok(sizes),
    }
}

pub(super) fn dtype_path(tree: &Tree) -> Option<DType> {
    let path = tree.path()?;
    match path[..] {
        ["torch" | "np" | "numpy" | "ml_dtypes", name] => match name {
            "half" => Some(DType::F16),
            "float" => Some(DType::F32),
            "double" => Some(DType::F64),
            "int" => Some(DType::I32),
            "long" => Some(DType::I64),
            "bool_" => Some(DType::Bool),
            "cfloat" => Some(DType::C64),
            "cdouble" => Some(DType::C128),
            _ => DType::ALL.into_iter().find(|dtype| dtype.numpy_name() == name),
        },
        _ => None,
    }
}

pub(super) fn dtype(tree: &Tree) -> Result<DType, RawDiagnostic> {
    let reject = || {
        let known: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.numpy_name()).collect();
        let message = match tree.path().as_deref() {
            Some([_, name]) if DType::is_left_out(name) => format!("the dtype `{name}` is not supported"),
            _ => "this is not a dtype".to_owned(),
        };
        RawDiagnostic::new(tree.span, message, "expected a dtype such as torch.float32")
            .help(format!("known: {}", known.join(", ")))
    };
    dtype_path(tree).ok_or_else(reject)
}
