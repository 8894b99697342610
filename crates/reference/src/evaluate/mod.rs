//! The evaluator: the meaning of every tensor op, on real arrays, with the error bound that travels with each value.
//!
//! It takes a view, its inputs as arrays of any strides, and gives its outputs. Elementwise ops are the op rows' meanings
//! rounded to the dtype, folds are in doubles, ops that only move elements share memory. A value is freed when its last user
//! is done. The result does not depend on the number of threads. It compiles nothing; [`compare`] measures compiled code
//! against it.
//!
//! `value` (shared memory) · `memory` (how much of it) · `block` (how elements are read and written) · `map` (scalar
//! ops, casts) · `operands` (where these read and write) · `complex` (numbers and their parts) · `key` (numbers in
//! order) · `fold/` · `gather` · `in_range` · `external/` (sorts, scatters, products) · `movement` (the other ops) ·
//! `spread`, `convert` and `bound` (how errors reach results) · `workers` (who computes) · `compare` · `copy`.

mod block;
mod bound;
mod compare;
mod complex;
mod convert;
mod copy;
mod error;
mod external;
mod fold;
mod gather;
mod in_range;
mod key;
mod map;
mod memory;
mod movement;
mod operands;
mod spread;
mod value;
mod workers;

pub use compare::{Comparison, compare};
pub use copy::copy;
pub use error::{EvaluateError, OutOfRange};
pub use external::group_ranges;
pub use value::Bound;
pub use workers::{Looks, ParallelFor, Serial, Threads};

use index::Sym;
use ir::array::{Array, ArrayView, Part};
use ir::graph::{Fusion, Graph, InputSignature, Node, Sizes, TensorOp, Val};
use ops::{DType, Scalar, ScalarOp};
use rustc_hash::FxHashMap;

use memory::Meter;
use value::{BoundedValue, Strided};
use workers::Resources;

/// How a view is evaluated.
#[derive(Clone, Debug)]
pub struct EvaluateOptions<'w> {
    /// The threads that do the work.
    pub workers: &'w dyn ParallelFor,
    /// Whether error bounds are computed too.
    pub bounds: bool,
    /// How much memory the evaluator may hold at once, in bytes, inputs not counted.
    pub max_bytes: usize,
    /// Values of size symbols that the inputs of the view do not show.
    pub sizes: Vec<(Sym, i64)>,
}

impl Default for EvaluateOptions<'_> {
    /// The calling thread, with bounds and unlimited memory.
    fn default() -> Self {
        EvaluateOptions { workers: &Serial, bounds: true, max_bytes: usize::MAX, sizes: Vec::new() }
    }
}

/// The results of a view.
#[derive(Debug)]
pub struct Evaluation {
    /// One per output of the view, in order.
    pub outputs: Vec<Evaluated>,
    /// The most bytes that were held at once, inputs not counted.
    pub peak_bytes: usize,
}

/// One output.
#[derive(Debug)]
pub struct Evaluated {
    /// Its elements.
    pub value: Array,
    /// How far a compiled execution may be from each of them; absent if zero everywhere or not requested.
    pub bound: Option<Bound>,
}

/// Evaluates a view on inputs, one per input of the view, in order.
///
/// # Errors
/// Inputs that do not fit the view; more memory than there is or than the options allow.
pub fn evaluate(
    graph: &Graph,
    fusion: &Fusion,
    inputs: &[ArrayView<'_>],
    options: &EvaluateOptions<'_>,
) -> Result<Evaluation, EvaluateError> {
    fusion.assert_of(graph);
    let sizes = InputSignature::new(graph, fusion, |_| None).bind(inputs, &options.sizes)?;
    let resources = Resources { meter: Meter::new(options.max_bytes), workers: options.workers };
    let evaluator = Evaluator { graph, fusion, sizes: &sizes, bounds: options.bounds, resources: &resources };
    evaluator.run(inputs)
}

/// Whether a machine can count the bytes of an array.
fn is_countable(dtype: DType, sizes: &[usize]) -> bool {
    let count = || sizes.iter().try_fold(dtype.size(), |bytes, &size| bytes.checked_mul(size));
    sizes.contains(&0) || count().is_some_and(|bytes| isize::try_from(bytes).is_ok())
}

/// The operand of an op that takes one.
fn only<T>(operands: Vec<T>) -> T {
    operands.into_iter().next().expect("one operand, by the shape rule")
}

struct Evaluator<'g> {
    graph: &'g Graph,
    fusion: &'g Fusion,
    sizes: &'g Sizes,
    bounds: bool,
    resources: &'g Resources<'g>,
}

impl Evaluator<'_> {
    fn run(&self, inputs: &[ArrayView<'_>]) -> Result<Evaluation, EvaluateError> {
        let given = inputs.iter().map(|view| BoundedValue::exact(Strided::given(view)));
        let mut values: FxHashMap<Val, BoundedValue<'_>> =
            self.fusion.inputs().iter().copied().zip(given).collect();
        for &node in self.fusion.order() {
            let results = self.node(node, self.operands(node, &mut values))?;
            for (val, value) in self.graph.results(node).zip(results) {
                values.entry(val).or_insert(value);
            }
            self.free(node, &mut values);
        }
        let outputs: Vec<BoundedValue<'_>> =
            self.fusion.outputs().iter().map(|out| values[&out.val].clone()).collect();
        drop(values);
        self.resources.meter.close();
        let outputs: Result<_, EvaluateError> = outputs.into_iter().map(|value| self.output(value)).collect();
        Ok(Evaluation { outputs: outputs?, peak_bytes: self.resources.meter.peak_bytes() })
    }

    /// The operands of a node. Operands without later users are moved, except those that the node uses twice.
    fn operands<'a>(
        &self,
        node: Node,
        values: &mut FxHashMap<Val, BoundedValue<'a>>,
    ) -> Vec<BoundedValue<'a>> {
        let operands = &self.graph.node(node).operands;
        let is_last = |val: &Val| {
            self.is_done(*val, node) && operands.iter().filter(|&other| other == val).count() == 1
        };
        let taken = |val: &Val| if is_last(val) { values.remove(val) } else { values.get(val).cloned() };
        operands.iter().map(taken).map(|value| value.expect("computed before it is used")).collect()
    }

    /// Whether a value has no users after this node.
    fn is_done(&self, val: Val, node: Node) -> bool {
        self.fusion.uses(val).last().is_none_or(|&last| last <= node) && !self.fusion.is_output(val)
    }

    /// Frees what has no users after this node: operands at their last user, results without users.
    fn free(&self, node: Node, values: &mut FxHashMap<Val, BoundedValue<'_>>) {
        let operands = self.graph.node(node).operands.iter().copied();
        for val in operands.chain(self.graph.results(node)).filter(|&val| self.is_done(val, node)) {
            values.remove(&val);
        }
    }

    fn output(&self, value: BoundedValue<'_>) -> Result<Evaluated, EvaluateError> {
        let bound = value.bound.as_ref().and_then(Bound::of);
        Ok(Evaluated { value: value.data.into_array(self.resources)?, bound })
    }

    /// The meaning of one node: its results on these operands.
    fn node<'a>(
        &self,
        node: Node,
        operands: Vec<BoundedValue<'a>>,
    ) -> Result<Vec<BoundedValue<'a>>, EvaluateError> {
        let (resources, bounds) = (self.resources, self.bounds);
        let data = self.graph.node(node);
        let dtype = data.results[0].dtype;
        let sizes = self.sizes.sizes(&data.results[0].shape)?;
        if !is_countable(dtype, &sizes) {
            return Err(EvaluateError::Memory { bytes: usize::MAX });
        }
        let result = match &data.op {
            TensorOp::Input { .. } => unreachable!("a view computes no arguments"),
            TensorOp::Constant(scalar) => movement::scalar(*scalar, resources)?,
            TensorOp::Size(size) => {
                movement::scalar(Scalar::from_i64(DType::I64, self.sizes.value(size)?), resources)?
            }
            TensorOp::Map(ScalarOp::Real) => complex::part(&operands[0], Part::Real, resources)?,
            TensorOp::Map(ScalarOp::Imag) => complex::part(&operands[0], Part::Imaginary, resources)?,
            TensorOp::Map(ScalarOp::Complex) => complex::pair(&operands[0], &operands[1], &sizes, resources)?,
            TensorOp::Map(scalar_op) => map::map(*scalar_op, operands, &sizes, dtype, bounds, resources)?,
            TensorOp::Cast(to) if *to == operands[0].data.view().dtype() => operands[0].clone(),
            TensorOp::Cast(to) => map::cast(only(operands), *to, resources)?,
            TensorOp::Broadcast(new) => operands[0].relaid(|layout| layout.broadcast(new)),
            TensorOp::Expand(_) => operands[0].relaid(|layout| layout.expanded(&sizes)),
            TensorOp::Squeeze(axes) => {
                let kept = |axis: &usize| !axes.contains(&(*axis as u8));
                operands[0].relaid(|layout| layout.permuted((0..layout.rank()).filter(kept)))
            }
            TensorOp::Reshape(_) => movement::reshape(&operands[0], &sizes, resources)?,
            TensorOp::Permute(order) => {
                operands[0].relaid(|layout| layout.permuted(order.iter().map(|&axis| axis as usize)))
            }
            TensorOp::Slice { starts, sizes } => {
                movement::slice(&operands[0], &self.sizes.sizes(starts)?, &self.sizes.sizes(sizes)?)
            }
            TensorOp::Pad { before, .. } => {
                movement::pad(&operands[0], &operands[1], &self.values(before)?, &sizes, resources)?
            }
            TensorOp::Cat(axis) => movement::cat(&operands, *axis as usize, &sizes, resources)?,
            TensorOp::Gather(axis) => {
                let operands = [&operands[0], &operands[1]];
                gather::gather(node.into(), operands, *axis as usize, &sizes, resources)?
            }
            TensorOp::Fold { monoid, axes } => return fold::fold(monoid, &operands, axes, bounds, resources),
            TensorOp::Scan { monoid, axis } => {
                return fold::scan(monoid, &operands, *axis as usize, bounds, resources);
            }
            TensorOp::External(op) => {
                let context =
                    external::Context { val: node.into(), sizes: sizes.to_vec(), bounds, resources };
                return external::compute(op, &operands, &context);
            }
            TensorOp::Iota(_) => movement::iota(&operands[0], &operands[1], sizes[0], bounds, resources)?,
        };
        Ok(vec![result])
    }

    fn values(&self, exprs: &[index::Expr]) -> Result<Vec<i64>, EvaluateError> {
        Ok(exprs.iter().map(|expr| self.sizes.value(expr)).collect::<Result<_, _>>()?)
    }
}
