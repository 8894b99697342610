//! Where scratch arrays lie in the memory of a block: one after the other, the widest elements first, so that each is
//! aligned without padding whatever the sizes are.

use cranelift_entity::SecondaryMap;
use index::Expr;
use ir::kernel::{Kernel, Scratch, VECTOR_BYTES};

use super::registers::Held;

/// The memory of a block, for the arrays that do not lie in registers.
pub(super) struct ScratchLayout {
    /// Each scratch array with the byte where it begins, over the arguments.
    pub(super) offsets: Vec<(Scratch, Expr)>,
    /// Bytes from one team's arrays to the next one's.
    pub(super) of_team: Expr,
    /// All bytes, over the arguments.
    pub(super) bytes: Expr,
}

/// Places the kernel's scratch arrays, but for those in registers.
pub(super) fn layout(kernel: &Kernel, registers: &SecondaryMap<Scratch, Option<Held>>) -> ScratchLayout {
    let mut arrays: Vec<Scratch> =
        kernel.scratch.keys().filter(|&array| registers[array].is_none()).collect();
    arrays.sort_by_key(|&array| std::cmp::Reverse(kernel.scratch[array].dtype.size()));
    let mut bytes = Expr::zero();
    let mut offsets = Vec::with_capacity(arrays.len());
    for array in arrays {
        let decl = &kernel.scratch[array];
        offsets.push((array, bytes.clone()));
        bytes = bytes + &decl.len * decl.dtype.size() as i64;
    }
    let vector = i64::from(VECTOR_BYTES);
    let of_team = bytes.ceil_div(&Expr::constant(vector)) * vector;
    let bytes = if kernel.teams == 1 { bytes } else { of_team.clone() * i64::from(kernel.teams) };
    ScratchLayout { offsets, of_team, bytes }
}
