//! The execution plan: a compiler's plan as a flat list of steps, with all names resolved to small numbers.
//!
//! Takes a plan of the compiler (or a whole fusion for the evaluator); gives steps that allocate, launch, evaluate, copy
//! and free. A value is freed after the last step that reads it, so that later ones reuse its memory. Nothing is run
//! here, and no machine is known.

use compiler::lower::{Argument, BufferSource, Lowered, LoweredSegment};
use compiler::placement::{Placement, placements};
use compiler::segment::{LibraryCall, Seen, Source, Witness};
use compiler::{Decision, Plan};
use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl};
use ir::graph::{Axes, Form, Fusion, Graph, Library, Node, Output, Val};
use ir::index::{Expr, Sym};
use ir::kernel::Kernel;
use ir::{DType, Scalar};
use rustc_hash::FxHashMap;

use crate::formulas::{Formula, Formulas};

/// A tensor that a call touches: an input, an output, a value between segments, or memory between two kernels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(u32);
entity_impl!(Slot, "s");

/// What is known of a slot.
#[derive(Clone, Debug)]
pub struct SlotData {
    /// Element type.
    pub dtype: DType,
    /// Sizes.
    pub shape: Vec<Formula>,
    /// The order of its axes in memory, where it is not row-major. There are no gaps.
    pub placement: Option<Placement>,
    /// The input, by number, in whose memory it may be made at once, if the call may write there.
    pub in_place: Option<usize>,
}

/// One step of a call.
#[derive(Clone, Debug)]
pub enum Step {
    /// Gives a slot memory.
    Allocate(Slot),
    /// Sets fault words to say that there is no fault.
    Arm(Slot),
    /// Runs all blocks of a kernel.
    Launch(Launch),
    /// Has the evaluator compute a segment.
    Evaluate(Evaluation),
    /// Has a library of the machine compute a node.
    Library(LibraryStep),
    /// Copies a slot into another of the same type.
    Copy {
        /// What is read.
        from: Slot,
        /// What is written.
        to: Slot,
    },
    /// Gives the memory of a slot back.
    Free(Slot),
}

/// A kernel with its operands.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The kernel, by position in [`ExecutionPlan::kernels`].
    pub kernel: usize,
    /// Its arguments, in order.
    pub arguments: Vec<ArgumentSource>,
    /// Its buffers, in order.
    pub buffers: Vec<Slot>,
    /// Which segment it belongs to.
    pub segment: usize,
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
    /// Its inputs, in order.
    pub inputs: Vec<Slot>,
    /// The places of its outputs, in order.
    pub outputs: Vec<Slot>,
    /// Which segment it is.
    pub segment: usize,
}

/// A node for a library, with its operands.
#[derive(Clone, Debug)]
pub struct LibraryStep {
    /// What it computes.
    pub op: Library,
    /// Its first result in the graph.
    pub val: Val,
    /// Its operands, in order.
    pub operands: Vec<SeenSlot>,
    /// The places of all its results, in order.
    pub results: Vec<Slot>,
    /// Which segment it is.
    pub segment: usize,
}

/// A tensor as an operand sees it.
#[derive(Clone, Debug)]
pub struct SeenSlot {
    /// What is seen.
    pub source: SlotSource,
    /// What changes how it is seen, the first one first.
    pub changes: Vec<Change>,
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

/// A change of how a tensor is seen, which strides can say.
#[derive(Clone, Debug)]
pub enum Change {
    /// Axis `i` is axis `order[i]`.
    Permute(Axes),
    /// New axes of size 1 where the flag is true.
    Broadcast(Vec<bool>),
    /// Axes of size 1 repeated to these sizes.
    Expand(Vec<Formula>),
    /// These axes, of size 1, dropped.
    Squeeze(Axes),
}

/// A segment as the runtime sees it.
#[derive(Clone, Debug)]
pub struct Segment {
    /// `seg0`, `seg1`, …
    pub name: String,
    /// What it computes.
    pub view: Fusion,
    /// Why the evaluator runs it, if it does.
    pub evaluator_reason: Option<String>,
    /// What a library computes of it, if one does.
    pub library: Option<&'static str>,
}

/// A fusion as a list of steps.
#[derive(Clone, Debug)]
pub struct ExecutionPlan {
    /// The container of the segments' views.
    pub graph: Graph,
    /// The segments, in the order they run.
    pub segments: Vec<Segment>,
    /// The kernels, in the order they run.
    pub kernels: Vec<Kernel>,
    /// The steps in order.
    pub steps: Vec<Step>,
    /// The tensors that the steps touch.
    pub slots: PrimaryMap<Slot, SlotData>,
    /// The slots of the fusion's inputs, in order.
    pub inputs: Vec<Slot>,
    /// The slots of the fusion's outputs, in order, all different and none of them an input's.
    pub outputs: Vec<Slot>,
    /// For each output the number of the input that it is written to.
    pub aliases: Vec<Option<usize>>,
    /// The fault words of segments whose kernels check indices, to be looked at when all steps are done.
    pub faults: Vec<FaultWords>,
    /// The expressions that a call needs the values of.
    pub formulas: Formulas,
    /// What the values that check indices were in the definition.
    origins: FxHashMap<Val, Val>,
}

/// The fault words of a segment.
#[derive(Clone, Debug)]
pub struct FaultWords {
    /// Their slot, of dtype i64.
    pub slot: Slot,
    /// What each of them is about.
    pub words: Vec<Checked>,
}

/// A value whose indices are checked.
#[derive(Clone, Copy, Debug)]
pub struct Checked {
    /// The value in the definition.
    pub val: Val,
    /// Which axis the indices are on.
    pub axis: usize,
    /// The size of that axis.
    pub size: Formula,
}

impl ExecutionPlan {
    /// The steps of a compiler's plan.
    pub fn new(plan: &Plan) -> ExecutionPlan {
        let mut builder = Builder::new(&plan.graph, &plan.fusion, plan.placements.clone());
        builder.plan.origins = origins(plan);
        for segment in &plan.segments {
            match &segment.decision {
                Decision::Kernels(kernels) => {
                    builder.add_kernels(&segment.name, &segment.view, &kernels.witness, &kernels.lowered);
                }
                Decision::Library(call) => builder.add_library(&segment.name, &segment.view, call),
                Decision::Evaluate { reason, .. } => {
                    builder.add_evaluation(&segment.name, &segment.view, reason)
                }
            }
        }
        // A call that ends in an error leaves the inputs as they were, so what may is written to them at the end.
        let may_fail = plan.fusion.order().iter().any(|&node| checks_indices(&plan.graph.node(node).form));
        builder.finish(&plan.fusion, &|output| !may_fail && plan.stores_in_place(output))
    }

    /// A whole fusion as one segment for the evaluator.
    pub fn evaluated(graph: &Graph, fusion: &Fusion, reason: &str) -> ExecutionPlan {
        let mut builder = Builder::new(graph, fusion, placements(graph, fusion, &[]));
        let computed = fusion.outputs().iter().filter(|output| !fusion.is_input(output.val));
        let mut outputs: Vec<_> = computed.map(|output| output.val).collect();
        outputs.sort_unstable();
        outputs.dedup();
        if !outputs.is_empty() {
            let outputs = outputs.into_iter().map(Into::into).collect();
            let view = Fusion::new(graph, fusion.inputs().to_vec(), outputs, fusion.facts().clone())
                .expect("the fusion without its copies is closed");
            builder.add_evaluation("whole", &view, reason);
        }
        builder.finish(fusion, &|_| false)
    }
}

/// Whether a form may find an index out of range.
fn checks_indices(form: &Form) -> bool {
    matches!(form, Form::Gather(_) | Form::Library(Library::Scatter(_)))
}

/// What the values of a plan that check indices were in its definition: of several that became one, the first.
fn origins(plan: &Plan) -> FxHashMap<Val, Val> {
    let mut origins: FxHashMap<Val, Val> = FxHashMap::default();
    for (old, new) in plan.map.iter().filter(|&(_, new)| checks_indices(plan.graph.form(new))) {
        let first = origins.entry(new).or_insert(old);
        *first = old.min(*first);
    }
    origins
}

/// The slots of a segment's operands.
struct SegmentSlots {
    inputs: Vec<Slot>,
    stores: Vec<Slot>,
    temporaries: Vec<Slot>,
    faults: Option<Slot>,
}

/// An execution plan in the making.
struct Builder {
    plan: ExecutionPlan,
    /// Where the values are that exist so far.
    places: FxHashMap<Val, Slot>,
    /// The values that do not lie row-major.
    placements: FxHashMap<Val, Placement>,
}

impl Builder {
    fn new(graph: &Graph, fusion: &Fusion, placements: FxHashMap<Val, Placement>) -> Builder {
        let plan = ExecutionPlan {
            graph: graph.clone(),
            segments: Vec::new(),
            kernels: Vec::new(),
            steps: Vec::new(),
            slots: PrimaryMap::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            aliases: fusion.outputs().iter().map(|output| output.alias.map(|input| input as usize)).collect(),
            faults: Vec::new(),
            formulas: Formulas::default(),
            origins: FxHashMap::default(),
        };
        let mut builder = Builder { plan, places: FxHashMap::default(), placements };
        for &val in fusion.inputs() {
            let slot = builder.slot_of(val);
            builder.plan.inputs.push(slot);
        }
        builder
    }

    /// A new slot.
    fn slot<'e>(&mut self, dtype: DType, shape: impl IntoIterator<Item = &'e Expr>) -> Slot {
        let formulas = &mut self.plan.formulas;
        let shape = shape.into_iter().map(|size| formulas.intern(size)).collect();
        self.plan.slots.push(SlotData { dtype, shape, placement: None, in_place: None })
    }

    /// A new slot for a value, which later readers of the value find.
    fn slot_of(&mut self, val: Val) -> Slot {
        let ty = self.plan.graph.ty(val).clone();
        let slot = self.slot(ty.dtype, &ty.shape);
        self.plan.slots[slot].placement = self.placements.get(&val).cloned();
        self.places.insert(val, slot);
        slot
    }

    fn allocate(&mut self, slot: Slot) -> Slot {
        self.plan.steps.push(Step::Allocate(slot));
        slot
    }

    fn inputs_of(&self, view: &Fusion) -> Vec<Slot> {
        let place = |val: &Val| *self.places.get(val).expect("a segment runs after those that it reads");
        view.inputs().iter().map(place).collect()
    }

    fn add_segment(&mut self, name: &str, view: &Fusion, evaluator_reason: Option<&str>) -> usize {
        let evaluator_reason = evaluator_reason.map(str::to_owned);
        let (name, view) = (name.to_owned(), view.clone());
        self.plan.segments.push(Segment { name, view, evaluator_reason, library: None });
        self.plan.segments.len() - 1
    }

    fn add_evaluation(&mut self, name: &str, view: &Fusion, reason: &str) {
        let segment = self.add_segment(name, view, Some(reason));
        let inputs = self.inputs_of(view);
        let slots: Vec<Slot> = view.outputs().iter().map(|output| self.slot_of(output.val)).collect();
        let outputs = slots.into_iter().map(|slot| self.allocate(slot)).collect();
        self.plan.steps.push(Step::Evaluate(Evaluation { inputs, outputs, segment }));
    }

    fn add_library(&mut self, name: &str, view: &Fusion, call: &LibraryCall) {
        let segment = self.add_segment(name, view, None);
        self.plan.segments[segment].library = Some(call.op.name());
        let inputs = self.inputs_of(view);
        let operands = call.operands.iter().map(|seen| self.seen(seen, &inputs)).collect();
        let results: Vec<Val> = self.plan.graph.results(call.node).collect();
        let results = results.into_iter().map(|val| self.slot_of(val)).collect::<Vec<Slot>>();
        results.iter().for_each(|&slot| {
            self.allocate(slot);
        });
        self.plan.steps.push(Step::Library(LibraryStep {
            op: call.op.clone(),
            val: call.node.into(),
            operands,
            results,
            segment,
        }));
    }

    fn seen(&mut self, seen: &Seen, inputs: &[Slot]) -> SeenSlot {
        let source = match &seen.source {
            Source::Input(place) => SlotSource::Slot(inputs[*place]),
            Source::Constant(scalar) => SlotSource::Constant(*scalar),
            Source::Size(size) => SlotSource::Size(self.plan.formulas.intern(size)),
        };
        let ExecutionPlan { graph, formulas, .. } = &mut self.plan;
        let change = |&node: &Node| match &graph.node(node).form {
            Form::Permute(order) => Change::Permute(order.clone()),
            Form::Broadcast(new) => Change::Broadcast(new.to_vec()),
            Form::Expand(sizes) => Change::Expand(sizes.iter().map(|size| formulas.intern(size)).collect()),
            Form::Squeeze(axes) => Change::Squeeze(axes.clone()),
            form => unreachable!("{form:?} is more than a change of how a tensor is seen"),
        };
        SeenSlot { source, changes: seen.changes.iter().map(change).collect() }
    }

    fn add_kernels(&mut self, name: &str, view: &Fusion, witness: &Witness, lowered: &LoweredSegment) {
        let segment = self.add_segment(name, view, None);
        let inputs = self.inputs_of(view);
        let stores: Vec<Slot> = witness.stores.iter().map(|store| self.slot_of(store.val)).collect();
        let temporaries: Vec<Slot> =
            lowered.temporaries.iter().map(|memory| self.slot(memory.dtype, [&memory.len])).collect();
        let faults = self.fault_words(&lowered.checked);
        for &slot in stores.iter().chain(&temporaries) {
            self.allocate(slot);
        }
        let slots = SegmentSlots { inputs, stores, temporaries, faults };
        for kernel in &lowered.kernels {
            let launch = self.launch(kernel, segment, &slots);
            self.plan.steps.push(Step::Launch(launch));
        }
    }

    /// Fault words for values whose indices are checked, if there are any.
    fn fault_words(&mut self, checked: &[Val]) -> Option<Slot> {
        let count = Expr::constant(checked.len() as i64);
        let slot = (!checked.is_empty()).then(|| self.slot(DType::I64, [&count]))?;
        self.allocate(slot);
        self.plan.steps.push(Step::Arm(slot));
        let words = checked.iter().map(|&val| self.checked(val)).collect();
        self.plan.faults.push(FaultWords { slot, words });
        Some(slot)
    }

    fn checked(&mut self, val: Val) -> Checked {
        let graph = &self.plan.graph;
        let &Form::Gather(axis) = graph.form(val) else { unreachable!("gathers check indices") };
        let axis = usize::from(axis);
        let size = graph.shape(graph.operands(val)[0])[axis].clone();
        Checked { val: self.plan.origin(val), axis, size: self.plan.formulas.intern(&size) }
    }

    fn launch(&mut self, lowered: &Lowered, segment: usize, slots: &SegmentSlots) -> Launch {
        let arguments = lowered.arguments.iter().map(|argument| match *argument {
            Argument::Size(sym) => ArgumentSource::Size(self.plan.formulas.intern(&Expr::sym(sym))),
            Argument::Stride { input, axis } => ArgumentSource::Stride(slots.inputs[input], axis),
            Argument::StoreStride { store, axis } => ArgumentSource::Stride(slots.stores[store], axis),
        });
        let arguments = arguments.collect();
        let buffers = lowered.buffers.iter().map(|source| match *source {
            BufferSource::Input(place) => slots.inputs[place],
            BufferSource::Store(place) => slots.stores[place],
            BufferSource::Temporary(place) => slots.temporaries[place],
            BufferSource::Faults => slots.faults.expect("a kernel reports what its segment checks"),
        });
        let buffers = buffers.collect();
        self.plan.kernels.push(lowered.kernel.clone());
        Launch { kernel: self.plan.kernels.len() - 1, arguments, buffers, segment }
    }

    /// Adds the outputs, copied where a value is an input, was given back before or lies in another order, and the frees.
    /// In-place outputs come first, so that what is written to an input is what a kernel has made.
    fn finish(mut self, fusion: &Fusion, stores_in_place: &dyn Fn(usize) -> bool) -> ExecutionPlan {
        let outputs = fusion.outputs();
        let mut slots: Vec<Option<Slot>> = vec![None; outputs.len()];
        let (in_place, others): (Vec<usize>, Vec<usize>) =
            (0..outputs.len()).partition(|&number| outputs[number].alias.is_some());
        for number in in_place.into_iter().chain(others) {
            let Output { val, alias, order } = &outputs[number];
            let from = *self.places.get(val).expect("every output is an input or made by a segment");
            let wanted = (!order.is_empty()).then(|| Placement::Ordered(order.clone()));
            let is_taken = self.plan.inputs.contains(&from) || slots.contains(&Some(from));
            slots[number] =
                Some(if is_taken || (alias.is_none() && self.plan.slots[from].placement != wanted) {
                    self.copied(from, *val, wanted)
                } else {
                    let alias = self.plan.aliases[number].filter(|_| stores_in_place(number));
                    self.plan.slots[from].in_place = alias;
                    from
                });
        }
        self.plan.outputs = slots.into_iter().flatten().collect();
        self.plan.free_the_dead();
        self.plan
    }

    /// A copy of a slot.
    fn copied(&mut self, from: Slot, val: Val, placement: Option<Placement>) -> Slot {
        let ty = self.plan.graph.ty(val).clone();
        let to = self.slot(ty.dtype, &ty.shape);
        self.plan.slots[to].placement = placement;
        self.allocate(to);
        self.plan.steps.push(Step::Copy { from, to });
        to
    }
}

impl Step {
    /// The slots that the step reads or writes.
    pub fn slots(&self) -> Vec<Slot> {
        match self {
            Step::Allocate(slot) | Step::Arm(slot) | Step::Free(slot) => vec![*slot],
            Step::Launch(launch) => launch.buffers.clone(),
            Step::Evaluate(evaluation) => {
                evaluation.inputs.iter().chain(&evaluation.outputs).copied().collect()
            }
            Step::Library(step) => step.slots(),
            Step::Copy { from, to } => vec![*from, *to],
        }
    }
}

impl LibraryStep {
    fn slots(&self) -> Vec<Slot> {
        let read = self.operands.iter().filter_map(|operand| match operand.source {
            SlotSource::Slot(slot) => Some(slot),
            SlotSource::Constant(_) | SlotSource::Size(_) => None,
        });
        read.chain(self.results.iter().copied()).collect()
    }
}

impl ExecutionPlan {
    /// What a value that checks indices was in the definition.
    pub(crate) fn origin(&self, val: Val) -> Val {
        self.origins.get(&val).copied().unwrap_or(val)
    }

    /// Frees each slot after the last step that touches it, but for inputs, outputs and fault words.
    fn free_the_dead(&mut self) {
        let mut last: SecondaryMap<Slot, usize> = SecondaryMap::new();
        for (number, step) in self.steps.iter().enumerate() {
            step.slots().into_iter().for_each(|slot| last[slot] = number);
        }
        let stays = |slot: &Slot| {
            self.inputs.contains(slot)
                || self.outputs.contains(slot)
                || self.faults.iter().any(|faults| faults.slot == *slot)
        };
        let mut dying: Vec<Vec<Slot>> = vec![Vec::new(); self.steps.len()];
        for slot in self.slots.keys().filter(|slot| !stays(slot)) {
            if let Some(list) = dying.get_mut(last[slot]) {
                list.push(slot);
            }
        }
        let steps = std::mem::take(&mut self.steps);
        for (step, dying) in steps.into_iter().zip(dying) {
            self.steps.push(step);
            self.steps.extend(dying.into_iter().map(Step::Free));
        }
    }

    /// The value of a kernel's own symbol, if it is one of its arguments.
    pub(crate) fn argument_of(kernel: &Kernel, arguments: &[i64], sym: Sym) -> Option<i64> {
        let place = kernel.arguments.iter().position(|&argument| argument == sym)?;
        arguments.get(place).copied()
    }
}
