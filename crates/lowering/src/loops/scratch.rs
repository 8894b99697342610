//! Scratch arrays over axes: their sizes, the position of the open loops in them, and when lanes must wait.

use index::Expr;
use kernel::Scratch;
use ops::DType;

use super::LoopEmitter;
use crate::address::row_major;
use crate::emitter::Emitter;
use space::Axis;

impl LoopEmitter<'_> {
    /// A new scratch array over these axes, each element for one lane alone or for all.
    pub fn array(&mut self, dtype: DType, dims: &[Axis], private: bool) -> Scratch {
        let sizes = self.dim_sizes(dims);
        let len = sizes.iter().fold(Expr::one(), |n, size| n * size.clone());
        if private {
            self.emitter.builder.private(dtype, len)
        } else {
            self.emitter.builder.scratch(dtype, len)
        }
    }

    /// Whether an array over these axes is private, if the schedule wants that.
    pub fn is_private(&self, dims: &[Axis]) -> bool {
        let schedule = self.emitter.group.schedule;
        schedule.private && schedule.lane.is_some_and(|lane| dims == [lane])
    }

    /// A barrier, unless there is one lane or all arrays are private.
    pub fn barrier(&mut self) {
        let Emitter { builder, group, .. } = &mut self.emitter;
        let is_own = group.schedule.private && builder.kernel.scratch.values().all(|array| array.private);
        if !is_own && !builder.in_lanes() {
            builder.barrier();
        }
    }

    /// Before an array is filled again: lanes may still read what the previous iteration left there.
    pub fn iteration_barrier(&mut self) {
        if self.emitter.builder.innermost() > 0 {
            self.barrier();
        }
    }

    /// Sizes of the axes of an array: a block holds only its own chunk of an axis that blocks divide, and no more of a
    /// shorter axis than exists.
    fn dim_sizes(&mut self, dims: &[Axis]) -> Vec<Expr> {
        let group = self.emitter.group;
        dims.iter()
            .map(|&axis| match group.schedule.chunk(axis) {
                Some(1) => Expr::one(),
                chunk => {
                    let extent = self.emitter.size(&group.schedule.extent(group.witness, axis));
                    chunk.map_or(extent.clone(), |chunk| Expr::min(&Expr::constant(chunk as i64), &extent))
                }
            })
            .collect()
    }

    /// The position in an array over `dims` at the open loops.
    pub fn dim_index(&mut self, dims: &[Axis]) -> Expr {
        let sizes = self.dim_sizes(dims);
        let index: Vec<Expr> = dims
            .iter()
            .map(|axis| {
                let var = self.iteration(*axis);
                self.open_loops.chunks.get(axis).map_or(var.clone(), |(begin, ..)| var - begin.clone())
            })
            .collect();
        row_major(&index, &sizes)
    }
}
