//! The structure of a segment: a number shared by segments that do the same ops in the same way, whatever their names and
//! sizes. Others may share it by chance, so code that joins segments compares their kernels too.
//!
//! Sizes matter by which of them are equal, and by what is known of rows of that size: whether they are whole vectors or of
//! another power of two, and how long they are at most.

use std::hash::{Hash, Hasher};

use index::Expr;
use ir::graph::{Fusion, Graph, TensorOp, Type, Val};
use ir::layout::SegmentLayouts;
use rustc_hash::{FxHashMap, FxHasher};
use scheduler::hints::ROW_MULTIPLE;

/// The key that distinguishes segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Structure {
    /// The ops, dtypes and layouts, and which sizes are equal.
    ops: u64,
    /// What is known of the sizes.
    rows: u64,
}

impl Structure {
    /// The structure of a segment, whatever its layouts.
    pub fn of(graph: &Graph, view: &Fusion) -> Structure {
        let mut walk = Walk::default();
        for &input in view.inputs() {
            walk.number(input);
            walk.ty(graph.ty(input), view);
        }
        // A shared constant is among the ops of the first segment that uses it.
        for &node in view.order().iter().filter(|&&node| !is_constant(&graph.node(node).op)) {
            let data = graph.node(node);
            walk.op(&data.op, view);
            for &operand in &data.operands {
                match graph.op(operand) {
                    op if is_constant(op) && !view.is_input(operand) => walk.op(op, view),
                    _ => walk.number(operand),
                }
            }
            data.results.iter().for_each(|ty| walk.ty(ty, view));
            graph.results(node).for_each(|val| walk.number(val));
        }
        view.outputs().iter().for_each(|output| walk.number(output.val));
        let mut rows = vec![(1, None); walk.sizes.len()];
        walk.sizes.iter().for_each(|(size, &number)| rows[number - FIRST] = known_of_rows(size, view));
        Structure { ops: walk.hasher.finish(), rows: hashed(&rows) }
    }

    /// Whether two segments may have structures with the same ops: they have as many of each kind, in the same order. Sizes, which
    /// take time to simplify, are not compared.
    pub fn may_have_like_ops(graph: &Graph, one: &Fusion, other: &Fusion) -> bool {
        let kinds = |view: &'_ Fusion| {
            let ops = view.order().iter().map(|&node| &graph.node(node).op);
            ops.filter(|op| !is_constant(op)).map(std::mem::discriminant).collect::<Vec<_>>()
        };
        one.inputs().len() == other.inputs().len() && kinds(one) == kinds(other)
    }

    /// The structure with these layouts told apart too.
    pub fn laid_out(self, memory: SegmentLayouts<'_>) -> Structure {
        Structure { ops: hashed(&(self.ops, memory.inputs, memory.stores)), ..self }
    }

    /// Whether the other is the same except for what is known of its sizes.
    pub fn has_ops_of(self, other: Structure) -> bool {
        self.ops == other.ops
    }
}

fn hashed(what: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    what.hash(&mut hasher);
    hasher.finish()
}

/// The number of the first size: 0 and 1 are reserved for those sizes.
const FIRST: usize = 2;

/// A walk over a segment, in which values and sizes have the numbers of their first appearance.
#[derive(Default)]
struct Walk {
    hasher: FxHasher,
    numbers: FxHashMap<Val, usize>,
    sizes: FxHashMap<Expr, usize>,
    /// The numbers of sizes as written in the graph.
    written: FxHashMap<Expr, usize>,
}

impl Walk {
    fn number(&mut self, val: Val) {
        let next = self.numbers.len();
        self.numbers.entry(val).or_insert(next).hash(&mut self.hasher);
    }

    fn ty(&mut self, ty: &Type, view: &Fusion) {
        ty.dtype.hash(&mut self.hasher);
        ty.shape.len().hash(&mut self.hasher);
        ty.shape.iter().for_each(|size| self.size(size, view));
    }

    fn op(&mut self, op: &TensorOp, view: &Fusion) {
        std::mem::discriminant(op).hash(&mut self.hasher);
        match op {
            TensorOp::Size(size) | TensorOp::Iota(size) => self.size(size, view),
            // Their results have these sizes.
            TensorOp::Expand(_) | TensorOp::Reshape(_) => {}
            TensorOp::Slice { starts, .. } => starts.iter().for_each(|start| self.size(start, view)),
            TensorOp::Pad { before, after } => {
                before.iter().chain(after).for_each(|width| self.size(width, view));
            }
            op => op.hash(&mut self.hasher),
        }
    }

    fn size(&mut self, size: &Expr, view: &Fusion) {
        let number = self.written.get(size).copied().unwrap_or_else(|| self.first_met(size, view));
        number.hash(&mut self.hasher);
    }

    /// The number of a size that was not met as written.
    fn first_met(&mut self, size: &Expr, view: &Fusion) -> usize {
        let simplest = view.facts().normalize(size);
        let next = FIRST + self.sizes.len();
        let number = match (simplest.is_zero(), simplest.is_one()) {
            (true, _) => 0,
            (_, true) => 1,
            _ => *self.sizes.entry(simplest).or_insert(next),
        };
        self.written.insert(size.clone(), number);
        number
    }
}

/// Whether an op makes a scalar from nothing.
fn is_constant(op: &TensorOp) -> bool {
    matches!(op, TensorOp::Constant(_) | TensorOp::Size(_))
}

/// What is known of rows of a size and distinguishes kernels: the power of two that divides them, at most a whole
/// vector, and how long they are at most. Of known sizes it is only whether they are whole vectors: others may become
/// arguments of one kernel.
fn known_of_rows(size: &Expr, view: &Fusion) -> (i64, Option<i128>) {
    match (size.as_const(), size.as_sym()) {
        (Some(size), _) => (if size % ROW_MULTIPLE == 0 { ROW_MULTIPLE } else { 1 }, None),
        (None, Some(symbol)) => {
            let power_of_two = 1 << view.facts().multiple(symbol).trailing_zeros().min(62);
            (ROW_MULTIPLE.min(power_of_two), view.facts().bounds(size).hi())
        }
        (None, None) => (1, None),
    }
}
