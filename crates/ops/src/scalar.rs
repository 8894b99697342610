//! Constants: one number of one dtype, real or complex, compared and hashed by its bits.
//!
//! Takes numbers and gives the bit pattern the dtype stores, the numbers back, the cast between dtypes and
//! the spelling of the definition language.

use std::fmt;
use std::ops::RangeInclusive;

use crate::DType;
use crate::small_float::{E4m3, E5m2, E8m0, to_odd};

/// A constant of a dtype. Equality and hash go by bits, so NaN equals itself and -0 differs from 0.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Scalar {
    dtype: DType,
    /// The pattern the dtype stores, with zeros above it; of a complex number, the pattern of the real part.
    bits: u64,
    /// The pattern of the imaginary part; zero for real dtypes.
    imaginary: u64,
}

impl Scalar {
    /// The value of `dtype` nearest to `x`: ties to even for floats; truncated and saturated, with NaN as 0,
    /// for integers, and then wrapped for those of storage types; true for bool unless `x` is zero. Every NaN becomes the one quiet positive NaN. Complex numbers have
    /// no imaginary part.
    pub fn from_f64(dtype: DType, x: f64) -> Scalar {
        let rounded = dtype.round(x);
        let rounded = if rounded.is_nan() { f64::NAN } else { rounded };
        let bits = match dtype {
            DType::Bool => u64::from(x != 0.0),
            DType::I32 => u64::from(x as i32 as u32),
            DType::I64 => x as i64 as u64,
            DType::U64 => x as u64,
            DType::I8 | DType::I16 | DType::U8 | DType::U16 | DType::U32 => {
                return Scalar::from_f64(dtype.compute(), x).cast(dtype);
            }
            DType::F8E8M0 => E8m0::from_f32(to_odd(x)).0.into(),
            DType::F8E4M3 => E4m3::from_f32(to_odd(x)).0.into(),
            DType::F8E5M2 => E5m2::from_f32(to_odd(x)).0.into(),
            DType::F16 => u64::from(half::f16::from_f64(rounded).to_bits()),
            DType::BF16 => u64::from(half::bf16::from_f64(rounded).to_bits()),
            DType::F32 => u64::from((rounded as f32).to_bits()),
            DType::F64 => rounded.to_bits(),
            DType::C64 | DType::C128 => Scalar::from_f64(dtype.real(), x).bits,
        };
        Scalar { dtype, bits, imaginary: 0 }
    }

    /// The complex constant of these parts, each rounded as [`Scalar::from_f64`] does; of the complex dtype that `dtype`
    /// is promoted to. `complex(DType::C64, 1.0, -0.5)` prints as `1.0-0.5j`.
    pub fn complex(dtype: DType, re: f64, im: f64) -> Scalar {
        let dtype = dtype.complex();
        let part = |x: f64| Scalar::from_f64(dtype.real(), x).bits;
        Scalar { dtype, bits: part(re), imaginary: part(im) }
    }

    /// The value of `dtype` nearest to `x`: saturated for i32, wrapped for other integers, rounded for floats, nonzero for bool.
    pub fn from_i64(dtype: DType, x: i64) -> Scalar {
        let bits = match dtype {
            DType::Bool => u64::from(x != 0),
            DType::I32 => u64::from(x.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as u32),
            _ if dtype.is_int() => return Scalar::from_bits(dtype, x as u64),
            DType::F64 => (x as f64).to_bits(),
            DType::C64 | DType::C128 => Scalar::from_i64(dtype.real(), x).bits,
            _ => return Scalar::from_f64(dtype, f64::from(x as f32)),
        };
        Scalar { dtype, bits, imaginary: 0 }
    }

    /// The value of `dtype` nearest to `x`: wrapped for integers, rounded for floats, nonzero for bool.
    pub fn from_u64(dtype: DType, x: u64) -> Scalar {
        match dtype {
            DType::Bool => Scalar::from_bool(x != 0),
            _ if dtype.is_int() => Scalar::from_bits(dtype, x),
            DType::F64 => Scalar { dtype, bits: (x as f64).to_bits(), imaginary: 0 },
            DType::C128 => Scalar::from_f64(dtype, x as f64),
            _ => Scalar::from_f64(dtype, f64::from(x as f32)),
        }
    }

    /// A number written in an expression of the tables, as a constant of the dtype that it computes in: integers take
    /// the low bits, so that -1 is all ones in each.
    pub fn written(dtype: DType, x: f64) -> Scalar {
        if dtype == DType::U64 && x < 0.0 {
            Scalar::from_i64(dtype, x as i64)
        } else {
            Scalar::from_f64(dtype, x)
        }
    }

    /// The bool constant `x`.
    pub fn from_bool(x: bool) -> Scalar {
        Scalar { dtype: DType::Bool, bits: u64::from(x), imaginary: 0 }
    }

    /// The constant whose stored pattern is the low bits of `bits`; for a complex dtype, the pattern of the real part.
    pub fn from_bits(dtype: DType, bits: u64) -> Scalar {
        Scalar { dtype, bits: bits & (u64::MAX >> (64 - dtype.real().bits())), imaginary: 0 }
    }

    /// Its dtype.
    pub const fn dtype(self) -> DType {
        self.dtype
    }

    /// The pattern the dtype stores, with zeros above it; of a complex number, that of the real part.
    pub const fn bits(self) -> u64 {
        self.bits
    }

    /// The real part; a real number itself.
    pub const fn real(self) -> Scalar {
        Scalar { dtype: self.dtype.real(), bits: self.bits, imaginary: 0 }
    }

    /// The imaginary part; zero for a real number.
    pub const fn imag(self) -> Scalar {
        Scalar { dtype: self.dtype.real(), bits: self.imaginary, imaginary: 0 }
    }

    /// The value as a double, or the real part of it: exact but for integers beyond 2^53, which round.
    pub fn as_f64(self) -> f64 {
        match self.dtype {
            DType::Bool | DType::U64 => self.bits as f64,
            DType::I8 | DType::I16 | DType::I32 | DType::I64 | DType::U8 | DType::U16 | DType::U32 => {
                self.as_i64() as f64
            }
            DType::F8E8M0 => E8m0(self.bits as u8).to_f32().into(),
            DType::F8E4M3 => E4m3(self.bits as u8).to_f32().into(),
            DType::F8E5M2 => E5m2(self.bits as u8).to_f32().into(),
            DType::F16 => half::f16::from_bits(self.bits as u16).to_f64(),
            DType::BF16 => half::bf16::from_bits(self.bits as u16).to_f64(),
            DType::F32 => f64::from(f32::from_bits(self.bits as u32)),
            DType::F64 => f64::from_bits(self.bits),
            DType::C64 | DType::C128 => self.real().as_f64(),
        }
    }

    /// The value as an integer: floats are truncated and saturated, NaN is 0; u64 wraps.
    pub fn as_i64(self) -> i64 {
        match self.dtype {
            DType::Bool => self.bits as i64,
            dtype if dtype.is_int() => dtype.wrap(self.bits as i64),
            _ => self.as_f64() as i64,
        }
    }

    /// Is the value anything but zero? NaN is.
    pub fn as_bool(self) -> bool {
        if self.dtype.is_complex() {
            return self.real().as_bool() || self.imag().as_bool();
        }
        if self.dtype.is_float() { self.as_f64() != 0.0 } else { self.bits != 0 }
    }

    /// The meaning of the cast op.
    ///
    /// Floats go to integers by truncation, saturated, NaN as 0; integers go to others by their low bits, the sign
    /// extended; between storage types and others casts go through the type that their arithmetic happens in; everything
    /// but zero goes to true. Complex numbers lose their imaginary part on the way to real ones.
    pub fn cast(self, dtype: DType) -> Scalar {
        match (self.dtype, dtype) {
            (from, to) if from == to => self,
            (_, DType::Bool) => Scalar::from_bool(self.as_bool()),
            (_, to) if to.is_complex() => {
                let part = |part: Scalar| part.cast(to.real()).bits;
                Scalar { dtype: to, bits: part(self.real()), imaginary: part(self.imag()) }
            }
            (from, to) if from.is_complex() => self.real().cast(to),
            (from, to) if from.is_int() && to.is_int() => Scalar::from_bits(to, self.as_i64() as u64),
            (DType::U64, _) => Scalar::from_u64(dtype, self.bits),
            (from, _) if from.is_float() => Scalar::from_f64(dtype, self.as_f64()),
            _ => Scalar::from_i64(dtype, self.as_i64()),
        }
    }

    /// Whether a cast to a dtype keeps the value, except for rounding to a float.
    pub fn fits(self, dtype: DType) -> bool {
        match (self.dtype, dtype) {
            (from, to) if from.is_complex() && !to.is_complex() => {
                !self.imag().as_bool() && self.real().fits(to)
            }
            (from, to) if from.is_float() && to.is_int() => {
                let number = self.as_f64();
                number.fract() == 0.0 && range(to).contains(&(number as i128))
            }
            (from, to) if from.is_int() && to.is_int() => range(to).contains(&self.as_i128()),
            _ => true,
        }
    }

    /// The same for bounds and for identities of reductions, where infinities stand for the min and max of an integer dtype.
    pub fn fits_as_bound(self, dtype: DType) -> bool {
        self.fits(dtype) || (self.dtype.is_float() && self.as_f64().is_infinite())
    }

    /// An integer of any dtype.
    fn as_i128(self) -> i128 {
        if self.dtype == DType::U64 { i128::from(self.bits) } else { i128::from(self.as_i64()) }
    }

    /// 0, or false.
    pub fn zero(dtype: DType) -> Scalar {
        Scalar::from_i64(dtype, 0)
    }

    /// 1, or true.
    pub fn one(dtype: DType) -> Scalar {
        Scalar::from_i64(dtype, 1)
    }

    /// The identity of `maximum`: minus infinity (the smallest number where there is none), the smallest integer, or false.
    pub fn lowest(dtype: DType) -> Scalar {
        match dtype {
            _ if dtype.is_unsigned_int() => Scalar::zero(dtype),
            _ if dtype.is_int() => Scalar::from_bits(dtype, 1 << (dtype.bits() - 1)),
            DType::F8E4M3 => Scalar::from_f64(dtype, -448.0),
            DType::F8E8M0 => Scalar::from_bits(dtype, 0),
            _ => Scalar::from_f64(dtype, if dtype == DType::Bool { 0.0 } else { f64::NEG_INFINITY }),
        }
    }

    /// The identity of `minimum`: infinity (the largest number where there is none), the largest integer, or true.
    pub fn highest(dtype: DType) -> Scalar {
        match dtype {
            _ if dtype.is_unsigned_int() => Scalar::from_bits(dtype, u64::MAX),
            _ if dtype.is_int() => Scalar::from_bits(dtype, u64::MAX >> (65 - dtype.bits())),
            DType::F8E4M3 => Scalar::from_f64(dtype, 448.0),
            DType::F8E8M0 => Scalar::from_bits(dtype, 0xfe),
            _ => Scalar::from_f64(dtype, f64::INFINITY),
        }
    }

    /// As a sum where that gives back both parts, which it does not for what is not finite and for -0.0.
    fn fmt_complex(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (re, im) = (self.real(), self.imag());
        let survives = |x: f64| x.is_finite() && !(x == 0.0 && x.is_sign_negative());
        match (survives(re.as_f64()) && survives(im.as_f64()), im.as_f64() < 0.0) {
            (false, _) => write!(f, "complex({re}, {im})"),
            (true, true) => write!(f, "{re}{im}j"),
            (true, false) => write!(f, "{re}+{im}j"),
        }
    }

    /// The finite double with the fewest digits that reads back as this value.
    fn shortest(self) -> f64 {
        let x = self.as_f64();
        (0..17)
            .filter_map(|digits| format!("{x:.digits$e}").parse::<f64>().ok())
            .find(|&candidate| self.dtype.round(candidate) == x)
            .unwrap_or(x)
    }
}

/// As the definition language writes it: `True`, `3`, `1.0`, `1e-5`, `float("inf")`, `float("nan")`, `1.0+2.0j`; the
/// fewest digits that read back as the same value of the dtype.
impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let x = self.as_f64();
        match self.dtype {
            DType::Bool => f.write_str(if self.bits == 1 { "True" } else { "False" }),
            DType::U64 => write!(f, "{}", self.bits),
            _ if self.dtype.is_int() => write!(f, "{}", self.as_i64()),
            DType::C64 | DType::C128 => self.fmt_complex(f),
            _ if x.is_nan() => f.write_str("float(\"nan\")"),
            _ if x.is_infinite() => write!(f, "float(\"{x}\")"),
            _ => write!(f, "{:?}", self.shortest()),
        }
    }
}

/// The numbers that an integer dtype holds.
fn range(dtype: DType) -> RangeInclusive<i128> {
    Scalar::lowest(dtype).as_i128()..=Scalar::highest(dtype).as_i128()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_survives_its_spelling() {
        for bits in 0..=u16::MAX {
            for dtype in DType::ALL.into_iter().filter(|dtype| dtype.is_storage_only()) {
                let scalar = Scalar::from_bits(dtype, u64::from(bits));
                if let Ok(x) = scalar.to_string().parse::<f64>() {
                    assert_eq!(Scalar::from_f64(dtype, x), scalar, "{scalar}");
                } else {
                    assert!(!scalar.as_f64().is_finite());
                }
            }
        }
    }

    #[test]
    fn spellings() {
        let spelled = |dtype, x| Scalar::from_f64(dtype, x).to_string();
        assert_eq!(spelled(DType::F32, 0.1), "0.1");
        assert_eq!(spelled(DType::F16, 0.1), "0.1");
        assert_eq!(spelled(DType::F32, 1.0 / 3.0), "0.33333334");
        assert_eq!(spelled(DType::F64, 1.0), "1.0");
        assert_eq!(spelled(DType::F64, -0.0), "-0.0");
        assert_eq!(spelled(DType::F64, 1e-5), "1e-5");
        assert_eq!(spelled(DType::F32, f64::NEG_INFINITY), "float(\"-inf\")");
        assert_eq!(spelled(DType::BF16, f64::NAN), "float(\"nan\")");
        assert_eq!(spelled(DType::Bool, 2.0), "True");
        assert_eq!(spelled(DType::I32, -7.9), "-7");
        let complex = |re, im| Scalar::complex(DType::C64, re, im).to_string();
        assert_eq!(complex(1.0, -0.5), "1.0-0.5j");
        assert_eq!(complex(0.1, -0.2), "0.1-0.2j");
        assert_eq!(complex(-1.0, 2.0), "-1.0+2.0j");
        assert_eq!(complex(f64::INFINITY, 2.0), "complex(float(\"inf\"), 2.0)");
        assert_eq!(complex(-0.0, 2.0), "complex(-0.0, 2.0)");
    }

    #[test]
    fn casts() {
        let wide = Scalar::from_i64(DType::I64, (1 << 32) + 5);
        assert_eq!(wide.cast(DType::I32).as_i64(), 5);
        assert_eq!(Scalar::from_i64(DType::I32, 1 << 40).as_i64(), i64::from(i32::MAX));
        assert_eq!(Scalar::from_f64(DType::I32, 1e30).as_i64(), i64::from(i32::MAX));
        assert_eq!(Scalar::from_f64(DType::F32, f64::NAN).cast(DType::I64).as_i64(), 0);
        assert_eq!(Scalar::from_f64(DType::F64, -1e300).cast(DType::I64).as_i64(), i64::MIN);
        assert_eq!(Scalar::from_f64(DType::F16, -1.5).cast(DType::U8).as_i64(), 255);
        assert_eq!(Scalar::from_i64(DType::I64, 300).cast(DType::I8).as_i64(), 44);
        assert_eq!(Scalar::from_i64(DType::I8, -1).cast(DType::U32).as_i64(), 0xffff_ffff);
        assert_eq!(Scalar::from_i64(DType::U8, -1).cast(DType::I64).as_i64(), 255);
        assert_eq!(Scalar::from_f64(DType::F64, 0.25).cast(DType::Bool), Scalar::from_bool(true));
        let max = Scalar::highest(DType::U64);
        assert_eq!(max.to_string(), "18446744073709551615");
        assert_eq!(max.cast(DType::I64).as_i64(), -1);
        assert_eq!(max.cast(DType::I32).as_i64(), -1);
        assert_eq!(max.cast(DType::F32).as_f64(), 2_f64.powi(64));
        assert_eq!(Scalar::from_i64(DType::I32, -1).cast(DType::U64), max);
        assert_eq!(Scalar::from_f64(DType::F64, -3.5).cast(DType::U64).bits(), 0);
        assert_eq!(Scalar::from_f64(DType::F64, 1e300).cast(DType::U64), max);
        assert_eq!(Scalar::from_i64(DType::I64, 70000).cast(DType::F16).as_f64(), f64::INFINITY);
        let complex = Scalar::complex(DType::C128, 0.0, 2.5);
        assert_eq!(complex.cast(DType::F32).as_f64(), 0.0);
        assert!(complex.cast(DType::Bool).as_bool());
        assert_eq!(complex.cast(DType::C64).imag(), Scalar::from_f64(DType::F32, 2.5));
        assert_eq!(Scalar::from_i64(DType::I32, 3).cast(DType::C64), Scalar::complex(DType::C64, 3.0, 0.0));
    }

    #[test]
    fn identities_hold_their_dtype() {
        for dtype in DType::REAL {
            assert_eq!(Scalar::one(dtype).as_i64(), 1);
            // Zero is no power of two.
            let min = if dtype == DType::F8E8M0 { 2_f64.powi(-127) } else { 0.0 };
            assert_eq!(Scalar::zero(dtype).as_f64(), min);
            assert!(Scalar::lowest(dtype).as_f64() <= min && Scalar::highest(dtype).as_f64() >= 1.0);
        }
        assert_eq!(Scalar::lowest(DType::I32).as_i64(), i64::from(i32::MIN));
        assert_eq!(Scalar::lowest(DType::I8).as_i64(), -128);
        assert_eq!(Scalar::highest(DType::I16).as_i64(), 32767);
        assert_eq!(Scalar::highest(DType::U32).as_i64(), 0xffff_ffff);
    }
}
