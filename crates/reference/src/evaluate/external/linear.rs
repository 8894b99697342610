//! Products with a bias: the product in the compute dtype, the vector added to it, rounded once.

use ops::{DType, ScalarOp};

use super::{Context, matmul};
use crate::evaluate::EvaluateError;
use crate::evaluate::map::{cast, map};
use crate::evaluate::value::BoundedValue;

/// `operands[0] @ operands[1].T + operands[2]`.
pub(super) fn linear(
    operands: &[BoundedValue<'_>],
    dtype: DType,
    context: &Context<'_>,
) -> Result<BoundedValue<'static>, EvaluateError> {
    let [arg, weight, bias] = operands else { unreachable!("three operands, by the shape rule") };
    let Context { sizes, bounds, resources, .. } = context;
    let rank = sizes.len();
    let weight = weight.relaid(|layout| layout.permuted([1, 0]).raised(rank));
    let bias = bias.relaid(|layout| layout.raised(rank));
    let compute = dtype.compute();
    let product = matmul::matmul(&[arg.clone(), weight], compute, context)?;
    let bias = cast(bias, compute, resources)?;
    let sum = map(ScalarOp::Add, vec![product, bias], sizes, compute, *bounds, resources)?;
    cast(sum, dtype, resources)
}
