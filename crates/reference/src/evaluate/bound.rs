//! The error bound of each value: how far any legal compiled execution may be from the evaluator.
//!
//! Takes results and how far operands move them, as `spread` and `convert` compute, and returns their bounds; those of folds
//! are in `fold/`. Bounds are absolute, are computed in doubles and stored in f32, rounded up. The rules:
//!
//! * a correctly rounded op on exact operands has the bound zero: both sides compute the same bits;
//! * else the operands' errors spread by the row's rule, a compiled op is off by the row's `ulp`, the evaluator by its
//!   own rounding, each taken at the largest result possible;
//! * where a result may be finite on one side and infinite on the other the bound is infinite, and nothing is compared.

use ops::DType;
use ops::vectorized;

/// The bits of the exponent of a double.
pub(super) const EXPONENT: u64 = 0x7ff0_0000_0000_0000;

/// A bound as it is stored, never smaller. The factor makes up for the roundings of the bound's own arithmetic.
#[inline(always)]
pub(super) fn round_up(bound: f64) -> f32 {
    let wide = bound * (1.0 + 8.0 * f64::EPSILON);
    let near = wide as f32;
    // Bounds have no sign, so the next number is that of the next bits.
    let above = f32::from_bits(near.to_bits() + u32::from(f64::from(near) < wide));
    if wide.is_nan() { f32::INFINITY } else { above }
}

/// Rounds bounds up; returns whether one of them is not zero.
pub(super) fn round_all_up(bounds: &[f64], out: &mut [f32]) -> bool {
    vectorized!(bounds: &'a [f64] = bounds, out: &'a mut [f32] = out => bool, {
        let mut bits = 0;
        for (out, &bound) in out.iter_mut().zip(bounds) {
            *out = round_up(bound);
            bits |= out.to_bits();
        }
        bits != 0
    })
}

/// How results of one dtype are rounded: by the compiled code, and by the evaluator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounding {
    /// Half the distance from 1 to the next number: the unit roundoff. Zero for integers and bools.
    pub(super) unit: f64,
    /// Spacing of the subnormals, and of the largest numbers.
    min: f64,
    max: f64,
    /// Numbers from here on round to infinity, or wrap.
    pub(super) overflow: f64,
    /// Numbers below this do, too.
    pub(super) lowest: f64,
    /// The smallest normal number.
    pub(super) normal: f64,
    /// Largest error of a compiled result in units in the last place, and the evaluator's own.
    compiled: f64,
    own: f64,
    /// No two values are further apart.
    pub(super) widest: f64,
}

impl Rounding {
    /// For results of `dtype` that compiled code gets right up to `compiled` units in the last place.
    pub(super) fn new(dtype: DType, compiled: f64) -> Rounding {
        let widest = match dtype {
            DType::Bool => 1.0,
            _ if dtype.is_narrow_int() => (dtype.bits() as f64).exp2() - 1.0,
            _ => f64::INFINITY,
        };
        if !dtype.is_float() {
            let (lowest, overflow) = match dtype {
                DType::Bool => (f64::NEG_INFINITY, f64::INFINITY),
                _ if dtype.is_unsigned_int() => (0.0, (dtype.bits() as f64).exp2()),
                _ => (-(dtype.bits() as f64 - 1.0).exp2(), (dtype.bits() as f64 - 1.0).exp2()),
            };
            return Rounding {
                unit: 0.0,
                min: 0.0,
                max: 0.0,
                overflow,
                lowest,
                normal: 0.0,
                compiled: 0.0,
                own: 0.0,
                widest,
            };
        }
        let (relative, min, max) = (dtype.ulp(1.0), dtype.ulp(0.0), dtype.ulp(f64::INFINITY));
        let overflow = (max * (2.0 / relative) - max / 2.0).min(f64::MAX);
        // The rows' results in doubles are accurate to about one unit in a double's last place.
        let own = if dtype == DType::F64 && compiled > 0.5 { 1.0 } else { 0.5 };
        let normal = min / relative;
        let unit = relative / 2.0;
        Rounding { unit, min, max, overflow, lowest: -overflow, normal, compiled, own, widest }
    }

    /// The magnitudes below which results with this relative error may lose digits, and from which on they may overflow.
    #[inline(always)]
    pub(super) fn limits(&self, error: f64) -> (f64, f64) {
        (self.normal * (1.0 + error), self.overflow / (1.0 + error))
    }

    /// Whether the dtype has every number that the other has.
    pub(super) fn holds(&self, other: &Rounding) -> bool {
        self.unit > 0.0 && self.unit <= other.unit && self.min <= other.min && self.overflow >= other.overflow
    }

    /// The unit in the last place at `x`.
    #[inline(always)]
    pub(super) fn ulp(&self, x: f64) -> f64 {
        let binade = f64::from_bits(x.to_bits() & EXPONENT);
        lesser(greater(binade * (2.0 * self.unit), self.min), self.max)
    }

    /// The evaluator's own rounding of `x`.
    #[inline(always)]
    pub(super) fn own(&self, x: f64) -> f64 {
        0.5 * self.ulp(x)
    }

    /// Whether an op on exact operands may differ at all.
    #[inline(always)]
    pub(super) fn is_exact(&self) -> bool {
        self.compiled <= 0.5
    }

    /// The bound of a result: its value before rounding, and how far the exact function of the operands may deviate.
    #[inline(always)]
    pub(super) fn total(&self, exact: f64, spread: f64) -> f64 {
        let agree = (spread == 0.0) & self.is_exact();
        // The evaluator's own rounding is taken at the largest result too, which is one unit for both.
        let units = if self.compiled == 0.0 { 0.0 } else { self.compiled + self.own };
        let bound = spread + units * self.ulp(exact.abs() + spread);
        self.guarded(exact, if agree { 0.0 } else { bound })
    }

    /// The bounds of results: spreads become bounds.
    pub(super) fn totals(&self, exact: &[f64], spreads: &mut [f64]) {
        let rounding = *self;
        vectorized!(rounding: Rounding = rounding, exact: &'a [f64] = exact, spreads: &'a mut [f64] = spreads => (), {
            for (spread, &exact) in spreads.iter_mut().zip(exact) {
                *spread = rounding.total(exact, *spread);
            }
        });
    }

    /// The bound, or infinity if one side may overflow and the other not.
    #[inline(always)]
    pub(super) fn guarded(&self, exact: f64, bound: f64) -> f64 {
        let distance = lesser((exact - self.overflow).abs(), (exact - self.lowest).abs());
        let crosses = (bound > 0.0) & (distance <= bound);
        lesser(if crosses | bound.is_nan() { f64::INFINITY } else { bound }, self.widest)
    }
}

/// The smaller of two numbers, the second if one is NaN: a single instruction, unlike `min` of floats.
#[inline(always)]
pub(super) fn lesser(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// The larger of two numbers, the second if one is NaN.
#[inline(always)]
pub(super) fn greater(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The distance of two results, zero for equal infinities and for two NaNs, infinite for one NaN.
#[inline(always)]
pub(super) fn apart(a: f64, b: f64) -> f64 {
    let distance = (a - b).abs();
    let far = if distance.is_nan() { f64::INFINITY } else { distance };
    if (a == b) | (a.is_nan() & b.is_nan()) { 0.0 } else { far }
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
}
