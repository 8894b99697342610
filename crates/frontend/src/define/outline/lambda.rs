//! Bodies of folds and scans as lambdas and as definitions. Such a definition takes the states of one run, then those of
//! another, as tensors without axes, and returns the combined states.

use std::convert::Infallible;

use ir::definition::{CallArgument, Definition, Function, Object, Term};
use ops::{BodyStep, DType, Lambda, LanguageOp, Scalar, ScalarOp};

use super::super::definition::DefinitionBuilder;
use super::super::error::DefineError;

/// The body of a lambda as a definition; its parameters are `a0`, `a1`, … and `b0`, `b1`, …
///
/// # Errors
/// When the language cannot express an op of it, which no lambda of the language causes.
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
                in_language(*scalar_op, args.iter().map(|&arg| objects[arg].clone()), |op, given| {
                    builder.call(op, given.into_iter().map(CallArgument::positional).collect())
                })?
            }
        };
        objects.push(object);
    }
    for &result in body.results() {
        builder.add_output(&objects[result], None)?;
    }
    builder.finish()
}

/// A lambda as an expression: parameters `a0, a1, …, b0, b1, …`, each step written at every use.
pub(super) fn of_lambda(lambda: &Lambda) -> Function {
    let body = lambda.body();
    let states = lambda.identity().len();
    let name = |number: usize| format!("{}{}", if number < states { 'a' } else { 'b' }, number % states);
    let mut terms: Vec<Term> = (0..2 * states).map(Term::Param).collect();
    for step in body.steps() {
        let term = match step {
            BodyStep::Constant(scalar) => Term::call(
                "cast",
                [Term::Object(python_number(*scalar)), Term::Object(Object::DType(scalar.dtype()))],
            ),
            BodyStep::Cast(dtype, arg) => {
                Term::call("cast", [terms[*arg].clone(), Term::Object(Object::DType(*dtype))])
            }
            BodyStep::Apply(scalar_op, args) => {
                let args = args.iter().map(|&arg| terms[arg].clone());
                let Ok(term) =
                    in_language(*scalar_op, args, |op, given| Ok::<_, Infallible>(Term::call(op, given)));
                term
            }
        };
        terms.push(term);
    }
    Function {
        params: (0..2 * states).map(name).collect(),
        results: body.results().iter().map(|&result| terms[result].clone()).collect(),
    }
}

/// What the ops of the language that are equivalent to an op give, each with the result of the one before and its own
/// operands.
pub(super) fn in_language<T, E>(
    scalar_op: ScalarOp,
    operands: impl IntoIterator<Item = T>,
    mut call: impl FnMut(&'static str, Vec<T>) -> Result<T, E>,
) -> Result<T, E> {
    let (mut operands, mut result) = (operands.into_iter(), None);
    for equivalent in scalar_op.in_language() {
        let own = equivalent.arity() - usize::from(result.is_some());
        let given = result.take().into_iter().chain(operands.by_ref().take(own)).collect();
        result = Some(call(equivalent.name(), given)?);
    }
    Ok(result.expect("every op is some op of the language"))
}

/// A constant as Python writes numbers: of dtype bool, i64 or f64.
pub(super) fn python_number(scalar: Scalar) -> Object {
    match scalar.dtype() {
        DType::Bool => Object::bool(scalar.as_bool()),
        dtype if dtype.is_float() => Object::float(scalar.as_f64()),
        _ => Object::int(scalar.as_i64()),
    }
}
