//! Intervals of integers and the arithmetic on them. An interval contains every value that the operation gives where
//! it is defined; finite ends beyond `i128` count as unbounded.

use crate::evaluate::floor_div;
use crate::{Atom, Expr, Facts};

/// Stands for minus infinity as a lower end.
const MIN: i128 = i128::MIN;
/// Stands for infinity as an upper end.
const MAX: i128 = i128::MAX;

/// An interval of integers, ends included; it is empty when the facts it comes from contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    // Never MAX, so that infinity as a lower end cannot arise from saturation.
    lo: i128,
    // Never MIN, likewise.
    hi: i128,
}

impl Range {
    /// All integers.
    pub const ALL: Range = Range { lo: MIN, hi: MAX };

    /// The integers from `lo` to `hi`, both included; `None` is unbounded.
    pub fn new(lo: Option<i128>, hi: Option<i128>) -> Range {
        Range::clamped(lo.unwrap_or(MIN), hi.unwrap_or(MAX))
    }

    /// One integer.
    pub fn point(value: i128) -> Range {
        Range::clamped(value, value)
    }

    fn clamped(lo: i128, hi: i128) -> Range {
        Range { lo: lo.min(MAX - 1), hi: hi.max(MIN + 1) }
    }

    /// The smallest value, `None` when unbounded.
    pub fn lo(&self) -> Option<i128> {
        (self.lo != MIN).then_some(self.lo)
    }

    /// The largest value, `None` when unbounded.
    pub fn hi(&self) -> Option<i128> {
        (self.hi != MAX).then_some(self.hi)
    }

    /// The expression that is zero or more if `about` is in the range, from one of its ends: the lower, if it has one.
    pub fn slack(&self, about: &Expr) -> Option<Expr> {
        let constant = |end: i128| i64::try_from(end).ok().map(Expr::constant);
        let above = self.lo().and_then(constant).map(|lo| about - &lo);
        above.or_else(|| self.hi().and_then(constant).map(|hi| &hi - about))
    }

    /// The only value, if there is one only.
    pub fn as_point(&self) -> Option<i128> {
        (self.lo == self.hi).then_some(self.lo)
    }

    /// True if no integer is inside.
    pub fn is_empty(&self) -> bool {
        self.lo > self.hi
    }

    /// True if the value is inside.
    pub fn contains(&self, value: i128) -> bool {
        self.lo <= value && value <= self.hi
    }

    /// The integers in both.
    pub fn intersect(&self, other: &Range) -> Range {
        Range::clamped(self.lo.max(other.lo), self.hi.min(other.hi))
    }

    /// True if zero or more is certain.
    pub(crate) fn is_nonnegative(&self) -> bool {
        self.lo >= 0
    }

    fn plus(&self, other: &Range) -> Range {
        let lo = if self.lo == MIN || other.lo == MIN { MIN } else { self.lo.saturating_add(other.lo) };
        let hi = if self.hi == MAX || other.hi == MAX { MAX } else { self.hi.saturating_add(other.hi) };
        Range::clamped(lo, hi)
    }

    fn corners(&self, other: &Range, operation: fn(i128, i128) -> i128) -> Range {
        let corners = [
            operation(self.lo, other.lo),
            operation(self.lo, other.hi),
            operation(self.hi, other.lo),
            operation(self.hi, other.hi),
        ];
        let (first, rest) = (corners[0], &corners[1..]);
        let hull = |(lo, hi): (i128, i128), &c: &i128| (lo.min(c), hi.max(c));
        let (lo, hi) = rest.iter().fold((first, first), hull);
        Range::clamped(lo, hi)
    }

    fn times(&self, other: &Range) -> Range {
        self.corners(other, end_product)
    }

    fn power(&self, power: u32) -> Range {
        let (a, b) = (end_power(self.lo, power), end_power(self.hi, power));
        match (power.is_multiple_of(2), self.contains(0)) {
            (false, _) => Range::clamped(a, b),
            (true, true) => Range::clamped(0, a.max(b)),
            (true, false) => Range::clamped(a.min(b), a.max(b)),
        }
    }

    /// The quotients by divisors that are not zero.
    pub(crate) fn floor_div(&self, divisor: &Range) -> Range {
        let divisor = divisor.without_zero_end();
        if divisor.contains(0) { Range::ALL } else { self.corners(&divisor, end_quotient) }
    }

    fn modulo(&self, divisor: &Range) -> Range {
        let divisor = divisor.without_zero_end();
        let within = Range::clamped(
            if divisor.lo == MIN { MIN } else { (divisor.lo + 1).min(0) },
            if divisor.hi == MAX { MAX } else { (divisor.hi - 1).max(0) },
        );
        match (self.lo >= 0, divisor.lo > 0) {
            (true, true) if self.hi < divisor.lo => *self,
            (true, true) => within.intersect(&Range::clamped(0, self.hi)),
            _ => within,
        }
    }

    /// A divisor is not zero where the division is defined.
    fn without_zero_end(&self) -> Range {
        match (self.lo, self.hi) {
            (0, 1..) => Range { lo: 1, ..*self },
            (..0, 0) => Range { hi: -1, ..*self },
            _ => *self,
        }
    }

    fn min(&self, other: &Range) -> Range {
        Range::clamped(self.lo.min(other.lo), self.hi.min(other.hi))
    }

    fn max(&self, other: &Range) -> Range {
        Range::clamped(self.lo.max(other.lo), self.hi.max(other.hi))
    }
}

fn is_infinite(end: i128) -> bool {
    end == MIN || end == MAX
}

fn infinity(negative: bool) -> i128 {
    if negative { MIN } else { MAX }
}

fn end_product(a: i128, b: i128) -> i128 {
    if a == 0 || b == 0 {
        return 0;
    }
    let infinite = infinity((a < 0) != (b < 0));
    if is_infinite(a) || is_infinite(b) { infinite } else { a.checked_mul(b).unwrap_or(infinite) }
}

fn end_power(a: i128, power: u32) -> i128 {
    let negative = a < 0 && power % 2 == 1;
    if is_infinite(a) { infinity(negative) } else { a.checked_pow(power).unwrap_or(infinity(negative)) }
}

/// A quotient by an infinite divisor is 0 or -1; an infinite one by it lies between quotients at other corners.
fn end_quotient(a: i128, b: i128) -> i128 {
    let negative = (a < 0) != (b < 0);
    match (is_infinite(a), is_infinite(b)) {
        (_, true) if a == 0 => 0,
        (_, true) => -i128::from(negative),
        (true, false) => infinity(negative),
        (false, false) => floor_div(a, b).unwrap_or(MAX),
    }
}

impl Facts {
    /// The interval of an expression, without simplification of it.
    pub(crate) fn interval(&self, e: &Expr) -> Range {
        if e.is_overflow() {
            return Range::ALL;
        }
        let mut sum = Range::point(0);
        for term in e.terms() {
            let mut product = Range::point(i128::from(term.coefficient));
            for (atom, power) in term.monomial.factors() {
                product = product.times(&self.atom_interval(atom).power(*power));
            }
            sum = sum.plus(&product);
        }
        sum
    }

    fn atom_interval(&self, atom: &Atom) -> Range {
        match atom {
            Atom::Sym(sym) => {
                let own = self.range(*sym);
                self.value(*sym).map_or(own, |value| own.intersect(&self.interval(value)))
            }
            Atom::FloorDiv(a, b) => self.interval(a).floor_div(&self.interval(b)),
            Atom::Mod(a, b) => self.interval(a).modulo(&self.interval(b)),
            Atom::Min(a, b) => self.interval(a).min(&self.interval(b)),
            Atom::Max(a, b) => self.interval(a).max(&self.interval(b)),
        }
    }

    /// An interval that contains every value the expression can have.
    pub fn bounds(&self, e: &Expr) -> Range {
        self.interval(e).intersect(&self.interval(&self.normalize(e)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(lo: i128, hi: i128) -> Range {
        Range::new(Some(lo), Some(hi))
    }

    #[test]
    fn small_intervals_are_exact_hulls_or_wider() {
        let ends: Vec<Range> = (-4..=4).flat_map(|lo| (lo..=4).map(move |hi| range(lo, hi))).collect();
        for (a, b) in ends.iter().flat_map(|a| ends.iter().map(move |b| (a, b))) {
            for (x, y) in (a.lo..=a.hi).flat_map(|x| (b.lo..=b.hi).map(move |y| (x, y))) {
                assert!(a.plus(b).contains(x + y) && a.times(b).contains(x * y));
                assert!(a.min(b).contains(x.min(y)) && a.max(b).contains(x.max(y)));
                assert!(a.power(3).contains(x * x * x) && a.power(2).contains(x * x));
                let Some(quotient) = floor_div(x, y) else { continue };
                assert!(a.floor_div(b).contains(quotient), "{a:?} // {b:?}: {x} // {y}");
                assert!(a.modulo(b).contains(x - y * quotient), "{a:?} % {b:?}: {x} % {y}");
            }
        }
    }

    #[test]
    fn unbounded_ends_stay_sound() {
        let size = Range::new(Some(0), None);
        let lane = range(0, 3);
        assert_eq!(size.times(&lane), size);
        assert_eq!(size.floor_div(&range(4, 4)), size);
        assert_eq!(size.modulo(&range(4, 4)), lane);
        assert_eq!(range(0, 3).floor_div(&Range::new(Some(4), None)), Range::point(0));
        assert_eq!(range(-1, -1).floor_div(&size), Range::point(-1));
        assert_eq!(Range::ALL.times(&range(-1, 0)), Range::ALL);
        assert_eq!(range(MAX - 1, MAX - 1).plus(&range(5, 5)).hi(), None);
        assert_eq!(range(0, MAX / 2).times(&range(3, 3)).hi(), None);
    }
}
