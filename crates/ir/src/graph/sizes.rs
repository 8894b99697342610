//! The values of size symbols, as far as they are known: from inputs, from the user, and implied by facts.
//!
//! Takes observed sizes, returns values of expressions. Checks nothing: the signature does.

use index::{EvalError, Expr, Facts, Sym};
use thiserror::Error;

/// Why an expression over sizes has no value that can be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SizeError {
    /// It has no value.
    #[error("the size {formula} has no value{}", because(formula, error))]
    Unknown {
        /// The size in symbols.
        formula: String,
        error: EvalError,
    },
    /// It is too large to be counted.
    #[error("the size {formula} is beyond this machine")]
    Beyond {
        /// The size in symbols.
        formula: String,
    },
    /// It is negative.
    #[error("the size {formula} is {value}, which is negative")]
    Negative {
        /// The size in symbols.
        formula: String,
        value: i64,
    },
}

/// Why a size has no value, unless it is that it has none.
fn because(formula: &str, error: &EvalError) -> String {
    match error {
        EvalError::Unbound(symbol) if symbol.to_string() == formula => String::new(),
        error => format!(": {error}"),
    }
}

impl SizeError {
    #[cold]
    fn of(expr: &Expr, error: EvalError) -> SizeError {
        let formula = expr.to_string();
        match error {
            EvalError::Overflow => SizeError::Beyond { formula },
            error => SizeError::Unknown { formula, error },
        }
    }
}

/// The values of size symbols, by the symbols' numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    values: Vec<Option<i64>>,
}

impl Sizes {
    /// The value of a symbol.
    pub fn get(&self, sym: Sym) -> Option<i64> {
        self.values.get(sym.as_u32() as usize).copied().flatten()
    }

    /// Sets the value of a symbol, replacing an earlier one.
    pub fn set(&mut self, sym: Sym, value: i64) {
        let number = sym.as_u32() as usize;
        if self.values.len() <= number {
            self.values.resize(number + 1, None);
        }
        self.values[number] = Some(value);
    }

    /// Takes observed sizes for those of a shape: a symbol without a value gets that of its axis.
    pub fn observe(&mut self, shape: &[Expr], sizes: &[i64]) {
        for (expr, &size) in shape.iter().zip(sizes) {
            if let Some(sym) = expr.as_sym().filter(|&sym| self.get(sym).is_none()) {
                self.set(sym, size);
            }
        }
    }

    /// Adds values that follow from the equalities among facts.
    pub fn propagate(&mut self, facts: &Facts) {
        let mut news = true;
        while std::mem::take(&mut news) {
            for (sym, value) in facts.equalities() {
                match (self.get(sym), value.as_sym()) {
                    (Some(size), Some(other)) if self.get(other).is_none() => self.set(other, size),
                    (None, _) => match self.value(value) {
                        Ok(size) => self.set(sym, size),
                        Err(_) => continue,
                    },
                    _ => continue,
                }
                news = true;
            }
        }
    }

    /// The symbols that have a value, with it.
    pub fn known(&self) -> impl Iterator<Item = (Sym, i64)> + '_ {
        let pair =
            |(number, value): (usize, &Option<i64>)| value.map(|value| (Sym::from_u32(number as u32), value));
        self.values.iter().enumerate().filter_map(pair)
    }

    /// The value of an expression.
    ///
    /// # Errors
    /// When a symbol in it has no value, or its value is beyond an i64.
    pub fn value(&self, expr: &Expr) -> Result<i64, SizeError> {
        match self.try_value(expr) {
            Ok(value) => Ok(value),
            Err(error) => Err(SizeError::of(expr, error)),
        }
    }

    /// As [`Sizes::value`], without naming the expression in the error: calls evaluate dozens of them.
    pub(super) fn try_value(&self, expr: &Expr) -> Result<i64, EvalError> {
        match expr.as_sym().and_then(|sym| self.get(sym)) {
            Some(value) => Ok(value),
            None => expr.eval(&|sym| self.get(sym)),
        }
    }

    /// The value of an expression that is a size.
    ///
    /// # Errors
    /// As [`Sizes::value`], and when it is negative.
    pub fn size(&self, expr: &Expr) -> Result<usize, SizeError> {
        let value = self.value(expr)?;
        usize::try_from(value).map_err(|_| SizeError::Negative { formula: expr.to_string(), value })
    }

    /// The values of expressions that are sizes.
    ///
    /// # Errors
    /// As [`Sizes::size`].
    pub fn sizes(&self, exprs: &[Expr]) -> Result<Vec<usize>, SizeError> {
        exprs.iter().map(|expr| self.size(expr)).collect()
    }
}

impl FromIterator<(Sym, i64)> for Sizes {
    fn from_iter<I: IntoIterator<Item = (Sym, i64)>>(pairs: I) -> Sizes {
        let mut sizes = Sizes::default();
        pairs.into_iter().for_each(|(sym, value)| sizes.set(sym, value));
        sizes
    }
}
