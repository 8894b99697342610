//! The text of a dtype and of its constants in C.

use ops::{DType, Scalar};

use super::dialect::Dialect;

/// The type of a variable in C99 and C++. Those of float storage types are names that the prelude gives to the type of their
/// bits.
pub fn standard_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::I8 => "signed char",
        DType::I16 => "short",
        DType::I32 => "int",
        DType::I64 => "long long",
        DType::U8 => "unsigned char",
        DType::U16 => "unsigned short",
        DType::U32 => "unsigned",
        DType::U64 => "unsigned long long",
        DType::F32 => "float",
        DType::F64 => "double",
        DType::C64 | DType::C128 => unreachable!("kernels hold the parts of complex numbers"),
        storage => storage.short_name(),
    }
}

impl Dialect {
    /// The type of an element of a buffer or of scratch; a bool is a byte.
    pub(super) fn in_memory(&self, dtype: DType) -> &'static str {
        if dtype == DType::Bool { "unsigned char" } else { (self.type_name)(dtype) }
    }

    /// The type of indices, sizes and strides.
    pub(super) fn index_type(&self) -> &'static str {
        (self.type_name)(DType::I64)
    }

    /// A constant, in parentheses if it is more than one token, so that any operator may be beside it.
    pub(super) fn literal(&self, constant: Scalar) -> String {
        let bits = || (self.float_of_bits)(constant);
        match constant.dtype() {
            DType::Bool => constant.as_bool().to_string(),
            DType::I32 => integer(constant.as_i64(), i64::from(i32::MIN), ""),
            DType::I64 => integer(constant.as_i64(), i64::MIN, "ll"),
            DType::U64 => format!("{}ull", constant.bits()),
            DType::F32 => float(f32::from_bits(constant.bits() as u32), "f", bits),
            DType::F64 => float(f64::from_bits(constant.bits()), "", bits),
            DType::C64 | DType::C128 => unreachable!("kernels hold the parts of complex numbers"),
            storage => {
                let digits = 2 + 2 * storage.size();
                format!("({}){:#0digits$x}", (self.type_name)(storage), constant.bits())
            }
        }
    }
}

/// The smallest integer has no literal of its own type: a literal has no sign.
fn integer(value: i64, min: i64, suffix: &str) -> String {
    match value {
        _ if value == min => format!("({}{suffix} - 1)", value + 1),
        ..0 => format!("({value}{suffix})"),
        _ => format!("{value}{suffix}"),
    }
}

/// The fewest digits that read back exactly, or `bits` for values without digits.
fn float<F: Into<f64> + Copy + std::fmt::Debug>(value: F, suffix: &str, bits: impl Fn() -> String) -> String {
    match value.into() {
        wide if !wide.is_finite() => bits(),
        wide if wide.is_sign_negative() => format!("({value:?}{suffix})"),
        _ => format!("{value:?}{suffix}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::CUDA;

    #[test]
    fn literals() {
        for (dtype, number, text) in [
            (DType::Bool, 1.0, "true"),
            (DType::I32, -3.0, "(-3)"),
            (DType::I32, -2147483648.0, "(-2147483647 - 1)"),
            (DType::I64, 4.0, "4ll"),
            (DType::U64, 1e30, "18446744073709551615ull"),
            (DType::I8, -1.0, "(signed char)0xff"),
            (DType::BF16, 1.0, "(bf16)0x3f80"),
            (DType::F8E4M3, 1.0, "(f8e4m3)0x38"),
            (DType::F32, 0.1, "0.1f"),
            (DType::F32, -0.0, "(-0.0f)"),
            (DType::F32, 1e20, "1e20f"),
            (DType::F32, f64::NEG_INFINITY, "__uint_as_float(0xff800000u)"),
            (DType::F64, 1e-300, "1e-300"),
            (DType::F64, f64::NAN, "__longlong_as_double(0x7ff8000000000000ll)"),
        ] {
            assert_eq!(CUDA.literal(Scalar::from_f64(dtype, number)), text);
        }
        assert_eq!(CUDA.literal(Scalar::from_i64(DType::I64, i64::MIN)), "(-9223372036854775807ll - 1)");
    }
}
