//! The error bound that travels with each value: how far any legal compiled execution may be from the evaluator.
//!
//! Takes operand values with their bounds and gives the bound of the result, for scalar ops and for casts; folds have
//! theirs in `fold/`. Bounds are absolute, are computed in doubles and stored in f32, rounded up. The rules:
//!
//! * a correctly rounded op on exact operands has the bound zero: both sides compute the same bits;
//! * else the operands' errors spread by the row's rule, a compiled op is off by the row's `ulp`, the evaluator by its
//!   own rounding, each taken at the largest result possible;
//! * where a result may be finite on one side and infinite on the other the bound is infinite, and nothing is compared.

use crate::DType;
use crate::array::Element;
use crate::ops::{FloatMeaning, Prim, Spread, product_sum};

/// The bits of the exponent of a double.
const EXPONENT: u64 = 0x7ff0_0000_0000_0000;

/// A bound as it is stored, never smaller. The factor makes up for the roundings of the bound's own arithmetic.
pub(super) fn round_up(bound: f64) -> f32 {
    let wide = bound * (1.0 + 8.0 * f64::EPSILON);
    let near = wide as f32;
    match near.is_nan() {
        true => f32::INFINITY,
        false if f64::from(near) < wide => near.next_up(),
        false => near,
    }
}

/// How results of one dtype are rounded: by the compiled code, and by the evaluator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounding {
    /// Half the distance from 1 to the next number: the unit roundoff. Zero for integers and bools.
    pub(super) unit: f64,
    /// Spacing of the subnormals, and of the largest numbers.
    least: f64,
    greatest: f64,
    /// From here on numbers round to infinity, or wrap.
    pub(super) overflow: f64,
    /// Below this they do.
    lowest: f64,
    /// The least normal number.
    pub(super) normal: f64,
    /// Largest error of a compiled result in units in the last place, and the evaluator's own.
    compiled: f64,
    own: f64,
    /// No two values are further apart.
    widest: f64,
}

impl Rounding {
    /// For results of `dtype` that compiled code gets right up to so many units in the last place.
    pub(super) fn new(dtype: DType, compiled: f64) -> Rounding {
        let widest = if dtype == DType::Bool { 1.0 } else { f64::INFINITY };
        if !dtype.is_float() {
            let (lowest, overflow) = match dtype {
                DType::Bool => (f64::NEG_INFINITY, f64::INFINITY),
                DType::U64 => (0.0, 64_f64.exp2()),
                _ => (-(dtype.bits() as f64 - 1.0).exp2(), (dtype.bits() as f64 - 1.0).exp2()),
            };
            return Rounding {
                unit: 0.0,
                least: 0.0,
                greatest: 0.0,
                overflow,
                lowest,
                normal: 0.0,
                compiled: 0.0,
                own: 0.0,
                widest,
            };
        }
        let (relative, least, greatest) = (dtype.ulp(1.0), dtype.ulp(0.0), dtype.ulp(f64::INFINITY));
        let overflow = (greatest * (2.0 / relative) - greatest / 2.0).min(f64::MAX);
        // What the rows compute in doubles is good to about one unit in a double's last place.
        let own = if dtype == DType::F64 && compiled > 0.5 { 1.0 } else { 0.5 };
        let normal = least / relative;
        let unit = relative / 2.0;
        Rounding { unit, least, greatest, overflow, lowest: -overflow, normal, compiled, own, widest }
    }

    /// The unit in the last place at `x`.
    pub(super) fn ulp(&self, x: f64) -> f64 {
        let binade = f64::from_bits(x.to_bits() & EXPONENT);
        (binade * (2.0 * self.unit)).max(self.least).min(self.greatest)
    }

    /// The evaluator's own rounding of `x`.
    pub(super) fn own(&self, x: f64) -> f64 {
        0.5 * self.ulp(x)
    }

    /// Whether an op on exact operands may differ at all.
    pub(super) fn is_exact(&self) -> bool {
        self.compiled <= 0.5
    }

    /// The bound of a result: its value before rounding, and how far the exact function of the operands may deviate.
    #[inline(always)]
    pub(super) fn total(&self, exact: f64, spread: f64) -> f64 {
        let agree = spread == 0.0 && self.is_exact();
        let rounding = match self.compiled == 0.0 {
            true => 0.0,
            false => self.compiled * self.ulp(exact.abs() + spread) + self.own * self.ulp(exact),
        };
        let bound = if agree { 0.0 } else { spread + rounding };
        self.guarded(exact, bound)
    }

    /// The bound, or infinity where one side may overflow and the other not.
    #[inline(always)]
    pub(super) fn guarded(&self, exact: f64, bound: f64) -> f64 {
        let reaches = |end: f64| (exact - end).abs() <= bound;
        let crosses = bound > 0.0 && (reaches(self.overflow) || reaches(self.lowest));
        if crosses || bound.is_nan() { f64::INFINITY.min(self.widest) } else { bound.min(self.widest) }
    }
}

/// Spreads of a block: `errors` of the operands `args` with the results `exact` into `out`.
pub(super) fn spread(prim: Prim, args: &[&[f64]], errors: &[&[f64]], exact: &[f64], out: &mut [f64]) {
    let row = prim.row();
    match (row.spread, args.len(), row.float) {
        (Spread::Lipschitz(factor), 1, _) => {
            out.iter_mut().zip(errors[0]).for_each(|(out, e)| *out = factor * e);
        }
        (Spread::Lipschitz(factor), 2, _) => {
            let both = errors[0].iter().zip(errors[1]);
            out.iter_mut().zip(both).for_each(|(out, (e, f))| *out = factor * (e + f));
        }
        (Spread::Product, 2, _) => product(args, errors, exact, out),
        (Spread::ProductSum, 3, _) => {
            for (k, out) in out.iter_mut().enumerate() {
                let [e, f, g] = [0, 1, 2].map(|operand: usize| errors[operand][k]);
                *out = product_sum([args[0][k], args[1][k]], [e, f, g]);
            }
        }
        (Spread::Corners, 1, Some(FloatMeaning::Unary(f))) => {
            for (k, out) in out.iter_mut().enumerate() {
                let (x, e) = (args[0][k], errors[0][k]);
                *out = match e {
                    0.0 => 0.0,
                    f64::INFINITY => f64::INFINITY,
                    _ => apart(f(x - e), exact[k]).max(apart(f(x + e), exact[k])),
                };
            }
        }
        _ => general(prim, args, errors, exact, out),
    }
}

fn product(args: &[&[f64]], errors: &[&[f64]], exact: &[f64], out: &mut [f64]) {
    for (k, out) in out.iter_mut().enumerate() {
        let (a, b, e, f) = (args[0][k], args[1][k], errors[0][k], errors[1][k]);
        let may_turn = |x: f64, error: f64| error > 0.0 && x.abs() <= error;
        let first_order = a.abs() * f + b.abs() * e + e * f;
        *out = match exact[k].is_finite() {
            // Zero by what may lie on either side of zero is a zero of either sign, which some functions tell apart.
            true if first_order == 0.0 && (may_turn(a, e) || may_turn(b, f)) => f64::MIN_POSITIVE,
            true => first_order,
            false => corners(Prim::Mul, &[a, b], &[e, f]),
        };
    }
}

fn general(prim: Prim, args: &[&[f64]], errors: &[&[f64]], exact: &[f64], out: &mut [f64]) {
    let arity = args.len();
    let (mut point, mut error) = ([0.0; 3], [0.0; 3]);
    for (k, out) in out.iter_mut().enumerate() {
        for operand in 0..arity {
            point[operand] = args[operand][k];
            error[operand] = errors[operand][k];
        }
        let smooth = matches!(prim.row().spread, Spread::Quotient | Spread::Power | Spread::Largest);
        *out = match smooth && !exact[k].is_finite() {
            // The smooth rules speak of finite results; an infinite or undefined one must stay as it is everywhere.
            true => corners(prim, &point[..arity], &error[..arity]),
            false => prim.spread_error(&point[..arity], &error[..arity]),
        };
    }
}

/// The largest deviation at the corners of the box of operand intervals. An operand of which nothing is known may be NaN
/// too.
fn corners(prim: Prim, args: &[f64], errors: &[f64]) -> f64 {
    if errors.contains(&f64::INFINITY) {
        return f64::INFINITY;
    }
    let exact = prim.of_reals(args);
    let corner = |signs: usize| {
        let mut point = [0.0; 3];
        for (k, x) in point.iter_mut().enumerate().take(args.len()) {
            *x = if signs >> k & 1 == 1 { args[k] + errors[k] } else { args[k] - errors[k] };
        }
        apart(prim.of_reals(&point[..args.len()]), exact)
    };
    if errors.iter().all(|&e| e == 0.0) { 0.0 } else { (0..1 << args.len()).map(corner).fold(0.0, f64::max) }
}

/// The distance of two results, zero for equal infinities and for two NaNs, infinite for one NaN.
pub(super) fn apart(a: f64, b: f64) -> f64 {
    if a == b || (a.is_nan() && b.is_nan()) {
        return 0.0;
    }
    let distance = (a - b).abs();
    if distance.is_nan() { f64::INFINITY } else { distance }
}

/// The bound of a cast to `T`: what the ends of the interval around `x` become, since a cast is monotone. Only the
/// cast to bool is not; it may flip where the interval holds zero. What may be anything stays so.
pub(super) fn cast<T: Element>(x: f64, error: f64, rounding: &Rounding) -> f64 {
    if error == 0.0 {
        return 0.0;
    }
    if error == f64::INFINITY {
        return error.min(rounding.widest);
    }
    if T::DTYPE == DType::Bool {
        return f64::from(x.abs() <= error);
    }
    let value = T::from_real(x).to_real();
    let low = T::from_real((x - error).next_down()).to_real();
    let high = T::from_real((x + error).next_up()).to_real();
    let spread = apart(low, value).max(apart(high, value));
    match T::DTYPE.is_float() {
        // Rounded to a zero of either sign.
        true if spread == 0.0 && value == 0.0 && x.abs() <= error => f64::MIN_POSITIVE,
        true => spread,
        false => rounding.guarded(x, spread),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fast_ulp_is_the_dtypes() {
        for dtype in DType::REAL.into_iter().filter(|dtype| dtype.is_float()) {
            let rounding = Rounding::new(dtype, 1.0);
            for x in
                [0.0, 1.0, -1.0, 3.0, 0.1, 1e-310, 5e-324, 1e-40, -1e-8, 6e4, 1e30, f64::INFINITY, f64::NAN]
            {
                let x = dtype.round(x);
                assert_eq!(rounding.ulp(x), dtype.ulp(x), "{dtype} at {x:e}");
            }
        }
    }

    #[test]
    fn bounds_round_up_and_zero_stays() {
        assert_eq!(round_up(0.0), 0.0);
        for x in [1.0, 0.1, 1e-46, 1e-300, 1e39, 123_456.789] {
            assert!(f64::from(round_up(x)) >= x);
        }
        assert_eq!(round_up(f64::NAN), f32::INFINITY);
    }

    #[test]
    fn agreeing_sides_have_no_bound_and_doubtful_ones_no_end() {
        let add = Rounding::new(DType::F32, 0.5);
        assert_eq!(add.total(1.5, 0.0), 0.0);
        assert!(add.total(1.5, 1e-9) >= 1e-9 + f64::from(f32::EPSILON));
        assert_eq!(add.total(3.4028e38, 1e35), f64::INFINITY);
        assert_eq!(add.total(f64::INFINITY, 0.0), 0.0);
        assert_eq!(Rounding::new(DType::Bool, 0.0).total(1.0, f64::INFINITY), 1.0);
        assert_eq!(Rounding::new(DType::I32, 0.0).total(2147483647.0, 2.0), f64::INFINITY);
    }

    #[test]
    fn products_with_infinities_keep_them_where_they_are_sure() {
        let spread_of = |a: f64, b: f64, e: f64, f: f64| {
            let mut out = [0.0];
            spread(Prim::Mul, &[&[a], &[b]], &[&[e], &[f]], &[a * b], &mut out);
            out[0]
        };
        assert_eq!(spread_of(f64::INFINITY, 2.0, 0.0, 0.1), 0.0);
        assert_eq!(spread_of(f64::INFINITY, 0.05, 0.0, 0.1), f64::INFINITY);
        assert_eq!(spread_of(f64::NAN, 2.0, 0.0, 0.1), 0.0);
        assert_eq!(spread_of(f64::NAN, 2.0, f64::INFINITY, 0.0), f64::INFINITY);
        assert_eq!(spread_of(3.0, 2.0, 0.5, 0.25), 3.0 * 0.25 + 2.0 * 0.5 + 0.125);
        assert_eq!(spread_of(0.0, 2.0, 0.0, 0.25), 0.0);
        assert_eq!(spread_of(0.0, 1e-9, 0.0, 1e-8), f64::MIN_POSITIVE);
    }

    #[test]
    fn a_cast_has_an_error_only_where_rounding_may_flip() {
        let rounding = Rounding::new(DType::BF16, 0.5);
        assert_eq!(cast::<half::bf16>(1.001, 1e-4, &rounding), 0.0);
        assert_eq!(cast::<half::bf16>(1.0039, 1e-4, &rounding), 1.0 / 128.0);
        assert_eq!(cast::<half::f16>(1e-10, 1e-12, &rounding), 0.0);
        assert_eq!(cast::<half::f16>(1e-10, 1e-9, &rounding), f64::MIN_POSITIVE);
        assert_eq!(cast::<i32>(2.9999, 1e-3, &Rounding::new(DType::I32, 0.0)), 1.0);
        assert_eq!(cast::<u8>(1e-4, 1e-3, &Rounding::new(DType::Bool, 0.0)), 1.0);
        assert_eq!(cast::<u8>(f64::NAN, f64::INFINITY, &Rounding::new(DType::Bool, 0.0)), 1.0);
        assert_eq!(cast::<f32>(f64::NAN, f64::INFINITY, &Rounding::new(DType::F32, 0.5)), f64::INFINITY);
    }
}
