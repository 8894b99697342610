//! Conversions between elements and numbers.

use ferrofuse_ir::array::{Element, with_element};
use half::{bf16, f16};
use ops::{DType, Scalar};

/// Numbers near which conversions go wrong.
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
    for dtype in DType::REAL {
        with_element!(dtype, T => {
            for x in awkward() {
                let expected = Scalar::from_f64(DType::F64, x).cast(dtype).as_f64();
                let given = T::from_real(x).to_real();
                assert!(given == expected || (given.is_nan() && expected.is_nan()), "{dtype} of {x:e}");
                assert!(given.is_sign_negative() == expected.is_sign_negative() || given.is_nan());
            }
            for x in [0, 1, -1, 1 << 24 | 1, i64::MAX, i64::MIN, (1 << 40) + 7, 70_000] {
                let expected = Scalar::from_i64(DType::I64, x).cast(dtype);
                assert_eq!(T::from_int(x).to_real().to_bits(), expected.as_f64().to_bits(), "{dtype} of {x}");
                assert_eq!(T::from_int(x).to_int(), expected.as_i64(), "{dtype} of {x}");
                let expected = Scalar::from_i64(DType::U64, x).cast(dtype);
                assert_eq!(T::from_unsigned(x as u64).to_real().to_bits(), expected.as_f64().to_bits(), "{dtype} of {x}");
            }
        });
    }
}
