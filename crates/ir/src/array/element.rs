//! The Rust types of dtypes, with the conversions of a cast.

use half::{bf16, f16};
use ops::DType;
use ops::small_float::{E4m3, E5m2, E8m0, SmallFloat, to_odd};

/// A type that the elements of an array can have.
///
/// `from_real` and `from_int` are the cast of the language: to nearest even for floats, truncated and saturated from
/// floats to integers (NaN is 0), the low bits between integers, through the type of their arithmetic to storage types.
pub trait Element: Copy + Send + Sync + 'static + sealed::Sealed {
    /// The dtype.
    const DTYPE: DType;
    /// The value as a double; integers beyond 2^53 round.
    fn to_real(self) -> f64;
    /// The cast from a float.
    fn from_real(x: f64) -> Self;
    /// The value as an integer; floats are truncated and saturated, u64 is taken by its bits.
    fn to_int(self) -> i64;
    /// The cast from a signed integer or a bool.
    fn from_int(x: i64) -> Self;
    /// The cast from an unsigned integer.
    fn from_unsigned(x: u64) -> Self;
}

mod sealed {
    /// The set of element types is closed: any bit pattern must be a value of each.
    pub trait Sealed {}
}

/// One row: type, dtype, and the five conversions.
macro_rules! element {
    ($type:ty, $dtype:ident,
     to_real: $to_real:expr, from_real: $from_real:expr,
     to_int: $to_int:expr, from_int: $from_int:expr, from_unsigned: $from_unsigned:expr) => {
        impl sealed::Sealed for $type {}

        impl Element for $type {
            const DTYPE: DType = DType::$dtype;

            #[inline(always)]
            fn to_real(self) -> f64 {
                let convert: fn($type) -> f64 = $to_real;
                convert(self)
            }

            #[inline(always)]
            fn from_real(x: f64) -> Self {
                let convert: fn(f64) -> $type = $from_real;
                convert(x)
            }

            #[inline(always)]
            fn to_int(self) -> i64 {
                let convert: fn($type) -> i64 = $to_int;
                convert(self)
            }

            #[inline(always)]
            fn from_int(x: i64) -> Self {
                let convert: fn(i64) -> $type = $from_int;
                convert(x)
            }

            #[inline(always)]
            fn from_unsigned(x: u64) -> Self {
                let convert: fn(u64) -> $type = $from_unsigned;
                convert(x)
            }
        }
    };
}

/// The row of an integer type whose arithmetic happens in another.
macro_rules! integer {
    ($type:ty, $dtype:ident, $compute:ty) => {
        element!($type, $dtype,
            to_real: |x| x as f64, from_real: |x| x as $compute as $type,
            to_int: |x| x as i64, from_int: |x| x as $type, from_unsigned: |x| x as $type);
    };
}

/// The row of a float storage type, with its conversions from and to f32.
macro_rules! storage {
    ($type:ty, $dtype:ident, $widen:expr, $narrow:expr) => {
        element!($type, $dtype,
            to_real: |x| f64::from($widen(x)), from_real: |x| $narrow(to_odd(x)),
            to_int: |x| $widen(x) as i64, from_int: |x| $narrow(x as f32), from_unsigned: |x| $narrow(x as f32));
    };
}

element!(ByteBool, Bool,
    to_real: |x| f64::from(u8::from(x.0 != 0)), from_real: |x| ByteBool((x != 0.0).into()),
    to_int: |x| i64::from(x.0 != 0), from_int: |x| ByteBool((x != 0).into()),
    from_unsigned: |x| ByteBool((x != 0).into()));
integer!(i8, I8, i32);
integer!(i16, I16, i32);
integer!(i32, I32, i32);
integer!(i64, I64, i64);
integer!(u8, U8, i32);
integer!(u16, U16, i32);
integer!(u32, U32, i64);
integer!(u64, U64, u64);
storage!(E8m0, F8E8M0, E8m0::to_f32, E8m0::from_f32);
storage!(E4m3, F8E4M3, E4m3::to_f32, E4m3::from_f32);
storage!(E5m2, F8E5M2, E5m2::to_f32, E5m2::from_f32);
storage!(f16, F16, widen_f16, narrow_f16);
storage!(bf16, BF16, bf16::to_f32, bf16::from_f32);
element!(f32, F32,
    to_real: f64::from, from_real: |x| x as f32,
    to_int: |x| x as i64, from_int: |x| x as f32, from_unsigned: |x| x as f32);
element!(f64, F64,
    to_real: |x| x, from_real: |x| x,
    to_int: |x| x as i64, from_int: |x| x as f64, from_unsigned: |x| x as f64);

/// Without branches, so that it vectorizes; the crate's own conversion tests the processor's features each time.
#[inline(always)]
fn widen_f16(x: f16) -> f32 {
    SmallFloat::F16.widen(x.to_bits().into())
}

#[inline(always)]
fn narrow_f16(x: f32) -> f16 {
    f16::from_bits(SmallFloat::F16.narrow(x) as u16)
}

/// The row of a complex type of these parts.
macro_rules! complex {
    ($part:ty, $dtype:ident) => {
        element!(Complex<$part>, $dtype,
            to_real: |x| f64::from(x.re), from_real: |x| (x as $part).into(),
            to_int: |x| x.re as i64, from_int: |x| (x as $part).into(), from_unsigned: |x| (x as $part).into());
    };
}

complex!(f32, C64);
complex!(f64, C128);

/// A bool as memory holds it: foreign memory may have any byte there; zero is false and all others are true.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ByteBool(pub u8);

/// A complex number as memory holds it: the real part, then the imaginary part.
///
/// As an [`Element`] it follows the casts too: to a real number the imaginary part is dropped, from one it is zero.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex<T> {
    pub re: T,
    pub im: T,
}

impl<T: Default> From<T> for Complex<T> {
    fn from(re: T) -> Complex<T> {
        Complex { re, im: T::default() }
    }
}

/// Evaluates an expression with `$T` bound to the element type of a dtype. Crates that use it must depend on `half` and
/// `ops`.
#[macro_export]
macro_rules! with_element {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::with_element!($dtype, $T => $body, {
            Bool: $crate::array::ByteBool,
            I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64,
            F8E8M0: ops::small_float::E8m0, F8E4M3: ops::small_float::E4m3, F8E5M2: ops::small_float::E5m2,
            F16: half::f16, BF16: half::bf16, F32: f32, F64: f64,
            C64: $crate::array::Complex<f32>, C128: $crate::array::Complex<f64>,
        })
    };
    ($dtype:expr, $T:ident => $body:expr, { $($variant:ident: $type:ty,)+ }) => {
        match $dtype {
            $(ops::DType::$variant => {
                type $T = $type;
                $body
            })+
        }
    };
}
pub use with_element;
