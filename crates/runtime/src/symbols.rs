//! The values of the size symbols in one call, and formulas over them.

use cranelift_entity::{PrimaryMap, entity_impl};
use indexmap::IndexSet;
use ir::index::{EvalError, Expr, Sym};

use crate::Error;

/// The values of the size symbols in one call, by the symbols' numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbols {
    values: Vec<Option<i64>>,
}

impl Symbols {
    /// No symbol of so many has a value.
    pub(crate) fn unknown(count: usize) -> Symbols {
        Symbols { values: vec![None; count] }
    }

    pub(crate) fn set(&mut self, sym: Sym, value: i64) {
        self.values[sym.as_u32() as usize] = Some(value);
    }

    /// The value of a symbol.
    pub fn get(&self, sym: Sym) -> Option<i64> {
        self.values.get(sym.as_u32() as usize).copied().flatten()
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
    /// [`Error::Unknown`] when it has none, [`Error::Beyond`] when it is too large.
    pub fn value(&self, expr: &Expr) -> Result<i64, Error> {
        if let Some(value) = expr.as_sym().and_then(|sym| self.get(sym)) {
            return Ok(value);
        }
        expr.eval(&|sym| self.get(sym)).map_err(|error| match (expr.to_string(), error) {
            (formula, EvalError::Overflow) => Error::Beyond { formula },
            (formula, error) => Error::Unknown { formula, error },
        })
    }
}

/// An expression that a plan needs the value of, by its place in the plan's table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Formula(u32);
entity_impl!(Formula, "formula");

/// The distinct expressions of a plan; each is evaluated once a call.
#[derive(Clone, Debug, Default)]
pub struct Formulas {
    exprs: IndexSet<Expr>,
}

impl Formulas {
    /// The formula of an expression.
    pub(crate) fn intern(&mut self, expr: &Expr) -> Formula {
        Formula(self.exprs.insert_full(expr.clone()).0 as u32)
    }

    /// The expression of a formula.
    pub fn expr(&self, formula: Formula) -> &Expr {
        &self.exprs[formula.0 as usize]
    }

    /// The values of all formulas.
    ///
    /// # Errors
    /// As [`Symbols::value`], for the first that has none.
    pub(crate) fn evaluate(&self, symbols: &Symbols) -> Result<PrimaryMap<Formula, i64>, Error> {
        let mut values = PrimaryMap::with_capacity(self.exprs.len());
        for expr in &self.exprs {
            values.push(symbols.value(expr)?);
        }
        Ok(values)
    }
}
