//! Parameters of ops in the definition language: names, kinds, defaults.

use crate::{DType, Scalar};

/// One parameter of an op.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Param {
    pub name: &'static str,
    /// Another name it is also known by: `dim` for `dims`.
    pub alias: Option<&'static str>,
    /// The kind of its arguments.
    pub kind: ParamKind,
    /// Its default. An explicit `None` counts as not given.
    pub default: ParamDefault,
}

/// The kind of an argument.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ParamKind {
    /// A tensor, a scalar value or a number.
    Operand,
    /// A tensor.
    Tensor,
    /// A list of tensors; if the parameter has an alias, one tensor too.
    Tensors,
    /// A scalar value or a number.
    Scalar,
    /// A number or a list of numbers.
    Numbers,
    /// How a fold or scan combines: a lambda, or the name of a monoid.
    Combine,
    /// A lambda.
    Lambda,
    /// A whole number.
    Int,
    /// A list of whole numbers; if the parameter has an alias, one whole number too.
    Ints,
    /// A list of whole numbers and integer scalar values.
    Shape,
    /// `True` or `False`.
    Bool,
    /// A list of `True` and `False`.
    Bools,
    /// `True`, `False`, or a list of `True`, `False` and `None`: the layout of an input.
    Contiguity,
    /// A `DataType`.
    DType,
    /// A word in quotes.
    Text,
}

/// The default of an argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParamDefault {
    /// Nothing: it must be given.
    Required,
    /// `None`: the op does without.
    Absent,
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A bool.
    Bool(bool),
    /// A dtype.
    DType(DType),
    /// The smallest value of the compute dtype: minus infinity for floats.
    Lowest,
    /// The largest value of the compute dtype: infinity for floats.
    Highest,
}

impl ParamDefault {
    /// The default as a number, if it is one.
    pub fn as_number(self) -> Option<f64> {
        match self {
            ParamDefault::Int(x) => Some(x as f64),
            ParamDefault::Float(x) => Some(x),
            ParamDefault::Lowest => Some(f64::NEG_INFINITY),
            ParamDefault::Highest => Some(f64::INFINITY),
            ParamDefault::Bool(x) => Some(f64::from(x)),
            ParamDefault::Required | ParamDefault::Absent | ParamDefault::DType(_) => None,
        }
    }

    /// The default as a constant of `dtype`, if it is a number.
    pub fn as_scalar(self, dtype: DType) -> Option<Scalar> {
        self.as_number().map(|number| Scalar::from_f64(dtype, number))
    }
}

impl Param {
    /// A parameter that must be given.
    pub const fn required(name: &'static str, kind: ParamKind) -> Param {
        Param { name, alias: None, kind, default: ParamDefault::Required }
    }

    /// A parameter with a default.
    pub const fn optional(name: &'static str, kind: ParamKind, default: ParamDefault) -> Param {
        Param { name, alias: None, kind, default }
    }

    /// An operand that must be given.
    pub const fn operand(name: &'static str) -> Param {
        Param::required(name, ParamKind::Operand)
    }

    /// The same with another name.
    pub const fn also(self, alias: &'static str) -> Param {
        Param { alias: Some(alias), ..self }
    }

    /// Is it a bound of values, which has no effect where it is beyond the dtype?
    pub fn is_bound(&self) -> bool {
        matches!(self.default, ParamDefault::Lowest | ParamDefault::Highest)
    }

    /// Is it known by `name`?
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.alias == Some(name)
    }
}
