//! Every composite and monoid: its text parses, its dtypes hold together, and it agrees with a formula written here.

use super::super::typing::Operand;
use super::super::{Arith, Composite, Monoid, OpRef, Real, ScalarOp, Typing, signature};
use crate::DType;

/// Compute dtypes as values, constants typed as [`Composite::signature`] says they are.
struct Typed(DType);

impl Arith for Typed {
    type V = DType;

    fn apply(&mut self, op: ScalarOp, args: &[DType]) -> DType {
        let operands: Vec<Operand> = args.iter().copied().map(Operand::tensor).collect();
        let signature = signature(op, &operands).expect("composites apply where their signature says so");
        assert_eq!(signature.compute[..], *args, "no casts within an expression");
        signature.result
    }

    fn constant(&mut self, _: f64) -> DType {
        self.0
    }
}

#[test]
fn expressions_hold_together_on_every_dtype_their_signature_accepts() {
    for composite in Composite::all() {
        let mut accepted = 0;
        for dtype in DType::REAL {
            let operands = vec![Operand::tensor(dtype); composite.row().params.len()];
            let Ok(signature) = composite.signature(&operands) else { continue };
            accepted += 1;
            let compute = signature.compute[0];
            assert!(!compute.is_storage_only());
            let result = composite.expr().eval(&mut Typed(compute), &signature.compute);
            assert_eq!(result, signature.result_compute, "{} of {dtype}", composite.name());
            let plain = composite.row().typing == Typing::Plain;
            assert!(!plain || signature.result == dtype, "{} of {dtype}", composite.name());
        }
        assert!(accepted >= 4, "{} takes only {accepted} dtypes", composite.name());
    }
}

#[test]
fn composites_agree_with_formulas() {
    type Formula = fn(f64) -> f64;
    let formulas: [(&str, Formula); 29] = [
        ("sigmoid", logistic),
        ("silu", |x| x * logistic(x)),
        ("relu", |x| if x > 0.0 { x } else { 0.0 }),
        ("leaky_relu", |x| if x > 0.0 { x } else { 0.01 * x }),
        ("gelu", |x| 0.5 * x * libm::erfc(-x / 2.0_f64.sqrt())),
        ("tanh_gelu", |x| {
            x / (1.0 + (-2.0 * (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3))).exp())
        }),
        ("softplus", |x| x.max(0.0) + (-x.abs()).exp().ln_1p()),
        ("frac", f64::fract),
        ("elu", |x| if x > 0.0 { x } else { x.exp_m1() }),
        ("celu", |x| x.max(0.0) + x.exp_m1().min(0.0)),
        ("selu", |x| 1.0507009873554805 * if x > 0.0 { x } else { 1.6732632423543772 * x.exp_m1() }),
        ("hardsigmoid", |x| ((x + 3.0) / 6.0).clamp(0.0, 1.0)),
        ("hardswish", |x| x * ((x + 3.0) / 6.0).clamp(0.0, 1.0)),
        ("relu6", |x| x.clamp(0.0, 6.0)),
        ("mish", |x| x * (x.max(0.0) + (-x.abs()).exp().ln_1p()).tanh()),
        ("logsigmoid", |x| -(x.abs() - x) / 2.0 - (-x.abs()).exp().ln_1p()),
        ("softsign", |x| x / (1.0 + x.abs())),
        ("softshrink", |x| x - x.clamp(-0.5, 0.5)),
        ("tanhshrink", |x| x - x.tanh()),
        ("sign", |x| if x == 0.0 { 0.0 } else { x.signum() }),
        ("clamp", |x| x),
        ("sinh", f64::sinh),
        ("cosh", f64::cosh),
        ("asinh", f64::asinh),
        ("acosh", f64::acosh),
        ("atanh", f64::atanh),
        ("signbit", |x| f64::from(x.is_sign_negative())),
        ("isfinite", |x| f64::from(x.is_finite())),
        ("isreal", |_| 1.0),
    ];
    let samples = [
        -700.0, -30.0, -3.0, -1.0, -0.6, -1e-3, -1e-12, -0.0, 0.0, 1e-9, 0.01, 0.5, 1.0, 1.5, 20.0, 88.0,
        700.0, 1e12,
    ];
    for (name, formula) in formulas {
        for x in samples {
            let (got, wanted) = (evaluated(name, &[x]), formula(x));
            assert!(close(got, wanted), "{name}({x}): {got}, not {wanted}");
        }
    }
}

#[test]
fn composites_of_several_operands_agree_with_formulas() {
    type Formula = fn(f64, f64) -> f64;
    let formulas: [(&str, Formula); 3] =
        [("truediv", |a, b| a / b), ("mod", |a, b| a % b), ("remainder", |a, b| a - b * (a / b).floor())];
    for (name, formula) in formulas {
        for a in [-7.5, -3.0, 0.0, 2.0, 7.25] {
            for b in [-2.0, -0.5, 1.0, 3.0] {
                assert!(close(evaluated(name, &[a, b]), formula(a, b)), "{name}({a}, {b})");
            }
        }
    }
    assert_eq!(evaluated("logical_xor", &[1.0, 0.0]), 1.0);
    assert_eq!(evaluated("logical_xor", &[1.0, 1.0]), 0.0);
    assert_eq!(evaluated("lerp", &[2.0, 10.0, 0.25]), 4.0);
    assert_eq!(evaluated("lerp", &[2.0, 10.0, 1.0]), 10.0);
    assert_eq!(evaluated("addcmul", &[1.0, 2.0, 3.0, 0.5]), 4.0);
    assert_eq!(evaluated("clamp", &[5.0, -1.0, 1.0]), 1.0);
    assert_eq!(evaluated("threshold", &[0.5, 1.0, 9.0]), 9.0);
    assert_eq!(evaluated("threshold", &[1.5, 1.0, 9.0]), 1.5);
}

#[test]
fn gradients_agree_with_differences() {
    for (function, gradient) in
        [("gelu", "gelu_backward"), ("tanh_gelu", "tanh_gelu_backward"), ("silu", "silu_backward")]
    {
        for x in [-4.0, -1.0, -0.1, 0.0, 0.3, 2.0] {
            let h = 1e-5;
            let difference = (evaluated(function, &[x + h]) - evaluated(function, &[x - h])) / (2.0 * h);
            assert!((evaluated(gradient, &[3.0, x]) - 3.0 * difference).abs() < 1e-8, "{gradient}({x})");
        }
    }
}

#[test]
fn special_values() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    for name in ["relu", "leaky_relu", "clamp", "sign", "sinh", "asinh", "gelu", "frac"] {
        assert!(evaluated(name, &[nan]).is_nan(), "{name}(nan)");
    }
    assert!(evaluated("threshold", &[nan, 0.0, 1.0]).is_nan());
    for (name, x, wanted) in [
        ("isnan", nan, 1.0),
        ("isnan", inf, 0.0),
        ("isinf", -inf, 1.0),
        ("isfinite", nan, 0.0),
        ("isposinf", inf, 1.0),
        ("isposinf", -inf, 0.0),
        ("isneginf", -inf, 1.0),
        ("sigmoid", -inf, 0.0),
        ("sigmoid", inf, 1.0),
        ("sinh", -inf, -inf),
        ("cosh", -inf, inf),
        ("asinh", -inf, -inf),
        ("acosh", inf, inf),
        ("atanh", -1.0, -inf),
        ("signbit", -inf, 1.0),
    ] {
        assert_eq!(evaluated(name, &[x]), wanted, "{name}({x})");
    }
    assert!(evaluated("acosh", &[0.5]).is_nan() && evaluated("atanh", &[2.0]).is_nan());
    assert!(evaluated("sinh", &[-0.0]).is_sign_negative() && evaluated("sign", &[-0.0]).is_sign_negative());
}

#[test]
fn every_monoid_parses_and_keeps_its_states() {
    for monoid in Monoid::NAMED {
        let (exprs, states) = (monoid.exprs().expect("a row"), monoid.states());
        for expr in [&exprs.of_element, &exprs.step, &exprs.combine] {
            assert_eq!(expr.results().len(), states, "{}", monoid.name());
        }
        assert_eq!(Monoid::from_name(monoid.name()).as_ref(), Some(monoid));
    }
}

/// The composite on doubles, defaults filled in.
fn evaluated(name: &str, args: &[f64]) -> f64 {
    let Ok(OpRef::Composite(composite)) = super::super::lookup(name) else { panic!("no composite {name}") };
    let defaults = composite.row().params[args.len()..].iter().map(|param| param.default.as_number());
    let mut args = args.to_vec();
    args.extend(defaults.map(|default| default.expect("a default that is a number")));
    composite.expr().eval(&mut Real, &args)
}

/// Without cancellation on either side.
fn logistic(x: f64) -> f64 {
    let e = (-x.abs()).exp();
    if x > 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) }
}

/// Equal, both NaN, or within a few units in the last place of a double.
fn close(got: f64, wanted: f64) -> bool {
    got == wanted
        || (got.is_nan() && wanted.is_nan())
        || (got - wanted).abs() <= 1e-13 * wanted.abs().max(1e-12)
}
