//! The value of an expression for given symbols. Works in `i128` and narrows once, so an intermediate beyond `i64`
//! is no error when the result fits.

use thiserror::Error;

use super::{Atom, Expr, Sym};

/// Why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EvalError {
    /// The value, or a step on the way to it, is too large.
    #[error("the value does not fit in 64 bits")]
    Overflow,
    /// A symbol has no value.
    #[error("{0} has no value")]
    Unbound(Sym),
    /// A divisor is zero.
    #[error("division by zero")]
    DivisionByZero,
}

impl Expr {
    /// The value, with the symbols' values from `bind`.
    ///
    /// # Errors
    /// When a symbol has no value, a divisor is zero, or a number does not fit.
    pub fn eval(&self, bind: &dyn Fn(Sym) -> Option<i64>) -> Result<i64, EvalError> {
        i64::try_from(self.wide_value(bind)?).map_err(|_| EvalError::Overflow)
    }

    fn wide_value(&self, bind: &dyn Fn(Sym) -> Option<i64>) -> Result<i128, EvalError> {
        if self.is_overflow() {
            return Err(EvalError::Overflow);
        }
        let mut sum = 0i128;
        for term in self.terms() {
            let mut product = i128::from(term.coefficient);
            for (atom, power) in term.monomial.factors() {
                let factor = atom.wide_value(bind)?.checked_pow(*power).ok_or(EvalError::Overflow)?;
                product = product.checked_mul(factor).ok_or(EvalError::Overflow)?;
            }
            sum = sum.checked_add(product).ok_or(EvalError::Overflow)?;
        }
        Ok(sum)
    }
}

impl Atom {
    fn wide_value(&self, bind: &dyn Fn(Sym) -> Option<i64>) -> Result<i128, EvalError> {
        let (a, b) = match self {
            Atom::Sym(sym) => return bind(*sym).map(i128::from).ok_or(EvalError::Unbound(*sym)),
            Atom::FloorDiv(a, b) | Atom::Mod(a, b) | Atom::Min(a, b) | Atom::Max(a, b) => {
                (a.wide_value(bind)?, b.wide_value(bind)?)
            }
        };
        match self {
            Atom::Min(..) => Ok(a.min(b)),
            Atom::Max(..) => Ok(a.max(b)),
            _ if b == 0 => Err(EvalError::DivisionByZero),
            Atom::FloorDiv(..) => floor_div(a, b).ok_or(EvalError::Overflow),
            _ => Ok(floor_mod(a, b)),
        }
    }
}

/// The quotient rounded to minus infinity; `None` for a zero divisor and for the one quotient that does not fit.
pub(super) fn floor_div(a: i128, b: i128) -> Option<i128> {
    let quotient = a.checked_div(b)?;
    let rounded_up = a.wrapping_rem(b) != 0 && (a < 0) != (b < 0);
    Some(if rounded_up { quotient - 1 } else { quotient })
}

/// The remainder of a floor division by a nonzero divisor, whose sign it has.
fn floor_mod(a: i128, b: i128) -> i128 {
    let remainder = a.wrapping_rem(b);
    if remainder != 0 && (remainder < 0) != (b < 0) { remainder + b } else { remainder }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_rounds_as_in_python() {
        let cases = [(7, 2, 3, 1), (-7, 2, -4, 1), (7, -2, -4, -1), (-7, -2, 3, -1), (6, -3, -2, 0)];
        for (a, b, quotient, remainder) in cases {
            assert_eq!((floor_div(a, b), floor_mod(a, b)), (Some(quotient), remainder));
        }
    }

    #[test]
    fn errors_are_told_apart() {
        let sym = Sym::from_u32(0);
        let quotient = Expr::one().floor_div(&Expr::sym(sym));
        assert_eq!(quotient.eval(&|_| None), Err(EvalError::Unbound(sym)));
        assert_eq!(quotient.eval(&|_| Some(0)), Err(EvalError::DivisionByZero));
        let square = Expr::sym(sym).pow(2);
        assert_eq!(square.eval(&|_| Some(i64::MAX)), Err(EvalError::Overflow));
        assert_eq!((&square - &square).eval(&|_| Some(i64::MAX)), Ok(0));
        assert_eq!(Expr::overflow().eval(&|_| Some(0)), Err(EvalError::Overflow));
    }
}
