//! What an op is called with: values, numbers, dtypes, words, and lists of these.

use std::fmt;

use frontend::define::DefineError;
use ir::definition::{CallArgument, Object};
use ops::{DType, Scalar};

use super::value::FusionValue;
use super::{FusionDefinition, error};

/// An argument of an op. Anything that it can be made from may stand in [`op!`](crate::op).
#[derive(Clone)]
pub struct OpArgument<'f> {
    name: Option<&'static str>,
    /// `None` if a value in it comes from a rejected call.
    object: Option<Object>,
    /// The definition of a value in it.
    of: Option<&'f FusionDefinition>,
}

impl<'f> OpArgument<'f> {
    /// An argument given by name.
    pub fn named(name: &'static str, value: impl Into<OpArgument<'f>>) -> OpArgument<'f> {
        OpArgument { name: Some(name), ..value.into() }
    }

    fn constant(object: Object) -> OpArgument<'f> {
        OpArgument { name: None, object: Some(object), of: None }
    }

    fn list(items: impl IntoIterator<Item = OpArgument<'f>>) -> OpArgument<'f> {
        let mut of = None;
        let objects: Option<Vec<Object>> = items
            .into_iter()
            .map(|item| {
                of = of.or(item.of);
                item.object
            })
            .collect();
        OpArgument { name: None, object: objects.map(Object::list), of }
    }

    /// The argument as the builder takes it; `None` if a value in it was rejected.
    pub(super) fn of_call(
        self,
        definition: &FusionDefinition,
        op: &str,
    ) -> Option<Result<CallArgument, DefineError>> {
        if self.of.is_some_and(|of| !std::ptr::eq(of, definition)) {
            return Some(Err(error::of_call(op, "values of its own definition", "one of another")));
        }
        let object = self.object?;
        Some(Ok(match self.name {
            Some(name) => CallArgument::keyword(name, object),
            None => CallArgument::positional(object),
        }))
    }
}

impl fmt::Debug for OpArgument<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OpArgument { name, object, of: _ } = self;
        f.debug_struct("OpArgument").field("name", name).field("object", object).finish_non_exhaustive()
    }
}

impl<'f> From<FusionValue<'f>> for OpArgument<'f> {
    fn from(value: FusionValue<'f>) -> OpArgument<'f> {
        OpArgument { name: None, object: value.object(), of: Some(value.definition()) }
    }
}

/// Nothing stands for `None`.
impl<'f, T: Into<OpArgument<'f>>> From<Option<T>> for OpArgument<'f> {
    fn from(value: Option<T>) -> OpArgument<'f> {
        value.map_or_else(|| OpArgument::constant(Object::None), Into::into)
    }
}

impl<'f, T: Into<OpArgument<'f>>, const N: usize> From<[T; N]> for OpArgument<'f> {
    fn from(items: [T; N]) -> OpArgument<'f> {
        OpArgument::list(items.into_iter().map(Into::into))
    }
}

impl<'f, T: Into<OpArgument<'f>>> From<Vec<T>> for OpArgument<'f> {
    fn from(items: Vec<T>) -> OpArgument<'f> {
        OpArgument::list(items.into_iter().map(Into::into))
    }
}

impl<'f, T: Into<OpArgument<'f>> + Copy> From<&[T]> for OpArgument<'f> {
    fn from(items: &[T]) -> OpArgument<'f> {
        OpArgument::list(items.iter().copied().map(Into::into))
    }
}

/// Constants of the language from values of Rust.
macro_rules! from_constants {
    ($($ty:ty: $value:ident => $object:expr;)*) => {$(
        impl<'f> From<$ty> for OpArgument<'f> {
            fn from($value: $ty) -> OpArgument<'f> {
                OpArgument::constant($object)
            }
        }
    )*};
}

from_constants! {
    bool: value => Object::bool(value);
    i32: value => Object::int(value.into());
    i64: value => Object::int(value);
    usize: value => Object::int(i64::try_from(value).unwrap_or(i64::MAX));
    f32: value => Object::float(value.into());
    f64: value => Object::float(value);
    Scalar: value => Object::Number(value);
    DType: value => Object::DType(value);
    &str: value => Object::Text(value.into());
}
