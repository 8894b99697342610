//! The execution plan: a compiler's plan as a flat list of steps, with all names resolved to small numbers.
//!
//! Takes a plan of the compiler (or a whole fusion for the evaluator); returns steps that allocate, launch, evaluate, copy
//! and free. A value is freed after the last step that reads it, so that later ones reuse its memory. Nothing is run here,
//! and no machine is known.

mod build;
mod reuse;

use compiler::outputs::Placement;
use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl};
use ir::array::{Dims, Layout};
use ir::graph::{Axes, ExternalOp, Formula, Formulas, Fusion, Graph, Val};
use kernel::{Access, Kernel};
use ops::{DType, Scalar};
use rustc_hash::FxHashMap;

pub use build::checks_indices;
pub use reuse::ReuseDistances;

/// A tensor that a call touches: an input, an output, a value between segments, or memory between two kernels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(u32);
entity_impl!(Slot, "s");

/// What is known of a slot.
#[derive(Clone, Debug)]
pub struct SlotData {
    pub dtype: DType,
    pub shape: Vec<Formula>,
    /// The order of its axes in memory, where it is not row-major. There are no gaps.
    pub placement: Option<Placement>,
    /// The number of the input in whose memory it may be made, if the call may write there.
    pub in_place: Option<usize>,
    /// Whether a step frees it.
    pub is_freed: bool,
}

/// One step of a call.
#[derive(Clone, Debug)]
pub enum Step {
    /// Gives a slot memory.
    Allocate(Slot),
    /// Gives fault words memory, initialized to no fault.
    InitFaults(Slot),
    /// Runs all blocks of a kernel, for one segment or for all of a batch.
    Launch(Launch),
    /// Has the evaluator compute a segment.
    Evaluate(Evaluation),
    /// Has a library of the machine compute a node.
    External(ExternalStep),
    /// Copies a slot into another of the same type.
    Copy { from: Slot, to: Slot },
    /// Gives the memory of a slot back.
    Free(Slot),
}

/// A kernel with its operands: those of its segment, or of each segment of a batch.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The kernel, by position in [`ExecutionPlan::kernels`].
    pub kernel: usize,
    /// The operands of each segment, of which there is at least one. No segment writes a slot that another one touches.
    pub members: Vec<Operands>,
}

/// The operands of a kernel for one segment.
#[derive(Clone, Debug)]
pub struct Operands {
    /// The name of the segment's own kernel, which is equal except for names.
    pub name: String,
    pub arguments: Vec<ArgumentSource>,
    pub buffers: Vec<Slot>,
    /// How many blocks there are.
    pub blocks: Formula,
    /// Elements of each scratch array of the kernel, in order.
    pub scratch: Vec<Formula>,
    /// The computations, for the number of operations.
    pub work: Vec<Work>,
    /// Which segment they belong to.
    pub segment: usize,
}

/// A number of operations on each of some elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// Sizes whose product is the number of elements.
    pub elements: Vec<Formula>,
    pub operations: u64,
}

/// Where the value of a kernel's argument comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentSource {
    /// A size.
    Size(Formula),
    /// The stride of an axis of a slot, in elements.
    Stride(Slot, usize),
}

/// A segment for the evaluator, with its operands.
#[derive(Clone, Debug)]
pub struct Evaluation {
    pub inputs: Vec<Slot>,
    /// The places of its outputs, in order.
    pub outputs: Vec<Slot>,
    pub segment: usize,
}

/// A node for a library, with its operands.
#[derive(Clone, Debug)]
pub struct ExternalStep {
    pub op: ExternalOp,
    /// Its first result in the graph.
    pub val: Val,
    pub operands: Vec<ViewedSlot>,
    /// The places of all its results, in order.
    pub results: Vec<Slot>,
    pub segment: usize,
}

/// An operand as a view of a tensor.
#[derive(Clone, Debug)]
pub struct ViewedSlot {
    /// The tensor that is viewed.
    pub source: SlotSource,
    /// The view ops, the first one first.
    pub view_ops: Vec<ViewOp>,
}

/// Where the elements of an operand are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SlotSource {
    /// In a slot.
    Slot(Slot),
    /// They are this constant.
    Constant(Scalar),
    /// They are this size.
    Size(Formula),
}

/// A view op on a tensor: strides can express its result.
#[derive(Clone, Debug)]
pub enum ViewOp {
    /// Axis `i` is axis `order[i]`.
    Permute(Axes),
    /// New axes of size 1 where the flag is true.
    Broadcast(Vec<bool>),
    /// Axes of size 1 repeated to these sizes.
    Expand(Vec<Formula>),
    /// These axes, of size 1, dropped.
    Squeeze(Axes),
    /// A box of the tensor.
    Slice {
        /// First index per axis.
        starts: Vec<Formula>,
        /// Size per axis.
        sizes: Vec<Formula>,
    },
    /// Axes split, or joined if one stride serves both.
    Reshape(Vec<Formula>),
}

/// An output of a call.
#[derive(Clone, Debug)]
pub struct Returned {
    /// Where its elements are: in an input, or in a slot of this output alone.
    pub slot: Slot,
    /// The number of the input that it is a view of.
    pub input: Option<usize>,
    /// The view ops on the slot, the first one first.
    pub view_ops: Vec<ViewOp>,
    /// The number of the input that it is written to.
    pub alias: Option<usize>,
    /// The number of the input to which the same value is written as another output: then this output is a view of that
    /// input.
    pub twin: Option<usize>,
}

/// A segment as the runtime sees it.
#[derive(Clone, Debug)]
pub struct ExecutedSegment {
    /// `seg0`, `seg1`, …
    pub name: String,
    /// The nodes that it computes.
    pub view: Fusion,
    /// Why the evaluator runs it, if it does.
    pub evaluator_reason: Option<String>,
    /// The external op that it is, if any.
    pub external_op: Option<&'static str>,
}

/// A fusion as a list of steps.
#[derive(Clone, Debug)]
pub struct ExecutionPlan {
    /// The container of the segments' views.
    pub graph: Graph,
    /// The segments, in the order they run.
    pub segments: Vec<ExecutedSegment>,
    /// The kernels, in the order they run.
    pub kernels: Vec<Kernel>,
    pub steps: Vec<Step>,
    /// The tensors that the steps touch.
    pub slots: PrimaryMap<Slot, SlotData>,
    /// The slots of the fusion's inputs, in order.
    pub inputs: Vec<Slot>,
    /// The fusion's outputs, in order.
    pub outputs: Vec<Returned>,
    /// The fault words of segments whose kernels check indices, to be looked at when all steps are done.
    pub faults: Vec<FaultWords>,
    /// The expressions that a call needs the values of.
    pub formulas: Formulas,
    /// The definition's values for those that check indices.
    origins: FxHashMap<Val, Val>,
}

/// The fault words of a segment.
#[derive(Clone, Debug)]
pub struct FaultWords {
    /// Their slot, of dtype i64.
    pub slot: Slot,
    /// The value that each of them is about.
    pub words: Vec<Checked>,
}

/// A value whose indices are checked.
#[derive(Clone, Copy, Debug)]
pub struct Checked {
    /// The value in the definition.
    pub val: Val,
    /// The axis that the indices are on.
    pub axis: usize,
    /// The size of that axis.
    pub size: Formula,
}

impl ViewOp {
    /// The layout after this op, for these values of formulas.
    pub fn apply(&self, layout: &Layout, values: &PrimaryMap<Formula, i64>) -> Layout {
        let sizes = |sizes: &[Formula]| sizes.iter().map(|&size| values[size] as usize).collect::<Dims>();
        match self {
            ViewOp::Permute(order) => layout.permuted(order.iter().map(|&axis| axis as usize)),
            ViewOp::Broadcast(new) => layout.broadcast(new),
            ViewOp::Expand(to) => layout.expanded(&sizes(to)),
            ViewOp::Squeeze(axes) => {
                layout.permuted((0..layout.rank()).filter(|&axis| !axes.contains(&(axis as u8))))
            }
            ViewOp::Slice { starts, sizes: to } => layout.sliced(&sizes(starts), &sizes(to)),
            ViewOp::Reshape(to) => {
                layout.reshaped(&sizes(to)).expect("the compiler proved that strides can say it")
            }
        }
    }
}

impl Launch {
    /// About how many operations it has.
    pub fn all_operations(&self, values: &PrimaryMap<Formula, i64>) -> u64 {
        self.members.iter().map(|member| member.all_operations(values)).fold(0, u64::saturating_add)
    }

    /// The name of its kernel; of a batch the first and the last of the names.
    pub fn name(&self) -> String {
        match self.members.as_slice() {
            [first, .., last] => format!("{} .. {}", first.name, last.name),
            members => members.iter().map(|member| member.name.as_str()).collect(),
        }
    }

    fn buffers(&self) -> impl Iterator<Item = Slot> + '_ {
        self.members.iter().flat_map(|member| member.buffers.iter().copied())
    }
}

impl Operands {
    /// About how many operations are done with them.
    pub fn all_operations(&self, values: &PrimaryMap<Formula, i64>) -> u64 {
        let size = |&formula: &Formula| u64::try_from(values[formula]).unwrap_or(0);
        let of = |work: &Work| work.elements.iter().map(size).fold(work.operations, u64::saturating_mul);
        self.work.iter().map(of).fold(0, u64::saturating_add)
    }
}

impl Step {
    /// The slots that the step reads or writes.
    pub fn slots(&self) -> Vec<Slot> {
        match self {
            Step::Allocate(slot) | Step::InitFaults(slot) | Step::Free(slot) => vec![*slot],
            Step::Launch(launch) => launch.buffers().collect(),
            Step::Evaluate(evaluation) => {
                evaluation.inputs.iter().chain(&evaluation.outputs).copied().collect()
            }
            Step::External(step) => step.slots(),
            Step::Copy { from, to } => vec![*from, *to],
        }
    }
}

impl ExternalStep {
    fn slots(&self) -> Vec<Slot> {
        self.read().chain(self.results.iter().copied()).collect()
    }

    fn read(&self) -> impl Iterator<Item = Slot> + '_ {
        self.operands.iter().filter_map(|operand| match operand.source {
            SlotSource::Slot(slot) => Some(slot),
            SlotSource::Constant(_) | SlotSource::Size(_) => None,
        })
    }
}

impl ExecutionPlan {
    /// The name of a step where it is timed; `None` if its time is negligible.
    pub fn name_of(&self, step: &Step) -> Option<String> {
        match step {
            Step::Launch(launch) => Some(launch.name()),
            Step::Evaluate(evaluation) => Some(self.segments[evaluation.segment].name.clone()),
            Step::External(step) => Some(self.segments[step.segment].name.clone()),
            Step::Copy { .. } => Some("copy".to_owned()),
            Step::Allocate(_) | Step::InitFaults(_) | Step::Free(_) => None,
        }
    }

    /// The slots that a step reads.
    pub fn read_by(&self, step: &Step) -> Vec<Slot> {
        match step {
            Step::Launch(launch) => self.buffers(launch, Access::Read),
            Step::Evaluate(evaluation) => evaluation.inputs.clone(),
            Step::External(step) => step.read().collect(),
            Step::Copy { from, .. } => vec![*from],
            Step::Allocate(_) | Step::InitFaults(_) | Step::Free(_) => Vec::new(),
        }
    }

    /// The slots that a step writes.
    pub fn written_by(&self, step: &Step) -> Vec<Slot> {
        match step {
            Step::Launch(launch) => self.buffers(launch, Access::Write),
            Step::Evaluate(evaluation) => evaluation.outputs.clone(),
            Step::External(step) => step.results.clone(),
            Step::Copy { to, .. } => vec![*to],
            Step::Allocate(_) | Step::InitFaults(_) | Step::Free(_) => Vec::new(),
        }
    }

    fn buffers(&self, launch: &Launch, access: Access) -> Vec<Slot> {
        let buffers = self.kernels[launch.kernel].buffers.values().cycle().zip(launch.buffers());
        buffers.filter(|(decl, _)| decl.access == access).map(|(_, slot)| slot).collect()
    }

    /// The definition's value for one that checks indices.
    pub fn origin(&self, val: Val) -> Val {
        self.origins.get(&val).copied().unwrap_or(val)
    }

    /// Frees each slot after the last step that touches it, except for inputs, outputs and fault words.
    fn free_the_dead(&mut self) {
        let mut last: SecondaryMap<Slot, usize> = SecondaryMap::new();
        for (number, step) in self.steps.iter().enumerate() {
            step.slots().into_iter().for_each(|slot| last[slot] = number);
        }
        let stays = |slot: &Slot| {
            self.inputs.contains(slot)
                || self.outputs.iter().any(|output| output.slot == *slot)
                || self.faults.iter().any(|faults| faults.slot == *slot)
        };
        let mut dying: Vec<Vec<Slot>> = vec![Vec::new(); self.steps.len()];
        for slot in self.slots.keys().filter(|slot| !stays(slot)) {
            if let Some(list) = dying.get_mut(last[slot]) {
                list.push(slot);
            }
        }
        dying.iter().flatten().for_each(|&slot| self.slots[slot].is_freed = true);
        let steps = std::mem::take(&mut self.steps);
        for (step, dying) in steps.into_iter().zip(dying) {
            self.steps.push(step);
            self.steps.extend(dying.into_iter().map(Step::Free));
        }
    }
}
