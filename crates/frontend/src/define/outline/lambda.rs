//! Bodies of folds and scans as definitions of their own: tensors without axes in, the states of one run and then those of
//! another, and the states of both out.

use ir::definition::{CallArgument, Definition, Object};
use ops::{BodyStep, Lambda, LanguageOp};

use super::super::builder::DefinitionBuilder;
use super::super::error::DefineError;
use super::super::function::python_number;

/// The body of a lambda as a definition; its parameters are `a0`, `a1`, … and `b0`, `b1`, …
///
/// # Errors
/// When an op of it has no words, which no lambda of the language brings about.
pub fn outline_lambda(lambda: &Lambda) -> Result<Definition, DefineError> {
    let (body, states) = (lambda.body(), lambda.identity().len());
    let mut builder = DefinitionBuilder::new();
    let mut objects: Vec<Object> = Vec::new();
    for (number, &dtype) in body.params().iter().enumerate() {
        let shape = CallArgument::keyword("shape", Object::list([]));
        let dtype = CallArgument::keyword("dtype", Object::DType(dtype));
        let value = builder.define_tensor(vec![shape, dtype])?;
        let run = if number < states { 'a' } else { 'b' };
        builder.set_name(value, &format!("{run}{}", number % states));
        objects.push(Object::Value(value));
    }
    for step in body.steps() {
        let object = match step {
            BodyStep::Constant(scalar) => {
                let arguments = vec![
                    CallArgument::keyword("shape", Object::list([])),
                    CallArgument::keyword("fill_value", python_number(*scalar)),
                    CallArgument::keyword("dtype", Object::DType(scalar.dtype())),
                ];
                builder.call(LanguageOp::Full.name(), arguments)?
            }
            BodyStep::Cast(dtype, arg) => {
                let dtype = CallArgument::keyword("dtype", Object::DType(*dtype));
                let arg = CallArgument::positional(objects[*arg].clone());
                builder.call(LanguageOp::Cast.name(), vec![arg, dtype])?
            }
            BodyStep::Apply(scalar_op, args) => {
                let args = args.iter().map(|&arg| CallArgument::positional(objects[arg].clone()));
                builder.call(scalar_op.name(), args.collect())?
            }
        };
        objects.push(object);
    }
    for &result in body.results() {
        builder.add_output(&objects[result], None)?;
    }
    builder.finish()
}
