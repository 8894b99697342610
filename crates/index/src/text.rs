//! Expressions as text, both ways: `i0*i1 + 3`, `(a // b)`, `(a % b)`, `min(a, b)`, `max(a, b)`. The text means the
//! same in Python; the parser takes Python's precedence, so it reads more than the printer writes.

use std::fmt::{self, Display, Formatter};

use thiserror::Error;

use super::{Atom, Expr, Sym, Term};
use crate::{Scanner, integer};

/// How the overflow form prints; no symbol has this name.
const OVERFLOW: &str = "overflow";
/// Parentheses, calls and signs within one another that the parser follows.
const MAX_NESTING: u32 = 256;

impl Expr {
    /// The text with the symbols' names from `name`.
    pub fn display<'a>(&'a self, name: &'a dyn Fn(Sym) -> String) -> impl Display + 'a {
        Named { expr: self, name }
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        self.display(&|sym| sym.to_string()).fmt(f)
    }
}

impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        Display::fmt(self, f)
    }
}

struct Named<'a> {
    expr: &'a Expr,
    name: &'a dyn Fn(Sym) -> String,
}

impl Display for Named<'_> {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        if self.expr.is_overflow() {
            return f.write_str(OVERFLOW);
        }
        if self.expr.is_zero() {
            return f.write_str("0");
        }
        for (index, term) in self.expr.terms().iter().enumerate() {
            // The smallest i64 has no positive counterpart, so its sign stays with the number.
            let subtract = term.coefficient < 0 && term.coefficient != i64::MIN;
            match (index, subtract) {
                (0, true) => f.write_str("-")?,
                (0, false) => {}
                (_, true) => f.write_str(" - ")?,
                (_, false) => f.write_str(" + ")?,
            }
            let coefficient = if subtract { -term.coefficient } else { term.coefficient };
            self.write_term(f, term, coefficient)?;
        }
        Ok(())
    }
}

impl Named<'_> {
    fn write_term(&self, f: &mut Formatter, term: &Term, coefficient: i64) -> fmt::Result {
        let number = coefficient != 1 || term.monomial.is_one();
        if number {
            write!(f, "{coefficient}")?;
        }
        let repeated =
            term.monomial.factors().iter().flat_map(|(atom, power)| (0..*power).map(move |_| atom));
        for (index, atom) in repeated.enumerate() {
            f.write_str(if index > 0 || number { "*" } else { "" })?;
            self.write_atom(f, atom)?;
        }
        Ok(())
    }

    fn write_atom(&self, f: &mut Formatter, atom: &Atom) -> fmt::Result {
        let named = |expr| Named { expr, name: self.name };
        match atom {
            Atom::Sym(sym) => f.write_str(&(self.name)(*sym)),
            Atom::FloorDiv(a, b) => write!(f, "({} // {})", Operand(named(a)), Operand(named(b))),
            Atom::Mod(a, b) => write!(f, "({} % {})", Operand(named(a)), Operand(named(b))),
            Atom::Min(a, b) => write!(f, "min({}, {})", named(a), named(b)),
            Atom::Max(a, b) => write!(f, "max({}, {})", named(a), named(b)),
        }
    }
}

/// An expression beside `//` or `%`, in parentheses unless it is one atom or one number.
struct Operand<'a>(Named<'a>);

impl Display for Operand<'_> {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        if self.0.expr.as_atom().is_some() || self.0.expr.as_const().is_some() {
            self.0.fmt(f)
        } else {
            write!(f, "({})", self.0)
        }
    }
}

/// Why a text is no expression.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("at byte {at}: {message}")]
pub struct ParseError {
    /// Where, in bytes from the start of the text.
    pub at: usize,
    /// What is wrong or was expected there.
    pub message: String,
}

impl Expr {
    /// Reads what `display` prints; `symbol` gives the symbol of a name.
    ///
    /// The operators are `+ - * // %` with Python's precedence, with `min(…, …)` and `max(…, …)`; a name is made of
    /// letters, digits and underscores.
    ///
    /// # Errors
    /// The first place that is not of this form, or an unknown name.
    pub fn parse(text: &str, symbol: &mut dyn FnMut(&str) -> Option<Sym>) -> Result<Expr, ParseError> {
        let mut parser = Parser { text: Scanner::new(text), nesting: 0, symbol };
        let expr = parser.sum()?;
        if parser.text.is_done() { Ok(expr) } else { parser.fail("expected an operator or the end") }
    }
}

struct Parser<'a> {
    text: Scanner<'a>,
    nesting: u32,
    symbol: &'a mut dyn FnMut(&str) -> Option<Sym>,
}

impl Parser<'_> {
    fn sum(&mut self) -> Result<Expr, ParseError> {
        let mut sum = self.product()?;
        loop {
            if self.text.eat("+") {
                sum = sum + self.product()?;
            } else if self.text.eat("-") {
                sum = sum - self.product()?;
            } else {
                return Ok(sum);
            }
        }
    }

    fn product(&mut self) -> Result<Expr, ParseError> {
        let mut product = self.factor()?;
        loop {
            if self.text.eat("*") {
                product = product * self.factor()?;
            } else if self.text.eat("//") {
                product = product.floor_div(&self.factor()?);
            } else if self.text.eat("%") {
                product = product.modulo(&self.factor()?);
            } else {
                return Ok(product);
            }
        }
    }

    fn factor(&mut self) -> Result<Expr, ParseError> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return self.fail("nested too deeply");
        }
        let factor = self.factor_within()?;
        self.nesting -= 1;
        Ok(factor)
    }

    fn factor_within(&mut self) -> Result<Expr, ParseError> {
        let negative = self.text.eat("-");
        let start = self.text.clone();
        let word = self.text.word();
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return integer_of(negative, word, start.at());
        }
        if negative {
            self.text = start;
            return Ok(-self.factor()?);
        }
        match word {
            "" if self.text.eat("(") => {
                let inner = self.sum()?;
                self.expect(")")?;
                Ok(inner)
            }
            "" => self.fail("expected a number, a name or `(`"),
            "min" | "max" => self.call(word),
            OVERFLOW => Ok(Expr::overflow()),
            name => (self.symbol)(name)
                .map(Expr::sym)
                .ok_or_else(|| ParseError { at: start.at(), message: format!("unknown name `{name}`") }),
        }
    }

    fn call(&mut self, name: &str) -> Result<Expr, ParseError> {
        self.expect("(")?;
        let a = self.sum()?;
        self.expect(",")?;
        let b = self.sum()?;
        self.expect(")")?;
        Ok(if name == "min" { Expr::min(&a, &b) } else { Expr::max(&a, &b) })
    }

    fn expect(&mut self, mark: &str) -> Result<(), ParseError> {
        if self.text.eat(mark) { Ok(()) } else { self.fail(&format!("expected `{mark}`")) }
    }

    fn fail<T>(&self, message: &str) -> Result<T, ParseError> {
        Err(ParseError { at: self.text.at(), message: message.to_string() })
    }
}

fn integer_of(negative: bool, digits: &str, at: usize) -> Result<Expr, ParseError> {
    let value = integer::<i128>(digits).map(|value| if negative { -value } else { value });
    match value.and_then(|value| i64::try_from(value).ok()) {
        Some(value) => Ok(Expr::constant(value)),
        None => Err(ParseError { at, message: format!("`{digits}` is no integer of 64 bits") }),
    }
}

#[cfg(test)]
impl Expr {
    /// The expression of a text that names symbols as `i0`, for tests.
    pub(crate) fn read(text: &str) -> Expr {
        tests::read(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn read(text: &str) -> Result<Expr, ParseError> {
        Expr::parse(text, &mut |name| Some(Sym::from_u32(name.strip_prefix('i')?.parse().ok()?)))
    }

    #[test]
    fn printed_forms_are_fixed_points() {
        for text in [
            "0",
            "-i0 + 3",
            "i0*i1 + 3",
            "2*i0*i0 - 5*i1",
            "(i0 // i1)",
            "((i0 + 1) // (2*i1))",
            "4*(i0 // 4) + (i0 % 4)",
            "min(i0 + 1, i1)*i2",
            "max(i0, max(i1, i2))",
            "-9223372036854775808*i0 + i1 + -9223372036854775808",
            "(i0 // -9223372036854775808)",
            "overflow",
        ] {
            let printed = read(text).expect(text).to_string();
            assert_eq!(read(&printed).expect(&printed).to_string(), printed, "{text}");
        }
        assert_eq!(read("i0*i1 + 3").unwrap().to_string(), "i0*i1 + 3");
        assert_eq!(read("((i0 + 1) // (2*i1))").unwrap().to_string(), "((i0 + 1) // (2*i1))");
        assert_eq!(read("i0 - 7 // 2 * i1").unwrap().to_string(), "i0 - 3*i1");
        assert_eq!(read("-7 // 2 + --i0").unwrap().to_string(), "i0 - 4");
    }

    #[test]
    fn names_come_from_the_caller() {
        let e = read("i0*4 + i1").unwrap();
        let names = |sym: Sym| if sym.as_u32() == 0 { "rows".to_string() } else { "lane".to_string() };
        assert_eq!(e.display(&names).to_string(), "4*rows + lane");
    }

    #[test]
    fn errors_say_where() {
        let at = |text: &str| read(text).map_err(|error| (error.at, error.message));
        assert_eq!(at("i0 + "), Err((5, "expected a number, a name or `(`".into())));
        assert_eq!(at("i0 + x"), Err((5, "unknown name `x`".into())));
        assert_eq!(at("(i0"), Err((3, "expected `)`".into())));
        assert_eq!(at("i0 i1"), Err((3, "expected an operator or the end".into())));
        assert_eq!(at("min(i0)"), Err((6, "expected `,`".into())));
        assert_eq!(
            at("9223372036854775808"),
            Err((0, "`9223372036854775808` is no integer of 64 bits".into()))
        );
        assert!(read(&"(".repeat(100_000)).is_err());
        assert!(read(&"-".repeat(100_000)).is_err());
        assert!(read("é§").is_err());
    }

    #[test]
    fn numbers_are_spelled_as_python_spells_them() {
        for number in ["0777", "00", "1__0", "1_0", "1_", "0x10", "1e3", "१"] {
            let error = read(&format!("i0 + {number}")).expect_err(number);
            assert_eq!(error.at, 5, "{number}: {error}");
        }
        assert_eq!(read("i0 + 0").unwrap().to_string(), "i0");
    }
}
