//! Variances of complex tensors: the mean of squared distances from the mean, which is the sum of the variances of the
//! parts. It is real.

use ir::graph::Val;
use ops::{FormOp, Prim};

use super::super::arguments::Bound;
use super::super::definer::Definer;
use super::super::error::DefineError;
use super::Parts;

impl Definer {
    /// `var`, `var_mean` or `welford` of a complex tensor.
    pub(super) fn complex_moments(&mut self, form: FormOp, bound: &Bound) -> Result<Vec<Val>, DefineError> {
        let arg = self.tensor(bound)?;
        let parts = self.whole_parts(arg)?;
        if form == FormOp::Welford {
            let axes = self.moment_axes(bound, parts[0])?;
            let [re, im] = self.of_both(parts, |definer, part| definer.welford(part, axes.clone(), false))?;
            let (mean, m2): (Parts, Parts) = ([re.mean, im.mean], [re.m2, im.m2]);
            return Ok(vec![self.pair(mean)?, self.map(Prim::Add, &m2)?, re.count]);
        }
        let [re, im] = self.of_both(parts, |definer, part| definer.var_mean(bound, part))?;
        let var = self.map(Prim::Add, &[re.0, im.0])?;
        Ok(match form {
            FormOp::Var => vec![var],
            _ => vec![var, self.pair([re.1, im.1])?],
        })
    }

    fn of_both<T>(
        &mut self,
        [re, im]: Parts,
        of: impl Fn(&mut Definer, Val) -> Result<T, DefineError>,
    ) -> Result<[T; 2], DefineError> {
        Ok([of(self, re)?, of(self, im)?])
    }
}
