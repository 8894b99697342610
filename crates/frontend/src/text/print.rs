//! Definitions printed in nvFuser's definition language.
//!
//! Takes a definition and follows its record, so that composites are printed as the user wrote them and arguments with their
//! default are left out. The text reads back as an equal graph and prints the same again.

use std::collections::BTreeMap;
use std::fmt::Write;

use ir::definition::{
    Action, DeclaredLayout, Definition, Entry, Function, InputDecl, Object, Record, Statement, Term,
};
use ir::graph::{Fusion, Graph, GroupDecl, GroupOptions};
use ops::{DType, Scalar};

use super::arguments::{Argument, Call};
use crate::define::{AsWritten, DefineError, outline, outline_as_written};

/// The naming of values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameStyle {
    /// `tv0` and `c0`, numbered separately, as in nvFuser's newer printer.
    #[default]
    Long,
    /// `T0` and `S1`, numbered together, as in its older one.
    Short,
}

/// Which calls are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// All.
    All,
    /// Those that outputs depend on.
    OfOutputs,
}

/// A definition as a function of `fd`.
pub fn print(definition: &Definition, names: NameStyle) -> String {
    print_record(&definition.record, &definition.graph, names, Which::All)
}

/// The record of the calls that made a graph, as a function of `fd`, finished or not.
pub fn print_record(record: &Record, graph: &Graph, names: NameStyle, which: Which) -> String {
    let mut printer = Printer::new(record, graph, names);
    printer.line_at(0, "def nvfuser_fusion(fd : FusionDefinition) -> None :");
    let needed = (which == Which::OfOutputs).then(|| record.needed());
    for statement in record.statements() {
        let is_call = matches!(statement.action, Action::Call { .. });
        let is_needed = |entry: &Entry| needed.as_ref().is_none_or(|needed| needed.contains(entry));
        if !is_call || statement.results.iter().any(is_needed) {
            printer.statement(statement);
        }
    }
    printer.text
}

/// Any view of a graph as a definition, op by op; `record` is that of the definition that it comes from.
///
/// # Errors
/// As [`outline`].
pub fn print_view(
    graph: &Graph,
    view: &Fusion,
    record: &Record,
    names: NameStyle,
) -> Result<String, DefineError> {
    Ok(print(&outline(graph, view, record)?.definition, names))
}

/// The same with composites and groups as they were written.
///
/// # Errors
/// As [`outline`].
pub fn print_as_written(
    graph: &Graph,
    view: &Fusion,
    written: AsWritten<'_>,
    names: NameStyle,
) -> Result<String, DefineError> {
    Ok(print(&outline_as_written(graph, view, written)?.definition, names))
}

struct Printer<'d> {
    record: &'d Record,
    graph: &'d Graph,
    names: NameStyle,
    /// Tensors and scalars so far.
    counts: [u32; 2],
    called: BTreeMap<Entry, String>,
    /// The groups that are open, the innermost last.
    open: Vec<usize>,
    text: String,
}

impl<'d> Printer<'d> {
    fn new(record: &'d Record, graph: &'d Graph, names: NameStyle) -> Printer<'d> {
        let called = BTreeMap::new();
        Printer { record, graph, names, counts: [0, 0], called, open: Vec::new(), text: String::new() }
    }
}

impl Printer<'_> {
    fn line_at(&mut self, indent: usize, line: &str) {
        let _ = writeln!(self.text, "{:indent$}{line}", "");
    }

    fn line(&mut self, line: &str) {
        self.line_at(4 + 4 * self.open.len(), line);
    }

    /// Closes groups and opens others, so that this is the innermost.
    fn enter(&mut self, group: Option<usize>) {
        let groups = self.record.groups();
        let around = std::iter::successors(group, |&group| groups[group].parent);
        let mut chain: Vec<usize> = around.collect();
        chain.reverse();
        let shared = chain.iter().zip(&self.open).take_while(|(new, open)| new == open).count();
        self.open.truncate(shared);
        for &group in &chain[shared..] {
            self.line(&format!("with fd.group({}):", group_arguments(&groups[group])));
            self.open.push(group);
        }
    }

    fn fresh(&mut self, is_scalar: bool) -> String {
        let (prefix, counter) = match (self.names, is_scalar) {
            (NameStyle::Long, false) => ("tv", 0),
            (NameStyle::Long, true) => ("c", 1),
            (NameStyle::Short, false) => ("T", 0),
            (NameStyle::Short, true) => ("S", 0),
        };
        self.counts[counter] += 1;
        format!("{prefix}{}", self.counts[counter] - 1)
    }

    fn statement(&mut self, statement: &Statement) {
        self.enter(statement.group);
        let line = match &statement.action {
            Action::Input(place) => input(&self.record.inputs()[*place]),
            Action::Call { op, arguments } => self.call(op, arguments),
            Action::Output { value, alias } => {
                let alias = alias.map_or(String::new(), |alias| format!(", {}", self.called[&alias]));
                format!("fd.add_output({}{alias})", self.called[value])
            }
        };
        let mut results = Vec::new();
        for &entry in &statement.results {
            let name = self.fresh(self.record.entry(entry).is_scalar);
            self.called.insert(entry, name.clone());
            results.push(name);
        }
        let assigned = if results.is_empty() { String::new() } else { format!("{} = ", results.join(", ")) };
        self.line(&format!("{assigned}{line}"));
    }

    /// A call; numbers that get separate lines are written before it.
    fn call(&mut self, op: &str, arguments: &[(&'static str, Object)]) -> String {
        let written = Call { record: self.record, graph: self.graph, op, arguments }.written();
        let written: Vec<String> = written.iter().map(|argument| self.argument(argument)).collect();
        format!("fd.ops.{op}({})", written.join(", "))
    }

    fn argument(&mut self, argument: &Argument<'_>) -> String {
        let text = match (&argument.object, argument.own_line()) {
            (None, _) => "None".to_owned(),
            (Some(_), Some(scalar)) => self.own_line(scalar),
            (Some(object), None) => self.object(object),
        };
        match argument.keyword {
            Some(keyword) => format!("{keyword}={text}"),
            None => text,
        }
    }

    /// Writes a number as a separate line, and returns its name.
    fn own_line(&mut self, scalar: Scalar) -> String {
        let name = self.fresh(true);
        let dtype = dtype(scalar.dtype());
        self.line(&format!("{name} = fd.define_scalar({}, dtype={dtype})", number(scalar)));
        name
    }

    fn object(&self, object: &Object) -> String {
        match object {
            Object::None => "None".to_owned(),
            Object::Number(scalar) => number(*scalar),
            Object::DType(dtype_) => dtype(*dtype_),
            Object::Value(value) => self.called[&value.entry].clone(),
            Object::List(items) => {
                let items: Vec<String> = items.iter().map(|item| self.object(item)).collect();
                format!("[{}]", items.join(", "))
            }
            Object::Text(text) => format!("\"{text}\""),
            Object::Function(function) => self.lambda(function),
        }
    }

    fn lambda(&self, function: &Function) -> String {
        let results: Vec<String> =
            function.results.iter().map(|result| self.term(&function.params, result)).collect();
        let result = match &results[..] {
            [only] => only.clone(),
            _ => format!("[{}]", results.join(", ")),
        };
        format!("lambda {}: {result}", function.params.join(", "))
    }

    fn term(&self, params: &[String], term: &Term) -> String {
        match term {
            Term::Param(number) => params[*number].clone(),
            Term::Object(object) => self.object(object),
            Term::Call { op, arguments, .. } => {
                let argument = |(keyword, term): &(Option<String>, Term)| {
                    let keyword = keyword.as_ref().map_or(String::new(), |keyword| format!("{keyword}="));
                    format!("{keyword}{}", self.term(params, term))
                };
                let arguments: Vec<String> = arguments.iter().map(argument).collect();
                format!("fd.ops.{op}({})", arguments.join(", "))
            }
        }
    }
}

/// The lowest i64 has no positive counterpart to write after a minus sign.
fn number(scalar: Scalar) -> String {
    if scalar.dtype() == DType::I64 && scalar.as_i64() == i64::MIN {
        return format!("{} - 1", i64::MIN + 1);
    }
    scalar.to_string()
}

fn dtype(dtype: DType) -> String {
    format!("DataType.{}", dtype.nvfuser_name())
}

fn input(decl: &InputDecl) -> String {
    let dtype = dtype(decl.dtype);
    let Some(DeclaredLayout { shape, contiguity, stride_order, is_cpu }) = &decl.layout else {
        return format!("fd.define_scalar(None, dtype={dtype})");
    };
    let contiguity: Vec<&str> = contiguity.iter().map(|&flag| flag.map_or("None", flag_text)).collect();
    let order =
        if stride_order.is_empty() { String::new() } else { format!(", stride_order={stride_order:?}") };
    let contiguity = contiguity.join(", ");
    let is_cpu = flag_text(*is_cpu);
    format!(
        "fd.define_tensor(shape={shape:?}, contiguity=[{contiguity}], dtype={dtype}, is_cpu={is_cpu}{order})"
    )
}

fn group_arguments(group: &GroupDecl) -> String {
    let GroupDecl { name, options: GroupOptions { stay, at }, .. } = group;
    let stay = stay.then(|| ", stay=True".to_owned());
    let device = at.device.as_ref().map(|device| format!(", device=\"{device}\""));
    let stream = at.stream.map(|stream| format!(", stream={stream}"));
    let options = [stay, device, stream].into_iter().flatten();
    format!("\"{name}\"{}", options.collect::<String>())
}

fn flag_text(flag: bool) -> &'static str {
    if flag { "True" } else { "False" }
}
