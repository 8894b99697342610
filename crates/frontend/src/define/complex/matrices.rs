//! Products of complex matrices: four products of their parts.

use ir::array::Part;
use ir::definition::{NamedValue, Object};
use ir::graph::Val;
use ops::{LanguageOp, ScalarOp};

use super::super::arguments::Bound;
use super::super::builder::DefinitionBuilder;
use super::super::error::DefineError;
use super::{PARTS, Parts};

impl DefinitionBuilder {
    /// `matmul` or `linear` of complex tensors. A bias goes into the first product of each part.
    pub(super) fn complex_matrices(&mut self, op: LanguageOp, bound: &Bound) -> Result<Val, DefineError> {
        let dtype = self.complex_argument(bound).map(|(_, dtype)| dtype);
        for (slot, object) in bound.objects().iter().enumerate() {
            if let (Some(value), Some(dtype)) = (object.as_value(), dtype)
                && self.graph.dtype(value.val) != dtype
            {
                return Err(
                    bound.reject(bound.name(slot), &format!("a tensor of {dtype}, as the others are"))
                );
            }
        }
        let mut result = Vec::with_capacity(2);
        for part in PARTS {
            let (first, second, combine) = match part {
                Part::Real => ([Part::Real, Part::Real], [Part::Imaginary, Part::Imaginary], ScalarOp::Sub),
                Part::Imaginary => {
                    ([Part::Real, Part::Imaginary], [Part::Imaginary, Part::Real], ScalarOp::Add)
                }
            };
            let first = self.real_product(op, bound, first, Some(part))?;
            let second = self.real_product(op, bound, second, None)?;
            result.push(self.map(combine, &[first, second])?);
        }
        let parts: Parts = [result[0], result[1]];
        self.pair(parts)
    }

    /// The product of these parts of the operands, with a part of the bias or without it.
    fn real_product(
        &mut self,
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
                    let val = self.whole_parts(value.val)?[part as usize];
                    Object::Value(NamedValue { val, ..*value })
                }
                _ => Object::None,
            });
        }
        Ok(self.op(op, &bound.with_objects(objects))?[0])
    }
}
