//! From an index per axis to an index into memory.

use index::{Expr, Sym};
use ir::graph::{Shape, Val};
use kernel::{Access, Buffer};
use ops::DType;

use crate::emitter::Emitter;
use crate::{BufferSource, KernelArgument};
use ir::layout::{LayoutClass, Stride};

/// Row-major position of an index in a box of these sizes.
pub(crate) fn row_major(index: &[Expr], sizes: &[Expr]) -> Expr {
    let mut position = Expr::zero();
    let mut stride = Expr::one();
    for (index, size) in index.iter().zip(sizes).rev() {
        position = position + index.clone() * stride.clone();
        stride = stride * size.clone();
    }
    position
}

/// The index per axis of a row-major position in a box of these sizes.
pub(crate) fn delinearize(position: &Expr, sizes: &[Expr]) -> Vec<Expr> {
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

/// How many numbers an element consists of in memory.
fn parts(dtype: DType) -> Expr {
    if dtype.is_complex() { Expr::constant(2) } else { Expr::one() }
}

impl Emitter<'_> {
    /// A position with the quotients and remainders of fused axes recombined.
    pub fn recombined(&self, position: &Expr) -> Expr {
        self.anywhere.normalize(position)
    }

    /// Sizes of the graph over the kernel's arguments.
    pub fn sizes(&mut self, shape: &Shape) -> Vec<Expr> {
        shape.iter().map(|size| self.size(size)).collect()
    }

    /// The buffer of an input and the position of an index in it. A complex input is a buffer of parts; the position is that
    /// of the real one.
    pub fn input_address(&mut self, input: usize, index: &[Expr]) -> (Buffer, Expr) {
        let val = self.group.view.inputs()[input];
        let dtype = self.group.graph.dtype(val).real();
        let buffer = self.buffer(BufferSource::Input(input), dtype, Access::Read);
        let stride = |axis: usize| KernelArgument::Stride { input, axis };
        (buffer, self.position(val, index, &self.group.layouts[input], &stride))
    }

    /// The buffer of a stored value and the position of an index in it, as of an input.
    pub fn store_address(&mut self, store: usize, val: Val, index: &[Expr]) -> (Buffer, Expr) {
        let dtype = self.group.graph.dtype(val).real();
        let buffer = self.buffer(BufferSource::Store(store), dtype, Access::Write);
        let stride = |axis: usize| KernelArgument::StoreStride { store, axis };
        (buffer, self.position(val, index, &self.group.stores[store], &stride))
    }

    /// The position of an index in memory of this layout; `any` says which argument holds a stride.
    fn position(
        &mut self,
        val: Val,
        index: &[Expr],
        layout: &LayoutClass,
        any: &dyn Fn(usize) -> KernelArgument,
    ) -> Expr {
        let parts = parts(self.group.graph.dtype(val));
        let LayoutClass::Strided(strides) = layout else {
            let shape = self.group.graph.shape(val).clone();
            let sizes = self.sizes(&shape);
            let in_memory = |of: &[Expr]| layout.in_memory(of).expect("only strides leave gaps");
            return self.recombined(&(row_major(&in_memory(index), &in_memory(&sizes)) * parts));
        };
        let mut position = Expr::zero();
        for (axis, (index, stride)) in index.iter().zip(strides).enumerate() {
            let stride = match stride {
                _ if index.is_zero() => continue,
                Stride::Zero => continue,
                Stride::One => Expr::one(),
                Stride::Any => self.argument(any(axis)),
            };
            position = position + index.clone() * stride;
        }
        self.recombined(&(position * parts))
    }
}

/// Whether neighbours along a loop are neighbours in memory.
pub(crate) fn is_unit(position: &Expr, var: Sym) -> bool {
    position.split_linear(var).is_some_and(|(step, _)| step.is_one())
}
