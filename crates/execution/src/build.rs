//! From a compiler's plan to the list of steps.

use std::collections::BTreeMap;

use compiler::outputs::{Placement, View};
use compiler::{Decision, Plan, SegmentPlan};
use cranelift_entity::PrimaryMap;
use index::{Expr, Sym};
use ir::graph::{ExternalOp, Formula, Formulas, Fusion, Graph, Node, Output, Shape, TensorOp, Val, ValMap};
use kernel::Stmt;
use lowering::{BufferSource, KernelArgument, Lowered, LoweredSegment, Temporary};
use ops::DType;
use rustc_hash::FxHashMap;
use segmenter::{ExternalCall, Source, ViewedOperand};

use super::{
    ArgumentSource, Checked, Evaluation, ExecutedSegment, ExecutionPlan, ExternalStep, FaultWords, Launch,
    Operands, Returned, Slot, SlotData, SlotSource, Step, ViewOp, ViewedSlot, Work,
};

impl ExecutionPlan {
    /// The steps of a compiler's plan.
    pub fn new(plan: &Plan) -> ExecutionPlan {
        let mut builder = Builder::new(&plan.graph, &plan.fusion, plan.placements.clone());
        builder.plan.origins = origins(&plan.map, &plan.graph);
        for batch in &plan.batches {
            builder.add_batch(&plan.segments[batch.clone()], &plan.lowered[batch.clone()]);
        }
        // A call that fails leaves the inputs unchanged, so if it may fail, they are written at the end.
        let may_fail = checks_indices(&plan.graph, &plan.fusion);
        builder.finish(&plan.fusion, &plan.views, &|output| !may_fail && plan.stores_in_place(output))
    }
}

/// Whether the computation of a view may find an index out of range.
pub fn checks_indices(graph: &Graph, view: &Fusion) -> bool {
    view.order().iter().any(|&node| checks_index(&graph.node(node).op))
}

fn checks_index(tensor_op: &TensorOp) -> bool {
    matches!(tensor_op, TensorOp::Gather(_) | TensorOp::External(ExternalOp::Scatter(_)))
}

/// The definition's values for those of a plan that check indices: if several became one, the first.
fn origins(map: &ValMap, graph: &Graph) -> FxHashMap<Val, Val> {
    let mut origins: FxHashMap<Val, Val> = FxHashMap::default();
    for (old, new) in map.iter().filter(|&(_, new)| checks_index(graph.op(new))) {
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

/// How many statements of a body apply an op.
fn applied(body: &[Stmt]) -> u64 {
    let of = |statement: &Stmt| match statement {
        Stmt::Apply { .. } => 1,
        Stmt::For(for_loop) => applied(&for_loop.body),
        _ => 0,
    };
    body.iter().map(of).sum()
}

/// An execution plan under construction.
struct Builder {
    plan: ExecutionPlan,
    /// Where the values are that exist so far.
    places: FxHashMap<Val, Slot>,
    /// The values that are not row-major.
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
            faults: Vec::new(),
            formulas: Formulas::default(),
            origins: FxHashMap::default(),
        };
        let mut builder = Builder { plan, places: FxHashMap::default(), placements };
        for &val in fusion.inputs() {
            let slot = builder.new_slot_for(val);
            builder.plan.inputs.push(slot);
        }
        builder
    }

    /// A new slot.
    fn slot<'e>(&mut self, dtype: DType, shape: impl IntoIterator<Item = &'e Expr>) -> Slot {
        let formulas = &mut self.plan.formulas;
        let shape = shape.into_iter().map(|size| formulas.intern(size)).collect();
        self.plan.slots.push(SlotData { dtype, shape, placement: None, in_place: None, is_freed: false })
    }

    /// A new slot for a value, which later readers of the value find.
    fn new_slot_for(&mut self, val: Val) -> Slot {
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
        self.plan.segments.push(ExecutedSegment { name, view, evaluator_reason, external_op: None });
        self.plan.segments.len() - 1
    }

    fn add_evaluation(&mut self, name: &str, view: &Fusion, reason: &str) {
        let segment = self.add_segment(name, view, Some(reason));
        let inputs = self.inputs_of(view);
        let slots: Vec<Slot> = view.outputs().iter().map(|output| self.new_slot_for(output.val)).collect();
        let outputs = slots.into_iter().map(|slot| self.allocate(slot)).collect();
        self.plan.steps.push(Step::Evaluate(Evaluation { inputs, outputs, segment }));
    }

    fn add_external(&mut self, name: &str, view: &Fusion, call: &ExternalCall) {
        let segment = self.add_segment(name, view, None);
        self.plan.segments[segment].external_op = Some(call.op.name());
        let inputs = self.inputs_of(view);
        let operands = call.operands.iter().map(|viewed| self.viewed(viewed, &inputs)).collect();
        let results: Vec<Val> = self.plan.graph.results(call.node).collect();
        let results = results.into_iter().map(|val| self.new_slot_for(val)).collect::<Vec<Slot>>();
        results.iter().for_each(|&slot| {
            self.allocate(slot);
        });
        self.plan.steps.push(Step::External(ExternalStep {
            op: call.op.clone(),
            val: call.node.into(),
            operands,
            results,
            segment,
        }));
    }

    fn viewed(&mut self, viewed: &ViewedOperand, inputs: &[Slot]) -> ViewedSlot {
        let source = match &viewed.source {
            Source::Input(place) => SlotSource::Slot(inputs[*place]),
            Source::Constant(scalar) => SlotSource::Constant(*scalar),
            Source::Size(size) => SlotSource::Size(self.plan.formulas.intern(size)),
        };
        ViewedSlot { source, view_ops: self.view_ops(&viewed.view_ops) }
    }

    fn view_ops(&mut self, nodes: &[Node]) -> Vec<ViewOp> {
        let ExecutionPlan { graph, formulas, .. } = &mut self.plan;
        let mut all = |sizes: &Shape| sizes.iter().map(|size| formulas.intern(size)).collect();
        let view_op = |&node: &Node| match &graph.node(node).op {
            TensorOp::Permute(order) => ViewOp::Permute(order.clone()),
            TensorOp::Broadcast(new) => ViewOp::Broadcast(new.to_vec()),
            TensorOp::Expand(sizes) => ViewOp::Expand(all(sizes)),
            TensorOp::Squeeze(axes) => ViewOp::Squeeze(axes.clone()),
            TensorOp::Slice { starts, sizes } => ViewOp::Slice { starts: all(starts), sizes: all(sizes) },
            TensorOp::Reshape(sizes) => ViewOp::Reshape(all(sizes)),
            tensor_op => unreachable!("{tensor_op:?} is more than a view op"),
        };
        nodes.iter().map(view_op).collect()
    }

    /// The segments of a batch, which all have kernels or none.
    fn add_batch(&mut self, segments: &[SegmentPlan], lowered: &[LoweredSegment]) {
        if let Decision::Kernels(_) = segments[0].decision {
            return self.add_kernels(segments, lowered);
        }
        for SegmentPlan { name, view, decision, .. } in segments {
            match decision {
                Decision::External(call) => self.add_external(name, view, call),
                Decision::Evaluate { reason, .. } => self.add_evaluation(name, view, reason),
                Decision::Kernels(_) => unreachable!("{name} is in a batch with what has no kernel"),
            }
        }
    }

    /// The launches of segments that have as many kernels each, equal except for names: the first kernel of all segments at
    /// once, then the second.
    fn add_kernels(&mut self, segments: &[SegmentPlan], lowered: &[LoweredSegment]) {
        let pairs = segments.iter().zip(lowered);
        let operands = pairs.map(|(segment, lowered)| self.add_segment_kernels(segment, lowered).into_iter());
        let mut members: Vec<_> = operands.collect();
        for lowered in &lowered[0].kernels {
            let members = members.iter_mut().map(|kernels| {
                kernels.next().expect("each segment of a batch has as many kernels as the first")
            });
            self.plan.kernels.push(lowered.kernel.clone());
            let kernel = self.plan.kernels.len() - 1;
            self.plan.steps.push(Step::Launch(Launch { kernel, members: members.collect() }));
        }
    }

    /// Adds a segment with kernels, and the steps that allocate what these write. Returns the operands of each kernel, in
    /// order.
    fn add_segment_kernels(&mut self, segment: &SegmentPlan, lowered: &LoweredSegment) -> Vec<Operands> {
        let SegmentPlan { name, view, decision: Decision::Kernels(kernels), .. } = segment else {
            unreachable!("a segment with kernels")
        };
        let witness = &kernels.witness;
        let segment = self.add_segment(name, view, None);
        let inputs = self.inputs_of(view);
        let stores: Vec<Slot> = witness.stores.iter().map(|store| self.new_slot_for(store.val)).collect();
        let temporaries: Vec<Slot> =
            lowered.temporaries.iter().map(|memory| self.slot(memory.dtype, [&memory.len])).collect();
        let faults = self.add_fault_words(&lowered.checked);
        for &slot in stores.iter().chain(&temporaries) {
            self.allocate(slot);
        }
        let slots = SegmentSlots { inputs, stores, temporaries, faults };
        let mut all = Vec::new();
        for (number, kernel) in lowered.kernels.iter().enumerate() {
            let work = match number {
                0 => self.work_of_nodes(view),
                _ => self.work_of_combining(kernel, &lowered.temporaries),
            };
            all.push(self.operands_of(kernel, segment, &slots, work));
        }
        all
    }

    /// The work of a segment's nodes: an operation on each element of a result, or of a fold's operand. The loops of a
    /// kernel may be consecutive, so the product of its axes' sizes would be too much.
    fn work_of_nodes(&mut self, view: &Fusion) -> Vec<Work> {
        let ExecutionPlan { graph, formulas, .. } = &mut self.plan;
        let mut work: BTreeMap<Vec<Formula>, u64> = BTreeMap::new();
        for &node in view.order() {
            let val = match graph.node(node).op {
                TensorOp::Fold { .. } => graph.operands(node.into())[0],
                _ => node.into(),
            };
            let sizes = graph.shape(val).iter().filter(|size| !size.is_one());
            let elements = sizes.map(|size| formulas.intern(size)).collect();
            *work.entry(elements).or_default() += 1;
        }
        work.into_iter().map(|(elements, operations)| Work { elements, operations }).collect()
    }

    /// The work of a combine step: its own operations, on each of the partial results of a fold.
    fn work_of_combining(&mut self, step: &Lowered, temporaries: &[Temporary]) -> Vec<Work> {
        let partials = step.buffers.iter().find_map(|source| match *source {
            BufferSource::Temporary(place) => Some(&temporaries[place].len),
            _ => None,
        });
        let elements = partials.map(|len| self.plan.formulas.intern(len)).into_iter().collect();
        vec![Work { elements, operations: applied(&step.kernel.body) }]
    }

    /// Adds fault words for values whose indices are checked, if there are any.
    fn add_fault_words(&mut self, checked: &[Val]) -> Option<Slot> {
        let count = Expr::constant(checked.len() as i64);
        let slot = (!checked.is_empty()).then(|| self.slot(DType::I64, [&count]))?;
        self.plan.steps.push(Step::InitFaults(slot));
        let words = checked.iter().map(|&val| self.checked(val)).collect();
        self.plan.faults.push(FaultWords { slot, words });
        Some(slot)
    }

    fn checked(&mut self, val: Val) -> Checked {
        let graph = &self.plan.graph;
        let &TensorOp::Gather(axis) = graph.op(val) else { unreachable!("gathers check indices") };
        let axis = usize::from(axis);
        let size = graph.shape(graph.operands(val)[0])[axis].clone();
        Checked { val: self.plan.origin(val), axis, size: self.plan.formulas.intern(&size) }
    }

    /// The operands of a kernel.
    fn operands_of(
        &mut self,
        lowered: &Lowered,
        segment: usize,
        slots: &SegmentSlots,
        work: Vec<Work>,
    ) -> Operands {
        let arguments = lowered.arguments.iter().map(|argument| match *argument {
            KernelArgument::Size(ref size) => ArgumentSource::Size(self.plan.formulas.intern(size)),
            KernelArgument::Stride { input, axis } => ArgumentSource::Stride(slots.inputs[input], axis),
            KernelArgument::StoreStride { store, axis } => ArgumentSource::Stride(slots.stores[store], axis),
        });
        let arguments = arguments.collect();
        let buffers = lowered.buffers.iter().map(|source| match *source {
            BufferSource::Input(place) => slots.inputs[place],
            BufferSource::Store(place) => slots.stores[place],
            BufferSource::Temporary(place) => slots.temporaries[place],
            BufferSource::Faults => slots.faults.expect("a kernel reports what its segment checks"),
        });
        let buffers = buffers.collect();
        let blocks = self.of_sizes(lowered, &lowered.kernel.blocks);
        let scratch = lowered.kernel.scratch.values().map(|decl| self.of_sizes(lowered, &decl.len));
        let scratch = scratch.collect();
        let name = lowered.kernel.name.clone();
        Operands { name, arguments, buffers, blocks, scratch, work, segment }
    }

    /// The formula of an expression over a kernel's arguments that are sizes.
    fn of_sizes(&mut self, lowered: &Lowered, expr: &Expr) -> Formula {
        let size = |own: Sym| {
            let place = lowered.kernel.arguments.iter().position(|&argument| argument == own);
            match place.map(|place| &lowered.arguments[place]) {
                Some(KernelArgument::Size(size)) => Some(size.clone()),
                _ => unreachable!("{}: {expr} is of sizes", lowered.kernel.name),
            }
        };
        self.plan.formulas.intern(&expr.substitute(&size))
    }

    /// Adds the outputs and the frees. In-place outputs come first, so that the value written to an input is the one that a
    /// kernel made. A view of an input is in the input's slot, one of a computed value in its own slot.
    fn finish(
        mut self,
        fusion: &Fusion,
        views: &[Option<View>],
        stores_in_place: &dyn Fn(usize) -> bool,
    ) -> ExecutionPlan {
        let outputs = fusion.outputs();
        let mut slots: Vec<Option<Slot>> = vec![None; outputs.len()];
        let (in_place, others): (Vec<usize>, Vec<usize>) =
            (0..outputs.len()).partition(|&number| outputs[number].alias.is_some());
        for number in in_place.into_iter().chain(others) {
            let slot = match &views[number] {
                Some(view) if fusion.is_input(view.source) => self.places[&view.source],
                Some(view) => self.own(&view.source.into(), &slots),
                None => self.own(&outputs[number], &slots),
            };
            if self.places.get(&outputs[number].val) == Some(&slot) && stores_in_place(number) {
                self.plan.slots[slot].in_place = outputs[number].alias.map(|input| input as usize);
            }
            slots[number] = Some(slot);
        }
        let inputs: FxHashMap<Slot, usize> =
            self.plan.inputs.iter().enumerate().map(|(number, &slot)| (slot, number)).collect();
        for ((slot, view), output) in slots.into_iter().flatten().zip(views).zip(outputs) {
            let input = inputs.get(&slot).copied();
            let view_ops = view.as_ref().map_or(Vec::new(), |view| self.view_ops(&view.view_ops));
            let alias = output.alias.map(|input| input as usize);
            let twin = twin(output, outputs).map(|input| input as usize);
            self.plan.outputs.push(Returned { slot, input, view_ops, alias, twin });
        }
        self.plan.free_the_dead();
        self.plan
    }

    /// A slot for an output alone: a copy if the value is an input, is already another output, or has another order.
    fn own(&mut self, output: &Output, taken: &[Option<Slot>]) -> Slot {
        let Output { val, alias, order } = output;
        let from = *self.places.get(val).expect("every output is an input, a view, or made by a segment");
        let wanted = (!order.is_empty()).then(|| Placement::Ordered(order.clone()));
        let is_taken = self.plan.inputs.contains(&from) || taken.contains(&Some(from));
        if is_taken || (alias.is_none() && self.plan.slots[from].placement != wanted) {
            self.add_copy(from, *val, wanted)
        } else {
            from
        }
    }

    /// Adds a copy of a slot.
    fn add_copy(&mut self, from: Slot, val: Val, placement: Option<Placement>) -> Slot {
        let ty = self.plan.graph.ty(val).clone();
        let to = self.slot(ty.dtype, &ty.shape);
        self.plan.slots[to].placement = placement;
        self.allocate(to);
        self.plan.steps.push(Step::Copy { from, to });
        to
    }
}

/// The input to which the value of an output is written as another output, if this output is written to none and has no
/// order.
fn twin(output: &Output, outputs: &[Output]) -> Option<u32> {
    let is_plain = output.alias.is_none() && output.order.is_empty();
    let written = outputs.iter().filter(|other| is_plain && other.val == output.val);
    written.filter_map(|other| other.alias).next()
}
