//! Definitions written out in nvFuser's definition language.
//!
//! Takes a definition and follows its record, so that composites stand as the user wrote them and arguments that have
//! their default are dropped. What is printed reads back as an equal graph and prints the same again.

use std::collections::BTreeMap;
use std::fmt::Write;

use ir::definition::{
    Action, DeclaredLayout, Definition, Entry, Function, InputDecl, NamedValue, Object, Record, Statement,
    Term,
};
use ir::graph::{Fusion, Graph, GroupDecl, GroupOptions};
use ops::{self, DType, OpRef, Operand, OperandKind, Param, ParamKind, Scalar, TypeSignature};

use crate::define::{AsWritten, DefineError, default, outline, outline_as_written};

/// How values are called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameStyle {
    /// `tv0` and `c0`, counted apart, as nvFuser's newer printer.
    #[default]
    Long,
    /// `T0` and `S1`, counted together, as its older one.
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

/// A record of calls that made a graph as a function of `fd`, finished or not.
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

/// The number that each result of a definition has in print with [`NameStyle::Short`].
pub fn numbers(definition: &Definition) -> BTreeMap<Entry, usize> {
    let mut printer = Printer::new(&definition.record, &definition.graph, NameStyle::Short);
    definition.record.statements().iter().for_each(|statement| printer.statement(statement));
    let number = |name: String| name[1..].parse().expect("a letter and a number");
    printer.called.into_iter().map(|(entry, name)| (entry, number(name))).collect()
}

/// Any view of a graph as a definition of its own, op by op; `record` is that of the definition it came from.
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

    /// A call: the leading operands by place, the rest by name. Ops of numbers take all by place.
    fn call(&mut self, op: &str, arguments: &[(&'static str, Object)]) -> String {
        let found = ops::lookup(op).expect("the record holds ops of the tables");
        let given = |name: &str| arguments.iter().find(|(param, _)| *param == name).map(|(_, object)| object);
        let params = found.params();
        let last = params.iter().rposition(|param| given(param.name).is_some());
        let by_place = match found {
            OpRef::Language(_) => {
                params.iter().zip(0..).take_while(|(param, place)| is_by_place(param, *place)).count()
            }
            _ => params.len(),
        };
        let inline =
            self.may_inline(found, &params.iter().map(|param| given(param.name)).collect::<Vec<_>>());
        let mut written = Vec::new();
        for (place, param) in params.iter().enumerate().take(last.map_or(0, |last| last + 1)) {
            match (given(param.name), place < by_place) {
                (Some(object), true) => written.push(self.object(object, inline)),
                (Some(object), false) => {
                    let counted =
                        self.counted_from_front(param, object, given(params[0].name), given("shape"));
                    if counted.as_ref().is_some_and(|axes| *axes == default(param)) {
                        continue; // as it would not stand in the record had it been given so
                    }
                    let object = counted.as_ref().unwrap_or(object);
                    written.push(format!("{}={}", param.name, self.object(object, inline)))
                }
                (None, true) => written.push("None".to_owned()),
                (None, false) => {}
            }
        }
        format!("fd.ops.{op}({})", written.join(", "))
    }

    /// Axes that count from the end, of the first operand or of the shape that is asked for, counted from the front.
    fn counted_from_front(
        &self,
        param: &Param,
        object: &Object,
        operand: Option<&Object>,
        shape: Option<&Object>,
    ) -> Option<Object> {
        let rank = match param.name {
            "dim" | "dims" => self.graph.ty(first_value(operand?)?.val).rank() as i64,
            "broadcast_dims" => shape?.as_list()?.len() as i64,
            _ => return None,
        };
        let counted = |axis: &Object| Some(Object::int(axis.as_int()?.rem_euclid(rank.max(1))));
        match object {
            Object::List(axes) => axes.iter().map(counted).collect::<Option<Vec<_>>>().map(Object::list),
            axis => counted(axis),
        }
    }

    fn object(&mut self, object: &Object, inline: bool) -> String {
        match object {
            Object::None => "None".to_owned(),
            Object::Number(scalar) if inline || is_python(scalar.dtype()) => number(*scalar),
            Object::Number(scalar) => {
                let name = self.fresh(true);
                self.line(&format!(
                    "{name} = fd.define_scalar({}, dtype={})",
                    number(*scalar),
                    dtype(scalar.dtype())
                ));
                name
            }
            Object::DType(dtype_) => dtype(*dtype_),
            Object::Value(value) => self.called[&value.entry].clone(),
            Object::List(items) => {
                let items: Vec<String> = items.iter().map(|item| self.object(item, true)).collect();
                format!("[{}]", items.join(", "))
            }
            Object::Text(text) => format!("\"{text}\""),
            Object::Function(function) => self.lambda(function),
        }
    }

    fn lambda(&mut self, function: &Function) -> String {
        let results: Vec<String> =
            function.results.iter().map(|result| self.term(&function.params, result)).collect();
        let result = match &results[..] {
            [only] => only.clone(),
            _ => format!("[{}]", results.join(", ")),
        };
        format!("lambda {}: {result}", function.params.join(", "))
    }

    fn term(&mut self, params: &[String], term: &Term) -> String {
        match term {
            Term::Param(number) => params[*number].clone(),
            Term::Object(object) => self.object(object, true),
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

    /// Whether numbers of other dtypes than Python's mean the same when written as Python's: the op then casts them to the
    /// dtype that they have.
    fn may_inline(&self, op: OpRef, arguments: &[Option<&Object>]) -> bool {
        let signature = |plain: bool| -> Option<TypeSignature> {
            let operands: Option<Vec<Operand>> = arguments
                .iter()
                .map(|argument| argument.map(|object| self.operand(object, plain))?)
                .collect();
            match op {
                OpRef::Primitive(scalar_op) => ops::signature(scalar_op, &operands?).ok(),
                OpRef::Composite(composite) => composite.signature(&operands?).ok(),
                OpRef::Language(_) => None,
            }
        };
        let is_kept = |dtypes: &[DType]| {
            arguments.iter().zip(dtypes).all(|(argument, dtype)| match argument {
                Some(Object::Number(scalar)) => is_python(scalar.dtype()) || scalar.dtype() == *dtype,
                _ => true,
            })
        };
        match op {
            OpRef::Language(_) => {
                self.form_dtype(arguments).is_some_and(|dtype| is_kept(&vec![dtype; arguments.len()]))
            }
            _ => signature(true)
                .is_some_and(|plain| is_kept(&plain.compute) && signature(false).as_ref() == Some(&plain)),
        }
    }

    /// The dtype to which an op casts numbers: the one it is given, or that of its tensor.
    fn form_dtype(&self, arguments: &[Option<&Object>]) -> Option<DType> {
        let given = arguments.iter().flatten().find_map(|object| match object {
            Object::DType(dtype) => Some(*dtype),
            _ => None,
        });
        let tensor = || arguments.iter().flatten().find_map(|object| object.as_value());
        given.or_else(|| tensor().map(|value| self.graph.dtype(value.val)))
    }

    fn operand(&self, object: &Object, plain: bool) -> Option<Operand> {
        match object {
            Object::Number(scalar) => Some(Operand::literal(match scalar.dtype() {
                dtype if dtype.is_float() && plain => DType::F64,
                dtype if dtype.is_int() && plain => DType::I64,
                dtype => dtype,
            })),
            Object::Value(value) => {
                let ty = self.graph.ty(value.val);
                let kind = match (self.record.entry(value.entry).is_scalar, ty.rank()) {
                    (true, _) => OperandKind::Literal,
                    (false, 0) => OperandKind::ZeroDim,
                    (false, _) => OperandKind::Tensor,
                };
                Some(Operand { dtype: ty.dtype, kind })
            }
            _ => None,
        }
    }
}

/// A value, or the first of a list of such.
fn first_value(operand: &Object) -> Option<NamedValue> {
    operand.as_list().map_or(Some(operand), <[Object]>::first)?.as_value()
}

/// Whether an argument of an op goes by place: the tensors that it is of, unless a name tells them apart.
fn is_by_place(param: &Param, place: usize) -> bool {
    let is_operand = matches!(param.kind, ParamKind::Operand | ParamKind::Tensor | ParamKind::Tensors);
    is_operand && (place == 0 || param.name == "arg2")
}

fn is_python(dtype: DType) -> bool {
    matches!(dtype, DType::Bool | DType::I64 | DType::F64)
}

/// The smallest i64 has no positive counterpart that its sign could stand before.
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
