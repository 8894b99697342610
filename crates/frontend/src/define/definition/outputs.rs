//! The outputs of a definition, and which of them are written into the memory of an input.

use ir::definition::{Action, NamedValue, Object};
use ir::graph::Output;

use super::DefinitionBuilder;
use crate::define::arguments::describe;
use crate::define::builder::OpBuilder;
use crate::define::error::DefineError;

impl DefinitionBuilder {
    /// Adds an output: written into the memory of `alias` if that input is given, otherwise in its own memory, with the axis
    /// order requested by `stride_order`.
    ///
    /// # Errors
    /// For a scalar, and for an alias that is no input tensor or has another type.
    pub fn add_output(&mut self, output: &Object, alias: Option<&Object>) -> Result<(), DefineError> {
        self.ops.op = "add_output";
        let tensor = output_tensor(&self.ops, "output", output)?;
        let alias = alias.map(|alias| output_tensor(&self.ops, "alias_input", alias)).transpose()?;
        let place = alias.map(|alias| self.alias_place(tensor, alias)).transpose()?;
        let order = self.ops.orders.get(&tensor.entry).filter(|_| place.is_none());
        let order = order.cloned().unwrap_or_default();
        self.outputs.push(Output { val: tensor.val, alias: place, order });
        let action = Action::Output { value: tensor.entry, alias: alias.map(|alias| alias.entry) };
        self.ops.add_statement(action, Vec::new());
        Ok(())
    }

    /// The number of the input that an output is written to.
    fn alias_place(&mut self, tensor: NamedValue, alias: NamedValue) -> Result<u32, DefineError> {
        let reject =
            |expected: String, given: String| Err(self.ops.reject(expected, given).argument("alias_input"));
        let Some(place) = self.inputs.iter().position(|&input| input == alias.val) else {
            return reject("an input of the definition".to_owned(), "a computed tensor".to_owned());
        };
        let (output, input) = (self.ty(tensor), self.ty(alias));
        let same_shape = output.rank() == input.rank()
            && output.shape.iter().zip(&input.shape).all(|(a, b)| !self.ops.facts.prove_ne(a, b));
        if output.dtype != input.dtype || !same_shape {
            return reject(format!("an input of type {output}"), format!("one of type {input}"));
        }
        let place = place as u32;
        if self.outputs.iter().any(|output| output.alias == Some(place)) {
            return reject(
                "an input that no other output is written to".to_owned(),
                "one that is".to_owned(),
            );
        }
        let known = self.ops.facts.clone();
        self.ops.or_as_before(|ops| assume_same_shape(ops, tensor, alias))?;
        let OpBuilder { facts, record, op, span, .. } = &mut self.ops;
        record.add_constraints(facts.subjects_since(&known), op, *span);
        Ok(place)
    }
}

/// An argument that must be a tensor.
fn output_tensor(ops: &OpBuilder, argument: &str, object: &Object) -> Result<NamedValue, DefineError> {
    let given = match object.as_value() {
        Some(value) if !ops.is_scalar(value) => return Ok(value),
        Some(_) => "a scalar".to_owned(),
        None => describe(object),
    };
    Err(ops.reject("a tensor", given).argument(argument))
}

/// The sizes of an output become those of the input whose memory it gets.
fn assume_same_shape(ops: &mut OpBuilder, output: NamedValue, input: NamedValue) -> Result<(), DefineError> {
    for (a, b) in ops.shape(output.val).iter().zip(&ops.shape(input.val)) {
        let equal = ops.facts.assume_equal(a, b);
        equal.map_err(|_| ops.reject(format!("size {a}"), format!("size {b}")).argument("alias_input"))?;
    }
    Ok(())
}
