//! What an op is called with: values, numbers, dtypes, words, and lists of these.

use std::fmt;

use frontend::define::DefineError;
use ir::definition::{CallArgument, Object};
use ops::{DType, Scalar};

use super::value::FusionValue;
use super::{FusionDefinition, error, written};

/// An argument of an op. Anything that it can be made from may stand in [`op!`](crate::op).
#[derive(Clone)]
pub struct OpArgument<'f> {
    name: Option<&'static str>,
    /// `None` if a value in it comes from a rejected call.
    object: Option<Object>,
    /// The definition of the values in it.
    of: Owner<'f>,
}

/// The definition of values.
#[derive(Clone, Copy)]
enum Owner<'f> {
    None,
    One(&'f FusionDefinition),
    Several,
}

impl<'f> Owner<'f> {
    /// That of the values of both.
    fn and(self, other: Owner<'f>) -> Owner<'f> {
        match (self, other) {
            (Owner::None, owner) | (owner, Owner::None) => owner,
            (Owner::One(a), Owner::One(b)) if std::ptr::eq(a, b) => self,
            _ => Owner::Several,
        }
    }

    fn is_foreign(self, definition: &FusionDefinition) -> bool {
        match self {
            Owner::None => false,
            Owner::One(of) => !std::ptr::eq(of, definition),
            Owner::Several => true,
        }
    }
}

impl<'f> OpArgument<'f> {
    /// An argument given by name.
    pub fn named(name: &'static str, value: impl Into<OpArgument<'f>>) -> OpArgument<'f> {
        OpArgument { name: Some(written(name)), ..value.into() }
    }

    fn constant(object: Object) -> OpArgument<'f> {
        OpArgument { name: None, object: Some(object), of: Owner::None }
    }

    fn list(items: impl IntoIterator<Item = OpArgument<'f>>) -> OpArgument<'f> {
        let mut of = Owner::None;
        let objects: Option<Vec<Object>> = items
            .into_iter()
            .map(|item| {
                of = of.and(item.of);
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
        if self.of.is_foreign(definition) {
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
        OpArgument { name: None, object: value.object(), of: Owner::One(value.definition()) }
    }
}

impl<'f> From<&FusionValue<'f>> for OpArgument<'f> {
    fn from(value: &FusionValue<'f>) -> OpArgument<'f> {
        OpArgument::from(*value)
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

impl<'f, T: Into<OpArgument<'f>> + Clone> From<&[T]> for OpArgument<'f> {
    fn from(items: &[T]) -> OpArgument<'f> {
        OpArgument::list(items.iter().cloned().map(Into::into))
    }
}

impl<'f, T: Into<OpArgument<'f>> + Clone, const N: usize> From<&[T; N]> for OpArgument<'f> {
    fn from(items: &[T; N]) -> OpArgument<'f> {
        OpArgument::from(items.as_slice())
    }
}

impl<'f, T: Into<OpArgument<'f>> + Clone> From<&Vec<T>> for OpArgument<'f> {
    fn from(items: &Vec<T>) -> OpArgument<'f> {
        OpArgument::from(items.as_slice())
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
    u32: value => Object::int(value.into());
    i64: value => Object::int(value);
    isize: value => Object::int(value as i64);
    u64: value => unsigned(value);
    usize: value => unsigned(value as u64);
    f32: value => Object::float(value.into());
    f64: value => Object::float(value);
    Scalar: value => Object::Number(value);
    DType: value => Object::DType(value);
    &str: value => Object::Text(value.into());
    &String: value => Object::Text(value.as_str().into());
}

/// An int, or a u64 where no int holds it.
fn unsigned(value: u64) -> Object {
    i64::try_from(value).map_or_else(|_| Object::Number(Scalar::from_u64(DType::U64, value)), Object::int)
}
