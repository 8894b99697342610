//! Sums, differences, products and powers of expressions, as operators on values and references. Checked: results that leave
//! the algebra become the overflow form.

use std::ops::{Add, Mul, Neg, Sub};

use super::{Expr, Term};

/// The most pairs of terms of one product.
const MAX_PRODUCTS: usize = 1 << 16;

impl Expr {
    fn plus(&self, other: &Expr, sign: i128) -> Expr {
        if self.is_overflow() || other.is_overflow() {
            return Expr::overflow();
        }
        let left = self.terms().iter().map(|t| (t.monomial.clone(), i128::from(t.coefficient)));
        let right = other.terms().iter().map(|t| (t.monomial.clone(), sign * i128::from(t.coefficient)));
        Expr::from_terms(left.chain(right).collect())
    }

    fn times(&self, other: &Expr) -> Expr {
        let products = self.terms().len().saturating_mul(other.terms().len());
        if self.is_overflow() || other.is_overflow() || products > MAX_PRODUCTS {
            return Expr::overflow();
        }
        let mut terms = Vec::with_capacity(products);
        for a in self.terms() {
            for b in other.terms() {
                let Some(monomial) = a.monomial.times(&b.monomial) else { return Expr::overflow() };
                terms.push((monomial, i128::from(a.coefficient) * i128::from(b.coefficient)));
            }
        }
        Expr::from_terms(terms)
    }

    /// The sum of terms in any order.
    pub(super) fn sum_of<'a>(terms: impl Iterator<Item = &'a Term>) -> Expr {
        Expr::from_terms(terms.map(|t| (t.monomial.clone(), i128::from(t.coefficient))).collect())
    }

    /// The expression to a power, by repeated squaring; one for the power zero.
    pub fn pow(&self, mut power: u32) -> Expr {
        if power == 1 {
            return self.clone();
        }
        let (mut result, mut base) = (Expr::one(), self.clone());
        loop {
            if power & 1 == 1 {
                result = result.times(&base);
            }
            power >>= 1;
            if power == 0 {
                return result;
            }
            base = base.times(&base);
        }
    }
}

/// Derives the owned, borrowed and mixed forms of an operator, and those with an integer, from one function.
macro_rules! operator {
    ($trait:ident, $method:ident, |$a:ident, $b:ident| $body:expr) => {
        impl $trait<&Expr> for &Expr {
            type Output = Expr;
            fn $method(self, other: &Expr) -> Expr {
                let ($a, $b) = (self, other);
                $body
            }
        }
        impl $trait<Expr> for &Expr {
            type Output = Expr;
            fn $method(self, other: Expr) -> Expr {
                self.$method(&other)
            }
        }
        impl $trait<&Expr> for Expr {
            type Output = Expr;
            fn $method(self, other: &Expr) -> Expr {
                (&self).$method(other)
            }
        }
        impl $trait<Expr> for Expr {
            type Output = Expr;
            fn $method(self, other: Expr) -> Expr {
                (&self).$method(&other)
            }
        }
        impl $trait<i64> for &Expr {
            type Output = Expr;
            fn $method(self, other: i64) -> Expr {
                self.$method(&Expr::constant(other))
            }
        }
        impl $trait<i64> for Expr {
            type Output = Expr;
            fn $method(self, other: i64) -> Expr {
                (&self).$method(&Expr::constant(other))
            }
        }
    };
}

operator!(Add, add, |a, b| a.plus(b, 1));
operator!(Sub, sub, |a, b| a.plus(b, -1));
operator!(Mul, mul, |a, b| a.times(b));

impl Neg for &Expr {
    type Output = Expr;
    fn neg(self) -> Expr {
        Expr::zero().plus(self, -1)
    }
}

impl Neg for Expr {
    type Output = Expr;
    fn neg(self) -> Expr {
        -&self
    }
}

impl std::iter::Sum for Expr {
    /// All terms at once: to add one expression after the other would copy the sum each time.
    fn sum<I: Iterator<Item = Expr>>(summands: I) -> Expr {
        let summands: Vec<Expr> = summands.collect();
        if summands.iter().any(Expr::is_overflow) {
            Expr::overflow()
        } else {
            Expr::sum_of(summands.iter().flat_map(Expr::terms))
        }
    }
}

impl std::iter::Product for Expr {
    fn product<I: Iterator<Item = Expr>>(factors: I) -> Expr {
        factors.fold(Expr::one(), |product, factor| product * factor)
    }
}
