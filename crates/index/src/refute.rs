//! Points at which facts hold and an expression is negative. Nothing can prove it zero or more then, and to find such a
//! point takes far less time than to fail at a proof.

use std::collections::BTreeSet;

use smallvec::SmallVec;

use super::facts::Condition;
use super::known::scattered;
use super::{Expr, Facts, Sym};

/// The most symbols of an expression for which points are looked for.
const MAX_SYMBOLS: usize = 4;
/// The most facts of a kind that are looked at.
const MAX_FACTS: usize = 16;
/// How many points are tried.
const POINTS: u32 = 12;
/// What all symbols are at one of the points, within their ranges.
const LARGE: i64 = 100_000;

/// Values of a few symbols.
type Point = SmallVec<[(Sym, i64); MAX_SYMBOLS]>;

/// Whether an expression is negative at a point at which all facts hold. A fact that mentions other symbols as well leaves
/// open whether a point is a part of one for all symbols: then nothing is refuted.
pub(super) fn is_refuted(facts: &Facts, e: &Expr) -> bool {
    let symbols = e.symbols();
    if symbols.is_empty() || symbols.len() > MAX_SYMBOLS {
        return false;
    }
    let points = (0..POINTS).filter_map(|number| point(facts, number, &symbols));
    let is_negative = |point: &Point| value(e, point).is_some_and(|value| value < 0);
    let negative: SmallVec<[Point; 4]> = points.filter(is_negative).collect();
    if negative.is_empty() {
        return false;
    }
    let Some(conditions) = facts.conditions_within(&symbols, MAX_FACTS) else { return false };
    let holds = |Condition { about, range, multiple }: &Condition<'_>, point: &Point| {
        value(about, point).is_some_and(|value| range.contains(value.into()) && value % multiple == 0)
    };
    negative.iter().any(|point| conditions.iter().all(|condition| holds(condition, point)))
}

/// Values of these symbols within their ranges, each a multiple of what divides it.
fn point(facts: &Facts, number: u32, symbols: &BTreeSet<Sym>) -> Option<Point> {
    let count = symbols.len();
    let place = |(nth, &sym): (usize, &Sym)| {
        let range = facts.range(sym);
        let end = |end: Option<i128>, open: i64| end.map_or(Some(open), |end| i64::try_from(end).ok());
        let (lo, hi) = (end(range.lo(), -LARGE)?, end(range.hi(), i64::MAX)?);
        // Facts often say that one size is larger than another.
        let wanted = match number {
            0 => lo,
            1 => LARGE,
            2 => LARGE >> (4 * (1 + nth)),
            3 => LARGE >> (4 * (count - nth)),
            _ => scattered(number, sym.as_u32()),
        };
        let value = wanted.max(lo).min(hi);
        let value = value.checked_add(value.checked_neg()?.rem_euclid(facts.multiple(sym)))?;
        range.contains(value.into()).then_some((sym, value))
    };
    symbols.iter().enumerate().map(place).collect()
}

fn value(e: &Expr, point: &Point) -> Option<i64> {
    e.eval(&|sym| point.iter().find(|(of, _)| *of == sym).map(|&(_, value)| value)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Contradiction;

    #[test]
    fn what_is_negative_at_a_point_where_the_facts_hold_is_refuted() -> Result<(), Contradiction> {
        let mut facts = Facts::new();
        (0..6).for_each(|number| facts.assume_range(Sym::from_u32(number), 0, None));
        let refuted = |facts: &Facts, text: &str| is_refuted(facts, &Expr::read(text));
        assert!(refuted(&facts, "i0 - 3") && refuted(&facts, "3 - i0") && refuted(&facts, "i0 - i1"));
        assert!(refuted(&facts, "min(i0, 9) - min(i1, 7)") && !refuted(&facts, "i0 + i1*i2"));
        facts.assume_le(&Expr::read("i1 + 5"), &Expr::read("i0"))?;
        assert!(!refuted(&facts, "i0 - i1 - 5") && refuted(&facts, "i0 + i1 - 9000"));
        // Another fact links i1 with a symbol of which nothing is chosen.
        facts.assume_le(&Expr::read("i2*i3"), &Expr::read("i1*i4"))?;
        assert!(!refuted(&facts, "i0 + i1 - 9000"));
        facts.assume_equal(&Expr::read("i5"), &Expr::read("i0 + 1"))?;
        assert!(!refuted(&facts, "i5 - 3"), "the simplest form does not mention i5");
        Ok(())
    }

    #[test]
    fn nothing_is_refuted_beside_a_fact_that_holds_at_no_point() {
        let mut facts = Facts::new();
        facts.assume_range(Sym::from_u32(0), 7, 3);
        facts.assume_range(Sym::from_u32(1), 0, 20);
        facts.assume_multiple(&Expr::read("i1"), 7);
        let refuted = |text: &str| is_refuted(&facts, &Expr::read(text));
        assert!(!refuted("i0 - 9"));
        assert!(!refuted("14 - i1") && refuted("i1 - 14"));
    }
}
