//! Formulas: the expressions over sizes whose values a plan needs, each evaluated once per call.

use super::{SizeError, Sizes};
use cranelift_entity::{PrimaryMap, entity_impl};
use index::Expr;
use indexmap::IndexSet;

/// An expression whose value a plan needs, by its place in the plan's table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Formula(u32);
entity_impl!(Formula, "formula");

/// The distinct expressions of a plan; each is evaluated once per call.
#[derive(Clone, Debug, Default)]
pub struct Formulas {
    exprs: IndexSet<Expr>,
}

impl Formulas {
    /// The formula of an expression.
    pub fn intern(&mut self, expr: &Expr) -> Formula {
        Formula(self.exprs.insert_full(expr.clone()).0 as u32)
    }

    /// The expression of a formula.
    pub fn expr(&self, formula: Formula) -> &Expr {
        &self.exprs[formula.0 as usize]
    }

    /// All formulas.
    pub fn all(&self) -> impl Iterator<Item = Formula> + '_ {
        (0..self.exprs.len()).map(|place| Formula(place as u32))
    }

    /// The values of all formulas.
    ///
    /// # Errors
    /// As [`Sizes::value`], for the first that has none.
    pub fn evaluate(&self, sizes: &Sizes) -> Result<PrimaryMap<Formula, i64>, SizeError> {
        let mut values = PrimaryMap::with_capacity(self.exprs.len());
        for expr in &self.exprs {
            values.push(sizes.value(expr)?);
        }
        Ok(values)
    }
}
