//! Cycles of vector instructions, for as many elements as a vector has of f32. Those of 64 bits take two vectors; other dtypes
//! count alike. Measured as sums of 8 and of 24 equal functions of a million elements on Zen 4 with AVX-512, beside the time of
//! a multiplication; pow and calls as chains; approximate exponentials by their instructions;
//! remainders of floats by the time of a call on a Xeon.

use crate::{Approximation, CpuSpelling, DType, Polynomial, ScalarOp};

/// Cycles of an op that makes this dtype.
pub fn scalar_op(op: ScalarOp, dtype: DType) -> u64 {
    let spelling = op.row().cpu.of(dtype);
    let cycles = match op {
        _ if op.moves_bits() => 0,
        ScalarOp::Div | ScalarOp::Reciprocal => 7,
        ScalarOp::Sqrt => 11,
        ScalarOp::Rsqrt => 18,
        ScalarOp::Fmod if !dtype.is_int() => 35,
        ScalarOp::Fmod => 280,
        _ => match spelling {
            Some(CpuSpelling::Polynomial(Polynomial::Exp | Polynomial::Exp2)) => 12,
            Some(CpuSpelling::Polynomial(Polynomial::Sin | Polynomial::Cos | Polynomial::Tan)) => 55,
            Some(CpuSpelling::Polynomial(Polynomial::Pow)) => 60,
            Some(CpuSpelling::Polynomial(Polynomial::Lgamma)) => 250 / vectors(dtype), // in doubles for any dtype
            Some(CpuSpelling::Polynomial(Polynomial::Erfinv | Polynomial::Erfcinv)) if vectors(dtype) > 1 => {
                110
            }
            Some(CpuSpelling::Polynomial(_)) => 28,
            Some(CpuSpelling::Approximate(Approximation::Exp(_))) => 12,
            Some(CpuSpelling::Approximate(Approximation::Exp2Bf16(_))) => 5,
            Some(CpuSpelling::Approximate(Approximation::Exp2Half(_))) => 7,
            Some(CpuSpelling::Approximate(Approximation::ExpTerm)) => 10,
            Some(CpuSpelling::Philox) => 20,
            Some(CpuSpelling::Call { .. }) => 1400,
            _ => 1,
        },
    };
    cycles * vectors(dtype)
}

/// How many vectors, in the compute dtype, hold as many elements of a dtype as one holds of f32.
fn vectors(dtype: DType) -> u64 {
    if dtype.compute().size() > 4 { 2 } else { 1 }
}

/// Cycles of a conversion between two dtypes.
pub fn cast(from: DType, to: DType) -> u64 {
    match to {
        DType::F8E4M3 | DType::F8E5M2 | DType::F8E8M0 => 8,
        _ => vectors(from).max(vectors(to)),
    }
}
