//! Rational functions in normal form: quotients of polynomials, the divisor known to be positive.

use index::{Expr, Facts, Sym};

/// The largest power of two that numbers are multiplied by to make them whole.
const MAX_SCALE: u32 = 30;

/// A quotient of two polynomials.
#[derive(Clone, Debug)]
pub(super) struct Ratio {
    pub dividend: Expr,
    /// Positive whatever the symbols are.
    divisor: Expr,
}

impl From<Expr> for Ratio {
    fn from(dividend: Expr) -> Ratio {
        Ratio { dividend, divisor: Expr::one() }
    }
}

impl Ratio {
    /// A number that is whole, or becomes so when it is doubled a few times.
    pub fn of_number(number: f64) -> Option<Ratio> {
        let scale = (0..=MAX_SCALE).map(|power| (1_i64 << power) as f64);
        let scale = scale.into_iter().find(|scale| (number * scale).fract() == 0.0)?;
        let whole = number * scale;
        let is_small = whole.abs() < f64::from(u32::MAX);
        is_small
            .then(|| Ratio { dividend: Expr::constant(whole as i64), divisor: Expr::constant(scale as i64) })
    }

    /// The sum of two.
    pub fn plus(&self, other: &Ratio) -> Ratio {
        if self.divisor == other.divisor {
            return Ratio { dividend: &self.dividend + &other.dividend, divisor: self.divisor.clone() };
        }
        let [left, right] = self.crossed(other);
        Ratio { dividend: left + right, divisor: &self.divisor * &other.divisor }
    }

    /// The product of two.
    pub fn times(&self, other: &Ratio) -> Ratio {
        let product = |a: &Expr, b: &Expr| a * b;
        Ratio {
            dividend: product(&self.dividend, &other.dividend),
            divisor: product(&self.divisor, &other.divisor),
        }
    }

    /// The negative.
    pub fn negative(&self) -> Ratio {
        Ratio { dividend: -self.dividend.clone(), divisor: self.divisor.clone() }
    }

    /// The reciprocal, if this is known not to be zero.
    pub fn reciprocal(&self, known: &Known) -> Option<Ratio> {
        let Ratio { dividend, divisor } = self;
        if known.is_less(&Expr::zero(), dividend) {
            return Some(Ratio { dividend: divisor.clone(), divisor: dividend.clone() });
        }
        known
            .is_less(dividend, &Expr::zero())
            .then(|| Ratio { dividend: divisor.clone(), divisor: -dividend.clone() }.negative())
    }

    /// Two polynomials that compare as two ratios do.
    pub fn crossed(&self, other: &Ratio) -> [Expr; 2] {
        [&self.dividend * &other.divisor, &other.dividend * &self.divisor]
    }

    /// Whether they are one function.
    pub fn is(&self, other: &Ratio) -> bool {
        let [left, right] = self.crossed(other);
        !left.is_overflow() && left == right
    }
}

/// What is known of the symbols: those that are counts are one or more.
pub(super) struct Known {
    counts: [Sym; 2],
    facts: Facts,
}

impl Known {
    /// That of two counts.
    pub fn of(counts: [Sym; 2]) -> Known {
        let mut facts = Facts::new();
        counts.iter().for_each(|&count| facts.assume_range(count, 1, None));
        Known { counts, facts }
    }

    /// Whether a polynomial is one of whole numbers, of which alone the algebra of sizes proves anything.
    fn counts(&self, of: &Expr) -> bool {
        of.symbols().iter().all(|symbol| self.counts.contains(symbol))
    }

    fn proves(&self, [left, right]: [&Expr; 2], proof: fn(&Facts, &Expr, &Expr) -> bool) -> bool {
        self.counts(left) && self.counts(right) && proof(&self.facts, left, right)
    }

    /// Whether one is known to be less than another.
    pub fn is_less(&self, left: &Expr, right: &Expr) -> bool {
        self.proves([left, right], Facts::prove_lt)
    }

    /// Whether one is known to be at most another.
    pub fn is_at_most(&self, left: &Expr, right: &Expr) -> bool {
        self.proves([left, right], Facts::prove_le)
    }

    /// Whether two are known to differ.
    pub fn differ(&self, left: &Expr, right: &Expr) -> bool {
        self.proves([left, right], Facts::prove_ne)
    }
}
