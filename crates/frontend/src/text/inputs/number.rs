//! Numbers, sizes and dtypes in the list of inputs, with small sums evaluated.

use ir::Span;
use ops::DType;
use syntax::RawDiagnostic;
use syntax::{Tree, TreeKind};

use crate::text::arithmetic::constant;

/// The limit on the axes of an input.
const MAX_RANK: usize = 32;

/// A number, with Python's distinction of types.
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

/// A number, or operators on numbers.
pub(super) fn number(tree: &Tree) -> Result<Number, RawDiagnostic> {
    let scalar = constant(tree)?;
    match scalar.dtype() {
        DType::I64 => Ok(Number::Int(scalar.as_i64())),
        DType::F64 => Ok(Number::Float(scalar.as_f64())),
        _ => {
            Err(RawDiagnostic::new(tree.span, "this number cannot be here", "expected an integer or a float"))
        }
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

/// A dtype as torch and NumPy have it: `torch.float32`, `np.int64`, `"float32"` or Python's `float`.
pub(super) fn known_dtype(tree: &Tree) -> Option<DType> {
    if let TreeKind::Text(text) = &tree.kind {
        return dtype_text(text);
    }
    let path = tree.path()?;
    match path[..] {
        [name @ ("float" | "int" | "bool" | "complex")] => dtype_text(name),
        ["torch" | "np" | "numpy" | "ml_dtypes", name] => match name {
            "half" => Some(DType::F16),
            "single" => Some(DType::F32),
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

/// A dtype in a string, as NumPy reads it: its name, Python's name of it, or its kind and bytes as in `f4`.
fn dtype_text(text: &str) -> Option<DType> {
    let coded = |dtype: &DType| {
        dtype.typestr().is_some_and(|code| code == text || code.trim_start_matches(['<', '|']) == text)
    };
    match text {
        "half" => Some(DType::F16),
        "single" => Some(DType::F32),
        "float" | "double" => Some(DType::F64),
        "int" => Some(DType::I64),
        "complex" => Some(DType::C128),
        _ => DType::ALL.into_iter().find(|dtype| dtype.numpy_name() == text || coded(dtype)),
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
    known_dtype(tree).ok_or_else(reject)
}
