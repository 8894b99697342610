//! From the lines of a body to a definition: each line drives the builder.
//!
//! Names are in one flat scope, as in straight-line Python. Expressions over numbers alone are evaluated as in Python;
//! everything else is a call of the builder.

use std::collections::BTreeMap;

use ir::Span;
use ir::definition::{CallArgument, Definition, Object};
use ops::DType;
use syntax::RawDiagnostic;
use syntax::{Line, Name, StatementSyntax, Tree, TreeKind};

use super::arithmetic::{self, constant};
use super::read::is_call_of;
use crate::define::{DefineError, DefinitionBuilder};

/// Follows the lines; `fd` is their name of the definition, `end` the place for diagnostics about something missing.
pub(super) fn read_body(
    fd: &str,
    body: &[Line],
    source: &str,
    end: Span,
) -> Result<Definition, RawDiagnostic> {
    let mut reader = Reader { builder: DefinitionBuilder::new(), fd, names: BTreeMap::new() };
    reader.builder.set_source(source);
    reader.lines(body)?;
    reader.builder.finish().map_err(|error| rejected(error, end))
}

pub(super) fn rejected(error: DefineError, span: Span) -> RawDiagnostic {
    let place = error.span.unwrap_or(span);
    let label = match &error.argument {
        Some(_) => format!("expected {}", error.expected),
        None => "here".to_owned(),
    };
    RawDiagnostic { message: error.message(), span: place, label, help: error.help }
}

/// The state while the lines of a body are followed.
pub(super) struct Reader<'t> {
    pub(super) builder: DefinitionBuilder,
    pub(super) fd: &'t str,
    pub(super) names: BTreeMap<&'t str, Object>,
}

impl<'t> Reader<'t> {
    fn lines(&mut self, lines: &'t [Line]) -> Result<(), RawDiagnostic> {
        lines.iter().try_for_each(|line| match line {
            Line::Statement(statement) => self.statement(statement),
            Line::Group { context, body, span } => self.group(context, body, *span),
        })
    }

    /// `with fd.group(...):` and the lines in it.
    fn group(&mut self, context: &'t Tree, body: &'t [Line], span: Span) -> Result<(), RawDiagnostic> {
        let arguments = match &context.kind {
            TreeKind::Call(callee, given) if callee.path().is_some_and(|path| path == [self.fd, "group"]) => {
                given
            }
            _ => {
                let label = format!("expected `with {}.group(\"name\"):`", self.fd);
                return Err(RawDiagnostic::new(span, "this block is no group", label));
            }
        };
        let arguments = self.arguments(arguments)?;
        self.builder.enter_group(arguments).map_err(|error| rejected(error, context.span))?;
        self.lines(body)?;
        self.builder.leave_group();
        Ok(())
    }

    fn statement(&mut self, statement: &'t StatementSyntax) -> Result<(), RawDiagnostic> {
        self.builder.set_span(Some(statement.span));
        let StatementSyntax { targets, unpacks, value, .. } = statement;
        if targets.is_empty() && matches!(value.kind, TreeKind::Text(_)) || is_call_of(value, "execute") {
            return Ok(());
        }
        if let (TreeKind::List(items), true) = (&value.kind, *unpacks)
            && items.len() == targets.len()
        {
            let objects = items.iter().map(|item| self.object(item)).collect::<Result<Vec<_>, _>>()?;
            targets.iter().zip(objects).for_each(|(target, object)| self.assign(target, object));
            return Ok(());
        }
        let object = self.object(value)?;
        match (&targets[..], object.as_list()) {
            ([], _) if !unpacks => {}
            ([target], None) if !unpacks => self.assign(target, object),
            ([target], Some(items)) if !unpacks => {
                let items = items.to_vec();
                for (place, item) in items.iter().enumerate() {
                    self.name(item, &format!("{}_{place}", target.text));
                }
                self.assign(target, object);
            }
            (_, Some(items)) if items.len() == targets.len() => {
                let items = items.to_vec();
                targets.iter().zip(items).for_each(|(target, item)| self.assign(target, item));
            }
            (_, None) => {
                let label = format!("expected a list of {}", targets.len());
                return Err(RawDiagnostic::new(value.span, "only lists are unpacked", label));
            }
            (_, Some(items)) => {
                let message = format!("the list has {} values, not {}", items.len(), targets.len());
                return Err(RawDiagnostic::new(statement.span, message, "expected as many names as values"));
            }
        }
        Ok(())
    }

    fn assign(&mut self, target: &'t Name, object: Object) {
        self.name(&object, &target.text);
        self.names.insert(&target.text, object);
    }

    fn name(&mut self, object: &Object, name: &str) {
        if let Some(value) = object.as_value() {
            self.builder.set_name(value, name);
        }
    }

    fn object(&mut self, tree: &Tree) -> Result<Object, RawDiagnostic> {
        match &tree.kind {
            TreeKind::Name(name) => {
                self.names.get(name.as_str()).cloned().ok_or_else(|| unknown(name, tree.span))
            }
            TreeKind::Int(_) | TreeKind::Wide(_) | TreeKind::Float(_) | TreeKind::Imaginary(_) => {
                constant(tree).map(Object::Number)
            }
            TreeKind::Bool(value) => Ok(Object::bool(*value)),
            TreeKind::None => Ok(Object::None),
            TreeKind::Text(text) => Ok(Object::Text(text.as_str().into())),
            TreeKind::Lambda(parameters, result) => self.lambda(parameters, result).map(Object::from),
            TreeKind::List(items) => self.list(items),
            TreeKind::Attribute(base, name) => self.attribute(tree, base, &name.text),
            TreeKind::Item(base, index) => self.item(base, index),
            TreeKind::Call(callee, arguments) => self.call(tree, callee, arguments),
            TreeKind::Unary(operator, operand) => self.unary(operator, operand, tree.span),
            TreeKind::Binary(operator, a, b) => self.binary(operator, a, b, tree.span),
        }
    }

    /// Lists hold numbers and values; the language has no nested lists.
    fn list(&mut self, items: &[Tree]) -> Result<Object, RawDiagnostic> {
        let mut objects = Vec::with_capacity(items.len());
        for item in items {
            match self.object(item)? {
                Object::List(_) => {
                    return Err(RawDiagnostic::new(
                        item.span,
                        "a list in a list",
                        "expected a number or a value",
                    ));
                }
                object => objects.push(object),
            }
        }
        Ok(Object::list(objects))
    }

    fn item(&mut self, base: &Tree, index: &Tree) -> Result<Object, RawDiagnostic> {
        let list = self.object(base)?;
        let Some(items) = list.as_list() else {
            let help = "use fd.ops.slice, or fd.ops.index_select";
            return Err(
                RawDiagnostic::new(base.span, "only lists have items", "this is not a list").help(help)
            );
        };
        let index = (self.object(index)?.as_int(), index.span);
        let place = index.0.map(|n| if n < 0 { n.saturating_add(items.len() as i64) } else { n });
        let item = place.and_then(|n| items.get(usize::try_from(n).ok()?));
        let reject =
            || RawDiagnostic::new(index.1, "no such item", format!("the list has {} items", items.len()));
        item.cloned().ok_or_else(reject)
    }

    fn call(
        &mut self,
        tree: &Tree,
        callee: &Tree,
        given: &[syntax::ArgumentSyntax],
    ) -> Result<Object, RawDiagnostic> {
        let unknown_call =
            || RawDiagnostic::new(callee.span, "no such function", "expected a method of the definition");
        let Some(path) = callee.path() else {
            return Err(self.with_spelling(unknown_call(), callee));
        };
        if let Some(number) = arithmetic::call(&path, tree, given) {
            return number.map(Object::Number);
        }
        let fd = self.fd;
        let method = match path[..] {
            [first, method] if first == fd => Ok(method),
            [first, "ops", op] if first == fd => Err(op),
            ["ops", op] => Err(op),
            [name, method] if self.names.contains_key(name) => {
                return self.method(tree, callee, name, method, given);
            }
            [first, ..] if first != fd && !self.names.contains_key(first) => {
                return Err(unknown(first, callee.span));
            }
            _ => return Err(unknown_call()),
        };
        let arguments = self.arguments(given)?;
        match method {
            Err("at") => self.builder.at(arguments).map_err(|error| rejected(error, tree.span)),
            Err(op) => self.builder.call(op, arguments).map_err(|error| {
                let is_name = error.argument.is_none() && error.expected.is_empty();
                rejected(error, if is_name { callee.span } else { tree.span })
            }),
            Ok(method) => {
                self.declare(method, arguments, callee.span).map_err(|diagnostic| match diagnostic {
                    Rejection::Define(error) => rejected(error, tree.span),
                    Rejection::Text(diagnostic) => diagnostic,
                })
            }
        }
    }

    pub(super) fn arguments(
        &mut self,
        given: &[syntax::ArgumentSyntax],
    ) -> Result<Vec<CallArgument>, RawDiagnostic> {
        let read = |argument: &syntax::ArgumentSyntax| {
            let keyword = argument.keyword.as_ref().map(|name| name.text.clone());
            Ok(CallArgument {
                keyword,
                object: self.object(&argument.value)?,
                span: Some(argument.value.span),
            })
        };
        given.iter().map(read).collect()
    }

    fn declare(
        &mut self,
        method: &str,
        arguments: Vec<CallArgument>,
        span: Span,
    ) -> Result<Object, Rejection> {
        match method {
            "define_tensor" => Ok(self.builder.define_tensor(arguments).map(Object::Value)?),
            "define_scalar" | "define_constant" => Ok(self.builder.define_scalar(arguments)?),
            "define_vector" => Ok(self.builder.define_vector(arguments)?),
            "add_output" => self.add_output(arguments, span),
            "group" => {
                let label = format!("expected `with {}.group(...):`", self.fd);
                Err(Rejection::Text(RawDiagnostic::new(span, "a group without a block", label)))
            }
            _ => {
                let known = "known: define_tensor, define_scalar, define_vector, add_output, group, ops";
                let message = format!("the definition has no method `{method}`");
                Err(Rejection::Text(
                    RawDiagnostic::new(span, message, "expected a method it has").help(known),
                ))
            }
        }
    }

    fn add_output(&mut self, arguments: Vec<CallArgument>, span: Span) -> Result<Object, Rejection> {
        let find = |place: usize, name: &str| {
            let placed = arguments.get(place).filter(|argument| argument.keyword.is_none());
            placed.or_else(|| arguments.iter().find(|argument| argument.keyword.as_deref() == Some(name)))
        };
        let output = find(0, "output");
        let alias = find(1, "alias_input").filter(|argument| argument.object != Object::None);
        let order = arguments.iter().find(|argument| argument.keyword.as_deref() == Some("stride_order"));
        let given = [output, find(1, "alias_input"), order];
        let taken = given.iter().flatten().count();
        let Some(output) =
            output.filter(|_| taken == arguments.len() && (alias.is_none() || order.is_none()))
        else {
            let label = "expected the arguments output and alias_input, or output and stride_order";
            return Err(Rejection::Text(RawDiagnostic::new(span, "wrong arguments of `add_output`", label)));
        };
        let mut output = output.object.clone();
        if let Some(order) = order.filter(|order| order.object != Object::None) {
            output =
                self.builder.call("stride_order", vec![CallArgument::positional(output), order.clone()])?;
        }
        self.builder.add_output(&output, alias.map(|alias| &alias.object))?;
        Ok(Object::None)
    }

    fn unary(&mut self, operator: &str, operand: &Tree, span: Span) -> Result<Object, RawDiagnostic> {
        let object = self.object(operand)?;
        match (&object, operator) {
            (Object::Number(scalar), _) => arithmetic::unary(operator, *scalar, span).map(Object::Number),
            (_, "+") => Ok(object),
            (_, "~") => self.operate("bitwise_not", [(object, operand.span)], operand.span),
            _ => self.operate("neg", [(object, operand.span)], operand.span),
        }
    }

    fn binary(&mut self, operator: &str, a: &Tree, b: &Tree, span: Span) -> Result<Object, RawDiagnostic> {
        let (left, right) = (self.object(a)?, self.object(b)?);
        if let (Object::Number(x), Object::Number(y)) = (&left, &right) {
            return arithmetic::binary(operator, *x, *y, span).map(Object::Number);
        }
        let op = operator_name(operator).ok_or_else(|| unknown_operator(operator, span))?;
        self.operate(op, [(left, a.span), (right, b.span)], span)
    }

    fn operate<const N: usize>(
        &mut self,
        op: &str,
        operands: [(Object, Span); N],
        span: Span,
    ) -> Result<Object, RawDiagnostic> {
        let arguments = operands.into_iter().map(|(object, span)| CallArgument {
            keyword: None,
            object,
            span: Some(span),
        });
        self.builder.call(op, arguments.collect()).map_err(|error| rejected(error, span))
    }
}

/// The op for an operator between two operands.
pub(super) fn operator_name(operator: &str) -> Option<&'static str> {
    Some(match operator {
        "+" => "add",
        "-" => "sub",
        "*" => "mul",
        "/" => "truediv",
        "%" => "remainder",
        "@" => "matmul",
        "**" => "pow",
        "==" => "eq",
        "!=" => "ne",
        "<" => "lt",
        "<=" => "le",
        ">" => "gt",
        ">=" => "ge",
        "&" => "bitwise_and",
        "|" => "bitwise_or",
        "^" => "bitwise_xor",
        "<<" => "bitwise_left_shift",
        ">>" => "bitwise_right_shift",
        _ => return None,
    })
}

pub(super) fn unknown_operator(operator: &str, span: Span) -> RawDiagnostic {
    let message = format!("`{operator}` is not an operator of tensors");
    RawDiagnostic::new(span, message, "expected an op of fd.ops")
}

/// A rejection of the builder or a diagnostic about the text.
enum Rejection {
    Define(DefineError),
    Text(RawDiagnostic),
}

impl From<DefineError> for Rejection {
    fn from(error: DefineError) -> Rejection {
        Rejection::Define(error)
    }
}

pub(super) fn unknown(name: &str, span: Span) -> RawDiagnostic {
    RawDiagnostic::new(span, format!("`{name}` is not defined"), "expected a name assigned above")
}

/// `DataType.Float`, `torch.float32` and the like.
pub(super) fn attribute(tree: &Tree) -> Result<Object, RawDiagnostic> {
    let path = tree.path().unwrap_or_default();
    let dtype = match path[..] {
        ["DataType", "Null"] => return Ok(Object::None),
        ["DataType", name] => DType::from_nvfuser_name(name),
        ["torch", name] => DType::ALL.into_iter().find(|dtype| dtype.numpy_name() == name),
        _ => return Err(RawDiagnostic::new(tree.span, "this has no meaning here", "expected a value")),
    };
    let reject = || {
        let known: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.nvfuser_name()).collect();
        let message = match path.last() {
            Some(name) if DType::is_left_out(name) => {
                format!("the dtype `{}` is not supported", path.join("."))
            }
            _ => format!("unknown dtype `{}`", path.join(".")),
        };
        RawDiagnostic::new(tree.span, message, "expected a dtype")
            .help(format!("known: {}", known.join(", ")))
    };
    dtype.map(Object::DType).ok_or_else(reject)
}
