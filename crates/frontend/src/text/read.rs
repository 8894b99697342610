//! From a source text to a definition and the inputs to run it on, or one diagnostic.
//!
//! Finds the lines of the definition and the list of inputs among the parts of a file; `body` follows the lines.

use std::collections::BTreeMap;

use ir::definition::Definition;
use ir::{Diagnostic, Span};
use syntax::RawDiagnostic;
use syntax::parse_file;
use syntax::{Item, Line, Name, StatementSyntax, Tree, TreeKind};

use super::body::read_body;
use super::inputs::{InputSpec, read_inputs};

/// The limit on the bytes of a source text.
const MAX_SOURCE: usize = 16 << 20;

/// A definition file as read.
#[derive(Clone, Debug)]
pub struct File {
    pub definition: Definition,
    /// The inputs to run it on, if the file has any.
    pub inputs: Option<Vec<InputSpec>>,
}

/// Reads a definition file.
///
/// # Errors
/// The first error, with its place.
pub fn parse(source: &str) -> Result<File, Diagnostic> {
    read(source).map_err(|diagnostic| diagnostic.about(source))
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
        RawDiagnostic::new(span, "this file is not text", "expected UTF-8").about(&text)
    })
}

fn read(source: &str) -> Result<File, RawDiagnostic> {
    if source.len() > MAX_SOURCE {
        let message = format!("this file has {} bytes", source.len());
        return Err(RawDiagnostic::new(Span::new(0, 0), message, format!("at most {MAX_SOURCE} are read")));
    }
    let items = parse_file(source)?;
    let inputs = find_inputs(&items)?;
    let (fd, body) = find_definition(&items)?;
    let end = source.trim_end().len();
    let definition = read_body(fd, body, source, Span::new(end, end))?;
    if let Some((specs, span)) = &inputs {
        check_inputs(&definition, specs, *span)?;
    }
    Ok(File { definition, inputs: inputs.map(|(specs, _)| specs) })
}

/// The list named `inputs`, among the lines outside of functions.
fn find_inputs(items: &[Item]) -> Result<Option<(Vec<InputSpec>, Span)>, RawDiagnostic> {
    let mut found = None;
    for item in items {
        let Item::Line(StatementSyntax { targets, value, span, .. }) = item else { continue };
        match &targets[..] {
            [target] if target.text == "inputs" => found = Some((read_inputs(value)?, value.span)),
            _ if is_call_of(value, "execute") => {}
            [] if matches!(value.kind, TreeKind::Text(_)) => {}
            _ => {
                let label = "expected a definition, `inputs = [...]` or `fd.execute(inputs)`";
                return Err(RawDiagnostic::new(*span, "this line is not part of a definition file", label));
            }
        }
    }
    Ok(found)
}

/// Whether an expression calls a method of this name.
pub(super) fn is_call_of(tree: &Tree, method: &str) -> bool {
    match &tree.kind {
        TreeKind::Call(callee, _) => {
            matches!(&callee.kind, TreeKind::Attribute(_, name) if name.text == method)
        }
        _ => false,
    }
}

/// The name of the definition in the lines that build it, and these lines.
fn find_definition(items: &[Item]) -> Result<(&str, &[Line]), RawDiagnostic> {
    let mut functions = BTreeMap::new();
    let mut found: Option<(&str, &[Line])> = None;
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
            return Err(RawDiagnostic::new(
                *span,
                "a second definition in one file",
                "expected one definition",
            ));
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
        RawDiagnostic::new(Span::new(0, 0), message, label)
    })
}

fn function<'t>(
    name: &Name,
    parameters: &'t [Name],
    body: &'t [Line],
) -> Result<(&'t str, &'t [Line]), RawDiagnostic> {
    match parameters {
        [fd] => Ok((&fd.text, body)),
        _ => {
            Err(RawDiagnostic::new(name.span, "a definition takes one argument", "expected `def name(fd):`"))
        }
    }
}

/// The body of a `with`, or of the function that it calls.
fn with<'t>(
    context: &Tree,
    alias: Option<&'t Name>,
    body: &'t [Line],
    span: Span,
    functions: &BTreeMap<&str, (&'t str, &'t [Line])>,
) -> Result<(&'t str, &'t [Line]), RawDiagnostic> {
    let made = match &context.kind {
        TreeKind::Call(callee, _) => {
            callee.path().is_some_and(|path| path.last() == Some(&"FusionDefinition"))
        }
        _ => false,
    };
    let Some(alias) = alias.filter(|_| made) else {
        return Err(RawDiagnostic::new(
            span,
            "this block defines nothing",
            "expected `with FusionDefinition() as fd:`",
        ));
    };
    let Some((name, span)) = body.iter().find_map(|line| called_with(&alias.text, line)) else {
        return Ok((&alias.text, body));
    };
    if let Some(other) = body.iter().find(|line| span_of(line) != span && !is_docstring(line)) {
        let message = format!("this block calls `{name}` and does something else");
        let label = format!("expected nothing but the call, or the lines of `{name}` here");
        return Err(RawDiagnostic::new(span_of(other), message, label));
    }
    functions.get(name).copied().ok_or_else(|| {
        let message = format!("no function is called `{name}`");
        RawDiagnostic::new(span, message, "expected a function defined above")
    })
}

/// The function that a line calls with the definition as its only argument, and the span of the line.
fn called_with<'t>(definition: &str, line: &'t Line) -> Option<(&'t str, Span)> {
    let Line::Statement(StatementSyntax { targets, value, span, .. }) = line else { return None };
    match &value.kind {
        TreeKind::Call(callee, arguments) if targets.is_empty() => match (&callee.kind, &arguments[..]) {
            (TreeKind::Name(name), [only]) => {
                let is_definition =
                    matches!(&only.value.kind, TreeKind::Name(given) if given.as_str() == definition);
                is_definition.then_some((name.as_str(), *span))
            }
            _ => None,
        },
        _ => None,
    }
}

fn span_of(line: &Line) -> Span {
    match line {
        Line::Statement(statement) => statement.span,
        Line::Group { span, .. } => *span,
    }
}

fn is_docstring(line: &Line) -> bool {
    matches!(line, Line::Statement(StatementSyntax { targets, value, .. })
        if targets.is_empty() && matches!(value.kind, TreeKind::Text(_)))
}

/// Checks that inputs fit the definition in number, kind, dtype and rank.
fn check_inputs(definition: &Definition, specs: &[InputSpec], span: Span) -> Result<(), RawDiagnostic> {
    let decls = definition.input_decls();
    if specs.len() != decls.len() {
        let label = format!("expected {}", decls.len());
        return Err(RawDiagnostic::new(span, format!("the list has {} inputs", specs.len()), label));
    }
    for (decl, spec) in decls.iter().zip(specs) {
        let ty = definition.graph.ty(decl.val);
        let given = match spec {
            InputSpec::Scalar(scalar) if decl.layout.is_none() && scalar.fits(ty.dtype) => continue,
            InputSpec::Tensor(spec) if spec.dtype == ty.dtype && spec.sizes.len() == ty.rank() => continue,
            InputSpec::Scalar(scalar) => format!("the number {scalar}"),
            InputSpec::Tensor(spec) => format!("a tensor of {}{:?}", spec.dtype, spec.sizes),
        };
        let name = definition.name_of(decl.val);
        let expected = if decl.layout.is_some() {
            format!("a tensor of {ty}")
        } else {
            format!("a number that {} can hold", ty.dtype)
        };
        let message = format!("the input for `{name}` does not fit its declaration");
        return Err(RawDiagnostic::new(span, message, format!("expected {expected}, given {given}")));
    }
    Ok(())
}
