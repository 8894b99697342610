//! How absolute errors of the operands reach the result of a primitive.
//!
//! Takes the operand values and a bound on the absolute error of each, gives a bound on the absolute error of the exact
//! function of them. The error the op itself adds by rounding is not here: it is the row's `ulp`.

use super::slopes;

/// The rule by which one primitive spreads errors.
#[derive(Clone, Copy, Debug)]
pub enum Spread {
    /// The result deviates most at a corner of the box of operand intervals: monotone functions.
    Corners,
    /// A bound from the operand, the result there and the error, as `slopes` gives them; as [`Spread::Corners`] where that is
    /// NaN.
    Slope(fn(f64, f64, f64) -> f64),
    /// The result deviates by at most this factor times the sum of the errors.
    Lipschitz(f64),
    /// The result deviates by the largest of the errors: minimum, maximum.
    Largest,
    /// The first-order rule of a product and its last term.
    Product,
    /// A product to which a third operand is added: the rule of the product, the third error, and what the product may lose
    /// where it is rounded to f32 on the way, of exact operands too; unbounded where it may be infinite then.
    ProductSum,
    /// The rule of a quotient, or of the reciprocal; unbounded where the divisor may be zero.
    Quotient,
    /// As [`Spread::Corners`], but unbounded where the base may be zero under a negative exponent.
    Power,
    /// As [`Spread::Corners`] for the angle of a point (y, x), but 2 pi where the point may lie on the negative x axis.
    Angle,
    /// The logarithm of gamma, convex between poles at 0, -1, -2…: unbounded where one may be met, by a slope above 0, else as
    /// [`Spread::Corners`].
    Poles,
    /// The square root, or one over it: by the near end where the operand is surely above 0, else as [`Spread::Corners`].
    Root,
    /// The remainder: jumps by a divisor where the quotient's integer part may differ.
    Remainder,
    /// A truth value: it may flip where the operand intervals overlap.
    Comparison,
    /// A selection: the error of the selected operand, or of both and their distance where the condition may flip.
    Select,
    /// Operands are exact by nature (bools, integers, bits), or their last bits decide: any error at all is unbounded.
    Exact,
}

impl Spread {
    /// A bound on `|f(x) - f(args)|` over all `x` within `errors` of `args`. Infinite where none is known.
    ///
    /// `meaning` is the function itself, as doubles with bools as 0 and 1. The three slices run in parallel.
    pub fn bound(self, meaning: impl Fn(&[f64]) -> f64, args: &[f64], errors: &[f64]) -> f64 {
        let is_sure = errors.iter().all(|&error| error == 0.0);
        if is_sure && !matches!(self, Spread::ProductSum) {
            return 0.0;
        }
        let unknown = errors.contains(&f64::INFINITY);
        let bound = match self {
            Spread::Comparison => comparison(args, errors),
            Spread::Select => select(args, errors),
            // An operand of which nothing is known may be NaN too, which no rule below reckons with.
            _ if unknown => f64::INFINITY,
            Spread::Corners | Spread::Root => corners(meaning, args, errors),
            Spread::Slope(rule) => {
                let y = meaning(args);
                within(rule(args[0], y, errors[0]), y).unwrap_or_else(|| corners(meaning, args, errors))
            }
            Spread::Lipschitz(factor) => factor * errors.iter().sum::<f64>(),
            Spread::Largest => errors.iter().copied().fold(0.0, f64::max),
            Spread::Product => product(args, errors),
            Spread::ProductSum => product_sum([args[0], args[1]], [errors[0], errors[1], errors[2]]),
            Spread::Quotient => quotient(args, errors),
            Spread::Power if has_pole(args, errors) => f64::INFINITY,
            Spread::Power => {
                let y = meaning(args);
                let rule = slopes::pow([args[0], args[1]], y, [errors[0], errors[1]]);
                within(rule, y).unwrap_or_else(|| corners(meaning, args, errors))
            }
            Spread::Poles if meets_pole(args[0], errors[0]) => f64::INFINITY,
            Spread::Poles => {
                let y = meaning(args);
                let rule = slopes::lgamma(args[0], y, errors[0]);
                within(rule, y).unwrap_or_else(|| corners(meaning, args, errors))
            }
            Spread::Angle if may_wrap([args[0], args[1]], [errors[0], errors[1]]) => std::f64::consts::TAU,
            Spread::Angle => {
                let rule = slopes::atan2([args[0], args[1]], [errors[0], errors[1]]);
                within(rule, meaning(args)).unwrap_or_else(|| corners(meaning, args, errors))
            }
            Spread::Remainder => remainder([args[0], args[1]], [errors[0], errors[1]]),
            Spread::Exact => f64::INFINITY,
        };
        if bound.is_nan() { f64::INFINITY } else { bound }
    }
}

/// What a rule of `slopes` gives at a result, if it reaches so far.
fn within(rule: f64, result: f64) -> Option<f64> {
    (result.is_finite() && !rule.is_nan()).then_some(rule)
}

/// Every corner is visited by counting in binary over the operands.
fn corners(meaning: impl Fn(&[f64]) -> f64, args: &[f64], errors: &[f64]) -> f64 {
    let centre = meaning(args);
    let mut point = args.to_vec();
    let mut worst = 0.0_f64;
    for corner in 0..1_u32 << args.len() {
        for (index, x) in point.iter_mut().enumerate() {
            let sign = if corner >> index & 1 == 1 { 1.0 } else { -1.0 };
            *x = args[index] + sign * errors[index];
        }
        let value = meaning(&point);
        let same = value == centre || (value.is_nan() && centre.is_nan());
        let deviation = if same { zeros_apart(value, centre) } else { (value - centre).abs() };
        if deviation.is_nan() {
            return f64::INFINITY;
        }
        worst = worst.max(deviation);
    }
    worst
}

/// How far two equal results are from each other: zeros of different signs by next to nothing, which is more than nothing.
#[inline(always)]
pub fn zeros_apart(a: f64, b: f64) -> f64 {
    let differ = (a == 0.0) & (a.to_bits() != b.to_bits());
    if differ { f64::MIN_POSITIVE } else { 0.0 }
}

fn product(args: &[f64], errors: &[f64]) -> f64 {
    let (a, b) = (args[0].abs(), args[1].abs());
    let term = |value: f64, error: f64| if error == 0.0 { 0.0 } else { value * error };
    term(a, errors[1]) + term(b, errors[0]) + errors[0] * errors[1]
}

/// The rule of [`Spread::ProductSum`] for these factors and the errors of all three operands. Without branches, so that it
/// becomes vectors.
#[inline(always)]
pub fn product_sum([a, b]: [f64; 2], [e, f, g]: [f64; 3]) -> f64 {
    let term = |value: f64, error: f64| {
        let product = value * error;
        if error == 0.0 { 0.0 } else { product }
    };
    let spread = term(a.abs(), f) + term(b.abs(), e) + term(e, f);
    let max = (a * b).abs() + spread;
    let min = f64::from(f32::from_bits(1));
    let rounded = (max * f64::from(f32::EPSILON)).max(min) / 2.0;
    let bound = spread + rounded + g;
    let finite = if max + rounded < f64::from(f32::MAX) { bound } else { f64::INFINITY };
    // An infinite product, or none at all, is the same however it is rounded.
    let special = if (e == 0.0) & (f == 0.0) { g } else { f64::INFINITY };
    if a.is_finite() & b.is_finite() { finite } else { special }
}

/// A reciprocal is a quotient with an exact 1 above.
fn quotient(args: &[f64], errors: &[f64]) -> f64 {
    let (above, above_error) = if args.len() == 2 { (args[0], errors[0]) } else { (1.0, 0.0) };
    let (below, below_error) = (args[args.len() - 1].abs(), errors[errors.len() - 1]);
    let min = below - below_error;
    if below_error == 0.0 {
        return if above_error == 0.0 { 0.0 } else { above_error / below };
    }
    if min <= 0.0 { f64::INFINITY } else { (above_error + (above / below).abs() * below_error) / min }
}

fn has_pole(args: &[f64], errors: &[f64]) -> bool {
    args[0].abs() <= errors[0] && args[1] - errors[1] < 0.0
}

/// Whether a whole number not above 0 lies within the error.
fn meets_pole(x: f64, error: f64) -> bool {
    (x - error).ceil() <= (x + error).floor().min(0.0)
}

/// Whether the point (y, x) may lie on the negative x axis.
#[inline(always)]
pub fn may_wrap([y, x]: [f64; 2], [e, f]: [f64; 2]) -> bool {
    (y.abs() <= e) & (x - f <= 0.0)
}

/// Smooth while the whole quotient stays the same; beyond that both remainders are at most their divisors.
#[inline(always)]
pub fn remainder([a, b]: [f64; 2], [e, f]: [f64; 2]) -> f64 {
    let whole = (a / b).trunc();
    let is_steady = |up: f64, down: f64| ((a + up * e) / (b + down * f)).trunc() == whole;
    let steady = is_steady(-1.0, -1.0) & is_steady(-1.0, 1.0) & is_steady(1.0, -1.0) & is_steady(1.0, 1.0);
    let bound = if steady { e + whole.abs() * f } else { 2.0 * b.abs() + f };
    if (f > 0.0) & (b.abs() <= f) { f64::INFINITY } else { bound }
}

fn comparison(args: &[f64], errors: &[f64]) -> f64 {
    let (distance, reach) = match *args {
        [x] => (x.abs(), errors[0]),
        _ => ((args[0] - args[1]).abs(), errors[0] + errors[1]),
    };
    if distance > reach { 0.0 } else { 1.0 }
}

fn select(args: &[f64], errors: &[f64]) -> f64 {
    if errors[0] == 0.0 {
        return if args[0] != 0.0 { errors[1] } else { errors[2] };
    }
    let apart = if args[1] == args[2] { 0.0 } else { (args[1] - args[2]).abs() };
    apart + errors[1].max(errors[2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_error_in_no_error_out() {
        for spread in [Spread::Corners, Spread::Quotient, Spread::Exact, Spread::Comparison] {
            assert_eq!(spread.bound(|x| x[0] / x[1], &[1.0, 0.0], &[0.0, 0.0]), 0.0);
        }
    }

    #[test]
    fn a_divisor_that_may_be_zero_has_no_bound() {
        assert_eq!(Spread::Quotient.bound(|x| 1.0 / x[0], &[0.1], &[0.2]), f64::INFINITY);
        let bound = Spread::Quotient.bound(|x| x[0] / x[1], &[6.0, 2.0], &[0.1, 0.1]);
        assert!((6.1 / 1.9 - 3.0..0.25).contains(&bound));
    }

    #[test]
    fn a_comparison_flips_only_within_reach() {
        assert_eq!(Spread::Comparison.bound(|_| 0.0, &[1.0, 2.0], &[0.4, 0.4]), 0.0);
        assert_eq!(Spread::Comparison.bound(|_| 0.0, &[1.0, 2.0], &[0.5, 0.5]), 1.0);
        assert_eq!(Spread::Select.bound(|_| 0.0, &[1.0, 5.0, 2.0], &[1.0, 0.0, 0.5]), 3.5);
    }

    #[test]
    fn what_may_be_anything_gives_anything() {
        for spread in [Spread::Corners, Spread::Largest, Spread::Product, Spread::Angle, Spread::Remainder] {
            assert_eq!(spread.bound(|x| x[0] * x[1], &[f64::NAN, 2.0], &[f64::INFINITY, 0.0]), f64::INFINITY);
        }
        assert_eq!(Spread::Corners.bound(|x| x[0].tanh(), &[1.0], &[f64::INFINITY]), f64::INFINITY);
        assert_eq!(Spread::Comparison.bound(|_| 0.0, &[f64::NAN, 2.0], &[f64::INFINITY, 0.0]), 1.0);
        assert_eq!(Spread::Select.bound(|_| 0.0, &[1.0, 5.0, f64::NAN], &[0.0, 0.5, f64::INFINITY]), 0.5);
    }

    #[test]
    fn a_pole_within_reach_has_no_bound() {
        let bound = |x: f64, error: f64| Spread::Poles.bound(|x| libm::lgamma(x[0]), &[x], &[error]);
        assert_eq!(bound(-1.1, 0.2), f64::INFINITY);
        assert_eq!(bound(0.1, 0.1), f64::INFINITY);
        assert!(bound(-1.5, 0.4) < 3.0 && bound(1.46, 0.1) < 0.01);
    }

    #[test]
    fn the_tangent_has_no_bound_beside_its_poles() {
        let bound =
            |x: f64, error: f64| Spread::Slope(slopes::tan).bound(|x| libm::tan(x[0]), &[x], &[error]);
        assert_eq!(bound(1.5, 0.1), f64::INFINITY);
        assert_eq!(bound(-4.6, 0.2), f64::INFINITY);
        assert!(bound(1.5, 0.05) < 40.0 && bound(3.0, 0.1) < 0.11);
    }

    #[test]
    fn corners_outside_the_domain_have_no_bound() {
        assert_eq!(Spread::Corners.bound(|x| x[0].sqrt(), &[0.1], &[0.2]), f64::INFINITY);
        // The sign of a zero may be the other.
        let round = |x: &[f64]| x[0].round_ties_even();
        assert_eq!(Spread::Corners.bound(round, &[0.1], &[0.2]), f64::MIN_POSITIVE);
        assert_eq!(Spread::Corners.bound(round, &[0.3], &[0.1]), 0.0);
    }
}
