//! Constants in the text of kernels and lambdas: `true`, `-3`, `0.1`, `inf`, `-inf`, `nan`, and `0x7f800001` for any other NaN, by its bits.
//! Floats have the fewest digits that read back as the same value of the dtype.

use index::{integer, real};

use crate::{DType, Scalar};

/// The spelling of a constant.
pub fn print(constant: Scalar) -> String {
    let number = constant.as_f64();
    match constant.dtype() {
        DType::Bool => constant.as_bool().to_string(),
        dtype if dtype.is_int() => constant.to_string(),
        dtype if number.is_nan() && constant != Scalar::from_f64(dtype, f64::NAN) => {
            format!("{:#x}", constant.bits())
        }
        _ if number.is_nan() => "nan".to_owned(),
        _ if number.is_infinite() => number.to_string(),
        _ => constant.to_string(),
    }
}

/// The constant of a dtype that a text spells, if it spells one.
pub fn parse(dtype: DType, text: &str) -> Option<Scalar> {
    match dtype {
        DType::Bool => text.parse().ok().map(Scalar::from_bool),
        DType::U64 => integer(text).map(|number| Scalar::from_u64(dtype, number)),
        _ if dtype.is_int() => integer(text)
            .filter(|&number| dtype.wrap(number) == number)
            .map(|number| Scalar::from_i64(dtype, number)),
        DType::C64 | DType::C128 => None,
        _ => match text.strip_prefix("0x") {
            Some(digits) => from_bits(dtype, digits),
            None => real(text).map(|number| Scalar::from_f64(dtype, number)),
        },
    }
}

fn from_bits(dtype: DType, digits: &str) -> Option<Scalar> {
    // A sign is no digit, though the standard library accepts one.
    let bits = u64::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))?;
    let constant = Scalar::from_bits(dtype, bits);
    (constant.bits() == bits).then_some(constant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_constant_reads_back() {
        for bits in 0..=u64::from(u16::MAX) {
            for dtype in DType::REAL {
                let spread = bits << (dtype.bits().max(16) - 16) | (bits & 3);
                let constant = Scalar::from_bits(dtype, spread);
                assert_eq!(parse(dtype, &print(constant)), Some(constant), "{}", print(constant));
            }
        }
    }

    #[test]
    fn what_is_no_constant_of_the_dtype_is_rejected() {
        for (dtype, text) in [
            (DType::Bool, "1"),
            (DType::I32, "2147483648"),
            (DType::I64, "1.0"),
            (DType::I64, "0777"),
            (DType::I32, "-07"),
            (DType::U64, "+1"),
            (DType::F32, ""),
            (DType::F32, "+7"),
            (DType::F64, "0777"),
            (DType::F16, "0x10000"),
            (DType::F16, "0x+1"),
        ] {
            assert_eq!(parse(dtype, text), None, "{text}");
        }
    }
}
