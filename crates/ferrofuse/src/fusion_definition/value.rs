//! Values of a definition under construction, and their operators, which are the ops with the same meaning.

use std::fmt;
use std::ops::{
    Add, AddAssign, BitAnd, BitOr, BitXor, Div, DivAssign, Mul, MulAssign, Neg, Not, Rem, Shl, Shr, Sub,
    SubAssign,
};

use ir::definition::{NamedValue, Object};
use ops::{DType, Scalar};

use super::{FusionDefinition, OpArgument};

/// A tensor or a scalar of a definition.
#[derive(Clone, Copy)]
#[must_use = "a value that no output depends on is not computed"]
pub struct FusionValue<'f> {
    of: &'f FusionDefinition,
    /// `None` for the result of a rejected call.
    meaning: Option<Meaning>,
}

#[derive(Clone, Copy, Debug)]
enum Meaning {
    Named(NamedValue),
    Constant(Scalar),
}

impl<'f> FusionValue<'f> {
    pub(super) fn new(of: &'f FusionDefinition, object: Option<&Object>) -> FusionValue<'f> {
        let meaning = object.and_then(|object| match object {
            Object::Value(value) => Some(Meaning::Named(*value)),
            Object::Number(scalar) => Some(Meaning::Constant(*scalar)),
            _ => None,
        });
        FusionValue { of, meaning }
    }

    /// Gives it a name, for texts and messages, unless it has one. A name has letters, digits and `_`, and begins with no
    /// digit; another is a rejected call.
    #[track_caller]
    pub fn named(self, name: &str) -> FusionValue<'f> {
        if let Some(Meaning::Named(value)) = self.meaning {
            self.of.statement("named", vec![name.into()], |builder, _| {
                if !is_name(name) {
                    let expected = "a name of letters, digits and `_` that begins with no digit";
                    return Err(super::error::of_call("named", expected, &format!("{name:?}")));
                }
                builder.set_name(value, name);
                Ok(())
            });
        }
        self
    }

    /// The dtype; `None` for the result of a rejected call.
    pub fn dtype(self) -> Option<DType> {
        Some(match self.meaning? {
            Meaning::Named(value) => self.of.state.borrow().builder.ty(value).dtype,
            Meaning::Constant(scalar) => scalar.dtype(),
        })
    }

    /// The number of axes, 0 for a scalar; `None` for the result of a rejected call.
    pub fn rank(self) -> Option<usize> {
        Some(match self.meaning? {
            Meaning::Named(value) => self.of.state.borrow().builder.ty(value).rank(),
            Meaning::Constant(_) => 0,
        })
    }

    /// The definition that it is a value of.
    pub fn definition(self) -> &'f FusionDefinition {
        self.of
    }

    pub(super) fn object(self) -> Option<Object> {
        Some(match self.meaning? {
            Meaning::Named(value) => Object::Value(value),
            Meaning::Constant(scalar) => Object::Number(scalar),
        })
    }
}

impl fmt::Debug for FusionValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.meaning {
            Some(Meaning::Named(value)) => {
                let state = self.of.state.borrow();
                write!(f, "{}: {}", value.val, state.builder.ty(value))
            }
            Some(Meaning::Constant(scalar)) => write!(f, "{scalar:?}"),
            None => f.write_str("rejected"),
        }
    }
}

/// Operators between values, and between values and numbers.
macro_rules! binary {
    ($($operator:ident $method:ident $op:literal;)*) => {$(
        impl<'f, R: Into<OpArgument<'f>>> $operator<R> for FusionValue<'f> {
            type Output = FusionValue<'f>;

            #[track_caller]
            fn $method(self, right: R) -> FusionValue<'f> {
                self.of.call($op, vec![self.into(), right.into()])
            }
        }

        binary!(@numbers $operator $method $op; f64 f32 i64 i32 usize);
    )*};
    (@numbers $operator:ident $method:ident $op:literal; $($number:ty)*) => {$(
        impl<'f> $operator<FusionValue<'f>> for $number {
            type Output = FusionValue<'f>;

            #[track_caller]
            fn $method(self, right: FusionValue<'f>) -> FusionValue<'f> {
                right.of.call($op, vec![self.into(), right.into()])
            }
        }
    )*};
}

/// Operators that replace the value on the left.
macro_rules! assigning {
    ($($operator:ident $method:ident $binary:ident;)*) => {$(
        impl<'f, R: Into<OpArgument<'f>>> $operator<R> for FusionValue<'f> {
            #[track_caller]
            fn $method(&mut self, right: R) {
                *self = self.$binary(right);
            }
        }
    )*};
}

assigning! {
    AddAssign add_assign add;
    SubAssign sub_assign sub;
    MulAssign mul_assign mul;
    DivAssign div_assign div;
}

binary! {
    Add add "add";
    Sub sub "sub";
    Mul mul "mul";
    Div div "truediv";
    Rem rem "remainder";
    BitAnd bitand "bitwise_and";
    BitOr bitor "bitwise_or";
    BitXor bitxor "bitwise_xor";
    Shl shl "bitwise_left_shift";
    Shr shr "bitwise_right_shift";
}

impl<'f> Neg for FusionValue<'f> {
    type Output = FusionValue<'f>;

    #[track_caller]
    fn neg(self) -> FusionValue<'f> {
        self.of.call("neg", vec![self.into()])
    }
}

impl<'f> Not for FusionValue<'f> {
    type Output = FusionValue<'f>;

    #[track_caller]
    fn not(self) -> FusionValue<'f> {
        self.of.call("bitwise_not", vec![self.into()])
    }
}

fn is_name(name: &str) -> bool {
    let suits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.chars().all(suits) && name.starts_with(|first: char| !first.is_ascii_digit())
}
