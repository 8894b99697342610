//! Objects of the definition language: values of the graph, numbers, dtypes, lists of these.
//!
//! They are the arguments and results of calls, in any language in which the definition is written.

use std::sync::Arc;

use ops::{DType, Scalar};

use super::{Entry, Function};
use crate::Span;
use crate::graph::Val;

/// A value of the graph together with its line in the record, because equal values merge and lines do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NamedValue {
    pub val: Val,
    /// Its entry in the record.
    pub entry: Entry,
}

/// An object of the definition language.
#[derive(Clone, Debug, PartialEq)]
pub enum Object {
    /// `None`, and `DataType.Null`.
    None,
    /// A number; Python's own are `bool`, `i64` and `f64`.
    Number(Scalar),
    /// A dtype.
    DType(DType),
    /// A tensor or a scalar value.
    Value(NamedValue),
    /// A list or a tuple.
    List(Arc<[Object]>),
    /// A word in quotes.
    Text(Arc<str>),
    /// A lambda as written.
    Function(Arc<Function>),
}

impl Object {
    /// A Python bool.
    pub fn bool(value: bool) -> Object {
        Object::Number(Scalar::from_bool(value))
    }

    /// A Python int.
    pub fn int(value: i64) -> Object {
        Object::Number(Scalar::from_i64(DType::I64, value))
    }

    /// A Python float.
    pub fn float(value: f64) -> Object {
        Object::Number(Scalar::from_f64(DType::F64, value))
    }

    /// A list.
    pub fn list(items: impl IntoIterator<Item = Object>) -> Object {
        Object::List(items.into_iter().collect())
    }

    /// A list of ints.
    pub fn ints(items: impl IntoIterator<Item = i64>) -> Object {
        Object::list(items.into_iter().map(Object::int))
    }

    /// The value, if it is one.
    pub fn as_value(&self) -> Option<NamedValue> {
        match self {
            Object::Value(value) => Some(*value),
            _ => None,
        }
    }

    /// Visits the value that it is, or those in its list. A lambda sees none.
    pub fn each_value(&self, visit: &mut impl FnMut(NamedValue)) {
        match self {
            Object::Value(value) => visit(*value),
            Object::List(items) => items.iter().for_each(|item| item.each_value(visit)),
            _ => {}
        }
    }

    /// The integer, if it is a number of an integer dtype.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Object::Number(scalar) if scalar.dtype().holds_sizes() => Some(scalar.as_i64()),
            _ => None,
        }
    }

    /// The bool, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Object::Number(scalar) if scalar.dtype() == DType::Bool => Some(scalar.as_bool()),
            _ => None,
        }
    }

    /// The items, if it is a list.
    pub fn as_list(&self) -> Option<&[Object]> {
        match self {
            Object::List(items) => Some(items),
            _ => None,
        }
    }
}

impl From<NamedValue> for Object {
    fn from(value: NamedValue) -> Object {
        Object::Value(value)
    }
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallArgument {
    /// Its name, if it was given by name.
    pub keyword: Option<String>,
    pub object: Object,
    pub span: Option<Span>,
}

impl CallArgument {
    /// An argument given by place.
    pub fn positional(object: impl Into<Object>) -> CallArgument {
        CallArgument { keyword: None, object: object.into(), span: None }
    }

    /// An argument given by name.
    pub fn keyword(name: &str, object: impl Into<Object>) -> CallArgument {
        CallArgument { keyword: Some(name.to_owned()), object: object.into(), span: None }
    }
}
