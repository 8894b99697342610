//! Every primitive: names, spellings, special values, partial cases, laws, and the way errors spread.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::{CpuSpelling, OpRef, Real, ScalarOp, Typing, expr_parser, lookup};
use crate::{DType, Scalar};

const SPECIAL: [f64; 13] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    0.0,
    -0.0,
    5e-324,
    -1e-310,
    f64::MAX,
    f64::MIN,
    1.0,
    -1.0,
    0.5,
    -2.5,
];

const INTEGERS: [i64; 13] =
    [0, 1, -1, 2, 3, -7, 31, 32, 64, i32::MIN as i64, i32::MAX as i64, i64::MIN, i64::MAX];

#[test]
fn there_are_enough_rows_and_names_are_unique() {
    assert!(ScalarOp::ALL.len() >= 40 && super::super::Composite::all().count() >= 30);
    let names: BTreeSet<&str> = OpRef::all().map(OpRef::name).collect();
    assert_eq!(names.len(), OpRef::all().count());
    for op in OpRef::all() {
        assert_eq!(lookup(op.name()), Ok(op));
        assert!(op.doc().ends_with('.') || op.doc().ends_with('?'), "{}: {}", op.name(), op.doc());
        let params = op.params();
        let unique: BTreeSet<&str> = params.iter().map(|param| param.name).collect();
        assert_eq!(unique.len(), params.len(), "{}", op.name());
    }
}

#[test]
fn every_meaning_is_spelled_in_cuda_with_all_operands() {
    for &scalar_op in ScalarOp::ALL {
        let row = scalar_op.row();
        for dtype in DType::REAL.into_iter().filter(|dtype| !dtype.is_storage_only()) {
            let text = row.cuda.of(dtype);
            assert_eq!(text.is_some(), row.classes().contain(dtype), "{} on {dtype}", row.name);
            let operands =
                (0..row.params.len()).all(|i| text.is_none_or(|text| text.contains(&format!("{{{i}}}"))));
            assert!(operands, "{} on {dtype}", row.name);
        }
    }
}

#[test]
fn every_meaning_is_spelled_for_cpus() {
    for &scalar_op in ScalarOp::ALL {
        for dtype in [DType::Bool, DType::I64, DType::U64, DType::F32] {
            let spelled = scalar_op.row().cpu.of(dtype).is_some();
            assert_eq!(spelled, scalar_op.row().classes().contain(dtype), "{}", scalar_op.name());
        }
    }
}

#[test]
fn expansions_agree_with_their_meaning() {
    for &scalar_op in ScalarOp::ALL {
        let row = scalar_op.row();
        for dtype in [DType::Bool, DType::I64, DType::F64] {
            let Some(CpuSpelling::Expansion(text)) = row.cpu.of(dtype) else { continue };
            let expr = expr_parser::parse(text, row.params).expect(row.name);
            let samples: &[f64] = match dtype {
                DType::F64 => &SPECIAL,
                _ => &[-9.0, -1.0, 0.0, 1.0, 1e6],
            };
            for x in samples.iter().map(|&x| Scalar::from_f64(dtype, x)) {
                let got = Scalar::from_f64(dtype, expr.eval(&mut Real, &[x.as_f64()]));
                assert_eq!(Some(got), scalar_op.of_scalars(&[x]), "{}({x})", row.name);
            }
        }
    }
}

/// A call on every tuple of samples, to find traps; results must be of the dtype they say.
fn on_all_tuples<T: Copy>(scalar_op: ScalarOp, samples: &[T], constant: impl Fn(T) -> Scalar) {
    let arity = scalar_op.arity();
    for number in 0..samples.len().pow(arity as u32) {
        let pick = |place: u32| constant(samples[number / samples.len().pow(place) % samples.len()]);
        let mut args: Vec<Scalar> = (0..arity as u32).map(pick).collect();
        if scalar_op.row().typing == Typing::Where {
            args[0] = args[0].cast(DType::Bool);
        }
        let dtypes: Vec<DType> = args.iter().map(|arg| arg.dtype()).collect();
        if let Some(result) = scalar_op.of_scalars(&args) {
            assert_eq!(result.dtype(), scalar_op.result_dtype(&dtypes), "{}", scalar_op.name());
        }
    }
}

#[test]
fn no_operand_makes_a_primitive_panic() {
    for &scalar_op in ScalarOp::ALL {
        for dtype in [DType::F32, DType::F64] {
            on_all_tuples(scalar_op, &SPECIAL, |x| Scalar::from_f64(dtype, x));
        }
        for dtype in [DType::I32, DType::I64, DType::U64] {
            on_all_tuples(scalar_op, &INTEGERS, |x| Scalar::from_i64(dtype, x));
        }
        on_all_tuples(scalar_op, &[false, true], Scalar::from_bool);
    }
}

fn ints(scalar_op: ScalarOp, dtype: DType, a: i64, b: i64) -> i64 {
    let args = [Scalar::from_i64(dtype, a), Scalar::from_i64(dtype, b)];
    scalar_op.of_scalars(&args[..scalar_op.arity()]).expect("a meaning on integers").as_i64()
}

#[test]
fn partial_cases_of_integers_are_defined() {
    use DType::{I32, I64, U64};
    let (min, max) = (i64::from(i32::MIN), i64::from(i32::MAX));
    for (scalar_op, a, b, wanted) in [
        (ScalarOp::Div, 7, 0, 0),
        (ScalarOp::Div, -7, 2, -3),
        (ScalarOp::Div, min, -1, min),
        (ScalarOp::Fmod, 7, 0, 7),
        (ScalarOp::Fmod, -7, 2, -1),
        (ScalarOp::Fmod, min, -1, 0),
        (ScalarOp::Add, max, 1, min),
        (ScalarOp::Neg, min, 0, min),
        (ScalarOp::Abs, min, 0, min),
        (ScalarOp::LeftShift, 1, 31, min),
        (ScalarOp::LeftShift, 1, 32, 0),
        (ScalarOp::LeftShift, 1, -1, 0),
        (ScalarOp::RightShift, -8, 1, -4),
        (ScalarOp::RightShift, -8, 32, -1),
        (ScalarOp::RightShift, 8, -1, 0),
        (ScalarOp::LogicalRightShift, -1, 31, 1),
        (ScalarOp::LogicalRightShift, -1, 0, -1),
        (ScalarOp::LogicalRightShift, -1, 32, 0),
        (ScalarOp::Pow, 3, 4, 81),
        (ScalarOp::Pow, 2, 31, min),
        (ScalarOp::Pow, 0, 0, 1),
        (ScalarOp::Pow, 2, -1, 0),
        (ScalarOp::Pow, -1, -3, -1),
    ] {
        assert_eq!(ints(scalar_op, I32, a, b), wanted, "{}({a}, {b})", scalar_op.name());
    }
    assert_eq!(ints(ScalarOp::Div, I64, i64::MIN, -1), i64::MIN);
    assert_eq!(ints(ScalarOp::Fmod, I64, i64::MIN, -1), 0);
    assert_eq!(ints(ScalarOp::LeftShift, I64, 1, 63), i64::MIN);
    assert_eq!(ints(ScalarOp::LogicalRightShift, I64, -1, 63), 1);
    for (scalar_op, a, b, wanted) in [
        (ScalarOp::Div, -1, 0, 0),
        (ScalarOp::Div, i64::MIN, -1, 0),
        (ScalarOp::Div, -1, 2, i64::MAX),
        (ScalarOp::Fmod, -1, 0, -1),
        (ScalarOp::Fmod, -1, 10, 5),
        (ScalarOp::Abs, -5, 0, -5),
        (ScalarOp::Neg, 1, 0, -1),
        (ScalarOp::Minimum, -1, 1, 1),
        (ScalarOp::Maximum, i64::MIN, 1, i64::MIN),
        (ScalarOp::Lt, -1, 1, 0),
        (ScalarOp::Ge, -1, 1, 1),
        (ScalarOp::RightShift, -1, 63, 1),
        (ScalarOp::RightShift, -1, 64, 0),
        (ScalarOp::RightShift, -1, -1, 0),
        (ScalarOp::LeftShift, 1, i64::MIN, 0),
        (ScalarOp::Pow, 2, -1, 0),
        (ScalarOp::Pow, -1, 2, 1),
        (ScalarOp::Pow, 3, 4, 81),
    ] {
        assert_eq!(ints(scalar_op, U64, a, b), wanted, "{}({a}, {b})", scalar_op.name());
    }
    assert_eq!(ints(ScalarOp::Eq, I64, i64::MAX, i64::MAX - 1), 0);
}

#[test]
fn nan_and_signed_zeros_in_minimum_and_maximum() {
    for scalar_op in [ScalarOp::Minimum, ScalarOp::Maximum] {
        assert!(
            scalar_op.of_reals(&[f64::NAN, 1.0]).is_nan() && scalar_op.of_reals(&[1.0, f64::NAN]).is_nan()
        );
    }
    for zeros in [[0.0, -0.0], [-0.0, 0.0]] {
        assert!(ScalarOp::Minimum.of_reals(&zeros).is_sign_negative());
        assert!(ScalarOp::Maximum.of_reals(&zeros).is_sign_positive());
    }
}

#[test]
fn idempotent_and_identity_laws_hold_on_special_values() {
    let same = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan());
    for &scalar_op in ScalarOp::ALL.iter().filter(|scalar_op| scalar_op.row().float.is_some()) {
        let algebra = scalar_op.row().algebra;
        for x in SPECIAL {
            if let Some(identity) = algebra.identity {
                assert!(same(scalar_op.of_reals(&[x, identity]), x), "{}({x}, {identity})", scalar_op.name());
            }
            if algebra.idempotent && scalar_op.arity() == 1 {
                let once = scalar_op.of_reals(&[x]);
                assert!(same(scalar_op.of_reals(&[once]), once), "{}({x})", scalar_op.name());
            }
            for y in SPECIAL.into_iter().filter(|_| algebra.commutative) {
                assert!(
                    same(scalar_op.of_reals(&[x, y]), scalar_op.of_reals(&[y, x])),
                    "{}({x}, {y})",
                    scalar_op.name()
                );
            }
        }
    }
}

#[test]
fn integer_laws_hold() {
    for &scalar_op in
        ScalarOp::ALL.iter().filter(|scalar_op| scalar_op.row().int.is_some() && scalar_op.arity() == 2)
    {
        let algebra = scalar_op.row().algebra;
        for a in INTEGERS {
            for b in INTEGERS {
                let f = |a, b| ints(scalar_op, DType::I64, a, b);
                assert!(!algebra.commutative || f(a, b) == f(b, a), "{}({a}, {b})", scalar_op.name());
                let identity = algebra.identity.map_or(a, |e| Scalar::from_f64(DType::I64, e).as_i64());
                assert!(
                    algebra.identity.is_none() || f(a, identity) == a,
                    "{}({a}, {identity})",
                    scalar_op.name()
                );
                if algebra.associative {
                    assert_eq!(f(f(a, b), 3), f(a, f(b, 3)), "{}({a}, {b}, 3)", scalar_op.name());
                }
            }
        }
    }
}

proptest! {
    /// For all true operands within their errors, the true result is within the bound.
    #[test]
    fn spread_bounds_hold(
        place in 0..ScalarOp::ALL.len(),
        args in proptest::array::uniform3(-4.0..4.0_f64),
        errors in proptest::array::uniform3(prop_oneof![Just(0.0), 0.0..1e-6_f64, 0.0..1.0_f64]),
        shifts in proptest::array::uniform3(-1.0..1.0_f64),
    ) {
        let scalar_op = ScalarOp::ALL[place];
        if scalar_op.row().float.is_none() {
            return Ok(());
        }
        let count = scalar_op.arity();
        let moved: Vec<f64> = (0..count).map(|i| args[i] + shifts[i] * errors[i]).collect();
        let bound = scalar_op.spread_error(&args[..count], &errors[..count]);
        let deviation = (scalar_op.of_reals(&moved) - scalar_op.of_reals(&args[..count])).abs();
        prop_assert!(
            bound == f64::INFINITY || deviation.is_nan() || deviation <= bound * (1.0 + 1e-9) + 1e-12,
            "{}: off by {deviation}, bound {bound}", scalar_op.name()
        );
    }
}
