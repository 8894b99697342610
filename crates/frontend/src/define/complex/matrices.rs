//! Products of complex matrices: four products of their parts.

use ir::array::Part;
use ir::definition::{NamedValue, Object};
use ir::graph::Val;
use ops::{LanguageOp, ScalarOp};

use super::{PARTS, complex_argument};
use crate::define::arguments::Bound;
use crate::define::builder::{OpBuilder, Parts};
use crate::define::error::DefineError;
use crate::define::families;

/// `matmul` or `linear` of complex tensors. A bias goes into the first product of each part.
pub(super) fn product(ops: &mut OpBuilder, op: LanguageOp, bound: &Bound) -> Result<Val, DefineError> {
    let dtype = complex_argument(ops, bound).map(|(_, dtype)| dtype);
    for (slot, object) in bound.objects().iter().enumerate() {
        if let (Some(value), Some(dtype)) = (object.as_value(), dtype)
            && ops.graph.dtype(value.val) != dtype
        {
            return Err(bound.reject(bound.name(slot), &format!("a tensor of {dtype}, as the others are")));
        }
    }
    let mut result = Vec::with_capacity(2);
    for part in PARTS {
        let (first, second, combine) = match part {
            Part::Real => ([Part::Real, Part::Real], [Part::Imaginary, Part::Imaginary], ScalarOp::Sub),
            Part::Imaginary => ([Part::Real, Part::Imaginary], [Part::Imaginary, Part::Real], ScalarOp::Add),
        };
        let first = real_product(ops, op, bound, first, Some(part))?;
        let second = real_product(ops, op, bound, second, None)?;
        result.push(ops.map(combine, &[first, second])?);
    }
    let parts: Parts = [result[0], result[1]];
    ops.pair(parts)
}

/// The product of these parts of the operands, with a part of the bias or without it.
fn real_product(
    ops: &mut OpBuilder,
    op: LanguageOp,
    bound: &Bound,
    [left, right]: [Part; 2],
    bias: Option<Part>,
) -> Result<Val, DefineError> {
    let mut objects = Vec::with_capacity(bound.objects().len());
    for (slot, object) in bound.objects().iter().enumerate() {
        let part = match bound.name(slot) {
            "arg1" => Some(left),
            "arg2" => Some(right),
            _ => bias,
        };
        objects.push(match (object, part) {
            (Object::Value(value), Some(part)) => {
                let val = ops.whole_parts(value.val)?[part as usize];
                Object::Value(NamedValue { val, ..*value })
            }
            _ => Object::None,
        });
    }
    Ok(families::language_op(ops, op, &bound.with_objects(objects))?[0])
}
