//! The dtypes a value can have: names, sizes, classes, rounding and spacing.
//!
//! Takes and gives plain numbers; constants of a dtype are in [`crate::scalar`], promotion between dtypes
//! is in [`crate::typing`].

use std::fmt;
use std::str::FromStr;

use crate::small_float::{E4m3, E5m2, E8m0, SmallFloat, to_odd};

/// The type of the elements of a value.
///
/// The order of the variants is the order of promotion within a category: bool, integers, floats, complex numbers.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum DType {
    /// True or false, one byte in memory.
    Bool,
    /// 8-bit two's complement integer; only a storage type, arithmetic on it happens in [`DType::I32`].
    I8,
    /// 16-bit two's complement integer; only a storage type, like [`DType::I8`].
    I16,
    /// 32-bit two's complement integer.
    I32,
    /// 64-bit two's complement integer.
    I64,
    /// 8-bit unsigned integer; only a storage type, like [`DType::I8`].
    U8,
    /// 16-bit unsigned integer; only a storage type, like [`DType::I8`].
    U16,
    /// 32-bit unsigned integer; only a storage type, arithmetic on it happens in [`DType::I64`].
    U32,
    /// 64-bit unsigned integer.
    U64,
    /// Powers of two in one byte, with neither sign nor zero, for scales; only a storage type.
    F8E8M0,
    /// One byte with four bits of exponent, up to 448, without infinities; only a storage type.
    F8E4M3,
    /// One byte with five bits of exponent; only a storage type.
    F8E5M2,
    /// IEEE half precision; only a storage type, arithmetic on it happens in [`DType::F32`].
    F16,
    /// The upper half of a single precision number; only a storage type, like [`DType::F16`].
    BF16,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
    /// A complex number of two f32, the real part first. Only memory and definitions know it; see [`DType::real`].
    C64,
    /// A complex number of two f64, the real part first.
    C128,
}

/// The names of one dtype: ours, NumPy's (and torch's), nvFuser's.
struct Spellings {
    short: &'static str,
    numpy: &'static str,
    nvfuser: &'static str,
}

/// The parameters of a binary float format: bits of the significand (including the hidden one) and exponent range.
#[derive(Clone, Copy)]
struct Format {
    precision: i32,
    smallest_exponent: i32,
    largest_exponent: i32,
}

impl DType {
    /// Every dtype, in declaration order.
    pub const ALL: [DType; 18] = [
        DType::Bool,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::U8,
        DType::U16,
        DType::U32,
        DType::U64,
        DType::F8E8M0,
        DType::F8E4M3,
        DType::F8E5M2,
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::F64,
        DType::C64,
        DType::C128,
    ];

    /// Every dtype that kernels know: all but the complex ones, which are pairs of these.
    pub const REAL: [DType; 16] = *DType::ALL.first_chunk().expect("complex ones are declared last");

    /// The format of a small float with sign, exponent and significand, if it is one.
    pub const fn small_float(self) -> Option<SmallFloat> {
        match self {
            DType::F16 => Some(SmallFloat::F16),
            DType::F8E4M3 => Some(SmallFloat::E4M3),
            DType::F8E5M2 => Some(SmallFloat::E5M2),
            _ => None,
        }
    }

    /// Bytes of one element in memory.
    pub const fn size(self) -> usize {
        match self {
            DType::Bool | DType::I8 | DType::U8 | DType::F8E8M0 | DType::F8E4M3 | DType::F8E5M2 => 1,
            DType::I16 | DType::U16 | DType::F16 | DType::BF16 => 2,
            DType::I32 | DType::U32 | DType::F32 => 4,
            DType::I64 | DType::U64 | DType::F64 | DType::C64 => 8,
            DType::C128 => 16,
        }
    }

    /// Bits of one element in arithmetic: 1 for bool, else eight per byte.
    pub const fn bits(self) -> u32 {
        match self {
            DType::Bool => 1,
            _ => self.size() as u32 * 8,
        }
    }

    /// Is it one of the float types?
    pub const fn is_float(self) -> bool {
        self.is_narrow_float() || matches!(self, DType::F32 | DType::F64)
    }

    /// Is it one of the float types of one byte?
    pub const fn is_float8(self) -> bool {
        matches!(self, DType::F8E8M0 | DType::F8E4M3 | DType::F8E5M2)
    }

    /// Is it one of the storage-only float types?
    pub const fn is_narrow_float(self) -> bool {
        self.is_float8() || matches!(self, DType::F16 | DType::BF16)
    }

    /// Is it one of the integer types? Bool is not.
    pub const fn is_int(self) -> bool {
        self.is_signed_int() || self.is_unsigned_int()
    }

    /// Is it an integer type with a sign?
    pub const fn is_signed_int(self) -> bool {
        matches!(self, DType::I8 | DType::I16 | DType::I32 | DType::I64)
    }

    /// Is it an integer type without a sign?
    pub const fn is_unsigned_int(self) -> bool {
        matches!(self, DType::U8 | DType::U16 | DType::U32 | DType::U64)
    }

    /// Is it one of the storage-only integer types?
    pub const fn is_narrow_int(self) -> bool {
        matches!(self, DType::I8 | DType::I16 | DType::U8 | DType::U16 | DType::U32)
    }

    /// Is it one of the integer types with arithmetic? Only these count elements.
    pub const fn is_wide_int(self) -> bool {
        matches!(self, DType::I32 | DType::I64 | DType::U64)
    }

    /// Can values of it be sizes?
    pub const fn holds_sizes(self) -> bool {
        matches!(self, DType::I32 | DType::I64)
    }

    /// Is it a storage-only type, with arithmetic in a wider one?
    pub const fn is_storage_only(self) -> bool {
        self.is_narrow_float() || self.is_narrow_int()
    }

    /// Is it one of the two complex types?
    pub const fn is_complex(self) -> bool {
        matches!(self, DType::C64 | DType::C128)
    }

    /// The dtype of the two parts of a complex one; a real dtype itself.
    pub const fn real(self) -> DType {
        match self {
            DType::C64 => DType::F32,
            DType::C128 => DType::F64,
            other => other,
        }
    }

    /// The complex dtype that this one is promoted to: c128 from f64, else c64.
    pub const fn complex(self) -> DType {
        match self {
            DType::F64 | DType::C128 => DType::C128,
            _ => DType::C64,
        }
    }

    /// The type arithmetic on this one happens in: for storage types f32, i32 or (for u32) i64, otherwise itself.
    pub const fn compute(self) -> DType {
        match self {
            DType::U32 => DType::I64,
            _ if self.is_narrow_int() => DType::I32,
            _ if self.is_narrow_float() => DType::F32,
            _ => self,
        }
    }

    /// The type that arithmetic on this one gives: floats stay in the type that it happens in, integers wrap back.
    pub const fn arithmetic(self) -> DType {
        if self.is_int() { self } else { self.compute() }
    }

    /// The number that the low bits of an integer represent in this integer type; u64 is held by its bits.
    pub const fn wrap(self, x: i64) -> i64 {
        match self {
            DType::I8 => x as i8 as i64,
            DType::I16 => x as i16 as i64,
            DType::I32 => x as i32 as i64,
            DType::U8 => x as u8 as i64,
            DType::U16 => x as u16 as i64,
            DType::U32 => x as u32 as i64,
            _ => x,
        }
    }

    const fn names(self) -> Spellings {
        let (short, numpy, nvfuser) = match self {
            DType::Bool => ("bool", "bool", "Bool"),
            DType::I8 => ("i8", "int8", "Char"),
            DType::I16 => ("i16", "int16", "Short"),
            DType::I32 => ("i32", "int32", "Int32"),
            DType::I64 => ("i64", "int64", "Int"),
            DType::U8 => ("u8", "uint8", "Byte"),
            DType::U16 => ("u16", "uint16", "UInt16"),
            DType::U32 => ("u32", "uint32", "UInt32"),
            DType::U64 => ("u64", "uint64", "UInt64"),
            DType::F8E8M0 => ("f8e8m0", "float8_e8m0fnu", "Float8_e8m0fnu"),
            DType::F8E4M3 => ("f8e4m3", "float8_e4m3fn", "Float8_e4m3fn"),
            DType::F8E5M2 => ("f8e5m2", "float8_e5m2", "Float8_e5m2"),
            DType::F16 => ("f16", "float16", "Half"),
            DType::BF16 => ("bf16", "bfloat16", "BFloat16"),
            DType::F32 => ("f32", "float32", "Float"),
            DType::F64 => ("f64", "float64", "Double"),
            DType::C64 => ("c64", "complex64", "ComplexFloat"),
            DType::C128 => ("c128", "complex128", "ComplexDouble"),
        };
        Spellings { short, numpy, nvfuser }
    }

    /// Our own short name, as in `bf16`.
    pub const fn short_name(self) -> &'static str {
        self.names().short
    }

    /// The name in NumPy and torch, as in `float32`.
    pub const fn numpy_name(self) -> &'static str {
        self.names().numpy
    }

    /// Its code in array interfaces and `.npy` files, as in `<f4`, if NumPy has it.
    pub fn typestr(self) -> Option<String> {
        let kind = match self {
            DType::Bool => 'b',
            DType::F16 | DType::F32 | DType::F64 => 'f',
            _ if self.is_signed_int() => 'i',
            _ if self.is_unsigned_int() => 'u',
            _ if self.is_complex() => 'c',
            _ => return None,
        };
        let order = if self.size() == 1 { '|' } else { '<' };
        Some(format!("{order}{kind}{}", self.size()))
    }

    /// The name in nvFuser's `DataType`, as in `Half`.
    pub const fn nvfuser_name(self) -> &'static str {
        self.names().nvfuser
    }

    /// The dtype nvFuser calls `name`, if we have it.
    pub fn from_nvfuser_name(name: &str) -> Option<DType> {
        Self::ALL.into_iter().find(|dtype| dtype.nvfuser_name() == name)
    }

    /// Is it a dtype of nvFuser, torch or NumPy that we leave out?
    pub fn is_left_out(name: &str) -> bool {
        ["Float4_e2m1fn", "Float4_e2m1fn_x2", "float4_e2m1fn_x2"].contains(&name)
    }

    const fn format(self) -> Option<Format> {
        let (precision, smallest_exponent, largest_exponent) = match self {
            DType::F8E8M0 => (1, -127, 127),
            DType::F8E4M3 => (4, -6, 8),
            DType::F8E5M2 => (3, -14, 15),
            DType::F16 => (11, -14, 15),
            DType::BF16 => (8, -126, 127),
            DType::F32 => (24, -126, 127),
            DType::F64 => (53, -1022, 1023),
            _ => return None,
        };
        Some(Format { precision, smallest_exponent, largest_exponent })
    }

    /// The distance between neighbouring values of the dtype around `x`: one unit in the last place.
    ///
    /// The smallest subnormal at zero, the spacing of the largest binade at infinity and NaN, 1 for bool and integers.
    pub fn ulp(self, x: f64) -> f64 {
        let Some(format) = self.format() else { return 1.0 };
        let exponent = if x.is_finite() { format.exponent_of(x) } else { format.largest_exponent };
        power_of_two(exponent - (format.precision - 1))
    }

    /// `x` rounded to the nearest value of the dtype, ties to even.
    ///
    /// Floats overflow to infinity (but [`crate::small_float`] says how those of one byte do) and keep subnormals. Integers
    /// round by truncation and saturate, with NaN as 0; those of storage types wrap what their arithmetic's type makes of
    /// it. Bool is 1 for everything but zero. These are the rules of a cast.
    pub fn round(self, x: f64) -> f64 {
        match self {
            DType::C64 | DType::C128 => self.real().round(x),
            DType::Bool => f64::from(x != 0.0),
            DType::I32 => f64::from(x as i32),
            DType::I64 => x as i64 as f64,
            DType::U64 => x as u64 as f64,
            DType::I8 | DType::I16 | DType::U8 | DType::U16 | DType::U32 => {
                self.wrap(self.compute().round(x) as i64) as f64
            }
            DType::F8E8M0 => f64::from(E8m0::from_f32(to_odd(x)).to_f32()),
            DType::F8E4M3 => f64::from(E4m3::from_f32(to_odd(x)).to_f32()),
            DType::F8E5M2 => f64::from(E5m2::from_f32(to_odd(x)).to_f32()),
            DType::F64 => x,
            DType::F32 => f64::from(x as f32),
            DType::F16 | DType::BF16 => self.format().map_or(x, |format| format.round(x)),
        }
    }
}

impl Format {
    /// The exponent of the binade of `x`, never below that of the subnormals.
    fn exponent_of(self, x: f64) -> i32 {
        if x == 0.0 { self.smallest_exponent } else { libm::ilogb(x).max(self.smallest_exponent) }
    }

    /// Scaling by a power of two is exact, so one rounding to an integer is the only rounding.
    fn round(self, x: f64) -> f64 {
        if x == 0.0 || !x.is_finite() {
            return x;
        }
        let quantum = power_of_two(self.exponent_of(x) - (self.precision - 1));
        let rounded = (x / quantum).round_ties_even() * quantum;
        if rounded.abs() >= power_of_two(self.largest_exponent + 1) {
            f64::INFINITY.copysign(x)
        } else {
            rounded
        }
    }
}

fn power_of_two(exponent: i32) -> f64 {
    libm::scalbn(1.0, exponent)
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.short_name())
    }
}

/// A name that is no dtype of ours.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("unknown dtype `{0}`: expected one of {known}", known = known())]
pub struct UnknownDType(pub String);

fn known() -> String {
    DType::ALL.map(DType::short_name).join(", ")
}

impl FromStr for DType {
    type Err = UnknownDType;

    /// Reads our short names and NumPy's.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|dtype| dtype.short_name() == text || dtype.numpy_name() == text)
            .ok_or_else(|| UnknownDType(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for dtype in DType::ALL {
            assert_eq!(dtype.to_string().parse(), Ok(dtype));
            assert_eq!(dtype.numpy_name().parse(), Ok(dtype));
            assert_eq!(DType::from_nvfuser_name(dtype.nvfuser_name()), Some(dtype));
        }
        assert!("complex32".parse::<DType>().is_err());
        assert_eq!(DType::from_nvfuser_name("int"), None);
        assert!(DType::is_left_out("Float4_e2m1fn") && !DType::is_left_out("uint8"));
    }

    #[test]
    fn every_half_is_its_own_rounding() {
        for bits in 0..=u16::MAX {
            for (dtype, x) in [
                (DType::F16, half::f16::from_bits(bits).to_f64()),
                (DType::BF16, half::bf16::from_bits(bits).to_f64()),
            ] {
                assert!(dtype.round(x).to_bits() == x.to_bits() || x.is_nan(), "{dtype} {x}");
            }
        }
    }

    #[test]
    fn every_byte_is_its_own_rounding() {
        for bits in 0..=u8::MAX {
            for (dtype, x) in [
                (DType::F8E8M0, E8m0(bits).to_f32()),
                (DType::F8E4M3, E4m3(bits).to_f32()),
                (DType::F8E5M2, E5m2(bits).to_f32()),
            ] {
                let x = f64::from(x);
                assert!(dtype.round(x).to_bits() == x.to_bits() || x.is_nan(), "{dtype} {x}");
            }
        }
    }

    #[test]
    fn midpoints_between_half_values_go_to_even_and_their_neighbours_do_not() {
        for bits in 0..0x7bff_u16 {
            let (low, high) = (half::f16::from_bits(bits).to_f64(), half::f16::from_bits(bits + 1).to_f64());
            let middle = (low + high) / 2.0;
            let even = if bits % 2 == 0 { low } else { high };
            assert_eq!(DType::F16.round(middle), even);
            assert_eq!(DType::F16.round(middle.next_up()), high);
            assert_eq!(DType::F16.round(middle.next_down()), low);
            assert_eq!(DType::F16.ulp(low), high - low);
        }
    }

    #[test]
    fn rounding_overflows_saturates_and_keeps_signs() {
        assert_eq!(DType::F16.round(65519.99), 65504.0);
        assert_eq!(DType::F16.round(65520.0), f64::INFINITY);
        assert_eq!(DType::BF16.round(-1e39), f64::NEG_INFINITY);
        assert!(DType::BF16.round(-1e-60).is_sign_negative());
        assert_eq!(DType::I32.round(1e12), f64::from(i32::MAX));
        assert_eq!(DType::I32.round(f64::NAN), 0.0);
        assert_eq!(DType::Bool.round(f64::NAN), 1.0);
        let narrow = [(DType::U8, -1.5, 255.0), (DType::U8, 300.0, 44.0), (DType::I8, 200.0, -56.0)];
        let wider = [(DType::U16, -1.0, 65535.0), (DType::I16, 1e12, -1.0), (DType::U32, -1.0, 4294967295.0)];
        for (dtype, x, wrapped) in narrow.into_iter().chain(wider) {
            assert_eq!(dtype.round(x), wrapped, "{dtype} {x}");
        }
    }

    #[test]
    fn ulp_is_the_spacing() {
        assert_eq!(DType::F32.ulp(1.0), f64::from(f32::EPSILON));
        assert_eq!(DType::F64.ulp(0.0), 5e-324);
        assert_eq!(DType::F32.ulp(1e-50), f64::from(f32::from_bits(1)));
        assert_eq!(DType::BF16.ulp(300.0), 2.0);
        assert_eq!(DType::I64.ulp(7e17), 1.0);
        assert_eq!(DType::F8E4M3.ulp(300.0), 32.0);
        assert_eq!(DType::F8E5M2.ulp(0.0), 2_f64.powi(-16));
        assert_eq!(DType::F8E8M0.ulp(8.0), 8.0);
    }
}
