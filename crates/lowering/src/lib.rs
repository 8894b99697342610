//! Lowering: a legal group and a schedule become kernel programs (`group` to `lowered`). Decides nothing: the witness says
//! what is possible, the schedule what is chosen.
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
mod group;
mod layer;
mod loops;
mod lowered;
mod names;
mod nest;
mod ring;
mod states;
mod value;

use scheduler::schedule::ScheduleError;

pub use fold::temporaries;
pub use group::Group;
pub use lowered::{BufferSource, KernelArgument, Lowered, LoweredSegment, Temporary};

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
    Ok(LoweredSegment { kernels, temporaries: temporaries(group), checked: group.checked() })
}
