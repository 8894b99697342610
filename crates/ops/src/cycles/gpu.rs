//! Cycles of a lane of a GPU: instructions of an element, counted in the machine code of sm_90 as chains of 2 and of 6 equal
//! ops (`crates/testing/tests/programs/machine_code` counts them again). The special-function unit has a lane for eight
//! others: where its instructions take longer, they count eight each. For sin and cos the path for small arguments is
//! counted.

use crate::{DType, ScalarOp};

/// Cycles of an instruction of f64, on GPUs for servers: they have half as many lanes for it.
const DOUBLE: u64 = 2;

/// The fewest cycles of a function of f64: about thirty fused multiply-adds.
const FUNCTION_OF_F64: u64 = 60;

/// Cycles of an op that makes this dtype.
pub fn scalar_op(op: ScalarOp, dtype: DType) -> u64 {
    let of_f32 = of_f32(op);
    match dtype {
        _ if op.moves_bits() => 0,
        DType::F64 if of_f32 > 1 => FUNCTION_OF_F64.max(DOUBLE * of_f32),
        DType::F64 => DOUBLE,
        DType::I64 | DType::U64 => of_i64(op),
        DType::I32 => of_i32(op),
        _ => of_f32,
    }
}

fn of_f32(op: ScalarOp) -> u64 {
    match op {
        ScalarOp::Rsqrt | ScalarOp::Exp2 | ScalarOp::ReciprocalHalf | ScalarOp::ReciprocalSigned => 8,
        _ if op.is_exp() || op.is_short_exp2() => 8,
        ScalarOp::Div | ScalarOp::Sqrt | ScalarOp::Reciprocal => 13,
        ScalarOp::Tanh => 16,
        ScalarOp::Atan | ScalarOp::Asin | ScalarOp::Acos | ScalarOp::Erf => 20,
        ScalarOp::Log | ScalarOp::Log2 | ScalarOp::Log10 | ScalarOp::Log1p | ScalarOp::Expm1 => 27,
        ScalarOp::Sin | ScalarOp::Cos | ScalarOp::Nextafter => 28,
        ScalarOp::Erfc | ScalarOp::Erfinv | ScalarOp::Erfcinv | ScalarOp::Tan => 42,
        ScalarOp::Atan2 | ScalarOp::Fmod | ScalarOp::Philox => 70,
        ScalarOp::Pow => 88,
        ScalarOp::Lgamma => 230,
        _ => 1,
    }
}

fn of_i64(op: ScalarOp) -> u64 {
    match op {
        ScalarOp::Div | ScalarOp::Fmod => 40,
        ScalarOp::Mul => 4,
        ScalarOp::Maximum | ScalarOp::Minimum => 6,
        ScalarOp::Pow | ScalarOp::Gcd => 100,
        _ => 2,
    }
}

fn of_i32(op: ScalarOp) -> u64 {
    match op {
        ScalarOp::Div | ScalarOp::Fmod => 33,
        ScalarOp::Pow | ScalarOp::Gcd => 100,
        _ => 1,
    }
}

/// Cycles of a conversion between two dtypes.
pub fn cast(from: DType, to: DType) -> u64 {
    let is_byte = |dtype| matches!(dtype, DType::F8E4M3 | DType::F8E5M2 | DType::F8E8M0);
    let is_double = |dtype: DType| matches!(dtype.compute(), DType::F64 | DType::I64 | DType::U64);
    match (from, to) {
        _ if is_byte(from) || is_byte(to) => 12,
        // The unit that converts these takes a warp in eight cycles.
        _ if is_double(from) || is_double(to) => 8,
        _ => 1,
    }
}
