//! Lifting: any view of a graph made a definition of its own, with a map back.
//!
//! Takes a view, gives a definition that computes the same from the same inputs. Sizes that the view's inputs no longer
//! show become scalar inputs after the others. Forms are written as the ops that make them; composites are gone.

use index::{Atom, Expr, Term};
use indexmap::IndexMap;
use ir::definition::{Argument, DeclaredLayout, Definition, Object, Record, Value};
use ir::graph::{Axes, Form, Fusion, Graph, Library, Node, Val, ValMap};
use ops::{DType, FormOp, Monoid, Prim};

use super::definer::Definer;
use super::error::DefineError;
use super::function::{of_lambda, python_number};

/// Where an input of a lifted definition comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// A value of the graph that the view was of.
    Val(Val),
    /// A size over that graph's symbols.
    Size(Expr),
}

/// A view lifted out.
#[derive(Clone, Debug)]
pub struct Lifted {
    /// The definition.
    pub definition: Definition,
    /// For each of its inputs what to give it; its outputs are those of the view, in order.
    pub inputs: Vec<Origin>,
    /// From values of the old graph to those of the new one.
    pub map: ValMap,
}

/// Lifts a view out of its graph. `record` is that of the definition the graph belongs to: it tells scalars from tensors
/// and how inputs lie in memory, and names what has a name.
///
/// # Errors
/// When a node of the view has no op of the definition language that makes it, which passes can bring about.
pub fn lift(graph: &Graph, view: &Fusion, record: &Record) -> Result<Lifted, DefineError> {
    view.assert_of(graph);
    let mut lifter = Lifter {
        graph,
        view,
        record,
        definer: Definer::new(),
        origins: Vec::new(),
        objects: IndexMap::new(),
        axes: Vec::new(),
        sizes: IndexMap::new(),
    };
    view.inputs().iter().try_for_each(|&input| lifter.input(input))?;
    view.order().iter().try_for_each(|&node| lifter.node(node))?;
    lifter.outputs()?;
    let pairs = lifter.objects.iter().filter_map(|(&old, object)| Some((old, object.as_value()?.val)));
    let mut map = ValMap::new();
    pairs.for_each(|(old, new)| map.insert(old, new));
    Ok(Lifted { definition: lifter.definer.finish()?, inputs: lifter.origins, map })
}

struct Lifter<'g> {
    graph: &'g Graph,
    view: &'g Fusion,
    record: &'g Record,
    definer: Definer,
    origins: Vec<Origin>,
    objects: IndexMap<Val, Object>,
    /// Sizes that inputs show: the size, the input, its axis.
    axes: Vec<(Expr, Value, usize)>,
    /// Sizes made so far.
    sizes: IndexMap<Expr, Object>,
}

impl Lifter<'_> {
    fn input(&mut self, val: Val) -> Result<(), DefineError> {
        let ty = self.graph.ty(val).clone();
        let declared = match self.graph.form(val) {
            Form::Input { ordinal, .. } => self.record.inputs().get(*ordinal as usize),
            _ => None,
        };
        let object = match declared {
            Some(decl) if decl.layout.is_none() => {
                self.definer.define_scalar(vec![Argument::positional(Object::DType(ty.dtype))])?
            }
            _ => {
                let shape = ty.shape.iter().map(|size| size.as_const().unwrap_or(-1)).collect::<Vec<i64>>();
                let mut arguments = vec![Argument::keyword("shape", Object::ints(shape.iter().copied()))];
                arguments.extend(layout(declared.and_then(|decl| decl.layout.as_ref())));
                arguments.push(Argument::keyword("dtype", Object::DType(ty.dtype)));
                Object::Value(self.definer.define_tensor(arguments)?)
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

    /// Binds a value, under its name. An input stays what it is though a node that gives it is computed for another result.
    fn define(&mut self, old: Val, object: Object) {
        if self.objects.contains_key(&old) {
            return;
        }
        if let (Some(value), Some(name)) = (object.as_value(), self.record.name_of(old)) {
            self.definer.set_name(value, name);
        }
        self.objects.insert(old, object);
    }

    fn node(&mut self, node: Node) -> Result<(), DefineError> {
        let data = self.graph.node(node);
        let operands: Vec<Object> = data.operands.iter().map(|val| self.objects[val].clone()).collect();
        let object = match &data.form {
            Form::Input { .. } => return Ok(()),
            Form::Constant(scalar) => Object::Number(*scalar),
            Form::Size(size) => self.size(size)?,
            Form::Map(prim) => self.map(*prim, operands)?,
            form => self.form(form, operands, data.results[0].dtype)?,
        };
        let results: Vec<Object> = object.as_list().map_or_else(|| vec![object.clone()], <[Object]>::to_vec);
        for (old, new) in self.graph.results(node).zip(results) {
            self.define(old, new);
        }
        Ok(())
    }

    fn map(&mut self, prim: Prim, mut operands: Vec<Object>) -> Result<Object, DefineError> {
        let mut result = None;
        for prim in prim.in_language() {
            let own = prim.arity() - usize::from(result.is_some());
            let given = result.take().into_iter().chain(operands.drain(..own));
            result = Some(self.definer.call(prim.name(), given.map(Argument::positional).collect())?);
        }
        Ok(result.expect("every op is some op of the language"))
    }

    fn form(&mut self, form: &Form, operands: Vec<Object>, dtype: DType) -> Result<Object, DefineError> {
        let (op, arguments) = match form {
            Form::Cast(dtype) => (FormOp::Cast, vec![("dtype", Object::DType(*dtype))]),
            Form::Broadcast(new) if !self.is_tensor(&operands[0]) => {
                return self.full(operands[0].clone(), new.len(), dtype);
            }
            Form::Broadcast(new) => {
                let flags = Object::list(new.iter().map(|&new| Object::bool(new)));
                (FormOp::Broadcast, vec![("is_broadcast_dim", flags)])
            }
            Form::Expand(sizes) => (FormOp::Expand, vec![("shape", self.size_list(sizes)?)]),
            Form::Squeeze(axes) => (FormOp::Squeeze, vec![("dims", axis_list(axes))]),
            Form::Reshape(sizes) => (FormOp::Reshape, vec![("new_shape", self.size_list(sizes)?)]),
            Form::Permute(order) => (FormOp::Permute, vec![("dims", axis_list(order))]),
            Form::Slice { starts, sizes } => {
                let ends: Vec<Expr> = starts.iter().zip(sizes).map(|(start, size)| start + size).collect();
                let arguments = vec![
                    ("start_indices", self.size_list(starts)?),
                    ("end_indices", self.size_list(&ends)?),
                    ("manual_normalization", Object::bool(true)),
                ];
                (FormOp::Slice, arguments)
            }
            Form::Pad { before, after } => {
                let inner_first =
                    before.iter().zip(after).rev().flat_map(|(lo, hi)| [lo.clone(), hi.clone()]);
                let widths = self.size_list(&inner_first.collect::<Vec<Expr>>())?;
                (FormOp::Pad, vec![("pad_widths", widths), ("value", operands[1].clone())])
            }
            Form::Cat(axis) => {
                let arguments = vec![
                    Argument::positional(Object::list(operands)),
                    Argument::keyword("dim", Object::int(i64::from(*axis))),
                ];
                return self.definer.call(FormOp::Cat.name(), arguments);
            }
            Form::Gather(axis) => {
                let arguments = vec![("index", operands[1].clone()), ("dim", Object::int(i64::from(*axis)))];
                (FormOp::TakeAlongAxis, arguments)
            }
            Form::Fold { monoid, axes } => match named_fold(monoid, axes, dtype) {
                Some(named) => named,
                None => return self.general(FormOp::Fold, monoid, operands, ("dims", axis_list(axes))),
            },
            Form::Scan { monoid, axis } => {
                let dim = ("dim", Object::int(i64::from(*axis)));
                match named_scan(monoid, dtype) {
                    Some(op) => (op, vec![dim]),
                    None => return self.general(FormOp::Scan, monoid, operands, dim),
                }
            }
            Form::Iota(length) => {
                let arguments = vec![
                    Argument::keyword("length", self.size(length)?),
                    Argument::keyword("start", operands[0].clone()),
                    Argument::keyword("step", operands[1].clone()),
                    Argument::keyword("dtype", Object::DType(dtype)),
                ];
                return self.definer.call(FormOp::Iota.name(), arguments);
            }
            Form::Library(library) => return self.library(library, operands),
            Form::Input { .. } | Form::Constant(_) | Form::Size(_) | Form::Map(_) => {
                unreachable!("made before this is called")
            }
        };
        let mut given = vec![Argument::positional(operands[0].clone())];
        given.extend(arguments.into_iter().map(|(name, object)| Argument::keyword(name, object)));
        self.definer.call(op.name(), given)
    }

    /// Products are of matrices alone here, so that the op needs no more than them. Where halves are not rounded after
    /// a product they are cast before it.
    fn library(&mut self, library: &Library, mut operands: Vec<Object>) -> Result<Object, DefineError> {
        let number = |axis: &u8| Object::int(i64::from(*axis));
        let (op, arguments) = match library {
            Library::Argsort { axis, descending } => {
                (FormOp::Argsort, vec![("dim", number(axis)), ("descending", Object::bool(*descending))])
            }
            Library::TopK { axis, k, largest } => {
                let k = self.size(k)?;
                let largest = Object::bool(*largest);
                (FormOp::Topk, vec![("k", k), ("dim", number(axis)), ("largest", largest)])
            }
            Library::Scatter(axis) => (FormOp::Scatter, vec![("dim", number(axis))]),
            Library::Matmul(dtype) => {
                for operand in &mut operands {
                    *operand = self.cast(operand.clone(), *dtype)?;
                }
                (FormOp::Matmul, Vec::new())
            }
            Library::GroupedMatmul => (FormOp::GroupedMm, Vec::new()),
        };
        let mut given: Vec<Argument> = operands.into_iter().map(Argument::positional).collect();
        given.extend(arguments.into_iter().map(|(name, object)| Argument::keyword(name, object)));
        self.definer.call(op.name(), given)
    }

    fn cast(&mut self, object: Object, dtype: DType) -> Result<Object, DefineError> {
        let has = object.as_value().map(|value| self.definer.ty(value).dtype);
        if has == Some(dtype) {
            return Ok(object);
        }
        let dtype = Argument::keyword("dtype", Object::DType(dtype));
        self.definer.call(FormOp::Cast.name(), vec![Argument::positional(object), dtype])
    }

    /// `fold` or `scan`, with the monoid by name or as a lambda.
    fn general(
        &mut self,
        op: FormOp,
        monoid: &Monoid,
        operands: Vec<Object>,
        place: (&'static str, Object),
    ) -> Result<Object, DefineError> {
        let mut arguments = vec![Argument::positional(Object::list(operands))];
        match monoid {
            Monoid::Lambda(lambda) => {
                let identity = Object::list(lambda.identity().iter().map(|&scalar| python_number(scalar)));
                arguments.push(Argument::keyword("combine", of_lambda(lambda)));
                arguments.push(Argument::keyword("init", identity));
            }
            named => arguments.push(Argument::keyword("combine", Object::Text(named.name().into()))),
        }
        arguments.push(Argument::keyword(place.0, place.1));
        self.definer.call(op.name(), arguments)
    }

    fn is_tensor(&self, object: &Object) -> bool {
        object.as_value().is_some_and(|value| !self.definer.is_scalar(value))
    }

    /// A number or a scalar as a tensor of axes of size 1.
    fn full(&mut self, fill: Object, rank: usize, dtype: DType) -> Result<Object, DefineError> {
        let arguments = vec![
            Argument::keyword("shape", Object::ints(std::iter::repeat_n(1, rank))),
            Argument::keyword("fill_value", fill),
            Argument::keyword("dtype", Object::DType(dtype)),
        ];
        self.definer.call(FormOp::Full.name(), arguments)
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
            self.definer.add_output(&object, alias.as_ref())?;
        }
        Ok(())
    }

    /// A tensor with its axes in this order in memory, outermost first.
    fn ordered(&mut self, object: Object, order: &Axes) -> Result<Object, DefineError> {
        let mut ranks = vec![0; order.len()];
        order.iter().rev().enumerate().for_each(|(rank, &axis)| ranks[usize::from(axis)] = rank as i64);
        let ranks = Argument::keyword("stride_order", Object::ints(ranks));
        self.definer.call(FormOp::StrideOrder.name(), vec![Argument::positional(object), ranks])
    }

    fn size_list<'e>(&mut self, sizes: impl IntoIterator<Item = &'e Expr>) -> Result<Object, DefineError> {
        let sizes = sizes.into_iter().map(|size| self.size(size)).collect::<Result<Vec<_>, _>>()?;
        Ok(Object::list(sizes))
    }

    /// A size as a number or a scalar: one that an input shows, or made of such, or an input of its own.
    fn size(&mut self, size: &Expr) -> Result<Object, DefineError> {
        if let Some(n) = size.as_const() {
            return Ok(Object::int(n));
        }
        if let Some(known) = self.sizes.get(size) {
            return Ok(known.clone());
        }
        let facts = self.view.facts();
        let shown =
            self.axes.iter().find(|(shown, ..)| shown == size || facts.prove_eq(shown, size)).cloned();
        let object = match shown {
            Some((_, value, axis)) => {
                let axis = Argument::keyword("dim", Object::int(axis as i64));
                self.definer.call(FormOp::Size.name(), vec![Argument::positional(value), axis])?
            }
            None => match size.as_atom() {
                Some(Atom::Min(a, b)) => self.combine("minimum", a, b)?,
                Some(Atom::Max(a, b)) => self.combine("maximum", a, b)?,
                None if !size.is_overflow() => self.sum(size)?,
                _ => {
                    self.origins.push(Origin::Size(size.clone()));
                    self.definer.define_scalar(vec![Argument::positional(Object::DType(DType::I64))])?
                }
            },
        };
        self.sizes.insert(size.clone(), object.clone());
        Ok(object)
    }

    fn combine(&mut self, op: &str, a: &Expr, b: &Expr) -> Result<Object, DefineError> {
        let operands = [self.size(a)?, self.size(b)?];
        self.definer.call(op, operands.into_iter().map(Argument::positional).collect())
    }

    /// A polynomial, term by term.
    fn sum(&mut self, size: &Expr) -> Result<Object, DefineError> {
        let mut sum: Option<Object> = None;
        for term in size.terms() {
            let term = self.term(term)?;
            sum = Some(match sum {
                None => term,
                Some(sum) => {
                    self.definer.call("add", vec![Argument::positional(sum), Argument::positional(term)])?
                }
            });
        }
        Ok(sum.unwrap_or_else(|| Object::int(0)))
    }

    fn term(&mut self, term: &Term) -> Result<Object, DefineError> {
        let powers = term.monomial.factors().iter();
        let factors: Vec<Atom> =
            powers.flat_map(|(atom, power)| std::iter::repeat_n(atom.clone(), *power as usize)).collect();
        let mut product = Object::int(term.coefficient);
        for atom in factors {
            let factor = self.size(&Expr::from_atom(atom))?;
            product = match product.as_int() {
                Some(1) => factor,
                _ => {
                    let factors = vec![Argument::positional(product), Argument::positional(factor)];
                    self.definer.call("mul", factors)?
                }
            };
        }
        Ok(product)
    }
}

/// How an input lies: as it was declared, and without gaps for what was computed.
fn layout(declared: Option<&DeclaredLayout>) -> Vec<Argument> {
    let Some(layout) = declared else { return vec![Argument::keyword("contiguity", Object::bool(true))] };
    let flags = layout.contiguity.iter().map(|flag| flag.map_or(Object::None, Object::bool));
    let order = layout.stride_order.iter().map(|&rank| rank as i64);
    vec![
        Argument::keyword("contiguity", Object::list(flags)),
        Argument::keyword("stride_order", Object::ints(order)),
        Argument::keyword("is_cpu", Object::bool(layout.is_cpu)),
    ]
}

fn axis_list(axes: &[u8]) -> Object {
    Object::ints(axes.iter().map(|&axis| i64::from(axis)))
}

/// A fold keeps its dtype, which integers must say.
fn named_fold(monoid: &Monoid, axes: &[u8], dtype: DType) -> Option<(FormOp, Vec<(&'static str, Object)>)> {
    let mut arguments = vec![("dims", axis_list(axes))];
    let op = match monoid {
        Monoid::Sum => FormOp::Sum,
        Monoid::Prod => FormOp::Prod,
        Monoid::Max => FormOp::Max,
        Monoid::Min => FormOp::Min,
        Monoid::Welford => FormOp::Welford,
        Monoid::Argmax | Monoid::Argmin | Monoid::Lambda(_) => return None,
    };
    if matches!(monoid, Monoid::Sum | Monoid::Prod) && !dtype.is_float() {
        arguments.push(("dtype", Object::DType(dtype)));
    }
    Some((op, arguments))
}

/// The op that makes a scan, if it has one; there is none of bools.
fn named_scan(monoid: &Monoid, dtype: DType) -> Option<FormOp> {
    match monoid {
        _ if dtype == DType::Bool => None,
        Monoid::Sum => Some(FormOp::Cumsum),
        Monoid::Prod => Some(FormOp::Cumprod),
        Monoid::Max => Some(FormOp::Cummax),
        Monoid::Min => Some(FormOp::Cummin),
        Monoid::Welford | Monoid::Argmax | Monoid::Argmin | Monoid::Lambda(_) => None,
    }
}
