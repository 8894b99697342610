//! Small changes of shape: axes of size 1 dropped and added, scalars expanded, elements in another shape. A change without
//! effect adds no node.

use index::Expr;
use ir::graph::{Axes, Shape, TensorOp, Val};
use smallvec::SmallVec;

use super::OpBuilder;
use crate::define::error::DefineError;

impl OpBuilder {
    /// A tensor with leading axes of size 1 added up to a rank; a tensor of rank 0 stays as it is.
    pub fn raise(&mut self, val: Val, rank: usize) -> Result<Val, DefineError> {
        let has = self.graph.shape(val).len();
        if has == 0 || has == rank {
            return Ok(val);
        }
        self.add(TensorOp::Broadcast((0..rank).map(|axis| axis < rank - has).collect()), &[val])
    }

    /// Drops axes of size 1. An axis whose size is not known to be 1 is required to be, by a constraint, and sliced first:
    /// otherwise lowering makes a loop for it.
    pub fn squeeze_axes(&mut self, arg: Val, mut axes: Axes) -> Result<Val, DefineError> {
        axes.sort_unstable();
        if axes.is_empty() {
            return Ok(arg);
        }
        let (shape, mut sizes) = (self.shape(arg), self.shape(arg));
        let can_be_one = |&axis: &u8| self.facts.assume_equal(&shape[axis as usize], &Expr::one()).is_ok();
        let in_range = axes.iter().all(|&axis| (axis as usize) < shape.len());
        if !in_range || !axes.iter().all(can_be_one) {
            return self.add(TensorOp::Squeeze(axes), &[arg]); // which rejects it
        }
        axes.iter().for_each(|&axis| sizes[axis as usize] = Expr::one());
        let starts = Shape::from_elem(Expr::zero(), shape.len());
        let arg = if sizes == shape { arg } else { self.add(TensorOp::Slice { starts, sizes }, &[arg])? };
        self.add(TensorOp::Squeeze(axes), &[arg])
    }

    /// Adds the axes back that a fold dropped, with size 1.
    pub fn keep(&mut self, folded: Val, axes: &[u8]) -> Result<Val, DefineError> {
        let rank = self.graph.shape(folded).len() + axes.len();
        let new: SmallVec<[bool; 6]> = (0..rank).map(|axis| axes.contains(&(axis as u8))).collect();
        if axes.is_empty() { Ok(folded) } else { self.add(TensorOp::Broadcast(new), &[folded]) }
    }

    /// The axes with a computed size of 0 or 1, such as those of a slice `[0:1]` of a symbolic axis.
    pub fn axes_of_at_most_one(&self, val: Val) -> Axes {
        let is_computed = |size: &Expr| size.as_const().is_none() && size.as_sym().is_none();
        let is_open = |size: &Expr| is_computed(size) && self.facts.prove_le(size, &Expr::one());
        let axes = self.graph.shape(val).iter().enumerate().filter(|(_, size)| is_open(size));
        axes.map(|(axis, _)| axis as u8).collect()
    }

    /// The value with size 1 along these axes, by a constraint on its sizes.
    pub fn require_one(&mut self, val: Val, axes: Axes) -> Result<Val, DefineError> {
        let dropped = self.squeeze_axes(val, axes.clone())?;
        self.keep(dropped, &axes)
    }

    /// A scalar expanded to a tensor of a shape.
    pub fn repeat(&mut self, scalar: Val, shape: Shape) -> Result<Val, DefineError> {
        let single = self.add(TensorOp::Broadcast(SmallVec::from_elem(true, shape.len())), &[scalar])?;
        if shape.iter().all(Expr::is_one) { Ok(single) } else { self.add(TensorOp::Expand(shape), &[single]) }
    }

    /// The elements in row-major order, in another shape with the same number of elements.
    pub fn reshape_to(&mut self, arg: Val, target: Shape) -> Result<Val, DefineError> {
        let from = self.shape(arg);
        if from == target {
            return Ok(arg);
        }
        if from.iter().filter(|size| !size.is_one()).eq(target.iter().filter(|size| !size.is_one())) {
            return self.change_ones(arg, &from, &target);
        }
        self.add(TensorOp::Reshape(target), &[arg])
    }

    /// A reshape that only drops and adds axes of size 1, written as squeeze and broadcast, which are easier to fuse.
    fn change_ones(&mut self, arg: Val, from: &Shape, target: &Shape) -> Result<Val, DefineError> {
        let ones = (0..from.len()).filter(|&axis| from[axis].is_one()).map(|axis| axis as u8).collect();
        let bare = self.squeeze_axes(arg, ones)?;
        let new: SmallVec<[bool; 6]> = target.iter().map(Expr::is_one).collect();
        if new.contains(&true) { self.add(TensorOp::Broadcast(new), &[bare]) } else { Ok(bare) }
    }
}
