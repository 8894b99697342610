//! Where the arrays of a kernel are: in registers, or in the scratch of its blocks.

use kernel::{Kernel, ScratchLayout};

use super::dialect::Dialect;
use super::registers::{Registers, registers};

/// The places of a kernel's arrays.
pub(super) struct Arrays {
    /// Those in registers.
    pub(super) registers: Registers,
    /// The layout of the others.
    pub(super) layout: ScratchLayout,
}

impl Arrays {
    /// The places of a kernel's arrays in a dialect.
    pub(super) fn of(kernel: &Kernel, dialect: &Dialect) -> Arrays {
        let registers = registers(kernel, dialect.vectors.most_private);
        let layout = ScratchLayout::of(kernel, |array| registers.get(array).is_none());
        Arrays { registers, layout }
    }
}
