//! From an index per axis to an index into memory.

use ir::index::{Expr, Facts};

use super::emitter::Emitter;
use super::{Argument, BufferSource};
use crate::layout::{Layout, Stride};
use ir::graph::{Shape, Val};
use ir::kernel::{Access, Buffer};

/// Row-major position of an index in a box of these sizes.
pub(super) fn row_major(index: &[Expr], sizes: &[Expr]) -> Expr {
    let mut position = Expr::zero();
    let mut stride = Expr::one();
    for (index, size) in index.iter().zip(sizes).rev() {
        position = position + index.clone() * stride.clone();
        stride = stride * size.clone();
    }
    position
}

/// The index per axis of a row-major position in a box of these sizes.
pub(super) fn delinearize(position: &Expr, sizes: &[Expr]) -> Vec<Expr> {
    let mut index = Vec::with_capacity(sizes.len());
    let mut rest = position.clone();
    for (axis, size) in sizes.iter().enumerate().rev() {
        if axis == 0 {
            index.push(rest.clone());
        } else {
            index.push(rest.modulo(size));
            rest = rest.floor_div(size);
        }
    }
    index.reverse();
    index
}

/// A position with quotients and remainders put together again where one loop walks several axes.
fn whole(position: &Expr) -> Expr {
    Facts::new().normalize(position)
}

impl Emitter<'_> {
    /// Sizes of the graph over the kernel's arguments.
    pub fn sizes(&mut self, shape: &Shape) -> Vec<Expr> {
        shape.iter().map(|size| self.size(size)).collect()
    }

    /// The buffer of an input and the position of an index in it.
    pub fn input_address(&mut self, input: usize, index: &[Expr]) -> (Buffer, Expr) {
        let val = self.group.view.inputs()[input];
        let ty = self.group.graph.ty(val).clone();
        let buffer = self.buffer(BufferSource::Input(input), val.to_string(), ty.dtype, Access::Read);
        let position = match &self.group.layouts[input] {
            Layout::Dense => {
                let sizes = self.sizes(&ty.shape);
                row_major(index, &sizes)
            }
            Layout::Strided(strides) => {
                let mut position = Expr::zero();
                for (axis, (index, stride)) in index.iter().zip(strides).enumerate() {
                    let stride = match stride {
                        _ if index.is_zero() => continue,
                        Stride::Zero => continue,
                        Stride::One => Expr::one(),
                        Stride::Any => {
                            self.argument(Argument::Stride { input, axis }, || format!("{val}_stride{axis}"))
                        }
                    };
                    position = position + index.clone() * stride;
                }
                position
            }
        };
        (buffer, whole(&position))
    }

    /// The buffer of a stored value and the position of an index in it.
    pub fn store_address(&mut self, store: usize, val: Val, index: &[Expr]) -> (Buffer, Expr) {
        let ty = self.group.graph.ty(val).clone();
        let buffer = self.buffer(BufferSource::Store(store), val.to_string(), ty.dtype, Access::Write);
        let sizes = self.sizes(&ty.shape);
        (buffer, whole(&row_major(index, &sizes)))
    }
}
