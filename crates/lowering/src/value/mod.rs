//! Values: a value at an index, computed from its operands at theirs.
//!
//! Each op says at which index it needs its operands; a value is computed once per index and guard. Indices of
//! axes of size 1 are zero. Folds are not computed here: their results are known when they have closed.
//!
//! `cat` and `gather` (ops whose operands are at other indices) · `scan` (which scans values need) · `kept` (values that lie
//! in scratch) · `store` (values to memory).

mod cat;
mod gather;
mod kept;
mod scan;
mod store;

use index::{Expr, axis_groups};
use ir::graph::{Node, TensorOp, Val};
use kernel::Value;
use ops::{DType, Scalar, ScalarOp};

use crate::access::AccessEmitter;
use crate::address::{delinearize, row_major};
use crate::emitter::Key;
use crate::layer::layer;
use crate::loops::Known;
use kept::Kept;
use space::Atoms;

pub(super) use kept::Persistent;

/// Emits values at the indices of the open loops.
pub(super) struct ValueEmitter<'a> {
    access: AccessEmitter<'a>,
    /// Values that lie in scratch.
    kept: Kept,
    /// The values whose indices are checked, by the number of their fault word.
    checked: Vec<Val>,
}

layer!(ValueEmitter, access: AccessEmitter);

impl<'a> ValueEmitter<'a> {
    /// Nothing in scratch yet.
    pub fn new(access: AccessEmitter<'a>) -> ValueEmitter<'a> {
        let checked = access.emitter.group.checked();
        ValueEmitter { access, kept: Kept::default(), checked }
    }

    /// Makes the results of a node with these axes known at the open loops.
    pub fn know(&mut self, node: Node, axes: &[Atoms], results: &[Value]) {
        let index = self.index_of(axes);
        for (val, &result) in self.emitter.group.graph.results(node).zip(results) {
            self.emitter.remember_here(Key::Pulled(val, index.clone(), None), result);
        }
    }

    /// `val` at `index`. If `guard` is false, memory is not read and the value does not matter.
    pub fn pull(&mut self, val: Val, index: &[Expr], guard: Option<Value>) -> Value {
        // If the index is in range anyway, no guard is needed, and all guards share the value.
        let guard = guard.filter(|_| !self.is_in_range(val, index));
        let key = Key::Pulled(val, index.to_vec(), guard);
        // A value known under no guard, such as the result of a fold, is right under any.
        let anywhere = Key::Pulled(val, index.to_vec(), None);
        if let Some(known) = self.emitter.known(&key).or_else(|| self.emitter.known(&anywhere)) {
            return known;
        }
        if let Some(result) = self.stored_fold_result(val, index) {
            self.emitter.remember_here(key, result);
            return result;
        }
        if let Some(persistent) = self.persistent_value(val, index) {
            self.emitter.remember_here(key, persistent);
            return persistent;
        }
        let value = match self.emitter.group.view.input_place(val) {
            Some(_) if self.is_empty(val) => {
                let dtype = self.emitter.group.graph.dtype(val);
                self.emitter.constant(Scalar::zero(dtype))
            }
            Some(input) => {
                let (buffer, position) = self.emitter.input_address(input, index);
                self.load(buffer, position, guard)
            }
            None => self.compute(val, index, guard),
        };
        self.emitter.remember(key, value);
        value
    }

    /// Whether an index is known to be in range of a value's shape wherever the loops stand.
    fn is_in_range(&mut self, val: Val, index: &[Expr]) -> bool {
        let shape = self.emitter.group.graph.shape(val);
        index.iter().zip(shape).all(|(at, size)| {
            let size = self.emitter.size(size);
            self.open_loops.is_within(at, &size) == Known::True
        })
    }

    /// Whether a value is known to have no elements. Its loads would be placed outside the loops that never run, as their
    /// indices depend on none of them.
    fn is_empty(&self, val: Val) -> bool {
        let group = self.emitter.group;
        group.graph.shape(val).iter().any(|size| group.view.facts().normalize(size).is_zero())
    }

    fn compute(&mut self, val: Val, index: &[Expr], guard: Option<Value>) -> Value {
        let graph = self.emitter.group.graph;
        let operands = graph.operands(val);
        match graph.op(val) {
            TensorOp::Constant(scalar) => self.emitter.constant(*scalar),
            TensorOp::Size(size) => {
                let size = self.emitter.size(size);
                self.emitter.index(&size)
            }
            TensorOp::Map(ScalarOp::Real) => self.part_of_input(operands[0], 0, index, guard),
            TensorOp::Map(ScalarOp::Imag) => self.part_of_input(operands[0], 1, index, guard),
            TensorOp::Map(scalar_op) => self.map(*scalar_op, operands, index, guard),
            TensorOp::Cast(dtype) => {
                let arg = self.pull(operands[0], index, guard);
                self.emitter.cast(arg, *dtype)
            }
            TensorOp::Broadcast(new) => {
                let kept = index.iter().zip(new).filter(|(_, new)| !**new);
                let index: Vec<Expr> = kept.map(|(index, _)| index.clone()).collect();
                self.pull(operands[0], &index, guard)
            }
            TensorOp::Expand(_) => {
                let index = self.aligned(operands[0], index);
                self.pull(operands[0], &index, guard)
            }
            TensorOp::Squeeze(axes) => {
                let mut kept = index.iter();
                let rank = graph.ty(operands[0]).rank() as u8;
                let next =
                    |axis| if axes.contains(&axis) { Some(Expr::zero()) } else { kept.next().cloned() };
                let index: Vec<Expr> = (0..rank).map_while(next).collect();
                self.pull(operands[0], &index, guard)
            }
            TensorOp::Permute(order) => {
                let mut source = vec![Expr::zero(); index.len()];
                order.iter().zip(index).for_each(|(&axis, index)| source[axis as usize] = index.clone());
                self.pull(operands[0], &source, guard)
            }
            TensorOp::Reshape(_) => self.reshape(operands[0], val, index, guard),
            TensorOp::Slice { .. } if self.is_empty(val) => {
                self.emitter.constant(Scalar::zero(graph.dtype(val)))
            }
            TensorOp::Slice { starts, .. } => {
                let starts = self.emitter.sizes(starts);
                let index: Vec<Expr> =
                    index.iter().zip(starts).map(|(index, start)| index.clone() + start).collect();
                self.pull(operands[0], &index, guard)
            }
            TensorOp::Pad { before, .. } => self.pad(operands, &before.clone(), index, guard),
            TensorOp::Cat(axis) => self.cat(operands, *axis as usize, index, guard),
            TensorOp::Gather(axis) => self.gather(val, *axis as usize, index, guard),
            TensorOp::Iota(_) => self.iota(operands, &index[0], graph.dtype(val)),
            TensorOp::Input { .. } => unreachable!("arguments are inputs of every view that uses them"),
            TensorOp::External(_) => unreachable!("{val}: no kernel has what a library computes"),
            TensorOp::Scan { .. } => self.single_scan(val),
            TensorOp::Fold { .. } => unreachable!("{val}: a fold is closed before its result is used"),
        }
    }

    /// An operand's index for an index into the result: zero along axes of size 1, nothing for scalars.
    pub fn aligned(&self, operand: Val, index: &[Expr]) -> Vec<Expr> {
        let shape = self.emitter.group.graph.shape(operand);
        let align = |(size, index): (&Expr, &Expr)| if size.is_one() { Expr::zero() } else { index.clone() };
        shape.iter().zip(index).map(align).collect()
    }

    fn map(&mut self, scalar_op: ScalarOp, operands: &[Val], index: &[Expr], guard: Option<Value>) -> Value {
        let mut args = Vec::with_capacity(operands.len());
        for &operand in operands {
            let index = self.aligned(operand, index);
            args.push(self.pull(operand, &index, guard));
        }
        if scalar_op.moves_bits() { args[0] } else { self.emitter.apply(scalar_op, &args) }
    }

    fn reshape(&mut self, operand: Val, result: Val, index: &[Expr], guard: Option<Value>) -> Value {
        let group = self.emitter.group;
        let space = &group.witness.space;
        let position = space.position(result.node).expect("a node of the group");
        if !space.moves(position, 0) && self.stands_at(space.axes_of(result), index) {
            let axes = space.axes_of_operand(result.node, 0);
            let source = self.index_of(axes);
            return self.pull(operand, &source, guard);
        }
        let (from, to) = (group.graph.shape(operand), group.graph.shape(result));
        let groups = axis_groups(from, to, group.view.facts());
        let (from, to) = (self.emitter.sizes(from), self.emitter.sizes(to));
        let mut source = Vec::with_capacity(from.len());
        for group in groups {
            if group.from.len() == 1 && group.to.len() == 1 {
                source.push(index[group.to.start].clone());
                continue;
            }
            let position = row_major(&index[group.to.clone()], &to[group.to.clone()]);
            source.extend(delinearize(&position, &from[group.from.clone()]));
        }
        for (index, size) in source.iter_mut().zip(&from) {
            if size.is_one() {
                *index = Expr::zero();
            }
        }
        self.pull(operand, &source, guard)
    }

    fn pad(&mut self, operands: &[Val], before: &[Expr], index: &[Expr], guard: Option<Value>) -> Value {
        let shape = self.emitter.group.graph.shape(operands[0]).clone();
        let mut source = Vec::with_capacity(index.len());
        let mut inside = guard;
        for ((index, before), size) in index.iter().zip(before).zip(&shape) {
            let before = self.emitter.size(before);
            let size = self.emitter.size(size);
            let at = index.clone() - before;
            match self.open_loops.is_within(&at, &size) {
                Known::True => {}
                Known::False => return self.pull(operands[1], &[], guard),
                Known::Unknown => inside = Some(self.within(&at, &size, inside)),
            }
            source.push(at);
        }
        let value = self.pull(operands[0], &source, inside);
        match inside {
            Some(inside) if guard != Some(inside) => {
                let fill = self.pull(operands[1], &[], guard);
                self.select(inside, value, fill)
            }
            _ => value,
        }
    }

    /// `guard` and `0 <= at < size`.
    pub fn within(&mut self, at: &Expr, size: &Expr, guard: Option<Value>) -> Value {
        let inside = self.in_range(|this| this.emitter.index(at), size);
        self.and(guard, inside)
    }

    /// `0 <= at < size`.
    fn in_range(&mut self, at: impl FnOnce(&mut Self) -> Value, size: &Expr) -> Value {
        let zero = self.emitter.index(&Expr::zero());
        let (at, size) = (at(self), self.emitter.index(size));
        let low = self.emitter.apply(ScalarOp::Ge, &[at, zero]);
        let high = self.emitter.apply(ScalarOp::Lt, &[at, size]);
        self.emitter.apply(ScalarOp::LogicalAnd, &[low, high])
    }

    /// The guard and the condition, or the condition alone.
    pub fn and(&mut self, guard: Option<Value>, condition: Value) -> Value {
        match guard {
            Some(guard) => self.emitter.apply(ScalarOp::LogicalAnd, &[guard, condition]),
            None => condition,
        }
    }

    /// A choice between two values of one dtype; half types are chosen in f32, which holds them exactly.
    pub fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        let dtype = self.emitter.builder.dtype(yes);
        let (yes, no) = (self.emitter.cast(yes, dtype.compute()), self.emitter.cast(no, dtype.compute()));
        let chosen = self.emitter.apply(ScalarOp::Where, &[condition, yes, no]);
        self.emitter.cast(chosen, dtype)
    }

    fn iota(&mut self, operands: &[Val], index: &Expr, dtype: DType) -> Value {
        let (start, step) = (self.pull(operands[0], &[], None), self.pull(operands[1], &[], None));
        let index = self.emitter.index(index);
        let compute = dtype.compute();
        let index = self.emitter.cast(index, compute);
        let (start, step) = (self.emitter.cast(start, compute), self.emitter.cast(step, compute));
        let offset = self.emitter.apply(ScalarOp::Mul, &[step, index]);
        let value = self.emitter.apply(ScalarOp::Add, &[start, offset]);
        self.emitter.cast(value, dtype)
    }
}
