//! Lambdas of the definition language: expressions over parameters and numbers, read as calls of ops.
//!
//! Takes the tree of a lambda, returns a function without dtypes. Operators mean the same ops as elsewhere.

use ir::Span;
use ir::definition::{Function, Object, Term};
use ops::Scalar;
use syntax::RawDiagnostic;
use syntax::{ArgumentSyntax, Name, Tree, TreeKind};

use super::arithmetic::{self, constant};
use super::body::{Reader, attribute, operator_name, unknown, unknown_operator};

impl Reader<'_> {
    /// A function of these parameters; a list as its result gives several.
    pub(super) fn lambda(&self, parameters: &[Name], result: &Tree) -> Result<Function, RawDiagnostic> {
        let results = match &result.kind {
            TreeKind::List(items) => {
                items.iter().map(|item| self.term(parameters, item)).collect::<Result<_, _>>()?
            }
            _ => vec![self.term(parameters, result)?],
        };
        Ok(Function { params: parameters.iter().map(|name| name.text.clone()).collect(), results })
    }

    fn term(&self, parameters: &[Name], tree: &Tree) -> Result<Term, RawDiagnostic> {
        match &tree.kind {
            TreeKind::Name(name) => self.named(parameters, name, tree.span),
            TreeKind::Int(_) | TreeKind::Wide(_) | TreeKind::Float(_) | TreeKind::Imaginary(_) => {
                constant(tree).map(number)
            }
            TreeKind::Bool(value) => Ok(Term::Object(Object::bool(*value))),
            TreeKind::None => Ok(Term::Object(Object::None)),
            TreeKind::Attribute(..) => attribute(tree).map(Term::Object),
            TreeKind::Call(callee, arguments) => self.applied(parameters, tree, callee, arguments),
            TreeKind::Unary(operator, operand) => {
                let operand = self.term(parameters, operand)?;
                match (*operator, &operand) {
                    (_, Term::Object(Object::Number(scalar))) => {
                        arithmetic::unary(operator, *scalar, tree.span).map(number)
                    }
                    ("+", _) => Ok(operand),
                    ("~", _) => Ok(spanned("bitwise_not", vec![operand], tree.span)),
                    _ => Ok(spanned("neg", vec![operand], tree.span)),
                }
            }
            TreeKind::Binary(operator, a, b) => {
                let (left, right) = (self.term(parameters, a)?, self.term(parameters, b)?);
                if let (Term::Object(Object::Number(x)), Term::Object(Object::Number(y))) = (&left, &right) {
                    return arithmetic::binary(operator, *x, *y, tree.span).map(number);
                }
                let op = operator_name(operator).ok_or_else(|| unknown_operator(operator, tree.span))?;
                Ok(spanned(op, vec![left, right], tree.span))
            }
            TreeKind::Text(_) | TreeKind::List(_) | TreeKind::Item(..) | TreeKind::Lambda(..) => {
                let label = "expected a parameter, a number or an op of them";
                Err(RawDiagnostic::new(tree.span, "this has no meaning in a lambda", label))
            }
        }
    }

    /// A parameter, or the object of an outer name, unless that is a value.
    fn named(&self, parameters: &[Name], name: &str, span: Span) -> Result<Term, RawDiagnostic> {
        if let Some(number) = parameters.iter().rposition(|parameter| parameter.text == name) {
            return Ok(Term::Param(number));
        }
        match self.names.get(name) {
            Some(object @ (Object::Number(_) | Object::DType(_) | Object::None)) => {
                Ok(Term::Object(object.clone()))
            }
            Some(_) => {
                let help = "give it to the fold as one more tensor, whose element the lambda then combines";
                let message = format!("a lambda cannot see `{name}`");
                Err(RawDiagnostic::new(span, message, "expected a parameter or a number").help(help))
            }
            None => Err(unknown(name, span)),
        }
    }

    fn applied(
        &self,
        parameters: &[Name],
        tree: &Tree,
        callee: &Tree,
        given: &[ArgumentSyntax],
    ) -> Result<Term, RawDiagnostic> {
        let path = callee.path().unwrap_or_default();
        if let Some(called) = arithmetic::call(&path, tree, given) {
            return called.map(number);
        }
        let op = match path[..] {
            [first, "ops", op] if first == self.fd => op,
            ["ops", op] => op,
            _ => return Err(RawDiagnostic::new(callee.span, "no such function", "expected an op of fd.ops")),
        };
        let mut arguments = Vec::with_capacity(given.len());
        for argument in given {
            let keyword = argument.keyword.as_ref().map(|name| name.text.clone());
            arguments.push((keyword, self.term(parameters, &argument.value)?));
        }
        Ok(Term::Call { op: op.to_owned(), arguments, span: Some(tree.span) })
    }
}

fn number(scalar: Scalar) -> Term {
    Term::Object(Object::Number(scalar))
}

fn spanned(op: &str, operands: Vec<Term>, span: Span) -> Term {
    let arguments = operands.into_iter().map(|term| (None, term)).collect();
    Term::Call { op: op.to_owned(), arguments, span: Some(span) }
}
