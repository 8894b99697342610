//! Lowering: a legal group and a schedule become kernel programs. Decides nothing: the witness says what is possible, the
//! schedule what is chosen.
//!
//! A kernel is emitted in layers, each a type that owns the one below and derefs to it (`layer`):
//!
//! | layer | emits | from |
//! |---|---|---|
//! | `Nest`, `CombineKernel` | a kernel: its loops and stages; the second kernel of folds that cross blocks | `nest`, `combine` |
//! | `FoldEmitter` | folds: opened, fed, closed | `fold`; `states` are theirs and those of scans |
//! | `ValueEmitter` | a value at an index, from its operands at theirs | `value` |
//! | `AccessEmitter` | loads and stores, with tiles and prefetches | `access`; `address` is from an index to memory |
//! | `LoopEmitter` | loops: rows walked together, subranges, strips | `loops` |
//! | `Emitter` | statements in the outermost loop where their operands are known | `emitter` |
//!
//! `counted` finds the gathers whose indices are never out of range. `ring` rewrites the emitted loop over rows if they are
//! loaded an iteration ahead. `names` names buffers and strides after values.

mod access;
mod address;
mod combine;
mod counted;
mod emitter;
mod fold;
mod layer;
mod loops;
mod names;
mod nest;
mod ring;
mod states;
mod value;

pub use fold::temporaries;

use index::Expr;
use ir::graph::{Fusion, Graph, TensorOp, Val};
use kernel::Kernel;
use ops::DType;

use self::counted::Counted;
use crate::legal::Witness;
use crate::schedule::{Schedule, ScheduleError};
use ir::layout::LayoutClass;

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

/// The values of a view whose indices are data and may be out of range.
pub(crate) fn checked(graph: &Graph, view: &Fusion) -> Vec<Val> {
    let gathers = view.order().iter().filter(|node| matches!(graph.node(**node).op, TensorOp::Gather(_)));
    let is_checked = |gather: &Val| Counted::of(graph, view.facts(), *gather).is_none();
    gathers.map(|&node| node.into()).filter(is_checked).collect()
}

/// A group to lower, with the decisions about it.
#[derive(Clone, Copy, Debug)]
pub struct Group<'a> {
    pub graph: &'a Graph,
    /// What the group takes, gives and computes.
    pub view: &'a Fusion,
    pub witness: &'a Witness,
    pub schedule: &'a Schedule,
    /// The layouts of its inputs.
    pub layouts: &'a [LayoutClass],
    /// The layouts of its stores, in the order of the witness.
    pub stores: &'a [LayoutClass],
    /// Whether known sizes are arguments too, so that the kernels serve similar segments of other sizes. Only for groups
    /// that map elements: others rely on known sizes.
    pub general: bool,
    /// A C identifier that the kernels are named after.
    pub name: &'a str,
}

/// The kernels of a group.
///
/// # Errors
/// When the schedule does not fit the witness; a schedule that fits is always lowered.
pub fn lower(group: &Group<'_>) -> Result<LoweredSegment, ScheduleError> {
    group.schedule.check(group.witness)?;
    let mut main = nest::main_kernel(group);
    if let Some(ring) = group.schedule.ring {
        ring::pipeline(&mut main.kernel, ring);
    }
    let mut kernels = vec![main];
    kernels.extend(combine::steps(group).map(|step| combine::kernel(group, &step)));
    let checked = checked(group.graph, group.view);
    Ok(LoweredSegment { kernels, temporaries: temporaries(group), checked })
}
