//! Values of symbols at which all facts hold. Expressions that differ there are not equal, which is found in far less time than
//! that a proof of equality fails.

use super::{Expr, Facts, Sym};

/// How the values of symbols follow from their numbers: facts often say that one size is much larger than another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scale {
    Level,
    Falling,
    Rising,
}

/// Values of all symbols at which the facts hold that it was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample(Scale);

impl Facts {
    /// A sample at which these facts hold, if one of the three candidates is one.
    pub fn sample(&self) -> Option<Sample> {
        [Scale::Level, Scale::Falling, Scale::Rising]
            .map(Sample)
            .into_iter()
            .find(|&sample| self.hold_at(sample))
    }

    /// Whether two expressions have different values at a sample of these facts. Never where they are equal.
    pub fn differ_at(&self, sample: Sample, a: &Expr, b: &Expr) -> bool {
        let [a, b] = [a, b].map(|e| e.eval(&|sym| self.value_at(sample, sym)));
        matches!((a, b), (Ok(a), Ok(b)) if a != b)
    }

    fn hold_at(&self, sample: Sample) -> bool {
        let value = |e: &Expr| e.eval(&|sym| self.value_at(sample, sym)).ok();
        self.ranges().all(|(sym, range)| {
            self.value_at(sample, sym).is_some_and(|value| range.contains(i128::from(value)))
        }) && self.relations().all(|zero| value(zero) == Some(0))
            && self.inequalities().all(|slack| value(slack).is_some_and(|slack| slack >= 0))
            && self.multiples().all(|(e, k)| value(&e).is_some_and(|e| e % k == 0))
    }

    /// The value of a symbol at a sample: what it is equal to has one, any other symbol a multiple within its range.
    fn value_at(&self, sample: Sample, sym: Sym) -> Option<i64> {
        if let Some(known) = self.value(sym) {
            return known.eval(&|sym| self.value_at(sample, sym)).ok();
        }
        let end = |end: Option<i128>| end.and_then(|end| i64::try_from(end).ok());
        let (range, multiple) = (self.range(sym), self.multiple(sym));
        let wanted = sample.0.of(sym.as_u32());
        let (lo, hi) = (end(range.lo()).unwrap_or(i64::MIN), end(range.hi()).unwrap_or(i64::MAX));
        let value = wanted.max(lo).min(hi);
        value.checked_sub(value.rem_euclid(multiple))
    }
}

impl Scale {
    /// A value for a symbol; those of neighbours differ.
    fn of(self, number: u32) -> i64 {
        let number = i64::from(number);
        let step = number % 8;
        match self {
            Scale::Level => 100_003 + 97 * number,
            Scale::Falling => (1 << (31 - 3 * step)) + 3 * number,
            Scale::Rising => (1 << (10 + 3 * step)) + 3 * number,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Expr, Facts, Sym};

    #[test]
    fn a_sample_keeps_to_all_facts() {
        let mut facts = Facts::new();
        facts.assume_range(Sym::from_u32(0), 0, None);
        facts.assume_range(Sym::from_u32(1), 0, 50);
        facts.assume_le(&Expr::read("100*i1"), &Expr::read("i0")).unwrap();
        facts.assume_le(&Expr::read("100*i3"), &Expr::read("i0")).unwrap();
        facts.assume_multiple(&Expr::read("i0"), 64);
        facts.assume_equal(&Expr::read("i2"), &Expr::read("2*i0")).unwrap();
        let sample = facts.sample().expect("there is one");
        let differ = |a: &str, b: &str| facts.differ_at(sample, &Expr::read(a), &Expr::read(b));
        assert!(differ("min(i0, 7)", "min(i0, 8)") && differ("i0", "i1") && differ("i0", "i2"));
        assert!(!differ("i2", "2*i0") && !differ("i0 % 64", "0") && !differ("min(100*i1, i0)", "100*i1"));
        assert!(!differ("i0 // 0", "1"), "what has no value is not known to differ");
    }

    #[test]
    fn facts_that_no_try_meets_have_no_sample() {
        let mut facts = Facts::new();
        facts.assume_equal(&Expr::read("i0*i1"), &Expr::read("20")).unwrap();
        assert_eq!(facts.sample(), None);
    }
}
