//! From the tree of a file to a definition: each line drives the builder.
//!
//! Takes a source text, gives the definition and the inputs to run it on, or one diagnostic. Names live in one flat
//! scope, as in straight-line Python.

use std::collections::BTreeMap;

use super::grammar::parse_file;
use super::inputs::{InputSpec, float_text, read_inputs};
use super::span::{Complaint, Diagnostic, Span};
use super::syntax::{self, Item, Kind, Name, Statement, Tree};
use crate::define::{Argument, DefineError, Definer, Definition, Object};
use crate::{DType, Scalar};

/// Bytes of a source text that are accepted.
const MAX_SOURCE: usize = 16 << 20;

/// A definition file as read.
#[derive(Clone, Debug)]
pub struct File {
    /// What it defines.
    pub definition: Definition,
    /// What to run it on, if it says so.
    pub inputs: Option<Vec<InputSpec>>,
}

/// Reads a definition file.
///
/// # Errors
/// The first thing that is wrong, with its place.
pub fn parse(source: &str) -> Result<File, Diagnostic> {
    read(source).map_err(|complaint| complaint.about(source))
}

/// Reads the bytes of a file as text.
///
/// # Errors
/// When they are not UTF-8; the place is the first byte that is not.
pub fn decode(bytes: &[u8]) -> Result<&str, Diagnostic> {
    std::str::from_utf8(bytes).map_err(|error| {
        let start = error.valid_up_to();
        let text = String::from_utf8_lossy(bytes);
        let span = Span::new(start, start + '\u{fffd}'.len_utf8());
        Complaint::new(span, "this file is not text", "expected UTF-8").about(&text)
    })
}

fn read(source: &str) -> Result<File, Complaint> {
    if source.len() > MAX_SOURCE {
        let message = format!("this file has {} bytes", source.len());
        return Err(Complaint::new(Span::new(0, 0), message, format!("at most {MAX_SOURCE} are read")));
    }
    let items = parse_file(source)?;
    let inputs = find_inputs(&items)?;
    let (fd, body) = find_definition(&items)?;
    let mut reader = Reader { definer: Definer::new(), fd, names: BTreeMap::new() };
    for statement in body {
        reader.statement(statement)?;
    }
    let end = Span::new(source.trim_end().len(), source.trim_end().len());
    let definition = reader.definer.finish().map_err(|error| refused(error, end))?;
    if let Some((specs, span)) = &inputs {
        check_inputs(&definition, specs, *span)?;
    }
    Ok(File { definition, inputs: inputs.map(|(specs, _)| specs) })
}

/// The list named `inputs`, among the lines outside of functions.
fn find_inputs(items: &[Item]) -> Result<Option<(Vec<InputSpec>, Span)>, Complaint> {
    let mut found = None;
    for item in items {
        let Item::Line(Statement { targets, value, span }) = item else { continue };
        match &targets[..] {
            [target] if target.text == "inputs" => found = Some((read_inputs(value)?, value.span)),
            _ if is_call_of(value, "execute") => {}
            [] if matches!(value.kind, Kind::Text(_)) => {}
            _ => {
                let label = "expected a definition, `inputs = [...]` or `fd.execute(inputs)`";
                return Err(Complaint::new(*span, "this line is not part of a definition file", label));
            }
        }
    }
    Ok(found)
}

fn is_call_of(tree: &Tree, method: &str) -> bool {
    match &tree.kind {
        Kind::Call(callee, _) => matches!(&callee.kind, Kind::Attribute(_, name) if name.text == method),
        _ => false,
    }
}

/// The name by which the definition is built, and the lines that build it.
fn find_definition(items: &[Item]) -> Result<(&str, &[Statement]), Complaint> {
    let mut functions = BTreeMap::new();
    let mut found: Option<(&str, &[Statement])> = None;
    for item in items {
        let this = match item {
            Item::Line(_) => continue,
            Item::Function { name, parameters, body } => {
                functions.insert(name.text.as_str(), function(name, parameters, body)?);
                continue;
            }
            Item::With { context, alias, body, span } => {
                with(context, alias.as_ref(), body, *span, &functions)?
            }
        };
        if found.is_some_and(|earlier| earlier != this) {
            let Item::With { span, .. } = item else { continue };
            return Err(Complaint::new(*span, "a second definition in one file", "expected one definition"));
        }
        found = Some(this);
    }
    let unused = || match functions.len() {
        1 => functions.values().next().copied(),
        _ => None,
    };
    found.or_else(unused).ok_or_else(|| {
        let message = match functions.len() {
            0 => "this file has no definition",
            _ => "this file has several definitions and uses none",
        };
        let label = "expected `def name(fd):` or `with FusionDefinition() as fd:`";
        Complaint::new(Span::new(0, 0), message, label)
    })
}

fn function<'t>(
    name: &Name,
    parameters: &'t [Name],
    body: &'t [Statement],
) -> Result<(&'t str, &'t [Statement]), Complaint> {
    match parameters {
        [fd] => Ok((&fd.text, body)),
        _ => Err(Complaint::new(name.span, "a definition takes one argument", "expected `def name(fd):`")),
    }
}

/// The body of a `with`, or of the function that it calls.
fn with<'t>(
    context: &Tree,
    alias: Option<&'t Name>,
    body: &'t [Statement],
    span: Span,
    functions: &BTreeMap<&str, (&'t str, &'t [Statement])>,
) -> Result<(&'t str, &'t [Statement]), Complaint> {
    let made = match &context.kind {
        Kind::Call(callee, _) => callee.path().is_some_and(|path| path.last() == Some(&"FusionDefinition")),
        _ => false,
    };
    let Some(alias) = alias.filter(|_| made) else {
        return Err(Complaint::new(
            span,
            "this block defines nothing",
            "expected `with FusionDefinition() as fd:`",
        ));
    };
    let called = body.iter().find_map(|statement| match &statement.value.kind {
        Kind::Call(callee, arguments) => match (&callee.kind, &arguments[..]) {
            (Kind::Name(name), [only]) if only.value.kind == Kind::Name(alias.text.clone()) => {
                Some((name, callee.span))
            }
            _ => None,
        },
        _ => None,
    });
    match called {
        Some((name, span)) => functions.get(name.as_str()).copied().ok_or_else(|| {
            Complaint::new(
                span,
                format!("no function is called `{name}`"),
                "expected a function defined above",
            )
        }),
        None => Ok((&alias.text, body)),
    }
}

/// Lists of inputs fit the definition in number, kind, dtype and rank.
fn check_inputs(definition: &Definition, specs: &[InputSpec], span: Span) -> Result<(), Complaint> {
    let decls = definition.input_decls();
    if specs.len() != decls.len() {
        let label = format!("expected {}", decls.len());
        return Err(Complaint::new(span, format!("the list has {} inputs", specs.len()), label));
    }
    for (decl, spec) in decls.iter().zip(specs) {
        let ty = definition.graph.ty(decl.val);
        let given = match spec {
            InputSpec::Scalar(_) if decl.layout.is_none() => continue,
            InputSpec::Tensor(spec) if spec.dtype == ty.dtype && spec.sizes.len() == ty.rank() => continue,
            InputSpec::Scalar(scalar) => format!("the number {scalar}"),
            InputSpec::Tensor(spec) => format!("a tensor of {}{:?}", spec.dtype, spec.sizes),
        };
        let name = definition.name_of(decl.val);
        let expected =
            if decl.layout.is_some() { format!("a tensor of {ty}") } else { "a number".to_owned() };
        let message = format!("the input for `{name}` does not fit its declaration");
        return Err(Complaint::new(span, message, format!("expected {expected}, given {given}")));
    }
    Ok(())
}

fn refused(error: DefineError, span: Span) -> Complaint {
    let place = error.span.unwrap_or(span);
    let label = match &error.argument {
        Some(_) => format!("expected {}", error.expected),
        None => "here".to_owned(),
    };
    Complaint { message: error.message(), span: place, label, help: error.help }
}

/// The state while the lines of a body are followed.
struct Reader<'t> {
    definer: Definer,
    fd: &'t str,
    names: BTreeMap<&'t str, Object>,
}

impl<'t> Reader<'t> {
    fn statement(&mut self, statement: &'t Statement) -> Result<(), Complaint> {
        self.definer.set_span(Some(statement.span));
        let Statement { targets, value, .. } = statement;
        if targets.is_empty() && matches!(value.kind, Kind::Text(_)) || is_call_of(value, "execute") {
            return Ok(());
        }
        if let (Kind::List(items), true) = (&value.kind, targets.len() > 1)
            && items.len() == targets.len()
        {
            let objects = items.iter().map(|item| self.object(item)).collect::<Result<Vec<_>, _>>()?;
            targets.iter().zip(objects).for_each(|(target, object)| self.assign(target, object));
            return Ok(());
        }
        let object = self.object(value)?;
        match (&targets[..], object.as_list()) {
            ([], _) => {}
            ([target], None) => self.assign(target, object),
            ([target], Some(items)) => {
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
            (_, items) => {
                let message = format!("{} names for {} values", targets.len(), items.map_or(1, <[_]>::len));
                return Err(Complaint::new(statement.span, message, "expected as many names as values"));
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
            self.definer.set_name(value, name);
        }
    }

    fn object(&mut self, tree: &Tree) -> Result<Object, Complaint> {
        match &tree.kind {
            Kind::Name(name) => {
                self.names.get(name.as_str()).cloned().ok_or_else(|| unknown(name, tree.span))
            }
            Kind::Int(n) => Ok(Object::int(*n)),
            Kind::Float(x) => Ok(Object::float(*x)),
            Kind::Bool(value) => Ok(Object::bool(*value)),
            Kind::None => Ok(Object::None),
            Kind::Text(_) => {
                Err(Complaint::new(tree.span, "a string has no meaning here", "expected a value"))
            }
            Kind::List(items) => self.list(items),
            Kind::Attribute(..) => attribute(tree),
            Kind::Item(base, index) => self.item(base, index),
            Kind::Call(callee, arguments) => self.call(tree, callee, arguments),
            Kind::Unary(operator, operand) => self.unary(operator, operand),
            Kind::Binary(operator, a, b) => self.binary(operator, a, b, tree.span),
        }
    }

    /// Lists hold numbers and values; a list in a list is nothing the language has.
    fn list(&mut self, items: &[Tree]) -> Result<Object, Complaint> {
        let mut objects = Vec::with_capacity(items.len());
        for item in items {
            match self.object(item)? {
                Object::List(_) => {
                    return Err(Complaint::new(
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

    fn item(&mut self, base: &Tree, index: &Tree) -> Result<Object, Complaint> {
        let list = self.object(base)?;
        let Some(items) = list.as_list() else {
            let help = "use fd.ops.slice, or fd.ops.index_select";
            return Err(Complaint::new(base.span, "only lists have items", "this is not a list").help(help));
        };
        let index = (self.object(index)?.as_int(), index.span);
        let place = index.0.map(|n| if n < 0 { n.saturating_add(items.len() as i64) } else { n });
        let item = place.and_then(|n| items.get(usize::try_from(n).ok()?));
        let refuse =
            || Complaint::new(index.1, "no such item", format!("the list has {} items", items.len()));
        item.cloned().ok_or_else(refuse)
    }

    fn call(&mut self, tree: &Tree, callee: &Tree, given: &[syntax::Argument]) -> Result<Object, Complaint> {
        let unknown_call =
            || Complaint::new(callee.span, "no such function", "expected a method of the definition");
        let Some(path) = callee.path() else { return Err(unknown_call()) };
        if path == ["float"] {
            let refuse =
                || Complaint::new(tree.span, "this is not a number", "expected float(\"inf\") or the like");
            return float_text(given).map(Object::float).ok_or_else(refuse);
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
            Err(op) => self.definer.call(op, arguments).map_err(|error| {
                let is_name = error.argument.is_none() && error.expected == "to be an op";
                refused(error, if is_name { callee.span } else { tree.span })
            }),
            Ok(method) => self.declare(method, arguments, callee.span).map_err(|complaint| match complaint {
                Refusal::Define(error) => refused(error, tree.span),
                Refusal::Complaint(complaint) => complaint,
            }),
        }
    }

    fn arguments(&mut self, given: &[syntax::Argument]) -> Result<Vec<Argument>, Complaint> {
        let read = |argument: &syntax::Argument| {
            let keyword = argument.keyword.as_ref().map(|name| name.text.clone());
            Ok(Argument { keyword, object: self.object(&argument.value)?, span: Some(argument.value.span) })
        };
        given.iter().map(read).collect()
    }

    fn declare(&mut self, method: &str, arguments: Vec<Argument>, span: Span) -> Result<Object, Refusal> {
        match method {
            "define_tensor" => Ok(self.definer.define_tensor(arguments).map(Object::Value)?),
            "define_scalar" | "define_constant" => Ok(self.definer.define_scalar(arguments)?),
            "define_vector" => Ok(self.definer.define_vector(arguments)?),
            "add_output" => self.add_output(arguments, span),
            _ => {
                let known = "known: define_tensor, define_scalar, define_vector, add_output, ops";
                let message = format!("the definition has no method `{method}`");
                Err(Refusal::Complaint(Complaint::new(span, message, "expected a method it has").help(known)))
            }
        }
    }

    fn add_output(&mut self, arguments: Vec<Argument>, span: Span) -> Result<Object, Refusal> {
        let find = |place: usize, name: &str| {
            let placed = arguments.get(place).filter(|argument| argument.keyword.is_none());
            placed.or_else(|| arguments.iter().find(|argument| argument.keyword.as_deref() == Some(name)))
        };
        let output = find(0, "output");
        let alias = find(1, "alias_input").filter(|argument| argument.object != Object::None);
        let taken = usize::from(output.is_some()) + usize::from(find(1, "alias_input").is_some());
        let Some(output) = output.filter(|_| taken == arguments.len()) else {
            let label = "expected the arguments output and alias_input";
            return Err(Refusal::Complaint(Complaint::new(span, "wrong arguments of `add_output`", label)));
        };
        self.definer.add_output(&output.object, alias.map(|alias| &alias.object))?;
        Ok(Object::None)
    }

    /// `t.size(0)` and `t.shape()`, as nvFuser's tensors have them.
    fn method(
        &mut self,
        tree: &Tree,
        callee: &Tree,
        name: &str,
        method: &str,
        given: &[syntax::Argument],
    ) -> Result<Object, Complaint> {
        let value = self.names.get(name).and_then(Object::as_value);
        let Some(value) = value.filter(|_| matches!(method, "size" | "shape")) else {
            let message = format!("`{name}` has no method `{method}`");
            return Err(Complaint::new(callee.span, message, "tensors have the methods size and shape"));
        };
        let mut arguments = vec![Argument::positional(value)];
        arguments.extend(self.arguments(given)?);
        self.definer.call(method, arguments).map_err(|error| refused(error, tree.span))
    }

    fn unary(&mut self, operator: &str, operand: &Tree) -> Result<Object, Complaint> {
        let object = self.object(operand)?;
        let op = match operator {
            "+" => return Ok(object),
            "~" => "bitwise_not",
            _ => "neg",
        };
        match &object {
            Object::Number(scalar) if op == "neg" => Ok(Object::Number(negated(*scalar))),
            _ => self.operate(op, [(object, operand.span)], operand.span),
        }
    }

    fn binary(&mut self, operator: &str, a: &Tree, b: &Tree, span: Span) -> Result<Object, Complaint> {
        let (left, right) = (self.object(a)?, self.object(b)?);
        if let (Object::Number(x), Object::Number(y)) = (&left, &right)
            && let Some(result) = arithmetic(operator, *x, *y)
        {
            return Ok(Object::Number(result));
        }
        let op = match operator {
            "+" => "add",
            "-" => "sub",
            "*" => "mul",
            "/" => "truediv",
            "%" => "remainder",
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
            _ => {
                let message = format!("`{operator}` is not an operator of tensors");
                return Err(Complaint::new(span, message, "expected an op of fd.ops"));
            }
        };
        self.operate(op, [(left, a.span), (right, b.span)], span)
    }

    fn operate<const N: usize>(
        &mut self,
        op: &str,
        operands: [(Object, Span); N],
        span: Span,
    ) -> Result<Object, Complaint> {
        let arguments =
            operands.into_iter().map(|(object, span)| Argument { keyword: None, object, span: Some(span) });
        self.definer.call(op, arguments.collect()).map_err(|error| refused(error, span))
    }
}

/// A refusal of the builder or a complaint about the text.
enum Refusal {
    Define(DefineError),
    Complaint(Complaint),
}

impl From<DefineError> for Refusal {
    fn from(error: DefineError) -> Refusal {
        Refusal::Define(error)
    }
}

fn unknown(name: &str, span: Span) -> Complaint {
    Complaint::new(span, format!("`{name}` is not defined"), "expected a name assigned above")
}

/// `DataType.Float`, `torch.float32` and the like.
fn attribute(tree: &Tree) -> Result<Object, Complaint> {
    let path = tree.path().unwrap_or_default();
    let dtype = match path[..] {
        ["DataType", "Null"] => return Ok(Object::None),
        ["DataType", name] => DType::from_nvfuser_name(name),
        ["torch", name] => DType::ALL.into_iter().find(|dtype| dtype.numpy_name() == name),
        _ => return Err(Complaint::new(tree.span, "this has no meaning here", "expected a value")),
    };
    let refuse = || {
        let known: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.nvfuser_name()).collect();
        let message = format!("unknown dtype `{}`", path.join("."));
        Complaint::new(tree.span, message, "expected a dtype").help(format!("known: {}", known.join(", ")))
    };
    dtype.map(Object::DType).ok_or_else(refuse)
}

fn negated(scalar: Scalar) -> Scalar {
    match scalar.dtype() {
        dtype if dtype.is_float() => Scalar::from_f64(dtype, -scalar.as_f64()),
        DType::Bool => Scalar::from_i64(DType::I64, -scalar.as_i64()),
        dtype => Scalar::from_i64(dtype, scalar.as_i64().wrapping_neg()),
    }
}

/// What Python makes of two of its numbers. `None` where it would not be a number we have.
fn arithmetic(operator: &str, a: Scalar, b: Scalar) -> Option<Scalar> {
    let python = |scalar: Scalar| matches!(scalar.dtype(), DType::Bool | DType::I64 | DType::F64);
    if !python(a) || !python(b) {
        return None;
    }
    if a.dtype() == DType::F64 || b.dtype() == DType::F64 || operator == "/" {
        let (x, y) = (a.as_f64(), b.as_f64());
        let result = match operator {
            "+" => x + y,
            "-" => x - y,
            "*" => x * y,
            "/" if y != 0.0 => x / y,
            "**" => x.powf(y),
            _ => return None,
        };
        return Some(Scalar::from_f64(DType::F64, result));
    }
    let (x, y) = (a.as_i64(), b.as_i64());
    let result = match operator {
        "+" => x.checked_add(y),
        "-" => x.checked_sub(y),
        "*" => x.checked_mul(y),
        "//" if y > 0 => Some(x.div_euclid(y)),
        "%" if y > 0 => Some(x.rem_euclid(y)),
        "**" => u32::try_from(y).ok().and_then(|y| x.checked_pow(y)),
        _ => None,
    };
    result.map(|result| Scalar::from_i64(DType::I64, result))
}
