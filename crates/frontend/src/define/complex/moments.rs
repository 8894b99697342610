//! Variances of complex tensors: the mean of squared distances from the mean, which is the sum of the variances of the
//! parts. It is real.

use ir::graph::Val;
use ops::{LanguageOp, ScalarOp};

use super::super::arguments::Bound;
use super::super::builder::DefinitionBuilder;
use super::super::error::DefineError;
use super::Parts;

impl DefinitionBuilder {
    /// `var`, `var_mean` or `welford` of a complex tensor.
    pub(super) fn complex_moments(&mut self, op: LanguageOp, bound: &Bound) -> Result<Vec<Val>, DefineError> {
        let arg = self.tensor(bound)?;
        let parts = self.whole_parts(arg)?;
        if op == LanguageOp::Welford {
            let axes = self.moment_axes(bound, parts[0])?;
            let [re, im] = self.of_both(parts, |builder, part| builder.welford(part, axes.clone(), false))?;
            let (mean, m2): (Parts, Parts) = ([re.mean, im.mean], [re.m2, im.m2]);
            return Ok(vec![self.pair(mean)?, self.map(ScalarOp::Add, &m2)?, re.count]);
        }
        let [re, im] = self.of_both(parts, |builder, part| builder.var_mean(bound, part))?;
        let var = self.map(ScalarOp::Add, &[re.0, im.0])?;
        Ok(match op {
            LanguageOp::Var => vec![var],
            _ => vec![var, self.pair([re.1, im.1])?],
        })
    }

    fn of_both<T>(
        &mut self,
        [re, im]: Parts,
        of: impl Fn(&mut DefinitionBuilder, Val) -> Result<T, DefineError>,
    ) -> Result<[T; 2], DefineError> {
        Ok([of(self, re)?, of(self, im)?])
    }
}
