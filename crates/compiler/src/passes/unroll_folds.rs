//! Unrolls folds over two to four elements: each element becomes a slice, and the fold ops on slices. Lanes then run along
//! the rows instead of along two to four elements of one, and users of the results find them in registers.
//!
//! Leaves alone folds by lambdas, and folds over values that depend on remaining folds, scans or moved elements: slices of
//! those would recompute them. Behind a reshape of such values the innermost axis is unrolled even so: two kernels are
//! faster than lanes along two to four elements.

use index::{Expr, Facts};
use ir::graph::{Axes, Fusion, Graph, Node, Shape, TensorOp, Val, ValMap, rewrite};
use ops::{Arith, BodyArith, DType, Monoid, Scalar, ScalarOp};
use rustc_hash::FxHashMap;
use target::limits::MAX_UNROLLED;

/// The most ops in an element's computation, each counted as often as it is used: all are written for every element.
const MAX_OPS: usize = 64;

/// The pass; `None` where there are no such folds.
pub fn unroll_folds(graph: &mut Graph, fusion: &Fusion) -> Option<(Fusion, ValMap)> {
    let chosen = short_folds(graph, fusion);
    if chosen.is_empty() {
        return None;
    }
    let unrolled = rewrite(graph, fusion, |graph, facts, node, operands| {
        let elements = chosen.get(&node)?;
        let TensorOp::Fold { monoid, axes } = graph.node(node).op.clone() else { return None };
        let (dtype, shape) = (graph.dtype(operands[0]), graph.shape(node.into()).clone());
        let mut unrolled = Unrolled { graph, facts, dtype, axes };
        let results = unrolled.fold(&monoid, operands, elements)?;
        results.into_iter().map(|result| unrolled.in_shape(result, &shape)).collect()
    });
    Some(unrolled)
}

/// The indices of a fold's elements along the axes that it walks.
type Indices = Vec<Vec<i64>>;

/// What an element of a value depends on.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    /// Inputs and constants alone, or folds that are unrolled.
    #[default]
    Inputs,
    /// A remaining fold, a scan or moved elements, and a reshape since.
    Reshaped,
    /// The same with no reshape since.
    Fold,
}

/// What computes an element of a value.
#[derive(Clone, Copy, Default)]
struct Cone {
    /// Ops, each counted as often as it is used.
    ops: usize,
    source: Source,
}

impl Cone {
    fn and(self, other: Cone) -> Cone {
        Cone { ops: self.ops.saturating_add(other.ops), source: self.source.max(other.source) }
    }
}

/// The folds to unroll.
fn short_folds(graph: &Graph, fusion: &Fusion) -> FxHashMap<Node, Indices> {
    let mut chosen = FxHashMap::default();
    let mut cones: FxHashMap<Node, Cone> = FxHashMap::default();
    for &node in fusion.order() {
        let operands = &graph.node(node).operands;
        let of_operand = |val: &Val| cones.get(&val.node).copied().unwrap_or_default();
        let below = operands.iter().filter(|&&val| !fusion.is_input(val)).map(of_operand);
        let below = below.fold(Cone::default(), Cone::and);
        let cone = match &graph.node(node).op {
            TensorOp::Reshape(_) => {
                Cone { ops: below.ops.saturating_add(1), source: below.source.min(Source::Reshaped) }
            }
            TensorOp::Map(_)
            | TensorOp::Cast(_)
            | TensorOp::Broadcast(_)
            | TensorOp::Expand(_)
            | TensorOp::Squeeze(_)
            | TensorOp::Permute(_)
            | TensorOp::Slice { .. }
            | TensorOp::Constant(_)
            | TensorOp::Size(_)
            | TensorOp::Iota(_) => Cone { ops: below.ops.saturating_add(1), ..below },
            TensorOp::Fold { monoid, axes } if below.ops <= MAX_OPS && monoid.exprs().is_some() => {
                let may_slice = match below.source {
                    Source::Inputs => true,
                    Source::Reshaped => axes.iter().any(|&axis| is_innermost(graph, operands[0], axis)),
                    Source::Fold => false,
                };
                match short(graph, fusion.facts(), operands[0], axes).filter(|_| may_slice) {
                    Some(indices) => {
                        let ops = below.ops.saturating_add(1).saturating_mul(indices.len());
                        chosen.insert(node, indices);
                        Cone { ops, source: Source::Inputs }
                    }
                    None => Cone { ops: 1, source: Source::Fold },
                }
            }
            _ => Cone { ops: 1, source: Source::Fold },
        };
        cones.insert(node, cone);
    }
    chosen
}

/// Whether no axis of more than one element is further in.
fn is_innermost(graph: &Graph, val: Val, axis: u8) -> bool {
    graph.shape(val)[usize::from(axis) + 1..].iter().all(|size| size.as_const() == Some(1))
}

/// The indices of two to four elements along these axes.
fn short(graph: &Graph, facts: &Facts, val: Val, axes: &Axes) -> Option<Indices> {
    let shape = graph.shape(val);
    let mut indices: Indices = vec![vec![]];
    for &axis in axes {
        let size = facts
            .normalize(&shape[axis as usize])
            .as_const()
            .filter(|size| (1..=MAX_UNROLLED).contains(size))?;
        let longer = |index: Vec<i64>| (0..size).map(move |at| [&index[..], &[at]].concat());
        indices = indices.into_iter().flat_map(longer).collect();
    }
    let is_short = (2..=MAX_UNROLLED as usize).contains(&indices.len()) && axes.len() < shape.len();
    is_short.then_some(indices)
}

/// A fold whose elements are separate values.
struct Unrolled<'g> {
    graph: &'g mut Graph,
    facts: &'g mut Facts,
    /// Of numbers in the expressions of its monoid.
    dtype: DType,
    axes: Axes,
}

impl Unrolled<'_> {
    /// The results of a fold of these elements, in order.
    fn fold(&mut self, monoid: &Monoid, operands: &[Val], elements: &Indices) -> Option<Vec<Val>> {
        let mut elements = elements.iter();
        let first = self.element(operands, elements.next()?);
        let mut states = monoid.exprs()?.of_element.eval_all(self, &first);
        for index in elements {
            let element = self.element(operands, index);
            states = monoid.next(self, &states, &element);
        }
        monoid.finish(self, &states).into_iter().collect()
    }

    /// A result in the shape of the fold's: a count is a number.
    fn in_shape(&mut self, result: Val, shape: &Shape) -> Option<Val> {
        if self.graph.shape(result).len() == shape.len() {
            return Some(result);
        }
        let one = self.add(TensorOp::Broadcast(shape.iter().map(|_| true).collect()), &[Some(result)]);
        self.add(TensorOp::Expand(shape.clone()), &[one])
    }

    /// The element at an index along the axes, for all others.
    fn element(&mut self, operands: &[Val], index: &[i64]) -> Vec<Option<Val>> {
        operands.iter().map(|&operand| self.at(operand, index)).collect()
    }

    fn at(&mut self, operand: Val, index: &[i64]) -> Option<Val> {
        let mut sizes = self.graph.shape(operand).clone();
        let mut starts = sizes.clone();
        starts.iter_mut().for_each(|start| *start = Expr::zero());
        for (&axis, &at) in self.axes.iter().zip(index) {
            (starts[axis as usize], sizes[axis as usize]) = (Expr::constant(at), Expr::one());
        }
        let slice = self.add(TensorOp::Slice { starts, sizes }, &[Some(operand)]);
        self.add(TensorOp::Squeeze(self.axes.clone()), &[slice])
    }

    /// `None` where the graph has no such op, as for a dtype that has none.
    fn add(&mut self, op: TensorOp, operands: &[Option<Val>]) -> Option<Val> {
        let operands: Vec<Val> = operands.iter().copied().collect::<Option<_>>()?;
        self.graph.add(op, &operands, self.facts).ok().map(Val::from)
    }
}

impl Arith for Unrolled<'_> {
    type V = Option<Val>;

    fn apply(&mut self, op: ScalarOp, args: &[Option<Val>]) -> Option<Val> {
        self.add(TensorOp::Map(op), args)
    }

    fn constant(&mut self, value: f64) -> Option<Val> {
        self.scalar(Scalar::written(self.dtype, value))
    }
}

impl BodyArith for Unrolled<'_> {
    fn scalar(&mut self, constant: Scalar) -> Option<Val> {
        self.add(TensorOp::Constant(constant), &[])
    }

    fn cast(&mut self, value: &Option<Val>, from: DType, to: DType) -> Option<Val> {
        if from == to { *value } else { self.add(TensorOp::Cast(to), &[*value]) }
    }
}
