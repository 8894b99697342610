//! The compiler on a page: passes, segments, a schedule and kernels for each.

use ir::graph::{
    DeviceStream, Dropped, Fusion, Graph, GroupOptions, Output, Task, TaskData, TaskKind, Tasks, Val, ValMap,
};
use ir::interrupt::{Interrupt, Interrupted};
use rustc_hash::{FxHashMap, FxHashSet};
use scheduler::hints::Hints;
use scheduler::layout::{LayoutClass, SegmentLayouts};
use scheduler::legal::{Rejection, Witness};
use scheduler::lower::{Group, LoweredSegment, lower};
use scheduler::schedule::{Schedule, ScheduleError, Workload, choose};
use scheduler::target::Target;
use thiserror::Error;

use crate::distribution::Distribution;
use crate::outputs::{Placement, View, computed, ordered, placements, views};
use crate::passes::{Step, before_expansion, composed, distributable, distribute, optimize};
use crate::products::{self, ShallowProduct};
use crate::segment::{
    Constraints, Engine, ExternalCall, GroupError, Legality, Lifetimes, SearchProblem, Segmentation,
    SegmentationError, cost, greedy_with, search, search_within,
};

/// Choices that the user makes instead of the compiler.
#[derive(Clone, Debug, Default)]
pub struct PlanOptions {
    /// Which values are kept, and which segment makes them; over values of the definition.
    pub segmentation: Option<Segmentation>,
    /// Schedules for segments, by number.
    pub schedules: Vec<(usize, Schedule)>,
    /// The tasks of the definition: its groups bind segments.
    pub tasks: Tasks,
    /// The most bytes that may be in memory at a time of what segments make, at the sizes that are expected; partial results
    /// of folds do not count.
    pub peak_memory: Option<u64>,
    /// What ends planning between two segments.
    pub interrupt: Interrupt,
}

/// A compiled fusion short of machine code.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The container: that of the definition, with what the passes added.
    pub graph: Graph,
    /// The fusion after the passes.
    pub fusion: Fusion,
    /// Of each output what it is a view of, if no segment makes it.
    pub views: Vec<Option<View>>,
    /// The fusion less its views: what segments make.
    pub computed: Fusion,
    /// What each value of the definition became.
    pub map: ValMap,
    /// The segmentation that the user chose, over values of the definition.
    pub chosen: Option<Segmentation>,
    /// Which values are kept in memory.
    pub segmentation: Segmentation,
    /// The segments in the order they run.
    pub segments: Vec<SegmentPlan>,
    /// The groups of the definition as the passes left them, and the segments in the same order, as tasks of the graph.
    pub tasks: Tasks,
    /// The groups of which the passes left nothing to compute.
    pub dropped: Vec<Dropped>,
    /// What became of each pattern of the definition, in order: its task, or the pass that lost it and how.
    pub patterns: Vec<Result<Task, String>>,
    /// The products of matrices that a kernel may compute, and which ones one does.
    pub products: Vec<ShallowProduct>,
    /// The folds by lambdas that can be distributed over their states, and whether they are.
    pub distribution: Distribution,
    /// What each pass made, in order. Views of earlier steps still work.
    pub steps: Vec<Step>,
    /// The values that are not row-major in memory, because they are outputs.
    pub placements: FxHashMap<Val, Placement>,
    /// What was asked of groups on the way.
    pub legality: Legality,
    /// What decisions were made for.
    pub target: Target,
    /// Nodes that the search for a segmentation looked at; 0 where the user chose it.
    pub search_steps: usize,
}

/// One segment.
#[derive(Clone, Debug)]
pub struct SegmentPlan {
    /// `seg0`, `seg1`, …
    pub name: String,
    /// What it reads, makes and computes.
    pub view: Fusion,
    /// The device and the stream that the user asked for.
    pub at: DeviceStream,
    /// Seconds that the cost model expects, by term.
    pub cost: cost::Seconds,
    pub decision: Decision,
}

/// How a segment runs.
#[derive(Clone, Debug)]
pub enum Decision {
    /// As kernels.
    Kernels(Box<Kernels>),
    /// By a library of the machine.
    External(ExternalCall),
    /// By the evaluator, because no kernel can be made of it yet.
    Evaluate {
        reason: String,
        /// The value that stands in the way.
        val: Val,
    },
}

/// A segment's kernels and how they came about.
#[derive(Clone, Debug)]
pub struct Kernels {
    pub witness: Witness,
    pub schedule: Schedule,
    /// The layouts of its inputs.
    pub layouts: Vec<LayoutClass>,
    /// The layouts of what it stores.
    pub stores: Vec<LayoutClass>,
    pub lowered: LoweredSegment,
    /// How often inputs are read from main memory.
    pub input_sweeps: u32,
}

/// A choice of the user that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    /// The segmentation.
    #[error("the segmentation does not fit the definition: {0}")]
    Segmentation(#[from] SegmentationError),
    /// A schedule.
    #[error("the schedule of {segment} does not fit it: {error}")]
    Schedule { segment: String, error: ScheduleError },
    /// Groups of the definition.
    #[error(transparent)]
    Group(#[from] GroupError),
    /// More memory than the user allows.
    #[error(
        "at most {limit} bytes may be in memory at a time of what segments make; the fewest found are {lowest}"
    )]
    Memory {
        /// The bytes that may be.
        limit: u64,
        /// The fewest that were found to do, or what the segmentation that the user chose needs.
        lowest: u64,
    },
    /// The caller wants the plan no more.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// A schedule for a segment that the plan does not have, or that the evaluator runs.
    #[error("there is a schedule for segment {0}, which has no kernel")]
    NoSegment(usize),
}

/// Plans a fusion whose inputs have these `layouts`.
///
/// # Errors
/// When a segmentation or a schedule that the user chose does not fit, or the caller interrupts; never otherwise.
pub fn plan(
    graph: &Graph,
    fusion: &Fusion,
    layouts: &[LayoutClass],
    target: &Target,
    hints: &Hints,
    options: &PlanOptions,
) -> Result<Plan, PlanError> {
    if let Some(chosen) = &options.segmentation {
        let fusion = ordered(graph, fusion);
        chosen.check(graph, &computed(graph, &fusion, &viewed(graph, &fusion, layouts, chosen)))?;
    }
    let (mut graph, written) = graph.fork(fusion);
    let chosen = options.segmentation.iter().flat_map(Segmentation::kept);
    let kept: FxHashSet<Val> = chosen.chain(crossing(&options.tasks)).collect();
    let mut steps = optimize(&mut graph, &written, layouts, kept.clone());
    options.interrupt.check()?;
    let legality = Legality::default();
    let source = Source { written: &written, layouts, options, legality: &legality };
    let (distribution, products) = match options.segmentation {
        Some(_) => Default::default(),
        None => (
            source.distribute(&mut graph, &mut steps, kept, hints, target),
            source.decompose(&mut graph, &mut steps, hints, target),
        ),
    };
    let Optimized { fusion, map, chosen, views, computed, mut tasks, dropped, constraints } =
        source.optimized(&graph, &steps);
    let patterns =
        tasks.add_patterns_after(&options.tasks, &graph, steps.iter().map(|step| (step.pass, &step.map)));
    constraints.require_legal(&graph, &computed, &legality).map_err(|error| error.of_written(&map))?;
    let (segmentation, search_steps) = match chosen {
        Some(chosen) => (completed(chosen, &graph, &computed), 0),
        None => {
            let merged = greedy_with(&graph, &computed, &constraints, &legality);
            let problem = SearchProblem {
                graph: &graph,
                fusion: &computed,
                constraints: &constraints,
                legality: &legality,
                hints,
                target,
            };
            let found = match options.peak_memory {
                Some(limit) => search_within(problem, merged, limit),
                None => search(problem, merged),
            };
            (found.segmentation, found.steps)
        }
    };
    segmentation.check(&graph, &computed)?;
    let segment_views = segmentation.views(&graph, &computed);
    constraints.check(&segment_views)?;
    if let Some(limit) = options.peak_memory {
        let bytes = |val: Val| hints.value(&graph.ty(val).bytes());
        let order: Vec<usize> = (0..segment_views.len()).collect();
        let lowest = Lifetimes::of(&computed, segment_views.iter(), bytes).peak(&order);
        if lowest > limit {
            return Err(PlanError::Memory { limit, lowest });
        }
    }
    options.interrupt.check()?;
    let placements = placements(&graph, &computed, layouts);
    let given = fusion.inputs().iter().copied().zip(layouts.iter().cloned());
    let placed = placements.iter().map(|(&val, placement)| (val, placement.layout(layouts)));
    let outer: FxHashMap<Val, LayoutClass> = given.chain(placed).collect();
    let decider = Decider { graph: &graph, legality: &legality, target, hints };
    let mut segments = Vec::new();
    for (number, view) in segment_views.into_iter().enumerate() {
        options.interrupt.check()?;
        let name = format!("seg{number}");
        let data = TaskData {
            name: name.clone(),
            kind: TaskKind::Segment,
            parent: None::<Task>,
            view: view.clone(),
        };
        tasks.add(data).expect("a task without a parent always fits");
        let dense = |val: &Val| outer.get(val).cloned().unwrap_or(LayoutClass::Dense);
        let inputs: Vec<LayoutClass> = view.inputs().iter().map(dense).collect();
        let stores: Vec<LayoutClass> = view.outputs().iter().map(|output| dense(&output.val)).collect();
        let memory = SegmentLayouts { inputs: &inputs, stores: &stores };
        let chosen =
            options.schedules.iter().find(|(segment, _)| *segment == number).map(|(_, schedule)| schedule);
        let decision = decider.decide(&view, memory, chosen, &name)?;
        let at = constraints.place_of(view.order()).expect("checked above");
        let cost = cost::Seconds::of(&graph, &view, &legality.of(&graph, &view), hints, target);
        segments.push(SegmentPlan { name, view, at, cost, decision });
    }
    let has_kernels =
        |number: usize| matches!(segments.get(number), Some(s) if matches!(s.decision, Decision::Kernels(_)));
    if let Some((number, _)) = options.schedules.iter().find(|(number, _)| !has_kernels(*number)) {
        return Err(PlanError::NoSegment(*number));
    }
    legality.keep_only(segments.iter().map(|segment| &segment.view));
    debug_assert!(graph.verify_tasks(&tasks).is_empty(), "segments that are no views of the fusion");
    let chosen = options.segmentation.clone();
    Ok(Plan {
        graph,
        fusion,
        views,
        computed,
        map,
        chosen,
        segmentation,
        segments,
        tasks,
        dropped,
        patterns,
        products,
        distribution,
        steps,
        placements,
        legality,
        target: target.clone(),
        search_steps,
    })
}

/// What a plan is made from.
struct Source<'a> {
    written: &'a Fusion,
    layouts: &'a [LayoutClass],
    options: &'a PlanOptions,
    legality: &'a Legality,
}

/// A fusion behind passes, and what choices and groups became.
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

impl Source<'_> {
    fn optimized(&self, graph: &Graph, steps: &[Step]) -> Optimized {
        let Source { written, layouts, options, .. } = *self;
        let (fusion, map) = composed(graph, written, steps);
        let fusion = ordered(graph, &fusion);
        let chosen = options.segmentation.as_ref().map(|chosen| mapped(chosen, graph, &fusion, &map));
        let views = viewed(graph, &fusion, layouts, chosen.as_ref().unwrap_or(&Segmentation::default()));
        let computed = computed(graph, &fusion, &views);
        let (tasks, dropped) = options.tasks.groups_after(graph, written, &fusion, &map);
        let constraints = Constraints::new(graph, &computed, &tasks);
        Optimized { fusion, map, chosen, views, computed, tasks, dropped, constraints }
    }

    /// Distributes folds by lambdas over their states where that is faster: all steps anew, behind one more.
    fn distribute(
        &self,
        graph: &mut Graph,
        steps: &mut Vec<Step>,
        kept: FxHashSet<Val>,
        hints: &Hints,
        target: &Target,
    ) -> Distribution {
        let folds = distributable(graph, self.written);
        if folds.is_empty() {
            return Distribution::default();
        }
        let (view, map) = distribute(graph, self.written);
        graph.debug_verify(&view);
        let kept = kept.into_iter().filter_map(|val| map.get(val)).collect();
        let optimized = optimize(graph, &view, self.layouts, kept);
        let first = Step { pass: "distribute", view, map };
        let distributed: Vec<Step> = [first].into_iter().chain(optimized).collect();
        let seconds = |steps: &[Step]| self.seconds(graph, steps, hints, target);
        let distribution = Distribution { folds, lambda: seconds(steps), distributed: seconds(&distributed) };
        if distribution.is_distributed() {
            *steps = distributed;
        }
        distribution
    }

    /// Takes products of matrices apart that kernels compute, as a step more.
    fn decompose(
        &self,
        graph: &mut Graph,
        steps: &mut Vec<Step>,
        hints: &Hints,
        target: &Target,
    ) -> Vec<ShallowProduct> {
        let fusion = steps.last().map_or(self.written, |step| &step.view).clone();
        let seconds = |graph: &Graph, step: Option<&Step>| {
            let steps: Vec<Step> = steps.iter().chain(step).cloned().collect();
            self.seconds(graph, &steps, hints, target)
        };
        let (products, step) = products::decide(graph, &fusion, seconds);
        steps.extend(step);
        products
    }

    /// Seconds that the cost model expects of what steps made, merged greedily.
    fn seconds(&self, graph: &Graph, steps: &[Step], hints: &Hints, target: &Target) -> f64 {
        let Optimized { computed, constraints, .. } = self.optimized(graph, steps);
        let views = greedy_with(graph, &computed, &constraints, self.legality).views(graph, &computed);
        let seconds =
            |view: &Fusion| cost::seconds(graph, view, &self.legality.of(graph, view), hints, target);
        views.iter().map(seconds).sum()
    }
}

/// The values that leave groups which bind segments: passes make them no part of what others compute.
fn crossing(tasks: &Tasks) -> impl Iterator<Item = Val> + '_ {
    let binds = |(task, _, options): &(Task, &TaskData, &GroupOptions)| {
        options.stay || tasks.device_stream(*task) != DeviceStream::default()
    };
    let views = tasks.groups().filter(binds).map(|(_, group, _)| &group.view);
    views.flat_map(|view| view.outputs().iter().map(|output| output.val))
}

/// The views among the outputs: not what a segmentation makes.
fn viewed(
    graph: &Graph,
    fusion: &Fusion,
    layouts: &[LayoutClass],
    segmentation: &Segmentation,
) -> Vec<Option<View>> {
    let kept = segmentation.kept();
    let made = |place: usize| kept.contains(&fusion.outputs()[place].val);
    let viewed = views(graph, fusion, layouts).into_iter().enumerate();
    viewed.map(|(place, view)| view.filter(|_| !made(place))).collect()
}

/// A segmentation over the values that the passes made of the definition's. Values that became equal are made by the
/// first segment that makes or needs one of them; what became an input is made by none. Of what became an expansion the
/// elements are kept that are expanded.
fn mapped(segmentation: &Segmentation, graph: &Graph, fusion: &Fusion, map: &ValMap) -> Segmentation {
    let mut viewed: FxHashSet<Val> = fusion.inputs().iter().copied().collect();
    let mut segments = Vec::new();
    for made in &segmentation.segments {
        let moved = made.iter().map(|&val| before_expansion(graph, map.get(val).unwrap_or(val)));
        let mut made: Vec<Val> = moved.filter(|&val| viewed.insert(val)).collect();
        made.sort_unstable();
        segments.push(made);
    }
    let mut mapped = Segmentation { segments };
    while let Some((early, late, val)) = needed_early(&mapped, graph, fusion) {
        mapped.segments[late].retain(|&other| other != val);
        mapped.segments[early].push(val);
        mapped.segments[early].sort_unstable();
    }
    mapped.segments.retain(|made| !made.is_empty());
    mapped
}

/// A segmentation that also makes what outputs are since the passes moved expansions: by the first segment that computes
/// it, or that makes what it is an expansion of.
fn completed(mut segmentation: Segmentation, graph: &Graph, fusion: &Fusion) -> Segmentation {
    for &Output { val, .. } in fusion.outputs().iter().filter(|output| !fusion.is_input(output.val)) {
        if segmentation.kept().contains(&val) {
            continue;
        }
        let views = segmentation.views(graph, fusion);
        let small = before_expansion(graph, val);
        let makes = |made: &Vec<Val>| made.contains(&small);
        let computing = views.iter().position(|view| view.contains(val.node));
        match computing.or_else(|| segmentation.segments.iter().position(makes)) {
            Some(first) => {
                segmentation.segments[first].push(val);
                segmentation.segments[first].sort_unstable();
            }
            // An expansion of an input.
            None => segmentation.segments.push(vec![val]),
        }
    }
    segmentation
}

impl Plan {
    /// Seconds that the cost model expects of all segments together.
    pub fn seconds(&self, hints: &Hints) -> f64 {
        let segment = |segment: &SegmentPlan| {
            let answer = self.legality.of(&self.graph, &segment.view);
            cost::seconds(&self.graph, &segment.view, &answer, hints, &self.target)
        };
        self.segments.iter().map(segment).sum()
    }

    /// What is kept of a value of the definition, if it is: itself, or what it was before it was expanded.
    pub fn kept(&self, val: Val) -> Option<Val> {
        let val = self.map.get(val)?;
        let kept = self.segmentation.kept();
        [val, before_expansion(&self.graph, val)].into_iter().find(|val| kept.contains(val))
    }
}

/// A segment that needs a value which a later one makes: both, and the value.
fn needed_early(segmentation: &Segmentation, graph: &Graph, fusion: &Fusion) -> Option<(usize, usize, Val)> {
    let views = segmentation.views(graph, fusion);
    views.iter().enumerate().find_map(|(early, view)| {
        let made_by = |val: Val| segmentation.segments.iter().position(|made| made.contains(&val));
        let late = |&val: &Val| made_by(val).filter(|&late| late > early).map(|late| (early, late, val));
        view.inputs().iter().find_map(late)
    })
}

/// What decisions about segments are made from.
struct Decider<'a> {
    graph: &'a Graph,
    legality: &'a Legality,
    target: &'a Target,
    hints: &'a Hints,
}

impl Decider<'_> {
    /// How a segment of this name runs, by a schedule that the user chose or the compiler does.
    fn decide(
        &self,
        view: &Fusion,
        memory: SegmentLayouts<'_>,
        chosen: Option<&Schedule>,
        name: &str,
    ) -> Result<Decision, PlanError> {
        let Decider { graph, legality, target, hints } = *self;
        let witness = match &*legality.of(graph, view) {
            Ok(Engine::Kernel(witness)) => (**witness).clone(),
            Ok(Engine::External(call)) => return Ok(Decision::External(call.clone())),
            Err(Rejection { reason, val, .. }) => {
                return Ok(Decision::Evaluate { reason: reason.clone(), val: *val });
            }
        };
        let schedule = match chosen {
            Some(schedule) => schedule.clone(),
            None => choose(&Workload { graph, view, witness: &witness, memory, target, hints }),
        };
        let SegmentLayouts { inputs: layouts, stores } = memory;
        let group = Group { graph, view, witness: &witness, schedule: &schedule, layouts, stores, name };
        let lowered =
            lower(&group).map_err(|error| PlanError::Schedule { segment: name.to_owned(), error })?;
        let input_sweeps = cost::input_sweeps(graph, view, &witness, hints, target);
        let (layouts, stores) = (layouts.to_vec(), stores.to_vec());
        let kernels = Kernels { witness, schedule, layouts, stores, lowered, input_sweeps };
        Ok(Decision::Kernels(Box::new(kernels)))
    }
}
