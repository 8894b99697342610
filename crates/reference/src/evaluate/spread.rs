//! How errors of operands reach the results of a scalar op, a block at a time: the rules of [`Spread`] over slices.
//!
//! Rules that vectorize are separate loops, and a second loop corrects results that are not finite, which the rules do not
//! cover. The others go element by element.

use ops::lanes::{NullaryFnOnce, wide};
use ops::{
    FloatMeaning, Kernel, ScalarOp, Spread, may_wrap, product_sum, remainder, slopes, vectorized, zeros_apart,
};

use super::block::BLOCK;
use super::bound::apart;

/// `errors` of the operands `args` with the results `exact` into `out`.
pub(super) fn spread(op: ScalarOp, args: &[&[f64]], errors: &[&[f64]], exact: &[f64], out: &mut [f64]) {
    let row = op.row();
    match (row.spread, args, errors) {
        (Spread::Lipschitz(factor), _, [e]) => each(out, [e; 4], move |[e, ..]| factor * e),
        (Spread::Lipschitz(factor), _, [e, f]) => each(out, [e, f, e, f], move |[e, f, ..]| factor * (e + f)),
        (Spread::Product, [a, b], [e, f]) => {
            each(out, [a, b, e, f], product);
            mend(exact, out, |k| corners(op, &[a[k], b[k]], &[e[k], f[k]]));
        }
        (Spread::Largest, [a, b], [e, f]) => {
            each(out, [e, f, e, f], |[e, f, ..]| if e > f { e } else { f });
            mend(exact, out, |k| corners(op, &[a[k], b[k]], &[e[k], f[k]]));
        }
        (Spread::Quotient, [a, b], [e, f]) => {
            each(out, [exact, b, e, f], quotient);
            mend(exact, out, |k| corners(op, &[a[k], b[k]], &[e[k], f[k]]));
        }
        (Spread::Quotient, [b], [f]) => {
            each(out, [exact, b, f, f], reciprocal);
            mend(exact, out, |k| corners(op, &[b[k]], &[f[k]]));
        }
        (Spread::Comparison, [a, b], [e, f]) => each(out, [a, b, e, f], comparison),
        (Spread::Select, [condition, ..], [unsure, e, f]) if unsure.iter().all(|&error| error == 0.0) => {
            each(out, [condition, e, f, e], |[condition, e, f, _]| if condition != 0.0 { e } else { f });
        }
        (Spread::ProductSum, [a, b, _], [e, f, g]) => {
            vectorized!(factors: [&'a [f64]; 2] = [a, b], errors: [&'a [f64]; 3] = [e, f, g], out: &'a mut [f64] = out => (), {
                let ([a, b], [e, f, g]) = (factors, errors);
                let factors = a.iter().zip(b).zip(e.iter().zip(f).zip(g));
                for (out, ((&a, &b), ((&e, &f), &g))) in out.iter_mut().zip(factors) {
                    *out = product_sum([a, b], [e, f, g]);
                }
            });
        }
        _ if errors.iter().all(|errors| errors.iter().all(|&error| error == 0.0)) => out.fill(0.0),
        (Spread::Remainder, [a, b], [e, f]) => each(out, [a, b, e, f], of_remainder),
        (Spread::Power, [a, b], [e, f]) => {
            ruled(exact, out, [a, b, e, f], of_power);
            unruled(op, args, errors, exact, out);
        }
        (Spread::Angle, [y, x], [e, f]) => {
            ruled(exact, out, [y, x, e, f], of_angle);
            unruled(op, args, errors, exact, out);
        }
        (Spread::Root, [x], [e]) => {
            match op {
                ScalarOp::Sqrt => ruled(exact, out, [x, x, e, e], of_sqrt),
                _ => ruled(exact, out, [x, x, e, e], of_rsqrt),
            }
            unruled(op, args, errors, exact, out);
        }
        (Spread::Poles, [x], [e]) => {
            ruled(exact, out, [x, x, e, e], of_lgamma);
            unruled(op, args, errors, exact, out);
        }
        (Spread::Slope(rule), [x], [e]) => sloped(op, rule, [x, e], exact, out),
        (Spread::Corners, [x], [e]) => ends(op, [x, e], exact, out),
        _ => general(op, args, errors, exact, out),
    }
}

/// A rule on up to four slices.
#[inline(always)]
fn each(out: &mut [f64], inputs: [&[f64]; 4], rule: impl Fn([f64; 4]) -> f64) {
    wide(Each { out, inputs, rule });
}

struct Each<'a, R> {
    out: &'a mut [f64],
    inputs: [&'a [f64]; 4],
    rule: R,
}

impl<R: Fn([f64; 4]) -> f64> NullaryFnOnce for Each<'_, R> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let [a, b, c, d] = self.inputs;
        let pairs = a.iter().zip(b).zip(c.iter().zip(d));
        for (out, ((&a, &b), (&c, &d))) in self.out.iter_mut().zip(pairs) {
            *out = (self.rule)([a, b, c, d]);
        }
    }
}

/// Recomputes the results that are not finite, by their number.
fn mend(exact: &[f64], out: &mut [f64], again: impl Fn(usize) -> f64) {
    let finite = vectorized!(exact: &'a [f64] = exact => bool, {
        exact.iter().fold(true, |finite, x| finite & x.is_finite())
    });
    if !finite {
        let wrong = (0..out.len()).filter(|&k| !exact[k].is_finite());
        wrong.for_each(|k| out[k] = again(k));
    }
}

/// Zero by what may lie on either side of zero is a zero of either sign, which some functions tell apart.
#[inline(always)]
fn product([a, b, e, f]: [f64; 4]) -> f64 {
    let (a, b) = (a.abs(), b.abs());
    let first_order = a * f + b * e + e * f;
    let may_wrap = (e > 0.0) & (a <= e) | (f > 0.0) & (b <= f);
    if (first_order == 0.0) & may_wrap { f64::MIN_POSITIVE } else { first_order }
}

/// The error of a finite quotient `y`, whose divisor is not zero; unbounded where an error may make it zero.
#[inline(always)]
fn quotient([y, b, e, f]: [f64; 4]) -> f64 {
    let min = b.abs() - f;
    let bound = (e + y.abs() * f) / min;
    let unbounded = (f > 0.0) & (min <= 0.0) | bound.is_nan();
    if unbounded { f64::INFINITY } else { bound }
}

#[inline(always)]
fn reciprocal([y, b, _, f]: [f64; 4]) -> f64 {
    quotient([y, b, 0.0, f])
}

/// Unbounded where nothing is known about an operand.
#[inline(always)]
fn of_remainder([a, b, e, f]: [f64; 4]) -> f64 {
    let bound = remainder([a, b], [e, f]);
    let unknown = bound.is_nan() | (e == f64::INFINITY) | (f == f64::INFINITY);
    let bound = if unknown { f64::INFINITY } else { bound };
    if (e == 0.0) & (f == 0.0) { 0.0 } else { bound }
}

#[inline(always)]
fn of_power([a, b, e, f]: [f64; 4], y: f64) -> f64 {
    slopes::pow([a, b], y, [e, f])
}

#[inline(always)]
fn of_angle([y, x, e, f]: [f64; 4], _: f64) -> f64 {
    let bound = slopes::atan2([y, x], [e, f]);
    if may_wrap([y, x], [e, f]) { f64::NAN } else { bound }
}

#[inline(always)]
fn of_lgamma([x, _, e, _]: [f64; 4], y: f64) -> f64 {
    slopes::lgamma(x, y, e)
}

#[inline(always)]
fn of_sqrt([x, _, e, _]: [f64; 4], y: f64) -> f64 {
    slopes::sqrt(x, y, e)
}

#[inline(always)]
fn of_rsqrt([x, _, e, _]: [f64; 4], y: f64) -> f64 {
    slopes::rsqrt(x, y, e)
}

#[inline(always)]
fn comparison([a, b, e, f]: [f64; 4]) -> f64 {
    let reach = e + f;
    if ((a - b).abs() > reach) | (reach == 0.0) { 0.0 } else { 1.0 }
}

/// By the row's rule where it applies, else from the ends of the interval.
fn sloped(op: ScalarOp, rule: fn(f64, f64, f64) -> f64, [x, e]: [&[f64]; 2], exact: &[f64], out: &mut [f64]) {
    for (k, out) in out.iter_mut().enumerate() {
        *out = match e[k] {
            0.0 => 0.0,
            f64::INFINITY => f64::INFINITY,
            error if !exact[k].is_finite() => corners(op, &[x[k]], &[error]),
            error => match rule(x[k], exact[k], error) {
                bound if bound.is_nan() => corners(op, &[x[k]], &[error]),
                bound => bound,
            },
        };
    }
}

/// From what the function is at both ends of the interval, of at most [`BLOCK`] elements. A step of a lambda has one.
fn ends(op: ScalarOp, [x, e]: [&[f64]; 2], exact: &[f64], out: &mut [f64]) {
    let Some(FloatMeaning::Unary(Kernel { each: function, .. })) = op.row().float.filter(|_| x.len() > 1)
    else {
        return general(op, &[x], &[e], exact, out);
    };
    let (mut end, mut lower) = ([0.0; BLOCK], [0.0; BLOCK]);
    let (end, lower) = (&mut end[..x.len()], &mut lower[..x.len()]);
    each(end, [x, e, x, e], |[x, e, ..]| x - e);
    function(end, lower);
    each(end, [x, e, x, e], |[x, e, ..]| x + e);
    function(end, out);
    vectorized!(lower: &'a [f64] = lower, exact: &'a [f64] = exact, e: &'a [f64] = e, out: &'a mut [f64] = out => (), {
        let ends = lower.iter().zip(exact.iter().zip(e));
        for (upper, (&lower, (&exact, &e))) in out.iter_mut().zip(ends) {
            let moved = apart(lower, exact).max(apart(*upper, exact));
            let moved = if lower == *upper { moved.max(zeros_apart(lower, *upper)) } else { moved };
            let sure = if e == 0.0 { 0.0 } else { moved };
            *upper = if e == f64::INFINITY { e } else { sure };
        }
    });
}

fn general(op: ScalarOp, args: &[&[f64]], errors: &[&[f64]], exact: &[f64], out: &mut [f64]) {
    out.iter_mut().enumerate().for_each(|(k, out)| *out = single(op, args, errors, exact, k));
}

/// By a rule on two operands and their errors, given the result too; NaN where it does not apply.
#[inline(always)]
fn ruled(exact: &[f64], out: &mut [f64], inputs: [&[f64]; 4], rule: impl Fn([f64; 4], f64) -> f64) {
    wide(Ruled { exact, out, inputs, rule });
}

struct Ruled<'a, R> {
    exact: &'a [f64],
    out: &'a mut [f64],
    inputs: [&'a [f64]; 4],
    rule: R,
}

impl<R: Fn([f64; 4], f64) -> f64> NullaryFnOnce for Ruled<'_, R> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let [a, b, e, f] = self.inputs;
        let operands = a.iter().zip(b).zip(e.iter().zip(f));
        for ((out, &exact), ((&a, &b), (&e, &f))) in self.out.iter_mut().zip(self.exact).zip(operands) {
            let bound = (self.rule)([a, b, e, f], exact);
            let bound = if exact.is_finite() { bound } else { f64::NAN };
            *out = if (e == 0.0) & (f == 0.0) { 0.0 } else { bound };
        }
    }
}

/// Recomputes the results to which a rule did not apply.
fn unruled(op: ScalarOp, args: &[&[f64]], errors: &[&[f64]], exact: &[f64], out: &mut [f64]) {
    let places = out.iter_mut().enumerate().filter(|(_, out)| out.is_nan());
    places.for_each(|(k, out)| *out = single(op, args, errors, exact, k));
}

/// The error of element `k`.
fn single(op: ScalarOp, args: &[&[f64]], errors: &[&[f64]], exact: &[f64], k: usize) -> f64 {
    let arity = args.len();
    let (mut point, mut error) = ([0.0; 3], [0.0; 3]);
    for operand in 0..arity {
        point[operand] = args[operand][k];
        error[operand] = errors[operand][k];
    }
    let smooth = matches!(op.row().spread, Spread::Quotient | Spread::Power | Spread::Largest);
    match smooth && !exact[k].is_finite() {
        // The smooth rules cover finite results; an infinite or undefined one must stay as it is everywhere.
        true => corners(op, &point[..arity], &error[..arity]),
        false => op.spread_error(&point[..arity], &error[..arity]),
    }
}

/// The largest deviation at the corners of the box of operand intervals. An operand about which nothing is known may also be
/// NaN.
fn corners(op: ScalarOp, args: &[f64], errors: &[f64]) -> f64 {
    if errors.contains(&f64::INFINITY) {
        return f64::INFINITY;
    }
    let exact = op.of_reals(args);
    let corner = |signs: usize| {
        let mut point = [0.0; 3];
        for (k, x) in point.iter_mut().enumerate().take(args.len()) {
            *x = if signs >> k & 1 == 1 { args[k] + errors[k] } else { args[k] - errors[k] };
        }
        apart(op.of_reals(&point[..args.len()]), exact)
    };
    if errors.iter().all(|&e| e == 0.0) { 0.0 } else { (0..1 << args.len()).map(corner).fold(0.0, f64::max) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_with_infinities_keep_them_where_they_are_sure() {
        let spread_of = |a: f64, b: f64, e: f64, f: f64| {
            let mut out = [0.0];
            spread(ScalarOp::Mul, &[&[a], &[b]], &[&[e], &[f]], &[a * b], &mut out);
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
}
