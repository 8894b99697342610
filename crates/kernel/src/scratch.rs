//! Where scratch arrays lie in the memory of a block: one after the other, the widest elements first, so that each is
//! aligned without padding at any sizes. Each team has its own arrays.

use index::Expr;

use super::program::{Kernel, Scratch, VECTOR_BYTES};

/// The memory of a block.
pub struct ScratchLayout {
    /// Each array in memory with its first byte, over the arguments.
    pub offsets: Vec<(Scratch, Expr)>,
    /// Bytes from one team's arrays to the next one's.
    pub of_team: Expr,
    /// All bytes, over the arguments.
    pub bytes: Expr,
}

impl ScratchLayout {
    /// Places those of a kernel's scratch arrays that are in memory.
    pub fn of(kernel: &Kernel, is_in_memory: impl Fn(Scratch) -> bool) -> ScratchLayout {
        let mut arrays: Vec<Scratch> = kernel.scratch.keys().filter(|&array| is_in_memory(array)).collect();
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
}
