//! From the text of an expression to a [`ScalarExpr`].
//!
//! Bindings first, then results: `n = count + 1; d = x - mean; mean + d / n, n`. Operators are `+ - * /` and unary minus;
//! everything else is a call of a primitive or a composite by name (composites are inlined, defaults filled); `inf` and
//! `nan` are numbers. Texts are ours, in the tables; errors serve whoever writes a row.

use index::Scanner;

use super::Composite;
use crate::ScalarOp;
use crate::expr::{Arith, ExprNode, ScalarExpr};

/// Why a text is no expression.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{message} at column {column} of `{text}`")]
pub struct ExprError {
    pub text: String,
    /// Where, in characters from 1.
    pub column: usize,
    pub message: String,
}

/// Reads `text` as an expression over `params`.
///
/// # Errors
/// [`ExprError`] at the first thing that does not fit.
pub fn parse(text: &str, params: &[&str]) -> Result<ScalarExpr, ExprError> {
    let mut parser = Parser { text: Scanner::new(text), names: Vec::new(), expr: ScalarExpr::new() };
    for (number, param) in params.iter().enumerate() {
        let node = parser.expr.intern(ExprNode::Param(number));
        parser.names.push((param, node));
    }
    let mut results = Vec::new();
    while results.is_empty() {
        if let Some(name) = parser.binding() {
            let node = parser.sum()?;
            parser.expect(";")?;
            parser.names.push((name, node));
        } else {
            results.push(parser.sum()?);
        }
    }
    while parser.text.eat(",") {
        results.push(parser.sum()?);
    }
    if parser.text.is_done() {
        parser.expr.set_results(results);
        Ok(parser.expr)
    } else {
        Err(parser.error("expected the end"))
    }
}

/// Recursive descent: a method per level of precedence.
struct Parser<'a> {
    text: Scanner<'a>,
    /// Parameters and bindings, the last of a name valid.
    names: Vec<(&'a str, usize)>,
    expr: ScalarExpr,
}

impl<'a> Parser<'a> {
    fn error(&self, message: impl Into<String>) -> ExprError {
        let column = self.text.column(self.text.at());
        ExprError { text: self.text.text().to_owned(), column, message: message.into() }
    }

    fn expect(&mut self, mark: &str) -> Result<(), ExprError> {
        if self.text.eat(mark) { Ok(()) } else { Err(self.error(format!("expected `{mark}`"))) }
    }

    /// The name of `name =`, or nothing taken.
    fn binding(&mut self) -> Option<&'a str> {
        let mut ahead = self.text.clone();
        let name = ahead.word();
        let found = !name.is_empty() && ahead.eat("=");
        found.then(|| {
            self.text = ahead;
            name
        })
    }

    fn sum(&mut self) -> Result<usize, ExprError> {
        let mut left = self.product()?;
        loop {
            let op = match () {
                () if self.text.eat("+") => ScalarOp::Add,
                () if self.text.eat("-") => ScalarOp::Sub,
                () => return Ok(left),
            };
            let right = self.product()?;
            left = self.expr.apply(op, &[left, right]);
        }
    }

    fn product(&mut self) -> Result<usize, ExprError> {
        let mut left = self.factor()?;
        loop {
            let op = match () {
                () if self.text.eat("*") => ScalarOp::Mul,
                () if self.text.eat("/") => ScalarOp::Div,
                () => return Ok(left),
            };
            let right = self.factor()?;
            left = self.expr.apply(op, &[left, right]);
        }
    }

    /// A minus before a number makes a negative number; before anything else, a negation.
    fn factor(&mut self) -> Result<usize, ExprError> {
        if !self.text.eat("-") {
            return self.atom();
        }
        let operand = self.factor()?;
        match self.expr.nodes()[operand] {
            ExprNode::Constant(value) => Ok(self.expr.constant(-value)),
            _ => Ok(self.expr.apply(ScalarOp::Neg, &[operand])),
        }
    }

    fn atom(&mut self) -> Result<usize, ExprError> {
        if self.text.eat("(") {
            let inner = self.sum()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.text.rest().starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            let value = self.number()?;
            return Ok(self.expr.constant(value));
        }
        let start = self.text.clone();
        let name = self.text.word();
        if name.is_empty() {
            return Err(self.error("expected a number, a name or `(`"));
        }
        if self.text.eat("(") {
            return self.call(name, start);
        }
        match (name, self.names.iter().rev().find(|(known, _)| *known == name)) {
            (_, Some(&(_, node))) => Ok(node),
            ("inf", None) => Ok(self.expr.constant(f64::INFINITY)),
            ("nan", None) => Ok(self.expr.constant(f64::NAN)),
            _ => {
                self.text = start;
                Err(self.error(format!("unknown name `{name}`")))
            }
        }
    }

    fn number(&mut self) -> Result<f64, ExprError> {
        let rest = self.text.rest();
        let mut previous = ' ';
        let length = rest
            .find(|c: char| {
                let part = c.is_ascii_digit() || "._e".contains(c) || ("+-".contains(c) && previous == 'e');
                previous = c;
                !part
            })
            .unwrap_or(rest.len());
        let value = rest[..length].parse().map_err(|_| self.error("malformed number"))?;
        self.text.take(length);
        Ok(value)
    }

    /// The rest of a call after its opening parenthesis.
    fn call(&mut self, name: &str, start: Scanner<'a>) -> Result<usize, ExprError> {
        let mut args = vec![self.sum()?];
        while self.text.eat(",") {
            args.push(self.sum()?);
        }
        self.expect(")")?;
        if let Some(op) = ScalarOp::from_name(name) {
            if args.len() == op.row().params.len() {
                return Ok(self.expr.apply(op, &args));
            }
        } else if let Some(composite) = Composite::from_name(name) {
            return self.inline(composite, args);
        }
        self.text = start;
        Err(self.error(format!("no op `{name}` of {} operands", args.len())))
    }

    /// Parsed again rather than through [`Composite::expr`], which may be under construction.
    fn inline(&mut self, composite: Composite, mut args: Vec<usize>) -> Result<usize, ExprError> {
        let row = composite.row();
        for param in row.params.iter().skip(args.len()) {
            let Some(value) = param.default.as_number() else {
                return Err(self.error(format!("`{}` of `{}` is missing", param.name, row.name)));
            };
            args.push(self.expr.constant(value));
        }
        if args.len() != row.params.len() {
            return Err(self.error(format!("too many operands of `{}`", row.name)));
        }
        Ok(row.parse()?.eval(&mut self.expr, &args))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Real;

    fn value(text: &str, x: f64) -> f64 {
        parse(text, &["x"]).expect("parses").eval(&mut Real, &[x])
    }

    #[test]
    fn precedence_and_grouping() {
        assert_eq!(value("1 + 2 * x - 6 / 2", 5.0), 8.0);
        assert_eq!(value("2 - 1 - 1", 0.0), 0.0);
        assert_eq!(value("5 + -x", 2.0), 3.0);
        assert_eq!(value("-x * -2e-1", 10.0), 2.0);
        assert_eq!(value("-(x - 1) / (x + 1)", 3.0), -0.5);
        assert_eq!(value("y = x * x; z = y + 1; y * z", 2.0), 20.0);
        assert_eq!(value("where(lt(x, inf), x, nan)", 7.0), 7.0);
    }

    #[test]
    fn equal_parts_are_one_node() {
        let expr = parse("exp(x) + exp(x)", &["x"]).expect("parses");
        assert_eq!(expr.nodes().len(), 3);
    }

    #[test]
    fn several_results() {
        let expr = parse("s = x + 1; s, s * s", &["x"]).expect("parses");
        assert_eq!(expr.eval_all(&mut Real, &[2.0]), [3.0, 9.0]);
    }

    #[test]
    fn errors_point() {
        for (text, column, message) in [
            ("x +", 4, "expected a number, a name or `(`"),
            ("x * yy", 5, "unknown name `yy`"),
            ("exp(x, x)", 1, "no op `exp` of 2 operands"),
            ("1 + explode(x)", 5, "no op `explode` of 1 operands"),
            ("(x", 3, "expected `)`"),
            ("y = x", 6, "expected `;`"),
            ("x x", 3, "expected the end"),
            ("1.2.3", 1, "malformed number"),
        ] {
            let error = parse(text, &["x"]).expect_err(text);
            assert_eq!((error.column, error.message.as_str()), (column, message), "{text}");
        }
    }
}
