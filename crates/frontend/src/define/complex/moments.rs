//! Variances of complex tensors: the mean of squared distances from the mean, which is the sum of the variances of the
//! parts. It is real.

use ir::graph::Val;
use ops::{LanguageOp, ScalarOp};

use crate::define::arguments::Bound;
use crate::define::builder::{OpBuilder, Parts};
use crate::define::error::DefineError;
use crate::define::families::folds;

/// `var`, `var_mean` or `welford` of a complex tensor.
pub(super) fn moments(ops: &mut OpBuilder, op: LanguageOp, bound: &Bound) -> Result<Vec<Val>, DefineError> {
    let arg = ops.tensor(bound)?;
    let parts = ops.whole_parts(arg)?;
    if op == LanguageOp::Welford {
        let axes = folds::moment_axes(ops, bound, parts[0])?;
        let [re, im] = of_both(ops, parts, |ops, part| folds::welford(ops, part, axes.clone(), false))?;
        let (mean, m2): (Parts, Parts) = ([re.mean, im.mean], [re.m2, im.m2]);
        return Ok(vec![ops.pair(mean)?, ops.map(ScalarOp::Add, &m2)?, re.count]);
    }
    let [re, im] = of_both(ops, parts, |ops, part| folds::var_mean(ops, bound, part))?;
    let var = ops.map(ScalarOp::Add, &[re.0, im.0])?;
    Ok(match op {
        LanguageOp::Var => vec![var],
        _ => vec![var, ops.pair([re.1, im.1])?],
    })
}

fn of_both<T>(
    ops: &mut OpBuilder,
    [re, im]: Parts,
    of: impl Fn(&mut OpBuilder, Val) -> Result<T, DefineError>,
) -> Result<[T; 2], DefineError> {
    Ok([of(ops, re)?, of(ops, im)?])
}
