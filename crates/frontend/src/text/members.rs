//! What follows a dot after a value: the few methods of the language, and how to write those of Python that it lacks.

use ir::definition::{CallArgument, NamedValue, Object};
use syntax::{ArgumentSyntax, RawDiagnostic, Tree, TreeKind};

use super::body::{Reader, attribute, rejected};

impl Reader<'_> {
    /// `t.size(0)` and `t.shape()` of a tensor, `v.at(0)` of a list, as nvFuser has them.
    pub(super) fn method(
        &mut self,
        tree: &Tree,
        callee: &Tree,
        name: &str,
        method: &str,
        given: &[ArgumentSyntax],
    ) -> Result<Object, RawDiagnostic> {
        let Some(object) = self.names.get(name).cloned() else { return attribute(callee) };
        let is_list = object.as_list().is_some();
        let has = match method {
            "at" => is_list,
            "size" | "shape" => object.as_value().is_some(),
            _ => false,
        };
        if !has {
            let message = format!("`{name}` has no method `{method}`");
            let label =
                if is_list { "lists have the method at" } else { "tensors have the methods size and shape" };
            return Err(self.with_spelling(RawDiagnostic::new(callee.span, message, label), callee));
        }
        let mut arguments = vec![CallArgument::positional(object)];
        arguments.extend(self.arguments(given)?);
        let made = match method {
            "at" => self.builder.at(arguments),
            _ => self.builder.call(method, arguments),
        };
        made.map_err(|error| rejected(error, tree.span))
    }

    /// A dtype such as `DataType.Float`; values have no attributes.
    pub(super) fn attribute(&self, tree: &Tree, base: &Tree, name: &str) -> Result<Object, RawDiagnostic> {
        let message = match &base.kind {
            TreeKind::Name(of) if self.names.contains_key(of.as_str()) => {
                format!("`{of}` has no attribute `{name}`")
            }
            TreeKind::Call(..) | TreeKind::Binary(..) | TreeKind::Unary(..) | TreeKind::Item(..) => {
                format!("a value has no attribute `{name}`")
            }
            _ => return attribute(tree),
        };
        let diagnostic = RawDiagnostic::new(tree.span, message, "tensors have the methods size and shape");
        Err(self.with_spelling(diagnostic, tree))
    }

    /// The diagnostic with what to write instead of an attribute or a method of NumPy's and torch's tensors.
    pub(super) fn with_spelling(&self, diagnostic: RawDiagnostic, member: &Tree) -> RawDiagnostic {
        let TreeKind::Attribute(base, member) = &member.kind else { return diagnostic };
        let (of, value) = match &base.kind {
            TreeKind::Name(name) => (name.as_str(), self.names.get(name.as_str()).and_then(Object::as_value)),
            _ => ("…", None),
        };
        let fd = self.fd;
        let help = match member.text.as_str() {
            "T" | "mT" | "t" => {
                format!("write {fd}.ops.permute({of}, dims={})", self.reversed(value, &member.text))
            }
            "shape" | "size" => format!("write {fd}.ops.shape({of}), or {fd}.ops.size({of}, dim=…) for one"),
            op if ops::lookup(op).is_ok() => format!("write {fd}.ops.{op}({of}, …)"),
            _ => "definitions made in Python may have more: print(fd) gives their text form".to_owned(),
        };
        diagnostic.help(help)
    }

    /// The axes that swap the last two, or reverse all.
    fn reversed(&self, value: Option<NamedValue>, member: &str) -> String {
        let Some(value) = value else { return "[…]".to_owned() };
        let rank = self.builder.graph().shape(value.val).len();
        let mut axes: Vec<usize> = (0..rank).collect();
        match member {
            "mT" if rank >= 2 => axes.swap(rank - 1, rank - 2),
            _ => axes.reverse(),
        }
        format!("{axes:?}")
    }
}
