//! The laws of every monoid: identity and associativity, and that folding is independent of grouping.

use proptest::prelude::*;

use super::super::{Monoid, Real};
use crate::DType;

fn identity(monoid: &Monoid) -> Vec<f64> {
    monoid.identity(&[DType::F64, DType::F64]).iter().map(|scalar| scalar.as_f64()).collect()
}

/// An element of as many operands as a monoid takes; equal first ones have equal second ones.
fn element(monoid: &Monoid, x: f64) -> Vec<f64> {
    let number = if x.is_finite() { (x * 100.0).round() } else { 5.0 };
    [x, number][..monoid.operands()].to_vec()
}

fn folded(monoid: &Monoid, elements: &[f64]) -> Vec<f64> {
    let exprs = monoid.exprs().expect("a row");
    elements.iter().fold(identity(monoid), |mut states, &x| {
        states.extend(element(monoid, x));
        exprs.step.eval_all(&mut Real, &states)
    })
}

fn combined(monoid: &Monoid, a: &[f64], b: &[f64]) -> Vec<f64> {
    monoid.exprs().expect("a row").combine.eval_all(&mut Real, &[a, b].concat())
}

/// Equal up to roundings relative to the scale of the elements.
fn near(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| a == b || (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs())))
}

fn run() -> impl Strategy<Value = Vec<f64>> {
    proptest::collection::vec(-3.0..3.0_f64, 0..8)
}

proptest! {
    #[test]
    fn monoid_laws(a in run(), b in run(), c in run()) {
        for monoid in Monoid::NAMED {
            let (x, y, z) = (folded(monoid, &a), folded(monoid, &b), folded(monoid, &c));
            let none = identity(monoid);
            prop_assert_eq!(&combined(monoid, &none, &x), &x);
            prop_assert_eq!(&combined(monoid, &x, &none), &x);
            let left = combined(monoid, &combined(monoid, &x, &y), &z);
            let right = combined(monoid, &x, &combined(monoid, &y, &z));
            let at_once = folded(monoid, &[a.clone(), b.clone(), c.clone()].concat());
            prop_assert!(near(&left, &right) && near(&left, &at_once), "{}: {left:?} {right:?}", monoid.name());
        }
    }

    #[test]
    fn outlining_is_one_step_from_nothing(x in -3.0..3.0_f64) {
        for monoid in Monoid::NAMED {
            let of_element = &monoid.exprs().expect("a row").of_element;
            prop_assert_eq!(of_element.eval_all(&mut Real, &element(monoid, x)), folded(monoid, &[x]));
        }
    }

    #[test]
    fn welford_is_mean_and_squared_deviations(elements in proptest::collection::vec(-3.0..3.0_f64, 1..20)) {
        let n = elements.len() as f64;
        let mean = elements.iter().sum::<f64>() / n;
        let m2 = elements.iter().map(|x| (x - mean).powi(2)).sum();
        let finished = Monoid::Welford.exprs().expect("a row").finish.eval_all(&mut Real, &folded(&Monoid::Welford, &elements));
        prop_assert!(near(&finished, &[mean, m2, n]));
    }
}

#[test]
fn empty_runs_leave_infinities_and_nans_alone() {
    for monoid in Monoid::NAMED {
        for x in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            let states = folded(monoid, &[x]);
            let none = identity(monoid);
            for joined in [combined(monoid, &states, &none), combined(monoid, &none, &states)] {
                let same = joined.iter().zip(&states).all(|(a, b)| a == b || (a.is_nan() && b.is_nan()));
                assert!(same, "{} of {x}: {joined:?}, not {states:?}", monoid.name());
            }
        }
    }
}

#[test]
fn identities_exist_in_every_dtype() {
    for monoid in Monoid::NAMED {
        for dtype in DType::REAL {
            let identity = monoid.identity(&[dtype, dtype]);
            assert_eq!(identity.len(), monoid.state_dtypes(&[dtype, dtype]).len());
            assert!(identity.iter().all(|scalar| scalar.dtype() == dtype));
        }
    }
}
