//! The decisions of a plan and their cost: segments, the tensors between them, bytes, and the reason for each boundary.
//!
//! Takes a definition, its plan and the sizes to count with; returns an object that serializes as `explain --json` and
//! prints as a table. Names are the user's. Decides nothing, and needs no real inputs.

mod against;
mod batches;
mod boundary;
mod by_hand;
mod groups;
mod lambdas;
mod memory;
mod on_gpu;
mod outputs;
mod page;
mod patterns;
mod picture;
mod readers;
mod softmaxes;
mod table;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use compiler::{Certificate, Cut, Decision, Plan, SegmentPlan};
use index::Expr;
use ir::definition::Definition;
use ir::graph::{Fusion, Node, TensorOp, Val, op_line};
use ir::layout::{LayoutClass, Stride};
use lowering::{Temporary, temporaries};
use runtime::{LLVM_IS_MISSING, declared_layouts};
use rustc_hash::FxHashMap;
use scheduler::hints::Hints;
use segmenter::InputReads;
use segmenter::cost::Seconds;
use serde::{Deserialize, Serialize};
use target::Processor;

use memory::Peaks;
use readers::Readers;

use crate::names::ValueNames;
use crate::other_definition::{OtherDefinition, require_cut_of};
pub use against::{Changed, Difference, difference};
pub use groups::GroupExplanation;
pub use lambdas::LambdaExplanation;
use on_gpu::Moved;
pub use on_gpu::{Bottleneck, KernelOnGpu, MachineCode, TimesOnGpu, gpu_kernels};
pub use outputs::OutputExplanation;
pub use page::{fragment, html};
pub use patterns::PatternExplanation;
pub use picture::svg;
pub use softmaxes::SoftmaxExplanation;

/// The decisions of a plan and their cost.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Explanation {
    /// The segments in the order they run.
    pub segments: Vec<SegmentExplanation>,
    /// The segments that one launch runs together, as lists of names in the order they run; left out if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub batches: Vec<Vec<String>>,
    /// The tensors that one segment writes and another reads.
    pub edges: Vec<Edge>,
    /// The groups of the definition; left out if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupExplanation>,
    /// The composites of the definition; left out if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patterns: Vec<PatternExplanation>,
    /// The lambdas of the definition's folds and scans; left out if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lambdas: Vec<LambdaExplanation>,
    /// The softmaxes that may take their maximum and their sum in one fold; left out if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub softmaxes: Vec<SoftmaxExplanation>,
    /// The outputs that are views or are not row-major in memory; left out if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<OutputExplanation>,
    /// Bytes that all segments move, and copies.
    pub bytes: u64,
    /// The most bytes of values made by segments that are in memory at a time.
    pub peak_bytes: u64,
    /// The same as a formula over sizes, valid as long as the peak is in the same segment.
    #[serde(default)]
    pub peak_formula: String,
    /// The sizes that were not given, with the values assumed for them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub assumed: BTreeMap<String, u64>,
    /// The sizes that decisions are made for, where they differ from those of the call.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub decided_for: BTreeMap<String, u64>,
    /// Bytes that no plan can avoid: each input read once, each output written once.
    pub compulsory_bytes: u64,
    /// `bytes` over `compulsory_bytes`.
    pub traffic_ratio: f64,
    /// How close this is to the best segmentation; left out if the evaluator runs a segment.
    #[serde(flatten)]
    pub certificate: Option<Certificate>,
}

/// One segment.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct SegmentExplanation {
    /// As the user calls it, or `seg0`, `seg1`, …
    pub name: String,
    /// The number of its operations, without constants.
    pub ops: usize,
    /// Its operations in order, one a line.
    pub operations: Vec<String>,
    /// The tensors that it reads, with the bytes of each.
    pub inputs: Vec<TensorBytes>,
    /// The tensors that it writes, with the bytes of each.
    pub outputs: Vec<TensorBytes>,
    /// Tensors that it computes again, after an earlier segment.
    pub recomputed: Vec<String>,
    /// For each of these the additional bytes that this segment would read if the tensor were kept; negative if the tensor
    /// is smaller than the operands that it is computed from.
    pub saved: Vec<i64>,
    /// The schedule's text, for a segment that is a kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// Its kernels, if the target is a GPU.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<KernelOnGpu>,
    /// The op that a library computes, if a library runs the segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<String>,
    /// Why the evaluator runs it, if neither a kernel nor a library does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluator_reason: Option<String>,
    /// Whether the host runs it on copies although the target is a GPU.
    #[serde(default, skip_serializing_if = "is_false")]
    pub on_host: bool,
    /// The device that the user asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The stream of the device that the user asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<u32>,
    /// How often it reads its inputs from main memory: 1 where each is read once.
    pub passes: u32,
    /// Bytes of all values made by segments that are still needed while it runs.
    pub peak_bytes: u64,
    /// Microseconds that the cost model expects.
    pub cost_us: CostUs,
    /// Bytes that it moves: inputs once per input sweep, outputs once, partial results written and read.
    pub bytes: u64,
    /// `bytes` as a formula over the size symbols, as in `2*i0*i1`.
    pub bytes_formula: String,
}

/// Microseconds that the cost model expects of a segment, by term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct CostUs {
    /// Microseconds for moving bytes between memory and the cores.
    pub memory: f64,
    /// Microseconds for arithmetic; 0 for segments that a library or the evaluator runs, as the model does not know theirs.
    pub computing: f64,
    /// Microseconds for the launch.
    pub launch: f64,
    /// Microseconds for combining the partial results of a GPU's blocks, in separate kernels.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub combine: f64,
    /// Microseconds during which memory traffic and arithmetic overlap: 0 on a CPU.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub overlap: f64,
}

/// Whether a term is zero and thus left out.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(term: &f64) -> bool {
    *term == 0.0
}

impl CostUs {
    fn of(cost: &Seconds) -> CostUs {
        let us = |term: f64| 1e6 * term;
        CostUs {
            memory: us(cost.memory),
            computing: us(cost.computing),
            launch: us(cost.launch),
            combine: us(cost.combine),
            overlap: us(cost.overlap),
        }
    }

    /// The sum of all terms.
    pub fn total(&self) -> f64 {
        self.memory + self.computing + self.launch + self.combine - self.overlap
    }
}

/// A tensor and how many bytes of it are moved.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct TensorBytes {
    /// The user's name.
    pub name: String,
    /// Its bytes at the requested sizes.
    pub bytes: u64,
    /// `bytes` as a formula over the size symbols.
    pub bytes_formula: String,
}

/// A tensor that one segment writes and another reads.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Edge {
    /// The user's name of the tensor.
    pub tensor: String,
    /// The segment that writes it.
    pub from: String,
    /// The segment that reads it.
    pub to: String,
    /// Its bytes, which one segment writes and the other reads.
    pub bytes: u64,
    /// Why the two are separate segments.
    pub reason: String,
}

/// Explains a plan; bytes and times are those at the sizes in `hints`, with those that the definition determines.
///
/// # Errors
/// When the plan is of another definition.
pub fn explain(definition: &Definition, plan: &Plan, hints: &Hints) -> Result<Explanation, OtherDefinition> {
    explain_compiled(definition, plan, hints, &[])
}

/// The same for a plan whose decisions are made for the sizes `decided`, which other calls share.
///
/// # Errors
/// As [`explain`].
pub fn explain_call(
    definition: &Definition,
    plan: &Plan,
    hints: &Hints,
    decided: &Hints,
) -> Result<Explanation, OtherDefinition> {
    let [hints, decided] =
        [hints, decided].map(|hints| hints.clone().with_implied(definition.fusion.facts()));
    let sizes =
        input_sizes(plan).filter(|size| hints.has_all(size) && hints.value(size) != decided.value(size));
    let decided_for = sizes.map(|size| (size.to_string(), decided.value(&size))).collect();
    Ok(Explanation { decided_for, ..explain(definition, plan, &hints)? })
}

/// The same for a call that the evaluator runs as a whole, as libLLVM is missing.
pub fn explain_without_llvm(definition: &Definition, hints: &Hints) -> Explanation {
    let layouts = declared_layouts(definition);
    let plan = compiler::evaluated(&definition.graph, &definition.fusion, &layouts, LLVM_IS_MISSING);
    explained(definition, &plan, hints, &[]).without_llvm()
}

/// The same with machine code of the [`gpu_kernels`], if there is any.
///
/// # Errors
/// As [`explain`].
pub fn explain_compiled(
    definition: &Definition,
    plan: &Plan,
    hints: &Hints,
    code: &MachineCode,
) -> Result<Explanation, OtherDefinition> {
    require_cut_of(definition, plan)?;
    Ok(explained(definition, plan, hints, code))
}

/// The explanation of a plan of the definition.
fn explained(definition: &Definition, plan: &Plan, hints: &Hints, code: &MachineCode) -> Explanation {
    let hints = &hints.clone().with_implied(definition.fusion.facts());
    let explainer = Explainer::new(definition, plan, hints);
    let peaks = Peaks::of(plan, &explainer);
    let costs = plan.costs(hints);
    let kernels = on_gpu::kernels(plan, hints, code, &costs, |segment| explainer.moved_on_gpu(segment));
    let segments = peaks.each.iter().zip(&costs).zip(kernels).enumerate();
    let segments: Vec<SegmentExplanation> = segments
        .map(|(number, ((&peak_bytes, cost), kernels))| {
            let cost_us = CostUs::of(cost);
            SegmentExplanation { kernels, peak_bytes, cost_us, ..explainer.segment(number) }
        })
        .collect();
    let compulsory_bytes = explainer.compulsory_bytes();
    let bytes = explainer.copied_bytes() + segments.iter().map(|segment| segment.bytes).sum::<u64>();
    let traffic_ratio = if compulsory_bytes == 0 { 1.0 } else { bytes as f64 / compulsory_bytes as f64 };
    let outputs = outputs::outputs(definition, plan, &explainer);
    let groups = groups::groups(definition, plan);
    let patterns = patterns::patterns(definition, plan, &explainer.names);
    let lambdas = lambdas::lambdas(definition, plan, &explainer.names);
    let softmaxes = softmaxes::softmaxes(plan, &explainer.names);
    Explanation {
        segments,
        batches: batches::batches(plan),
        edges: explainer.edges(),
        groups,
        patterns,
        lambdas,
        softmaxes,
        outputs,
        bytes,
        peak_bytes: peaks.bytes,
        peak_formula: peaks.formula.to_string(),
        assumed: assumed(plan, hints),
        decided_for: BTreeMap::new(),
        compulsory_bytes,
        traffic_ratio,
        certificate: plan.certificate(hints),
    }
}

/// The bytes that the segments of a cut move, and the tensors between them: the part of an explanation that definitions of
/// segments need.
pub(crate) struct Traffic {
    /// Of each segment, in order.
    pub moved: Vec<Expr>,
    pub edges: Vec<Edge>,
}

impl Traffic {
    /// The traffic of a cut, at the sizes in `hints`.
    pub fn of(definition: &Definition, cut: &Cut, hints: &Hints) -> Traffic {
        let explainer = Explainer::new(definition, cut, hints);
        let moved = cut.segments.iter().map(|segment| explainer.moved(segment)).collect();
        Traffic { moved, edges: explainer.edges() }
    }
}

impl Explanation {
    /// The same segments, run by the evaluator as libLLVM is missing.
    pub fn without_llvm(mut self) -> Explanation {
        for segment in self.segments.iter_mut().filter(|segment| !segment.is_view()) {
            (segment.schedule, segment.library) = (None, None);
            segment.evaluator_reason = Some(LLVM_IS_MISSING.to_owned());
        }
        Explanation { batches: Vec::new(), certificate: None, ..self }
    }

    /// Microseconds that the cost model expects for all segments.
    pub fn cost_us(&self) -> f64 {
        self.segments.iter().fold(0.0, |sum, segment| sum + segment.cost_us.total())
    }
}

/// The sizes of inputs that were not given.
fn assumed(plan: &Plan, hints: &Hints) -> BTreeMap<String, u64> {
    let sizes = input_sizes(plan).filter(|size| !hints.has_all(size));
    sizes.map(|size| (size.to_string(), hints.value(&size))).collect()
}

/// The symbols in the sizes of inputs.
fn input_sizes(plan: &Plan) -> impl Iterator<Item = Expr> {
    let types = plan.fusion.inputs().iter().flat_map(|&val| &plan.graph.ty(val).shape);
    let symbols: BTreeSet<_> = types.flat_map(Expr::symbols).collect();
    symbols.into_iter().map(Expr::sym)
}

struct Explainer<'a> {
    cut: &'a Cut,
    hints: &'a Hints,
    names: ValueNames,
    /// The layouts of the fusion's inputs, as far as kernels know.
    layouts: FxHashMap<Val, &'a LayoutClass>,
    readers: Readers,
    /// The bytes of tensors in memory as formulas, cached.
    formulas: RefCell<FxHashMap<Val, Expr>>,
}

fn layouts(cut: &Cut) -> FxHashMap<Val, &LayoutClass> {
    let mut layouts = FxHashMap::default();
    for segment in &cut.segments {
        if let Decision::Kernels(kernels) = &segment.decision {
            layouts.extend(segment.view.inputs().iter().copied().zip(&kernels.layouts));
        }
    }
    layouts
}

/// Whether a node is an operation, rather than a constant.
fn is_operation(tensor_op: &TensorOp) -> bool {
    !matches!(tensor_op, TensorOp::Constant(_) | TensorOp::Size(_) | TensorOp::Input { .. })
}

/// How often a segment reads its inputs from main memory.
fn input_sweeps(segment: &SegmentPlan) -> u32 {
    match &segment.decision {
        Decision::Kernels(kernels) => kernels.input_sweeps,
        Decision::Evaluate { .. } | Decision::External(_) => 1,
    }
}

/// The op of a segment that a library computes, if one does.
fn external(segment: &SegmentPlan) -> Option<&'static str> {
    match &segment.decision {
        Decision::External(call) => Some(call.op.name()),
        Decision::Kernels(_) | Decision::Evaluate { .. } => None,
    }
}

/// Whether the host runs a segment of a GPU plan: cuBLASLt computes products of matrices; other segments without a kernel
/// run on copies.
fn is_on_host(cut: &Cut, segment: &SegmentPlan) -> bool {
    let of_gpu = matches!(cut.target.processor, Processor::Gpu(_));
    of_gpu
        && match &segment.decision {
            Decision::External(call) => !call.op.is_product(),
            Decision::Evaluate { .. } => true,
            Decision::Kernels(_) => false,
        }
}

fn is_false(value: &bool) -> bool {
    !value
}

/// The inputs that a segment reads.
fn read(view: &Fusion) -> impl Iterator<Item = Val> + '_ {
    view.inputs().iter().copied().filter(|&val| !view.uses(val).is_empty())
}

impl<'a> Explainer<'a> {
    fn new(definition: &Definition, cut: &'a Cut, hints: &'a Hints) -> Explainer<'a> {
        let (names, layouts) = (ValueNames::new(definition, cut), layouts(cut));
        let (readers, formulas) = (Readers::of(cut), RefCell::default());
        Explainer { cut, hints, names, layouts, readers, formulas }
    }

    /// Bytes of a tensor in memory: an expanded axis counts once.
    fn formula(&self, val: Val) -> Expr {
        self.formulas.borrow_mut().entry(val).or_insert_with(|| self.find_formula(val)).clone()
    }

    fn find_formula(&self, val: Val) -> Expr {
        let ty = self.cut.graph.ty(val);
        let bytes = match self.layouts.get(&val) {
            Some(LayoutClass::Strided(strides)) => {
                let real = ty.shape.iter().zip(strides).filter(|(_, stride)| **stride != Stride::Zero);
                real.fold(Expr::constant(ty.dtype.size() as i64), |bytes, (size, _)| bytes * size.clone())
            }
            _ => ty.bytes(),
        };
        self.cut.fusion.facts().normalize(&bytes)
    }

    fn bytes(&self, val: Val) -> u64 {
        self.hints.value(&self.formula(val))
    }

    /// The inputs that a view reads, with the bytes of each.
    fn read_formulas(&self, view: &Fusion) -> Vec<(Val, Expr)> {
        let demand = InputReads::of(&self.cut.graph, view);
        let bytes = |val| self.cut.fusion.facts().normalize(&demand.bytes(val, self.formula(val)));
        read(view).map(|val| (val, bytes(val))).collect()
    }

    fn read_bytes(&self, view: &Fusion) -> u64 {
        self.read_formulas(view).iter().map(|(_, bytes)| self.hints.value(bytes)).sum()
    }

    fn tensor(&self, val: Val, formula: Expr) -> TensorBytes {
        let bytes = self.hints.value(&formula);
        TensorBytes { name: self.names.of(val), bytes, bytes_formula: formula.to_string() }
    }

    /// A segment, without its kernels, peak and cost.
    fn segment(&self, number: usize) -> SegmentExplanation {
        let SegmentPlan { name, view, at, decision, .. } = &self.cut.segments[number];
        let moved = self.moved(&self.cut.segments[number]);
        let again = self.recomputed(number);
        let read = self.read_bytes(view);
        let (schedule, evaluator_reason) = match decision {
            Decision::Kernels(kernels) => (Some(kernels.schedule.to_string()), None),
            Decision::External(_) => (None, None),
            Decision::Evaluate { reason, val } => (None, Some(format!("{} {reason}", self.names.of(*val)))),
        };
        SegmentExplanation {
            name: name.clone(),
            ops: view.order().iter().filter(|&&node| is_operation(&self.cut.graph.node(node).op)).count(),
            inputs: self
                .read_formulas(view)
                .into_iter()
                .map(|(val, bytes)| self.tensor(val, bytes))
                .collect(),
            outputs: view
                .outputs()
                .iter()
                .map(|output| self.tensor(output.val, self.formula(output.val)))
                .collect(),
            operations: self.operations(view),
            recomputed: again.iter().map(|&val| self.names.of(val)).collect(),
            saved: again.iter().map(|&val| self.read_with(view, val) as i64 - read as i64).collect(),
            schedule,
            library: external(&self.cut.segments[number]).map(str::to_owned),
            evaluator_reason,
            kernels: Vec::new(),
            on_host: is_on_host(self.cut, &self.cut.segments[number]),
            device: at.device.as_deref().map(str::to_owned),
            stream: at.stream,
            passes: input_sweeps(&self.cut.segments[number]),
            peak_bytes: 0,
            cost_us: CostUs::default(),
            bytes: self.hints.value(&moved),
            bytes_formula: moved.to_string(),
        }
    }

    /// Tensors that a segment computes again, after an earlier one.
    fn recomputed(&self, number: usize) -> Vec<Val> {
        let again = |node: &Node| {
            is_operation(&self.cut.graph.node(*node).op) && self.readers.is_again(*node, number)
        };
        let view = &self.cut.segments[number].view;
        let nodes = view.order().iter().copied().filter(again);
        // One result of a node may be read and another computed again.
        let computed = |node: Node| self.cut.graph.results(node).find(|&val| !view.is_input(val));
        nodes.filter_map(computed).collect()
    }

    /// Bytes that a segment would read if a value that it computes were in memory.
    fn read_with(&self, view: &Fusion, val: Val) -> u64 {
        let inputs = view.inputs().iter().copied().chain([val]).collect();
        let outputs = view.outputs().to_vec();
        let kept = Fusion::new(&self.cut.graph, inputs, outputs, view.facts().clone());
        self.read_bytes(&kept.expect("the view, or less of it"))
    }

    /// The operations of a segment, with names of values; constants are written inline.
    fn operations(&self, view: &Fusion) -> Vec<String> {
        let graph = &self.cut.graph;
        let name =
            |val: Val| graph.as_constant(val).map_or_else(|| self.names.of(val), |scalar| scalar.to_string());
        let line = |&node: &Node| {
            let results: Vec<String> = graph.results(node).map(|val| self.names.of(val)).collect();
            let types: Vec<String> = graph.results(node).map(|val| graph.ty(val).to_string()).collect();
            let made = op_line(graph, node.into(), &name);
            format!("{} = {made} : {}", results.join(", "), types.join(", "))
        };
        let operations = view.order().iter().filter(|&&node| is_operation(&graph.node(node).op));
        operations.map(line).collect()
    }

    /// Bytes that a segment moves: inputs once per input sweep, outputs once, partial results written and read.
    fn moved(&self, segment: &SegmentPlan) -> Expr {
        let read = self.read_formulas(&segment.view).into_iter().map(|(_, bytes)| bytes);
        let written = segment.view.outputs().iter().map(|output| self.formula(output.val));
        let partial = segment.group(&self.cut.graph).map_or_else(Vec::new, |group| temporaries(&group));
        let size = |memory: &Temporary| Expr::constant(memory.dtype.size() as i64) * memory.len.clone();
        let partial: Expr = partial.iter().map(size).sum();
        let sweeps = Expr::constant(i64::from(input_sweeps(segment)));
        let moved = sweeps * read.sum::<Expr>() + written.sum::<Expr>() + Expr::constant(2) * partial;
        self.cut.fusion.facts().normalize(&moved)
    }

    /// Bytes that a segment reads, and all bytes that it moves.
    fn moved_on_gpu(&self, segment: &SegmentPlan) -> Moved {
        let read = self.read_bytes(&segment.view) * u64::from(input_sweeps(segment));
        Moved { read, all: self.hints.value(&self.moved(segment)) }
    }

    /// Bytes that copies of outputs read and write.
    fn copied_bytes(&self) -> u64 {
        let of_copy = |val| self.bytes(val) + self.hints.value(&self.cut.graph.ty(val).bytes());
        self.cut.copies().flatten().map(of_copy).sum()
    }

    /// Views of inputs move nothing.
    fn compulsory_bytes(&self) -> u64 {
        let fusion = &self.cut.computed;
        let given_back =
            fusion.inputs().iter().filter(|&&val| fusion.is_output(val) && fusion.uses(val).is_empty());
        let read = self.read_bytes(fusion) + given_back.map(|&val| self.bytes(val)).sum::<u64>();
        let written: Expr = fusion
            .outputs()
            .iter()
            .fold(Expr::zero(), |sum, output| sum + self.cut.graph.ty(output.val).bytes());
        read + self.hints.value(&written)
    }
}
