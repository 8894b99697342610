//! What lowering gives: the kernels of a segment, and what each of their arguments and buffers is.

use index::Expr;
use ir::graph::Val;
use kernel::Kernel;
use ops::DType;

/// The meaning of a kernel's i64 argument.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum KernelArgument {
    /// The value of a size symbol of the graph, or a known size.
    Size(Expr),
    /// The stride of an axis of an input of the segment, in elements.
    Stride {
        /// Position among the segment's inputs.
        input: usize,
        axis: usize,
    },
    /// The stride of an axis of a stored value, in elements.
    StoreStride {
        /// Position among the witness's stores.
        store: usize,
        axis: usize,
    },
}

/// The meaning of a kernel's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferSource {
    /// An input of the segment, by position.
    Input(usize),
    /// A value that the segment stores, by position in the witness's stores.
    Store(usize),
    /// A temporary of the segment, by position.
    Temporary(usize),
    /// The fault words of the segment, one for each of [`LoweredSegment::checked`].
    Faults,
}

/// Memory that lives while a segment runs: partial results of folds that cross blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Temporary {
    pub dtype: DType,
    /// Number of elements, over the graph's size symbols.
    pub len: Expr,
}

/// A kernel and the arguments to call it with.
#[derive(Clone, Debug, PartialEq)]
pub struct Lowered {
    pub kernel: Kernel,
    /// What each of its arguments is.
    pub arguments: Vec<KernelArgument>,
    /// What each of its buffers is.
    pub buffers: Vec<BufferSource>,
}

/// The kernels of a segment, to be run one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoweredSegment {
    /// The main kernel, then the combine steps.
    pub kernels: Vec<Lowered>,
    /// Memory they share.
    pub temporaries: Vec<Temporary>,
    /// The values whose indices the kernels check, each with a fault word of its number.
    pub checked: Vec<Val>,
}
