//! The typing rules of nvFuser's scalar ops, op by op and on all dtypes, as its documentation of the API states them.

use super::super::typing::{Operand, promote};
use super::super::{OpRef, lookup, signature};
use crate::DType;

/// The dtype of the result on tensors of these dtypes; `None` where the op does not apply.
fn result(name: &str, dtypes: &[DType]) -> Option<DType> {
    let operands: Vec<Operand> = dtypes.iter().copied().map(Operand::tensor).collect();
    let signature = match lookup(name).unwrap_or_else(|error| panic!("{error}")) {
        OpRef::Primitive(op) => signature(op, &operands),
        OpRef::Composite(composite) => composite.signature(&operands),
        OpRef::Language(_) => panic!("`{name}` is no scalar op"),
    };
    signature.ok().map(|signature| signature.result)
}

/// Each op of a list on every dtype, or on every pair of them.
fn check_unary(names: &str, rule: impl Fn(DType) -> Option<DType>) {
    for name in names.split_whitespace() {
        for dtype in DType::REAL {
            assert_eq!(result(name, &[dtype]), rule(dtype), "{name} of {dtype}");
        }
    }
}

fn check_binary(names: &str, rule: impl Fn(DType, DType) -> Option<DType>) {
    for name in names.split_whitespace() {
        for a in DType::REAL {
            for b in DType::REAL {
                assert_eq!(result(name, &[a, b]), rule(a, b), "{name} of {a} and {b}");
            }
        }
    }
}

/// Integers and bools go to f32, storage types too.
fn real(dtype: DType) -> DType {
    if dtype == DType::F64 { dtype } else { DType::F32 }
}

/// The dtype that arithmetic on both gives.
fn arithmetic(a: DType, b: DType) -> Option<DType> {
    promote(a, b).map(DType::arithmetic)
}

fn only(dtype: Option<DType>, accepted: impl Fn(DType) -> bool) -> Option<DType> {
    dtype.filter(|&dtype| accepted(dtype))
}

#[test]
fn functions_of_real_numbers_give_f32_or_f64() {
    let names = "acos acosh asin asinh atan atanh cos cosh exp exp2 expm1 erf erfc erfinv erfcinv lgamma log log10 log1p
        log2 reciprocal rsqrt sigmoid sin sinh sqrt tan tanh";
    check_unary(names, |dtype| Some(real(dtype)));
    check_binary("truediv atan2", |a, b| promote(a, b).map(real));
}

#[test]
fn plain_ops_give_the_dtype_of_their_operand() {
    check_unary("ceil floor frac round trunc abs", |dtype| only(Some(dtype), |dtype| dtype != DType::Bool));
    check_unary("silu", |dtype| only(Some(dtype), DType::is_float));
    check_unary("relu sign set segment_set", Some);
    for dtype in DType::REAL.into_iter().filter(|&dtype| dtype != DType::Bool) {
        for bound in [DType::I64, DType::F32] {
            let bounds = [dtype, bound, bound];
            for name in ["clamp", "threshold"] {
                let common = promote(dtype, bound);
                assert!(common.is_none() || result(name, &bounds) == Some(dtype), "{name} of {dtype}");
            }
        }
    }
}

#[test]
fn questions_give_bools() {
    let bool = |_| Some(DType::Bool);
    check_unary("signbit isfinite isinf isnan isneginf isposinf isreal logical_not", bool);
    check_binary("eq ne lt le gt ge", |a, b| promote(a, b).map(|_| DType::Bool));
    check_binary("logical_and logical_or", |a, b| promote(a, b).map(|_| DType::Bool));
}

#[test]
fn arithmetic_promotes_and_half_types_stay_in_f32() {
    check_unary("neg", |dtype| only(Some(dtype.arithmetic()), |dtype| dtype != DType::Bool));
    check_binary("add mul minimum maximum", arithmetic);
    let numbers = |a, b| only(arithmetic(a, b), |dtype| dtype != DType::Bool);
    check_binary("sub div mod fmod remainder pow", numbers);
    for dtype in DType::REAL.into_iter().filter(|&dtype| dtype != DType::Bool) {
        assert_eq!(result("addcmul", &[dtype; 4]), Some(dtype.arithmetic()), "addcmul of {dtype}");
        assert_eq!(result("lerp", &[dtype; 3]), Some(real(dtype)), "lerp of {dtype}");
    }
}

#[test]
fn integers_alone_have_bits_and_divisors() {
    let whole = |dtype: DType| dtype.is_int();
    check_unary("bitwise_not", |dtype| only(Some(dtype), |dtype| !dtype.is_float()));
    check_binary("bitwise_and bitwise_or bitwise_xor", |a, b| only(promote(a, b), |dtype| !dtype.is_float()));
    check_binary("bitwise_left_shift bitwise_right_shift gcd", |a, b| only(promote(a, b), whole));
    check_binary("logical_right_shift", |a, b| only(promote(a, b), DType::is_wide_int));
    check_binary("nextafter", |a, b| only(promote(a, b), |dtype| matches!(dtype, DType::F32 | DType::F64)));
}

#[test]
fn a_selection_keeps_storage_types() {
    for a in DType::REAL {
        for b in DType::REAL {
            assert_eq!(result("where", &[DType::Bool, a, b]), promote(a, b), "where of {a} and {b}");
            assert!(a == DType::Bool || result("where", &[a, b, b]).is_none(), "a condition of {a}");
        }
    }
}
