//! Segment by segment how it runs: by kernels, each with the user's schedule or one that is chosen, by a library, or by the
//! evaluator.

use ir::graph::{Fusion, Task, TaskData, TaskKind, Val};
use rustc_hash::FxHashMap;
use scheduler::layout::{LayoutClass, SegmentLayouts};
use scheduler::legal::Rejection;
use scheduler::lower::{Group, lower};
use scheduler::schedule::{Schedule, Workload, choose};

use super::Compilation;
use crate::outputs::placements;
use crate::plan::{Decision, Kernels, PlanError, SegmentPlan};
use crate::segment::{Engine, cost};

/// The stage.
pub(super) fn kernels(compilation: &mut Compilation<'_>) -> Result<(), PlanError> {
    compilation.placements =
        placements(&compilation.graph, &compilation.optimized.computed, compilation.layouts);
    let outer = compilation.outer_layouts();
    for (number, view) in std::mem::take(&mut compilation.segment_views).into_iter().enumerate() {
        compilation.options.interrupt.check()?;
        let dense = |val: &Val| outer.get(val).cloned().unwrap_or(LayoutClass::Dense);
        let inputs: Vec<LayoutClass> = view.inputs().iter().map(dense).collect();
        let stores: Vec<LayoutClass> = view.outputs().iter().map(|output| dense(&output.val)).collect();
        let memory = SegmentLayouts { inputs: &inputs, stores: &stores };
        let segment = compilation.segment(number, view, memory)?;
        compilation.add(segment);
    }
    compilation.require_kernels()
}

impl Compilation<'_> {
    /// The layouts of inputs, and of what is not row-major because it is an output.
    fn outer_layouts(&self) -> FxHashMap<Val, LayoutClass> {
        let given = self.written.inputs().iter().copied().zip(self.layouts.iter().cloned());
        let placed = self.placements.iter().map(|(&val, placement)| (val, placement.layout(self.layouts)));
        given.chain(placed).collect()
    }

    /// The segment with a number, which sees these layouts.
    fn segment(
        &self,
        number: usize,
        view: Fusion,
        memory: SegmentLayouts<'_>,
    ) -> Result<SegmentPlan, PlanError> {
        let name = format!("seg{number}");
        let decision = self.decide(&view, memory, self.chosen_schedule(number), &name)?;
        let at = self.optimized.constraints.place_of(view.order()).expect("the stage before checks it");
        let answer = self.legality.of(&self.graph, &view);
        let cost = cost::Seconds::of(&self.graph, &view, &answer, self.hints, self.target);
        Ok(SegmentPlan { name, view, at, cost, decision })
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

    fn chosen_schedule(&self, number: usize) -> Option<&Schedule> {
        let chosen = self.options.schedules.iter().find(|(segment, _)| *segment == number);
        chosen.map(|(_, schedule)| schedule)
    }

    /// Rejects a schedule for what has no kernel.
    fn require_kernels(&self) -> Result<(), PlanError> {
        let has_kernels = |number: usize| matches!(self.segments.get(number), Some(s) if matches!(s.decision, Decision::Kernels(_)));
        match self.options.schedules.iter().find(|(number, _)| !has_kernels(*number)) {
            Some((number, _)) => Err(PlanError::NoSegment(*number)),
            None => Ok(()),
        }
    }

    /// How a segment of this name runs, by a schedule that the user chose or the compiler does.
    fn decide(
        &self,
        view: &Fusion,
        memory: SegmentLayouts<'_>,
        chosen: Option<&Schedule>,
        name: &str,
    ) -> Result<Decision, PlanError> {
        let Compilation { graph, legality, target, hints, .. } = self;
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
