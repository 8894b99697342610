//! Outlining: making a definition of any view of a graph, with a map back.
//!
//! Takes a view, returns a definition that computes the same from the same inputs. Sizes that are no longer axes of the
//! view's inputs become scalar inputs after the others. Tensor ops are written as calls; composites and groups are written
//! as the user wrote them if that is known (`as_written`).

mod as_written;
mod composites;
mod lambda;
mod sizes;

use index::Expr;
use indexmap::IndexMap;
use ir::definition::{CallArgument, DeclaredLayout, Definition, NamedValue, Object, Record};
use ir::graph::{Axes, ExternalOp, Fusion, Graph, Node, Task, Tasks, TensorOp, Val, ValMap};
use ops::{DType, LanguageOp, Monoid, ScalarOp};
use rustc_hash::FxHashMap;

use self::as_written::Call;
use super::definition::DefinitionBuilder;
use super::error::DefineError;

pub use as_written::AsWritten;
pub use lambda::outline_lambda;
use lambda::{in_language, of_lambda, python_number};

/// Where an input of an outlined definition comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// A value of the graph that the view was of.
    Val(Val),
    /// A size over the symbols of that graph.
    Size(Expr),
}

/// An outlined view.
#[derive(Clone, Debug)]
pub struct Outlined {
    pub definition: Definition,
    /// For each of its inputs the value to pass; its outputs are those of the view, in order.
    pub inputs: Vec<Origin>,
    /// From values of the old graph to those of the new one.
    pub map: ValMap,
}

/// Outlines a view of a graph. `record` is that of the definition that the graph belongs to: it tells scalars from tensors,
/// and has the layouts of inputs and the names.
///
/// # Errors
/// When no op of the definition language makes a node of the view, which passes can cause.
pub fn outline(graph: &Graph, view: &Fusion, record: &Record) -> Result<Outlined, DefineError> {
    outline_as_written(graph, view, AsWritten { record, tasks: &Tasks::new(), passed: None })
}

/// Outlines a view of a graph, with the composites and groups in it as they were written.
///
/// # Errors
/// As [`outline`].
pub fn outline_as_written(
    graph: &Graph,
    view: &Fusion,
    written: AsWritten<'_>,
) -> Result<Outlined, DefineError> {
    view.assert_of(graph);
    let calls = written.calls(view);
    let results = calls
        .iter()
        .enumerate()
        .rev()
        .flat_map(|(call, data)| data.results.iter().map(move |&val| (val, call)));
    let mut outliner = Outliner {
        graph,
        view,
        record: written.record,
        written,
        defining: results.collect(),
        calls,
        groups: written.groups(),
        open: Vec::new(),
        builder: DefinitionBuilder::new(),
        origins: Vec::new(),
        objects: IndexMap::new(),
        axes: Vec::new(),
        sizes: IndexMap::new(),
    };
    view.inputs().iter().try_for_each(|&input| outliner.input(input))?;
    let needed = outliner.needed();
    let needed = view.order().iter().filter(|node| needed.contains(node));
    needed.into_iter().try_for_each(|&node| outliner.produce(node))?;
    outliner.enter(None)?;
    outliner.outputs()?;
    let pairs = outliner.objects.iter().filter_map(|(&old, object)| Some((old, object.as_value()?.val)));
    let mut map = ValMap::new();
    pairs.for_each(|(old, new)| map.insert(old, new));
    Ok(Outlined { definition: outliner.builder.finish()?, inputs: outliner.origins, map })
}

struct Outliner<'g> {
    graph: &'g Graph,
    view: &'g Fusion,
    record: &'g Record,
    written: AsWritten<'g>,
    /// The composites that the view computes completely, and which of them defines a value.
    calls: Vec<Call<'g>>,
    defining: FxHashMap<Val, usize>,
    /// The groups of nodes, and the open groups, innermost last.
    groups: FxHashMap<Node, Task>,
    open: Vec<Task>,
    builder: DefinitionBuilder,
    origins: Vec<Origin>,
    objects: IndexMap<Val, Object>,
    /// Sizes that are axes of inputs: the size, the input, its axis.
    axes: Vec<(Expr, NamedValue, usize)>,
    /// Sizes made so far.
    sizes: IndexMap<Expr, Object>,
}

impl Outliner<'_> {
    fn input(&mut self, val: Val) -> Result<(), DefineError> {
        let ty = self.graph.ty(val).clone();
        let declared = match self.graph.op(val) {
            TensorOp::Input { ordinal, .. } => self.record.inputs().get(*ordinal as usize),
            _ => None,
        };
        // A computed value counts as a scalar if it may be a size.
        let is_scalar = declared.map_or(self.graph.as_size(val).is_some(), |decl| decl.layout.is_none());
        let object = match is_scalar {
            true => self.builder.define_scalar(vec![CallArgument::positional(Object::DType(ty.dtype))])?,
            false => {
                let shape = ty.shape.iter().map(|size| size.as_const().unwrap_or(-1)).collect::<Vec<i64>>();
                let mut arguments = vec![CallArgument::keyword("shape", Object::ints(shape.iter().copied()))];
                arguments.extend(layout(declared.and_then(|decl| decl.layout.as_ref())));
                arguments.push(CallArgument::keyword("dtype", Object::DType(ty.dtype)));
                Object::Value(self.builder.define_tensor(arguments)?)
            }
        };
        if let Some(value) = object.as_value() {
            let shown = ty.shape.iter().cloned().enumerate().filter(|(_, size)| size.as_const().is_none());
            self.axes.extend(shown.map(|(axis, size)| (size, value, axis)));
            if let Some(size) = self.graph.as_size(val) {
                self.sizes.insert(size, object.clone());
            }
        }
        self.origins.push(Origin::Val(val));
        self.define(val, object);
        Ok(())
    }

    /// Binds a value, under its name. An input keeps its object even if a node that makes it is computed for another result.
    fn define(&mut self, old: Val, object: Object) {
        if self.objects.contains_key(&old) {
            return;
        }
        if let (Some(value), Some(name)) = (object.as_value(), self.record.name_of(old)) {
            self.builder.set_name(value, name);
        }
        self.objects.insert(old, object);
    }

    fn node(&mut self, node: Node) -> Result<(), DefineError> {
        let data = self.graph.node(node);
        let operands: Vec<Object> = data.operands.iter().map(|val| self.objects[val].clone()).collect();
        let object = match &data.op {
            TensorOp::Input { .. } => return Ok(()),
            TensorOp::Constant(scalar) => Object::Number(*scalar),
            TensorOp::Size(size) => self.size(size)?,
            TensorOp::Map(scalar_op) => self.map(*scalar_op, operands)?,
            tensor_op => self.op(tensor_op, operands, data.results[0].dtype)?,
        };
        let results: Vec<Object> = object.as_list().map_or_else(|| vec![object.clone()], <[Object]>::to_vec);
        for (old, new) in self.graph.results(node).zip(results) {
            if let Some(value) = new.as_value() {
                self.builder.take_site(value, self.record, old);
            }
            self.define(old, new);
        }
        Ok(())
    }

    fn map(&mut self, scalar_op: ScalarOp, operands: Vec<Object>) -> Result<Object, DefineError> {
        in_language(scalar_op, operands, |op, given| {
            self.builder.call(op, given.into_iter().map(CallArgument::positional).collect())
        })
    }

    fn op(
        &mut self,
        tensor_op: &TensorOp,
        operands: Vec<Object>,
        dtype: DType,
    ) -> Result<Object, DefineError> {
        let (op, arguments) = match tensor_op {
            TensorOp::Cast(dtype) => (LanguageOp::Cast, vec![("dtype", Object::DType(*dtype))]),
            TensorOp::Broadcast(new) if !self.is_tensor(&operands[0]) => {
                return self.full(operands[0].clone(), new.len(), dtype);
            }
            TensorOp::Broadcast(new) => {
                let flags = Object::list(new.iter().map(|&new| Object::bool(new)));
                (LanguageOp::Broadcast, vec![("is_broadcast_dim", flags)])
            }
            TensorOp::Expand(sizes) => (LanguageOp::Expand, vec![("shape", self.size_list(sizes)?)]),
            TensorOp::Squeeze(axes) => (LanguageOp::Squeeze, vec![("dims", axis_list(axes))]),
            TensorOp::Reshape(sizes) => (LanguageOp::Reshape, vec![("new_shape", self.size_list(sizes)?)]),
            TensorOp::Permute(order) => (LanguageOp::Permute, vec![("dims", axis_list(order))]),
            TensorOp::Slice { starts, sizes } => {
                let ends: Vec<Expr> = starts.iter().zip(sizes).map(|(start, size)| start + size).collect();
                let arguments = vec![
                    ("start_indices", self.size_list(starts)?),
                    ("end_indices", self.size_list(&ends)?),
                    ("manual_normalization", Object::bool(true)),
                ];
                (LanguageOp::Slice, arguments)
            }
            TensorOp::Pad { before, after } => {
                let inner_first =
                    before.iter().zip(after).rev().flat_map(|(lo, hi)| [lo.clone(), hi.clone()]);
                let widths = self.size_list(&inner_first.collect::<Vec<Expr>>())?;
                (LanguageOp::Pad, vec![("pad_widths", widths), ("value", operands[1].clone())])
            }
            TensorOp::Cat(axis) => {
                let arguments = vec![
                    CallArgument::positional(Object::list(operands)),
                    CallArgument::keyword("dim", Object::int(i64::from(*axis))),
                ];
                return self.builder.call(LanguageOp::Cat.name(), arguments);
            }
            TensorOp::Gather(axis) => {
                let arguments = vec![("index", operands[1].clone()), ("dim", Object::int(i64::from(*axis)))];
                (LanguageOp::TakeAlongAxis, arguments)
            }
            TensorOp::Fold { monoid, axes } => match named_fold(monoid, axes, dtype) {
                Some(named) => named,
                None => return self.general(LanguageOp::Fold, monoid, operands, ("dims", axis_list(axes))),
            },
            TensorOp::Scan { monoid, axis } => {
                let dim = ("dim", Object::int(i64::from(*axis)));
                match named_scan(monoid, dtype) {
                    Some(op) => (op, vec![dim]),
                    None => return self.general(LanguageOp::Scan, monoid, operands, dim),
                }
            }
            TensorOp::Iota(length) => {
                let arguments = vec![
                    CallArgument::keyword("length", self.size(length)?),
                    CallArgument::keyword("start", operands[0].clone()),
                    CallArgument::keyword("step", operands[1].clone()),
                    CallArgument::keyword("dtype", Object::DType(dtype)),
                ];
                return self.builder.call(LanguageOp::Iota.name(), arguments);
            }
            TensorOp::External(external) => return self.external(external, operands),
            TensorOp::Input { .. } | TensorOp::Constant(_) | TensorOp::Size(_) | TensorOp::Map(_) => {
                unreachable!("made before this is called")
            }
        };
        let mut given = vec![CallArgument::positional(operands[0].clone())];
        given.extend(arguments.into_iter().map(|(name, object)| CallArgument::keyword(name, object)));
        self.builder.call(op.name(), given)
    }

    /// Products are only of matrices here, so that the op needs no other cases. If half types are not rounded after a
    /// product they are cast before it.
    fn external(&mut self, external: &ExternalOp, mut operands: Vec<Object>) -> Result<Object, DefineError> {
        let number = |axis: &u8| Object::int(i64::from(*axis));
        let (op, arguments) = match external {
            ExternalOp::Argsort { axis, descending } => {
                (LanguageOp::Argsort, vec![("dim", number(axis)), ("descending", Object::bool(*descending))])
            }
            ExternalOp::TopK { axis, k, largest } => {
                let k = self.size(k)?;
                let largest = Object::bool(*largest);
                (LanguageOp::Topk, vec![("k", k), ("dim", number(axis)), ("largest", largest)])
            }
            ExternalOp::Scatter(axis) => (LanguageOp::Scatter, vec![("dim", number(axis))]),
            ExternalOp::Matmul(dtype) => {
                for operand in &mut operands {
                    *operand = self.cast(operand.clone(), *dtype)?;
                }
                (LanguageOp::Matmul, Vec::new())
            }
            ExternalOp::Linear(_) => (LanguageOp::Linear, Vec::new()),
            ExternalOp::GroupedMatmul => (LanguageOp::GroupedMm, Vec::new()),
        };
        let mut given: Vec<CallArgument> = operands.into_iter().map(CallArgument::positional).collect();
        given.extend(arguments.into_iter().map(|(name, object)| CallArgument::keyword(name, object)));
        self.builder.call(op.name(), given)
    }

    fn cast(&mut self, object: Object, dtype: DType) -> Result<Object, DefineError> {
        let has = object.as_value().map(|value| self.builder.ty(value).dtype);
        if has == Some(dtype) {
            return Ok(object);
        }
        let dtype = CallArgument::keyword("dtype", Object::DType(dtype));
        self.builder.call(LanguageOp::Cast.name(), vec![CallArgument::positional(object), dtype])
    }

    /// `fold` or `scan`, with the monoid by name or as a lambda.
    fn general(
        &mut self,
        op: LanguageOp,
        monoid: &Monoid,
        operands: Vec<Object>,
        place: (&'static str, Object),
    ) -> Result<Object, DefineError> {
        let mut arguments = vec![CallArgument::positional(Object::list(operands))];
        match monoid {
            Monoid::Lambda(lambda) => {
                let identity = Object::list(lambda.identity().iter().map(|&scalar| python_number(scalar)));
                arguments.push(CallArgument::keyword("combine", of_lambda(lambda)));
                arguments.push(CallArgument::keyword("init", identity));
            }
            named => arguments.push(CallArgument::keyword("combine", Object::Text(named.name().into()))),
        }
        arguments.push(CallArgument::keyword(place.0, place.1));
        self.builder.call(op.name(), arguments)
    }

    fn is_tensor(&self, object: &Object) -> bool {
        object.as_value().is_some_and(|value| !self.builder.is_scalar(value))
    }

    /// A number or a scalar as a tensor of axes of size 1.
    fn full(&mut self, fill: Object, rank: usize, dtype: DType) -> Result<Object, DefineError> {
        let arguments = vec![
            CallArgument::keyword("shape", Object::ints(std::iter::repeat_n(1, rank))),
            CallArgument::keyword("fill_value", fill),
            CallArgument::keyword("dtype", Object::DType(dtype)),
        ];
        self.builder.call(LanguageOp::Full.name(), arguments)
    }

    fn outputs(&mut self) -> Result<(), DefineError> {
        for output in self.view.outputs() {
            let mut object = self.objects[&output.val].clone();
            if !self.is_tensor(&object) {
                object = self.full(object, 0, self.graph.dtype(output.val))?;
            }
            let alias = output.alias.map(|input| self.objects[&self.view.inputs()[input as usize]].clone());
            if !output.order.is_empty() {
                object = self.ordered(object, &output.order)?;
            }
            self.builder.add_output(&object, alias.as_ref())?;
        }
        Ok(())
    }

    /// A tensor with its axes in this order in memory, outermost first.
    fn ordered(&mut self, object: Object, order: &Axes) -> Result<Object, DefineError> {
        let mut ranks = vec![0; order.len()];
        order.iter().rev().enumerate().for_each(|(rank, &axis)| ranks[usize::from(axis)] = rank as i64);
        let ranks = CallArgument::keyword("stride_order", Object::ints(ranks));
        self.builder.call(LanguageOp::StrideOrder.name(), vec![CallArgument::positional(object), ranks])
    }
}

/// The layout of an input: as declared, or without gaps for a computed value.
fn layout(declared: Option<&DeclaredLayout>) -> Vec<CallArgument> {
    let Some(layout) = declared else { return vec![CallArgument::keyword("contiguity", Object::bool(true))] };
    let flags = layout.contiguity.iter().map(|flag| flag.map_or(Object::None, Object::bool));
    let order = layout.stride_order.iter().map(|&rank| rank as i64);
    vec![
        CallArgument::keyword("contiguity", Object::list(flags)),
        CallArgument::keyword("stride_order", Object::ints(order)),
        CallArgument::keyword("is_cpu", Object::bool(layout.is_cpu)),
    ]
}

fn axis_list(axes: &[u8]) -> Object {
    Object::ints(axes.iter().map(|&axis| i64::from(axis)))
}

/// A fold keeps its dtype, which integers must say.
fn named_fold(
    monoid: &Monoid,
    axes: &[u8],
    dtype: DType,
) -> Option<(LanguageOp, Vec<(&'static str, Object)>)> {
    let mut arguments = vec![("dims", axis_list(axes))];
    let op = match monoid {
        Monoid::Sum => LanguageOp::Sum,
        Monoid::Prod => LanguageOp::Prod,
        Monoid::Max => LanguageOp::Max,
        Monoid::Min => LanguageOp::Min,
        Monoid::Welford => LanguageOp::Welford,
        Monoid::Argmax | Monoid::Argmin | Monoid::Lambda(_) => return None,
    };
    if matches!(monoid, Monoid::Sum | Monoid::Prod) && !dtype.is_float() {
        arguments.push(("dtype", Object::DType(dtype)));
    }
    Some((op, arguments))
}

/// The op that makes a scan, if it has one; there is none of bools.
fn named_scan(monoid: &Monoid, dtype: DType) -> Option<LanguageOp> {
    match monoid {
        _ if dtype == DType::Bool => None,
        Monoid::Sum => Some(LanguageOp::Cumsum),
        Monoid::Prod => Some(LanguageOp::Cumprod),
        Monoid::Max => Some(LanguageOp::Cummax),
        Monoid::Min => Some(LanguageOp::Cummin),
        Monoid::Welford | Monoid::Argmax | Monoid::Argmin | Monoid::Lambda(_) => None,
    }
}
