//! How each segment runs: by kernels, with the user's schedule or a chosen one, by a library, or by the evaluator.

use std::cell::RefCell;

use ir::graph::{Fusion, Task, TaskData, TaskKind, Val};
use ir::layout::{LayoutClass, SegmentLayouts};
use rustc_hash::FxHashMap;
use scheduler::legal::{Rejection, Witness};
use scheduler::schedule::{Schedule, Workload, choose};

use super::Compilation;
use crate::batch::Shared;
use crate::plan::{Decision, Kernels, PlanError, PlanRequest, SegmentPlan};
use segmenter::cost::{self, Amounts};
use segmenter::{Engine, GroupClass, PlaceInGroup, Structure};

/// A class of segments whose inputs and results have these layouts.
pub(super) type LaidOutClass = (GroupClass, [Vec<LayoutClass>; 2]);

/// What the choices for several segments rest on.
struct Choices<'a> {
    /// The schedules that similar segments share.
    shared: FxHashMap<Structure, Shared>,
    amounts: Amounts<'a>,
    /// The schedules of classes of segments, by the layouts of what they read and make.
    known: RefCell<FxHashMap<LaidOutClass, ClassSchedule>>,
}

/// The schedule of a class of segments.
#[derive(Clone)]
struct ClassSchedule {
    /// For one of them.
    schedule: Schedule,
    /// The places of its persistent values.
    persistent: Vec<PlaceInGroup>,
    /// How often inputs are read from main memory.
    input_sweeps: u32,
}

impl ClassSchedule {
    fn of(view: &Fusion, schedule: Schedule, input_sweeps: u32) -> ClassSchedule {
        let persistent = schedule.persistent.iter().map(|&val| PlaceInGroup::of(view, val)).collect();
        ClassSchedule { schedule, persistent, input_sweeps }
    }

    /// The schedule for a segment.
    fn at(self, view: &Fusion) -> (Schedule, u32) {
        let persistent = self.persistent.into_iter().map(|place| place.val(view)).collect();
        (Schedule { persistent, ..self.schedule }, self.input_sweeps)
    }
}

/// The stage.
pub(super) fn schedules(compilation: &mut Compilation<'_>) -> Result<(), PlanError> {
    let views = std::mem::take(&mut compilation.segment_views);
    compilation.place_schedule(&views)?;
    let segments = compilation.segments_of(views)?;
    segments.into_iter().for_each(|segment| compilation.add(segment));
    compilation.require_kernels()
}

impl Compilation<'_> {
    /// The segments of these views, in order.
    fn segments_of(&self, views: Vec<Fusion>) -> Result<Vec<SegmentPlan>, PlanError> {
        let amounts = Amounts::new(&self.graph, self.request.hints, self.request.target);
        let choices = Choices { shared: self.shared(&views), amounts, known: RefCell::default() };
        let segment = |(number, view): (usize, Fusion)| {
            self.request.options.interrupt.check()?;
            self.segment(number, view, &choices)
        };
        views.into_iter().enumerate().map(segment).collect()
    }

    /// The segment with a number.
    fn segment(&self, number: usize, view: Fusion, choices: &Choices<'_>) -> Result<SegmentPlan, PlanError> {
        let (name, kernel) = (self.segmentation.name(number), format!("seg{number}"));
        let decision = self.decide(&view, self.chosen_schedule(number), choices, &name)?;
        let at = self.optimized.constraints.place_of(view.order()).expect("the stage before checks it");
        Ok(SegmentPlan { name, kernel, view, at, decision })
    }

    /// Adds a segment, as a task too.
    pub(super) fn add(&mut self, segment: SegmentPlan) {
        let data = TaskData {
            name: segment.name.clone(),
            kind: TaskKind::Segment,
            parent: None::<Task>,
            view: segment.view.clone(),
        };
        self.optimized.tasks.add(data).expect("a task without a parent always fits");
        self.segments.push(segment);
    }

    /// The schedule that the user chose for the segment with a number.
    pub(super) fn chosen_schedule(&self, number: usize) -> Option<&Schedule> {
        let name = self.segmentation.name(number);
        let chosen = self.chosen_schedules.iter().find(|(segment, _)| segment.is_of(number, &name));
        chosen.map(|(_, schedule)| schedule)
    }

    /// Rejects schedules for segments that are not there, or have no kernel.
    fn require_kernels(&self) -> Result<(), PlanError> {
        let there = self.segments.len();
        for (asked, _) in &self.chosen_schedules {
            let mut numbers =
                (0..there).filter(|&number| asked.is_of(number, &self.segments[number].name)).peekable();
            if numbers.peek().is_none() && !self.request.options.is_segment {
                return Err(PlanError::NoSegment { asked: asked.clone(), there });
            }
            if !numbers.any(|number| matches!(self.segments[number].decision, Decision::Kernels(_))) {
                return Err(PlanError::NoKernel(asked.clone()));
            }
        }
        Ok(())
    }

    /// The value before passes that became a value, or that it is.
    fn written_as(&self, val: Val) -> Option<Val> {
        let became = self.optimized.map.iter().find(|(_, new)| *new == val).map(|(old, _)| old);
        became.or_else(|| ((val.node.as_u32() as usize) < self.request.graph.len()).then_some(val))
    }

    /// The compiler's own schedule.
    pub(super) fn schedule(&self, view: &Fusion, witness: &Witness) -> Schedule {
        let Compilation { graph, request: PlanRequest { target, hints, .. }, .. } = self;
        let [inputs, stores] = &self.layouts_of(view);
        choose(&Workload { graph, view, witness, memory: SegmentLayouts { inputs, stores }, target, hints })
    }

    /// The class of a segment.
    pub(super) fn class_of(&self, view: &Fusion) -> LaidOutClass {
        (self.legality.class(&self.graph, view), self.layouts_of(view))
    }

    /// The compiler's own schedule, and how often a kernel reads inputs from main memory: found once for each class.
    fn schedule_of_class(&self, view: &Fusion, witness: &Witness, choices: &Choices<'_>) -> (Schedule, u32) {
        let class = self.class_of(view);
        let known = choices.known.borrow().get(&class).cloned();
        let sweeps = || cost::input_sweeps(&choices.amounts, view, witness);
        let find = || ClassSchedule::of(view, self.schedule(view, witness), sweeps());
        let known =
            known.unwrap_or_else(|| choices.known.borrow_mut().entry(class).or_insert_with(find).clone());
        let known = known.at(view);
        // An axis whose size is 1 by a fact, rather than as it is written, is an axis of the kernel.
        if known.0.check(witness).is_err() {
            return (self.schedule(view, witness), sweeps());
        }
        known
    }

    /// How a segment of this name runs: by the user's schedule, by one that similar segments share, or by its own.
    fn decide(
        &self,
        view: &Fusion,
        chosen: Option<&Schedule>,
        choices: &Choices<'_>,
        name: &str,
    ) -> Result<Decision, PlanError> {
        let Compilation { graph, legality, .. } = self;
        let witness = match &*legality.of(graph, view) {
            Ok(Engine::Kernel(witness)) => (**witness).clone(),
            Ok(Engine::External(call)) => return Ok(Decision::External(call.clone())),
            Err(Rejection { reason, val, .. }) => {
                return Ok(Decision::Evaluate { reason: reason.clone(), val: *val });
            }
        };
        let fits = |shared: &&Shared| chosen.is_none() && shared.schedule.check(&witness).is_ok();
        let shared = || choices.shared.get(&self.structure(view)).filter(fits);
        let shared = if choices.shared.is_empty() { None } else { shared() };
        let (schedule, input_sweeps) = match (chosen, shared) {
            (Some(schedule), _) | (None, Some(Shared { schedule, .. })) => {
                (schedule.clone(), cost::input_sweeps(&choices.amounts, view, &witness))
            }
            (None, None) => self.schedule_of_class(view, &witness, choices),
        };
        let fits = schedule.check(&witness).and_then(|()| schedule.check_on(self.request.target));
        fits.map_err(|error| {
            let (segment, val) = (name.to_owned(), error.val().and_then(|val| self.written_as(val)));
            PlanError::Schedule { segment, error, val }
        })?;
        let [layouts, stores] = self.layouts_of(view);
        let general = shared.is_some_and(|shared| shared.general);
        let kernels = Kernels { witness, schedule, layouts, stores, general, input_sweeps };
        Ok(Decision::Kernels(Box::new(kernels)))
    }
}
