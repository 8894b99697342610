//! Rational functions in normal form: quotients of polynomials, the divisor known to be positive.

use index::{Expr, Facts, Sym};

/// The largest power of two that numbers are multiplied by to make them integers.
const MAX_SCALE: u32 = 30;

/// The largest number in a body: it makes no integer wrap and absorbs no float.
const MAX_NUMBER: f64 = 4.0;

/// A quotient of two polynomials.
#[derive(Clone, Debug)]
pub(super) struct Ratio {
    numerator: Expr,
    /// Positive whatever the symbols are.
    denominator: Expr,
    /// Whether it consists of counts and numbers alone. Other values may be NaN or infinite, which polynomials cannot
    /// express: the difference of such a number from itself is not zero.
    is_of_counts: bool,
}

impl Ratio {
    /// A state.
    pub fn of_state(numerator: Expr, is_count: bool) -> Ratio {
        Ratio { numerator, denominator: Expr::one(), is_of_counts: is_count }
    }

    /// A small number that is an integer, or becomes one when doubled a few times.
    pub fn of_number(number: f64) -> Option<Ratio> {
        let scale = (0..=MAX_SCALE).map(|power| (1_i64 << power) as f64);
        let scale = scale.into_iter().find(|scale| (number * scale).fract() == 0.0)?;
        let [numerator, denominator] = [number * scale, scale].map(|whole| Expr::constant(whole as i64));
        (number.abs() <= MAX_NUMBER).then_some(Ratio { numerator, denominator, is_of_counts: true })
    }

    /// The sum of two.
    pub fn plus(&self, other: &Ratio) -> Ratio {
        if self.denominator == other.denominator {
            let numerator = &self.numerator + &other.numerator;
            return self.with(other, numerator, self.denominator.clone());
        }
        let [left, right] = self.crossed(other);
        self.with(other, left + right, &self.denominator * &other.denominator)
    }

    /// The product of two.
    pub fn times(&self, other: &Ratio) -> Ratio {
        self.with(other, &self.numerator * &other.numerator, &self.denominator * &other.denominator)
    }

    /// A function of two.
    fn with(&self, other: &Ratio, numerator: Expr, denominator: Expr) -> Ratio {
        Ratio { numerator, denominator, is_of_counts: self.is_of_counts && other.is_of_counts }
    }

    /// The negative.
    pub fn negative(&self) -> Ratio {
        Ratio { numerator: -self.numerator.clone(), ..self.clone() }
    }

    /// The reciprocal, if this is known not to be zero.
    pub fn reciprocal(&self, known: &Known) -> Option<Ratio> {
        let Ratio { numerator, denominator, is_of_counts } = self.clone();
        if known.is_less(&Expr::zero(), &numerator) {
            return Some(Ratio { numerator: denominator, denominator: numerator, is_of_counts });
        }
        known.is_less(&numerator, &Expr::zero()).then(|| Ratio {
            numerator: -denominator,
            denominator: -numerator,
            is_of_counts,
        })
    }

    /// Two polynomials that compare like two ratios, if both consist of counts.
    pub fn compared(&self, other: &Ratio) -> Option<[Expr; 2]> {
        (self.is_of_counts && other.is_of_counts).then(|| self.crossed(other))
    }

    /// Two polynomials whose quotients by a common denominator they are.
    fn crossed(&self, other: &Ratio) -> [Expr; 2] {
        [&self.numerator * &other.denominator, &other.numerator * &self.denominator]
    }

    /// Whether they are one function.
    pub fn is(&self, other: &Ratio) -> bool {
        let [left, right] = self.crossed(other);
        !left.is_overflow() && left == right
    }
}

/// Facts about the symbols: counts are one or more.
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

    /// Whether a polynomial is one of integers: the algebra of sizes proves nothing about others.
    fn is_of_counts(&self, of: &Expr) -> bool {
        of.symbols().iter().all(|symbol| self.counts.contains(symbol))
    }

    fn proves(&self, [left, right]: [&Expr; 2], proof: fn(&Facts, &Expr, &Expr) -> bool) -> bool {
        self.is_of_counts(left) && self.is_of_counts(right) && proof(&self.facts, left, right)
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
