//! The pipeline: the stages that make a plan, in order, each a function over one compilation.
//!
//! `optimize` (graph passes, some only if the cost model favours them) · `outputs` (which are views) · `segments` (which
//! values are kept) · `schedules` (how each segment runs) · `kernels` (lowering) · `alike` (what similar segments share:
//! schedules, launches) · `evaluated` (all for the evaluator) · `scheduled_segment` (the form of a definition that is one
//! segment with the user's schedule).

mod alike;
mod evaluated;
mod kernels;
mod optimize;
mod outputs;
mod scheduled_segment;
mod schedules;
mod segments;

use std::ops::Range;

use ir::graph::{Dropped, Fusion, Graph, Task, Tasks, Val, ValMap};
use ir::layout::LayoutClass;
use lowering::LoweredSegment;
use rustc_hash::{FxHashMap, FxHashSet};
use scheduler::hints::Hints;
use scheduler::schedule::Schedule;
use target::Target;

use crate::distribution::Distribution;
use crate::outputs::{Placement, View};
use crate::passes::{Rewritten, Step};
use crate::plan::{Cut, Plan, PlanError, PlanOptions, PlanRequest, SegmentId, SegmentPlan};
use crate::products::JudgedProducts;
use crate::softmaxes::Softmaxes;
use segmenter::{Constraints, Legality, Segmentation};

/// A stage: a function over a compilation.
type PlanStage = fn(&mut Compilation<'_>) -> Result<(), PlanError>;

/// From a fusion to segments with schedules. A user's segmentation is checked instead of searched for, and makes the
/// decisions of all stages from `distribution` to `memory_orders`.
const CUTTING: &[PlanStage] = &[
    optimize::all_passes,
    optimize::distribution,
    optimize::products,
    optimize::biases,
    optimize::index_maps,
    optimize::softmaxes,
    optimize::moments,
    optimize::extremes,
    optimize::short_folds,
    optimize::memory_orders,
    outputs::outputs,
    segments::segments,
    schedules::schedules,
];

/// From there to kernels.
const LOWERING: &[PlanStage] = &[kernels::kernels, alike::batches];

/// From a fusion to one segment for the evaluator, which makes all outputs that are no views of inputs.
const EVALUATED: &[PlanStage] = &[optimize::exact_passes, outputs::outputs, evaluated::evaluated];

/// Plans a fusion.
///
/// # Errors
/// When a segmentation or a schedule that the user chose does not fit, or the caller interrupts; never otherwise.
pub fn plan(request: PlanRequest<'_>) -> Result<Plan, PlanError> {
    scheduled_segment::in_fitting_form(request, |cut| Ok(cut.through(LOWERING)?.into_plan()))
}

/// The cut of a plan, without kernels.
///
/// # Errors
/// As [`plan`].
pub fn cut(request: PlanRequest<'_>) -> Result<Cut, PlanError> {
    scheduled_segment::in_fitting_form(request, |cut| Ok(cut.into_cut()))
}

/// The plan that leaves a fusion whose inputs have these `layouts` to the evaluator, for `reason`.
pub fn evaluated(graph: &Graph, fusion: &Fusion, layouts: &[LayoutClass], reason: &str) -> Plan {
    // Nothing is decided for a machine or for sizes.
    let (target, hints) = (Target::cpu(64), Hints::default());
    let (tasks, options) = (Tasks::new(), PlanOptions::default());
    let request = PlanRequest {
        graph,
        fusion,
        tasks: &tasks,
        layouts,
        target: &target,
        hints: &hints,
        options: &options,
    };
    let planned = || {
        let compilation = Compilation::new(request)?;
        Compilation { reason: reason.to_owned(), ..compilation }.through(EVALUATED)
    };
    planned().expect("no choices, no errors").into_plan()
}

/// A plan under construction: its sources, and the results of the stages so far.
struct Compilation<'a> {
    request: PlanRequest<'a>,
    /// Why the evaluator runs all of it, if it does.
    reason: String,
    /// That of the request, with what passes add.
    graph: Graph,
    /// The fusion before passes.
    written: Fusion,
    legality: Legality,
    /// The values before passes that somebody keeps in memory.
    kept: FxHashSet<Val>,
    steps: Vec<Step>,
    /// What they made of the fusion.
    rewritten: Rewritten,
    distribution: Distribution,
    softmaxes: Softmaxes,
    products: JudgedProducts,
    optimized: Optimized,
    patterns: Vec<Result<Task, String>>,
    segmentation: Segmentation,
    /// For each segment that of the user's which it is a part of.
    parts: Vec<usize>,
    search_steps: usize,
    /// The segments as views, in the order they run.
    segment_views: Vec<Fusion>,
    placements: FxHashMap<Val, Placement>,
    /// The layouts of inputs, and of values that are not row-major because they are outputs.
    outer: FxHashMap<Val, LayoutClass>,
    /// The schedules of the user, by the segment.
    chosen_schedules: Vec<(SegmentId, Schedule)>,
    segments: Vec<SegmentPlan>,
    lowered: Vec<LoweredSegment>,
    batches: Vec<Range<usize>>,
}

/// The fusion after the passes, with the user's choices and groups mapped to it.
struct Optimized {
    fusion: Fusion,
    map: ValMap,
    chosen: Option<Segmentation>,
    views: Vec<Option<View>>,
    computed: Fusion,
    tasks: Tasks,
    dropped: Vec<Dropped>,
    constraints: Constraints,
}

impl Optimized {
    /// No pass has run.
    fn not_yet(written: &Fusion) -> Optimized {
        Optimized {
            fusion: written.clone(),
            map: ValMap::new(),
            chosen: None,
            views: Vec::new(),
            computed: written.clone(),
            tasks: Tasks::new(),
            dropped: Vec::new(),
            constraints: Constraints::default(),
        }
    }
}

impl<'a> Compilation<'a> {
    fn new(request: PlanRequest<'a>) -> Result<Compilation<'a>, PlanError> {
        let PlanRequest { graph, fusion, layouts, target, hints, options, .. } = request;
        if let Some(chosen) = &options.segmentation {
            outputs::check_chosen(graph, fusion, layouts, chosen)?;
        }
        let (graph, written) = graph.fork(fusion);
        Ok(Compilation {
            request,
            reason: String::new(),
            kept: optimize::kept(&request),
            optimized: Optimized::not_yet(&written),
            rewritten: Rewritten::not_yet(&graph, &written),
            graph,
            written,
            legality: Legality::on(target, hints),
            steps: Vec::new(),
            distribution: Distribution::default(),
            softmaxes: Softmaxes::default(),
            products: JudgedProducts::default(),
            patterns: Vec::new(),
            segmentation: Segmentation::default(),
            parts: Vec::new(),
            search_steps: 0,
            segment_views: Vec::new(),
            placements: FxHashMap::default(),
            outer: FxHashMap::default(),
            chosen_schedules: options.schedules.clone(),
            segments: Vec::new(),
            lowered: Vec::new(),
            batches: Vec::new(),
        })
    }

    /// Runs stages, one after the other, while the caller wants the plan.
    fn through(mut self, stages: &[PlanStage]) -> Result<Compilation<'a>, PlanError> {
        for stage in stages {
            stage(&mut self)?;
            self.request.options.interrupt.check()?;
        }
        Ok(self)
    }

    fn into_plan(mut self) -> Plan {
        let (lowered, batches) = (std::mem::take(&mut self.lowered), std::mem::take(&mut self.batches));
        Plan { cut: self.into_cut(), lowered, batches }
    }

    fn into_cut(self) -> Cut {
        self.legality.keep_only(self.segments.iter().map(|segment| &segment.view));
        let to_make =
            outputs::to_make(&self.graph, &self.written, self.request.layouts, &Segmentation::default());
        let to_make = to_make.outputs().iter().map(|output| output.val).collect();
        let Optimized { fusion, map, views, computed, tasks, dropped, .. } = self.optimized;
        debug_assert!(self.graph.verify_tasks(&tasks).is_empty(), "segments that are no views of the fusion");
        Cut {
            graph: self.graph,
            fusion,
            views,
            computed,
            map,
            chosen: self.request.options.segmentation.clone(),
            to_make,
            segmentation: self.segmentation,
            parts: self.parts,
            segments: self.segments,
            tasks,
            dropped,
            patterns: self.patterns,
            products: self.products,
            distribution: self.distribution,
            softmaxes: self.softmaxes,
            steps: self.steps,
            placements: self.placements,
            legality: self.legality,
            target: self.request.target.clone(),
            search_steps: self.search_steps,
        }
    }
}
