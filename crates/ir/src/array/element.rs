//! The Rust types that stand for dtypes, with the conversions that a cast means.
//!
//! A bool is a byte, since foreign memory may hold any byte there; zero is false and all else true.

use half::{bf16, f16};

use crate::DType;

/// A type that the elements of an array can have.
///
/// `from_real` and `from_int` are the cast of the language: to nearest even for floats, truncated and saturated from
/// floats to integers (NaN is 0), the low bits from i64 to i32, through f32 from integers to the half types.
pub trait Element: Copy + Send + Sync + 'static + sealed::Sealed {
    /// The dtype.
    const DTYPE: DType;
    /// The value as a double; integers beyond 2^53 round.
    fn to_real(self) -> f64;
    /// The cast from a float.
    fn from_real(x: f64) -> Self;
    /// The value as an integer; floats are truncated and saturated.
    fn to_int(self) -> i64;
    /// The cast from an integer or a bool.
    fn from_int(x: i64) -> Self;
}

mod sealed {
    /// The set of element types is closed: any bit pattern must be a value of each.
    pub trait Sealed {}
}

/// One row: type, dtype, and the four conversions.
macro_rules! element {
    ($type:ty, $dtype:ident, $to_real:expr, $from_real:expr, $to_int:expr, $from_int:expr) => {
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
        }
    };
}

element!(u8, Bool, |x| f64::from(u8::from(x != 0)), |x| u8::from(x != 0.0), |x| i64::from(x != 0), |x| {
    u8::from(x != 0)
});
element!(i32, I32, f64::from, |x| x as i32, i64::from, |x| x as i32);
element!(i64, I64, |x| x as f64, |x| x as i64, |x| x, |x| x);
element!(f16, F16, |x| f64::from(x.to_f32()), |x| f16::from_f32(to_odd(x)), |x| x.to_f32() as i64, |x| {
    f16::from_f32(x as f32)
});
element!(bf16, BF16, |x| f64::from(x.to_f32()), |x| bf16::from_f32(to_odd(x)), |x| x.to_f32() as i64, |x| {
    bf16::from_f32(x as f32)
});
element!(f32, F32, f64::from, |x| x as f32, |x| x as i64, |x| x as f32);
element!(f64, F64, |x| x, |x| x, |x| x as i64, |x| x as f64);

/// The double as a float, rounded to odd: rounding that to a half type is one correct rounding of the double
/// (Boldo and Melquiond 2008), where rounding to nearest twice may err.
#[inline(always)]
fn to_odd(x: f64) -> f32 {
    let near = x as f32;
    if f64::from(near) == x || x.is_nan() {
        return near;
    }
    let away = u32::from(f64::from(near).abs() > x.abs());
    f32::from_bits((near.to_bits() - away) | 1)
}

/// Evaluates an expression with `$T` bound to the element type of a dtype.
macro_rules! with_element {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            $crate::DType::Bool => {
                type $T = u8;
                $body
            }
            $crate::DType::I32 => {
                type $T = i32;
                $body
            }
            $crate::DType::I64 => {
                type $T = i64;
                $body
            }
            $crate::DType::F16 => {
                type $T = half::f16;
                $body
            }
            $crate::DType::BF16 => {
                type $T = half::bf16;
                $body
            }
            $crate::DType::F32 => {
                type $T = f32;
                $body
            }
            $crate::DType::F64 => {
                type $T = f64;
                $body
            }
        }
    };
}
pub(crate) use with_element;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scalar;

    /// Numbers around which conversions go wrong.
    fn awkward() -> Vec<f64> {
        let halves = (0..=u16::MAX).step_by(37).flat_map(|bits| {
            let x = f16::from_bits(bits).to_f64();
            let y = bf16::from_bits(bits).to_f64();
            let middle = (x + f16::from_bits(bits.wrapping_add(1)).to_f64()) / 2.0;
            [x, y, middle, middle.next_up(), middle.next_down()]
        });
        let edges = [0.0, -0.0, 0.5, 2.5, 1e300, -1e-300, 65519.99, 65520.0, 3e9, -3e9, 1e19, -1e19];
        halves.chain(edges).chain([f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MAX]).collect()
    }

    #[test]
    fn conversions_are_the_casts_of_constants() {
        for dtype in DType::ALL {
            with_element!(dtype, T => {
                for x in awkward() {
                    let expected = Scalar::from_f64(DType::F64, x).cast(dtype).as_f64();
                    let given = T::from_real(x).to_real();
                    assert!(given == expected || (given.is_nan() && expected.is_nan()), "{dtype} of {x:e}");
                    assert!(given.is_sign_negative() == expected.is_sign_negative() || given.is_nan());
                }
                for x in [0, 1, -1, 1 << 24 | 1, i64::MAX, i64::MIN, (1 << 40) + 7, 70_000] {
                    let expected = Scalar::from_i64(DType::I64, x).cast(dtype);
                    assert_eq!(T::from_int(x).to_real(), expected.as_f64(), "{dtype} of {x}");
                    assert_eq!(T::from_int(x).to_int(), expected.as_i64(), "{dtype} of {x}");
                }
            });
        }
    }
}
