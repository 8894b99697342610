//! Graph passes, and those that run only if the cost model says that they pay: their results are cut greedily, or by a search
//! where the cut matters.

use std::slice;

use ir::graph::{
    Axes, DeviceStream, Fusion, Graph, GroupOptions, Node, Task, TaskData, Tasks, TensorOp, Val, ValMap,
};
use ir::layout::LayoutClass;
use rustc_hash::FxHashSet;
use target::Processor;
use target::cpu::{MAX_TWO_PASS_BYTES, MIN_ONLINE_BYTES, MIN_ONLINE_ROW};

use super::segments::completed;
use super::{Compilation, Optimized};
use crate::distribution::Distribution;
use crate::outputs::with_orders;
use crate::passes::{
    Rewritten, Step, add_bias, distributable, distribute, expanded_axes, fold_online, hoist, hoistable,
    memory_order, optimize, optimize_exactly, softmax_folds, two_pass, two_pass_argmax, unroll_folds,
};
use crate::plan::{PlanError, PlanRequest};
use crate::products::{self, JudgedProducts};
use crate::softmaxes::Softmaxes;
use segmenter::cost::{Amounts, Seconds};
use segmenter::{Legality, SearchProblem, Segmentation, greedy_with, search};

/// Nodes of the largest fusion whose index maps are evaluated by cost.
const MAX_JUDGED_NODES: usize = 1 << 10;

/// Nodes of the largest fusion that is searched for segments to judge a step.
const MAX_SEARCHED_NODES: usize = 1 << 8;

/// All passes.
pub(super) fn all_passes(compilation: &mut Compilation<'_>) -> Result<(), PlanError> {
    let expanded = compilation.expanded();
    let Compilation { graph, written, kept, .. } = compilation;
    let steps = optimize(graph, written, &expanded, kept.clone());
    compilation.add_steps(steps);
    Ok(())
}

/// Those that change no bit of an element.
pub(super) fn exact_passes(compilation: &mut Compilation<'_>) -> Result<(), PlanError> {
    let expanded = compilation.expanded();
    let Compilation { graph, written, .. } = compilation;
    let steps = optimize_exactly(graph, written, &expanded);
    compilation.add_steps(steps);
    Ok(())
}

/// Distributes folds by lambdas over their states where that is faster: all steps are rerun after it.
pub(super) fn distribution(compilation: &mut Compilation<'_>) -> Result<(), PlanError> {
    if compilation.request.options.segmentation.is_some() {
        return Ok(());
    }
    let expanded = compilation.expanded();
    let (graph, judge) = compilation.judged();
    let folds = distributable(graph, judge.written);
    if folds.is_empty() {
        return Ok(());
    }
    let (view, map) = distribute(graph, judge.written);
    graph.debug_verify(&view);
    let kept = judge.kept.iter().filter_map(|&val| map.get(val)).collect();
    let optimized = optimize(graph, &view, &expanded, kept);
    let first = Step { pass: "distribute", view, map };
    let steps: Vec<Step> = [first].into_iter().chain(optimized).collect();
    let rewritten = Rewritten::not_yet(graph, judge.written).with(&steps);
    let [lambda, distributed] = [judge.rewritten, &rewritten].map(|result| judge.seconds(graph, result));
    let distribution = Distribution { folds, lambda, distributed };
    if distribution.is_distributed() {
        (compilation.steps, compilation.rewritten) = (steps, rewritten);
    }
    compilation.distribution = distribution;
    Ok(())
}

/// Folds the maximum and the sum of a softmax at once where that is faster, as one more step.
pub(super) fn softmaxes(compilation: &mut Compilation<'_>) -> Result<(), PlanError> {
    let is_long = compilation.written.order().len() > MAX_JUDGED_NODES;
    if is_long || matches!(compilation.request.target.processor, Processor::Gpu(_)) {
        return Ok(());
    }
    let kept = compilation.kept_after();
    let (graph, judge) = compilation.judged();
    let fusion = &judge.rewritten.fusion;
    let judge = Judge { searches: fusion.order().len() <= MAX_SEARCHED_NODES, ..judge };
    let mut all = softmax_folds(graph, fusion, &kept);
    // A segment by itself does not know to which dtype the quotients are rounded.
    let is_segment = judge.request.options.is_segment;
    all.retain(|folds| (folds.is_cheap() || is_segment) && judge.comes_from_memory(graph, folds.maximum));
    if all.is_empty() {
        return Ok(());
    }
    let apart = judge.seconds(graph, judge.rewritten);
    let (online, (decided, step)) = best_choice(&all, |chosen| {
        if chosen.is_empty() {
            return ((judge.rejected(graph, judge.rewritten), apart), (apart, None));
        }
        let (view, map) = fold_online(graph, fusion, chosen);
        graph.debug_verify(&view);
        let step = Step { pass: "fold_online", view, map };
        let rewritten = judge.rewritten.with(slice::from_ref(&step));
        let seconds = judge.seconds(graph, &rewritten);
        ((judge.rejected(graph, &rewritten), seconds), (seconds, Some(step)))
    });
    let steps_before = compilation.steps.len();
    compilation.add_steps(step);
    compilation.softmaxes = Softmaxes { all, online, apart, decided, steps_before };
    Ok(())
}

/// Decomposes products of matrices that kernels compute, as one more step.
pub(super) fn products(compilation: &mut Compilation<'_>) -> Result<(), PlanError> {
    if compilation.request.options.segmentation.is_some() {
        return Ok(());
    }
    let (graph, judge) = compilation.judged();
    let seconds = |graph: &Graph, step: Option<&Step>| {
        judge.seconds(graph, &judge.rewritten.with(step.map_or(&[], slice::from_ref)))
    };
    let (each, step) = products::decide(graph, &judge.rewritten.fusion, seconds);
    let steps_before = compilation.steps.len();
    compilation.add_steps(step);
    compilation.products = JudgedProducts { each, steps_before };
    Ok(())
}

/// Leaves biases of products to a GPU's library, as one more step.
pub(super) fn biases(compilation: &mut Compilation<'_>) -> Result<(), PlanError> {
    if matches!(compilation.request.target.processor, Processor::Cpu(_)) {
        return Ok(());
    }
    let kept = compilation.kept_after();
    let (graph, judge) = compilation.judged();
    let (view, map) = add_bias(graph, &judge.rewritten.fusion, &kept);
    graph.debug_verify(&view);
    compilation.add_steps([Step { pass: "add_bias", view, map }]);
    Ok(())
}

/// Moves index maps before folds if that is faster, as one more step; with a user's segmentation, if more of its segments
/// have kernels then. All or none are moved first, then each is tried the other way.
pub(super) fn index_maps(compilation: &mut Compilation<'_>) -> Result<(), PlanError> {
    let kept = compilation.kept_after();
    let (graph, judge) = compilation.judged();
    let fusion = &judge.rewritten.fusion;
    if fusion.order().len() > MAX_JUDGED_NODES {
        return Ok(());
    }
    let all = hoistable(graph, fusion, &kept);
    if all.is_empty() {
        return Ok(());
    }
    let (chosen, step) = best_choice(&all, |chosen| {
        let (view, map) = hoist(graph, fusion, chosen);
        graph.debug_verify(&view);
        let step = Step { pass: "hoist_index_maps", view, map };
        (judge.judgement(graph, &judge.rewritten.with(slice::from_ref(&step))), step)
    });
    compilation.add_steps((!chosen.is_empty()).then_some(step));
    Ok(())
}

/// The best choice by a measure to minimize, and what comes of it: all or none, then each is tried the other way.
fn best_choice<T: Copy + PartialEq, M: PartialOrd, R>(
    all: &[T],
    mut judged: impl FnMut(&[T]) -> (M, R),
) -> (Vec<T>, R) {
    let (none, every) = (judged(&[]), judged(all));
    let (mut chosen, mut best) = if every.0 < none.0 { (all.to_vec(), every) } else { (Vec::new(), none) };
    for one in all.iter().filter(|_| all.len() > 1) {
        let mut other = chosen.clone();
        match other.iter().position(|other| other == one) {
            Some(place) => drop(other.remove(place)),
            None => other.push(*one),
        }
        let judgement = judged(&other);
        if judgement.0 < best.0 {
            (chosen, best) = (other, judgement);
        }
    }
    (chosen, best.1)
}

/// Computes moments of rows in two passes if rows stay at hand for the second, as one more step.
pub(super) fn moments(compilation: &mut Compilation<'_>) -> Result<(), PlanError> {
    // On a GPU one more instruction per element is too much.
    let (most_bytes, divides_first) = match compilation.request.target.processor {
        Processor::Cpu(_) => (MAX_TWO_PASS_BYTES, true),
        Processor::Gpu(_) => (compilation.request.target.block_bytes, false),
    };
    compilation
        .add_step("two_pass", |graph, fusion| Some(two_pass(graph, fusion, most_bytes, divides_first)));
    Ok(())
}

/// Finds maxima and minima of rows with their numbers in two passes on a CPU, likewise.
pub(super) fn extremes(compilation: &mut Compilation<'_>) -> Result<(), PlanError> {
    if matches!(compilation.request.target.processor, Processor::Cpu(_)) {
        compilation.add_step("two_pass_argmax", |graph, fusion| {
            Some(two_pass_argmax(graph, fusion, MAX_TWO_PASS_BYTES))
        });
    }
    Ok(())
}

/// Unrolls folds over a few elements for the lanes of a CPU, likewise.
pub(super) fn short_folds(compilation: &mut Compilation<'_>) -> Result<(), PlanError> {
    if matches!(compilation.request.target.processor, Processor::Cpu(_)) {
        compilation.add_step("unroll_folds", unroll_folds);
    }
    Ok(())
}

/// Permutes computations to the memory order of inputs' axes, likewise. Outputs keep the orders that they have without it.
pub(super) fn memory_orders(compilation: &mut Compilation<'_>) -> Result<(), PlanError> {
    let map = &compilation.rewritten.map;
    let bound = crossing(compilation.request.tasks).chain(entering(compilation.request.tasks));
    let kept: FxHashSet<Val> = bound.filter_map(|val| map.get(val)).collect();
    let orders: Vec<Axes> = compilation.request.layouts.iter().map(memory_order_of).collect();
    compilation.add_step("memory_order", |graph, fusion| {
        memory_order(graph, &with_orders(graph, fusion), &orders, &kept)
    });
    Ok(())
}

/// The axes of an input without gaps from the outermost in memory to the innermost; empty for others, and for row-major ones.
fn memory_order_of(layout: &LayoutClass) -> Axes {
    match layout {
        LayoutClass::Ordered(order) => order.clone(),
        LayoutClass::Dense | LayoutClass::Strided(_) => Axes::new(),
    }
}

/// The values before passes that a segmentation keeps, and those that leave groups binding segments: passes do not merge
/// them into other computations.
pub(super) fn kept(request: &PlanRequest<'_>) -> FxHashSet<Val> {
    let chosen = request.options.segmentation.iter().flat_map(Segmentation::kept);
    chosen.chain(crossing(request.tasks)).collect()
}

fn crossing(tasks: &Tasks) -> impl Iterator<Item = Val> + '_ {
    binding(tasks).flat_map(|view| view.outputs().iter().map(|output| output.val))
}

fn entering(tasks: &Tasks) -> impl Iterator<Item = Val> + '_ {
    binding(tasks).flat_map(|view| view.inputs().iter().copied())
}

/// The groups that constrain segments.
fn binding(tasks: &Tasks) -> impl Iterator<Item = &Fusion> {
    let binds = |(task, _, options): &(Task, &TaskData, &GroupOptions)| {
        options.stay || tasks.device_stream(*task) != DeviceStream::default()
    };
    tasks.groups().filter(binds).map(|(_, group, _)| &group.view)
}

impl Compilation<'_> {
    /// For each input the axes along which it counts as an expansion.
    fn expanded(&self) -> Vec<Axes> {
        let given = self.written.inputs().iter().zip(self.request.layouts);
        let is_declared = !self.request.options.is_segment;
        given.map(|(&input, layout)| expanded_axes(&self.graph, input, layout, is_declared)).collect()
    }

    /// The values that stay as they are after the passes so far: those that somebody keeps, that enter or that leave a group.
    fn kept_after(&self) -> FxHashSet<Val> {
        let kept = self.kept.iter().copied().chain(entering(self.request.tasks));
        kept.filter_map(|val| self.rewritten.map.get(val)).collect()
    }

    /// Records steps that ran after all others.
    fn add_steps(&mut self, steps: impl IntoIterator<Item = Step>) {
        let before = self.steps.len();
        self.steps.extend(steps);
        self.rewritten.add(&self.steps[before..]);
    }

    /// Runs a pass after all others. With a user's segmentation no segment may lose its kernel by that.
    fn add_step(
        &mut self,
        pass: &'static str,
        run: impl FnOnce(&mut Graph, &Fusion) -> Option<(Fusion, ValMap)>,
    ) {
        let (graph, judge) = self.judged();
        let Some((view, map)) = run(graph, &judge.rewritten.fusion) else { return };
        graph.debug_verify(&view);
        let step = Step { pass, view, map };
        let rewritten = judge.rewritten.with(slice::from_ref(&step));
        if judge.rejected(graph, &rewritten) <= judge.rejected(graph, judge.rewritten) {
            self.steps.push(step);
            self.rewritten = rewritten;
        }
    }

    /// The graph, for changes, and what judges them.
    fn judged(&mut self) -> (&mut Graph, Judge<'_>) {
        let Compilation { request, written, rewritten, legality, kept, .. } = self;
        let judge = Judge { request: *request, written, rewritten, legality, kept, searches: false };
        (&mut self.graph, judge)
    }
}

/// The context in which steps are judged.
#[derive(Clone, Copy)]
struct Judge<'a> {
    request: PlanRequest<'a>,
    written: &'a Fusion,
    /// The fusion after the steps so far.
    rewritten: &'a Rewritten,
    legality: &'a Legality,
    kept: &'a FxHashSet<Val>,
    /// Whether segments are searched for.
    searches: bool,
}

impl Judge<'_> {
    /// The measure to minimize: the user's segments without a kernel, then seconds.
    fn judgement(&self, graph: &Graph, rewritten: &Rewritten) -> (usize, f64) {
        match self.request.options.segmentation {
            Some(_) => (self.rejected(graph, rewritten), 0.0),
            None => (0, self.seconds(graph, rewritten)),
        }
    }

    /// Whether what a fold takes comes from memory each time, and the lanes walk other axes than those it reduces.
    fn comes_from_memory(&self, graph: &Graph, fold: Node) -> bool {
        let PlanRequest { hints, .. } = self.request;
        let TensorOp::Fold { axes, .. } = &graph.node(fold).op else { return false };
        let operand = graph.node(fold).operands[0];
        let read = match graph.op(operand) {
            TensorOp::Cast(_) => graph.operands(operand)[0],
            _ => operand,
        };
        let kept = axes.last().map_or(0, |&last| usize::from(last) + 1);
        let row = hints.elements(&graph.shape(operand)[kept..]);
        row >= MIN_ONLINE_ROW && hints.bytes(graph.ty(read)) >= MIN_ONLINE_BYTES
    }

    /// How many of the user's segments have no kernel after these steps.
    fn rejected(&self, graph: &Graph, rewritten: &Rewritten) -> usize {
        if self.request.options.segmentation.is_none() {
            return 0;
        }
        let Some(views) = self.views(graph, rewritten) else { return usize::MAX };
        views.iter().filter(|view| self.legality.of(graph, view).is_err()).count()
    }

    /// The segments after these steps: the user's, if they fit, or those that are searched for or merged greedily.
    fn views(&self, graph: &Graph, rewritten: &Rewritten) -> Option<Vec<Fusion>> {
        let Optimized { computed, chosen, constraints, .. } =
            Optimized::behind(graph, self.written, rewritten, &self.request);
        let segmentation = match chosen {
            Some(chosen) => completed(&chosen, graph, &computed),
            None => {
                let PlanRequest { hints, target, .. } = self.request;
                let (fusion, constraints, legality) = (&computed, &constraints, self.legality);
                let merged = || greedy_with(graph, fusion, constraints, legality);
                let problem = SearchProblem { graph, fusion, constraints, legality, hints, target };
                if self.searches { search(problem, merged()).segmentation } else { merged() }
            }
        };
        let views = segmentation.views(graph, &computed);
        segmentation.check_views(&views, &computed).is_ok().then_some(views)
    }

    /// The cost model's seconds for the segments after these steps.
    fn seconds(&self, graph: &Graph, rewritten: &Rewritten) -> f64 {
        let Some(views) = self.views(graph, rewritten) else { return f64::INFINITY };
        let amounts = Amounts::new(graph, self.request.hints, self.request.target);
        let seconds = |view: &Fusion| Seconds::with(&amounts, view, &self.legality.of(graph, view)).total();
        views.iter().map(seconds).sum()
    }
}
