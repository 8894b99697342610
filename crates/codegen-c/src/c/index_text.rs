//! Index expressions as text over variables of 64 bits. Simplifies nothing; needs facts only to write `/` and `%` where
//! these equal the floor division of the algebra.

use std::fmt::Write;

use index::{Atom, Expr, Facts, Monomial};

use super::hoisted::Hoisted;
use super::names::Names;
use super::prelude::Prelude;
use super::snippet::Snippet;

/// Writes expressions with a kernel's names.
pub(super) struct IndexWriter<'a> {
    pub(super) names: &'a Names,
    /// Facts about the symbols in scope.
    pub(super) facts: &'a Facts,
    /// Provides the floor division and its remainder if they are needed.
    pub(super) prelude: &'a mut Prelude,
    /// Collects divisions that are done at the top, if there is a place for them.
    pub(super) hoisted: Option<&'a mut Hoisted>,
}

impl IndexWriter<'_> {
    /// A sum without parentheses around it. The expression must not be the overflow form.
    pub(super) fn text(&mut self, expr: &Expr) -> String {
        let mut text = String::new();
        for term in expr.terms() {
            let negative = term.coefficient < 0 && term.coefficient != i64::MIN;
            text.push_str(match (text.is_empty(), negative) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            });
            let magnitude = if negative { -term.coefficient } else { term.coefficient };
            self.product(&mut text, magnitude, &term.monomial);
        }
        if text.is_empty() { "0".to_owned() } else { text }
    }

    /// One factor of a product: in parentheses unless it is one token or a call.
    pub(super) fn factor(&mut self, expr: &Expr) -> String {
        match expr.as_const() {
            Some(number) if number >= 0 => constant(number),
            _ if expr.as_atom().is_some() => self.text(expr),
            _ => format!("({})", self.text(expr)),
        }
    }

    fn product(&mut self, text: &mut String, coefficient: i64, monomial: &Monomial) {
        let mut separator = "";
        if coefficient != 1 || monomial.is_one() {
            text.push_str(&constant(coefficient));
            separator = " * ";
        }
        for (atom, power) in monomial.factors() {
            let factor = self.atom(atom);
            for _ in 0..*power {
                let _ = write!(text, "{separator}{factor}");
                separator = " * ";
            }
        }
    }

    fn atom(&mut self, atom: &Atom) -> String {
        match atom {
            Atom::Sym(symbol) => self.names.symbol(*symbol).to_owned(),
            Atom::Min(a, b) => format!("min({}, {})", self.wide(a), self.wide(b)),
            Atom::Max(a, b) => format!("max({}, {})", self.wide(a), self.wide(b)),
            Atom::FloorDiv(a, b) => self.hoisted(atom, a, b, "/", Snippet::FloorDiv),
            Atom::Mod(a, b) => self.hoisted(atom, a, b, "%", Snippet::FloorMod),
        }
    }

    /// The variable of a division that is done at the top, or the division.
    fn hoisted(&mut self, atom: &Atom, a: &Expr, b: &Expr, operator: &str, snippet: Snippet) -> String {
        let text = self.division(a, b, operator, snippet);
        match &mut self.hoisted {
            Some(hoisted) if hoisted.takes(a, b) => hoisted.variable(atom, text),
            _ => text,
        }
    }

    fn division(&mut self, a: &Expr, b: &Expr, operator: &str, snippet: Snippet) -> String {
        let at_least = |expr, min| self.facts.bounds(expr).lo().is_some_and(|lo| lo >= min);
        let is_small = self.facts.bounds(a).hi().is_some_and(|hi| hi <= u32::MAX.into()) && at_least(a, 0);
        let snippet = match snippet {
            Snippet::FloorDiv if is_small => Snippet::SmallFloorDiv,
            Snippet::FloorMod if is_small => Snippet::SmallFloorMod,
            other => other,
        };
        if at_least(a, 0) && at_least(b, 1) && (!is_small || b.as_const().is_some()) {
            return format!("({} {operator} {})", self.factor(a), self.factor(b));
        }
        format!("{}({}, {})", self.prelude.call(snippet), self.text(a), self.text(b))
    }

    /// An argument of `min` and `max`, whose two arguments must be of one type.
    fn wide(&mut self, expr: &Expr) -> String {
        match expr.as_const() {
            Some(number) if number > i64::MIN => format!("{number}ll"),
            _ => self.text(expr),
        }
    }
}

/// A number that is not negative, but for the smallest, which has no literal.
fn constant(number: i64) -> String {
    if number == i64::MIN { "(-9223372036854775807ll - 1)".to_owned() } else { number.to_string() }
}
