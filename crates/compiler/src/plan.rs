//! A plan: all decisions about a fusion, without machine code, and the choices that a user may make instead. A cut is a plan
//! that has no kernels yet.

use std::fmt;
use std::ops::{Deref, Range};

use ir::graph::{DeviceStream, Dropped, Fusion, Graph, Node, Task, Tasks, Val, ValMap};
use ir::interrupt::{Interrupt, Interrupted};
use ir::layout::LayoutClass;
use lowering::{Group, LoweredSegment};
use ops::Monoid;
use rustc_hash::{FxHashMap, FxHashSet};
use scheduler::hints::Hints;
use scheduler::legal::Witness;
use scheduler::schedule::{Schedule, ScheduleError};
use target::Target;
use thiserror::Error;

use crate::distribution::Distribution;
use crate::outputs::{Placement, View};
use crate::passes::{Step, built_in, in_memory};
use crate::products::JudgedProducts;
use crate::softmaxes::Softmaxes;
use segmenter::cost::{Amounts, Seconds};
use segmenter::{
    ExternalCall, GroupError, Joined, Legality, LegalityAnswer, Segmentation, SegmentationError,
};

/// Choices that the user makes instead of the compiler.
#[derive(Clone, Debug, Default)]
pub struct PlanOptions {
    /// Which values are kept, and which segment makes them; over values of the definition.
    pub segmentation: Option<Segmentation>,
    /// Schedules for segments.
    pub schedules: Vec<(SegmentId, Schedule)>,
    /// The limit on the bytes of values made by segments that are in memory at a time, at the expected sizes; partial
    /// results of folds do not count.
    pub peak_memory: Option<u64>,
    /// Whether it is a segment of another definition. Then it is one kernel if possible, and its inputs count as expanded
    /// along every axis along which a call passes them expanded, declared or not. A schedule is then for the segment's one
    /// kernel, in the first form of the segment that it fits.
    pub is_segment: bool,
    /// Stops planning between two segments.
    pub interrupt: Interrupt,
}

/// What a user calls a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SegmentId {
    /// Its number in the order they run.
    Number(usize),
    /// Its name.
    Name(String),
}

impl SegmentId {
    /// Whether it is the segment with a number and a name.
    pub fn is_of(&self, number: usize, name: &str) -> bool {
        match self {
            SegmentId::Number(own) => *own == number,
            SegmentId::Name(own) => own == name,
        }
    }
}

impl From<usize> for SegmentId {
    fn from(number: usize) -> SegmentId {
        SegmentId::Number(number)
    }
}

impl fmt::Display for SegmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SegmentId::Number(number) => write!(f, "{number}"),
            SegmentId::Name(name) => f.write_str(name),
        }
    }
}

/// What a plan is made from.
#[derive(Clone, Copy, Debug)]
pub struct PlanRequest<'a> {
    pub graph: &'a Graph,
    pub fusion: &'a Fusion,
    /// The tasks of the definition: its groups bind segments.
    pub tasks: &'a Tasks,
    /// The layouts of the inputs.
    pub layouts: &'a [LayoutClass],
    /// The machine.
    pub target: &'a Target,
    /// The expected sizes.
    pub hints: &'a Hints,
    pub options: &'a PlanOptions,
}

/// A fusion that is cut into segments, each with a schedule.
#[derive(Clone, Debug)]
pub struct Cut {
    /// The container: the definition's graph, with the nodes that the passes added.
    pub graph: Graph,
    /// The fusion after the passes.
    pub fusion: Fusion,
    /// For each output the view that it is, if no segment makes it.
    pub views: Vec<Option<View>>,
    /// The fusion without its views: the values that segments make.
    pub computed: Fusion,
    /// The value that each value of the definition became.
    pub map: ValMap,
    /// The segmentation that the user chose, over values of the definition.
    pub chosen: Option<Segmentation>,
    /// The outputs of the definition that a segmentation has to make: no views of inputs or of one another.
    pub to_make: Vec<Val>,
    /// Which values are kept in memory.
    pub segmentation: Segmentation,
    /// For each segment the segment of the user's segmentation that contains it; empty if the user chose no segmentation.
    pub parts: Vec<usize>,
    /// The segments in the order they run.
    pub segments: Vec<SegmentPlan>,
    /// The groups of the definition as the passes left them, and the segments in the same order, as tasks of the graph.
    pub tasks: Tasks,
    /// The groups of which the passes left nothing to compute.
    pub dropped: Vec<Dropped>,
    /// For each pattern of the definition, in order: its task, or the pass that lost it and how.
    pub patterns: Vec<Result<Task, String>>,
    /// The products of matrices that a kernel may compute, and whether one does.
    pub products: JudgedProducts,
    /// The folds by lambdas that can be distributed over their states, and whether they are.
    pub distribution: Distribution,
    /// Which softmaxes are one fold.
    pub softmaxes: Softmaxes,
    /// The view that each pass made, in order. Views of earlier steps remain valid.
    pub steps: Vec<Step>,
    /// The layouts of values that are not row-major in memory, because they are outputs.
    pub placements: FxHashMap<Val, Placement>,
    /// The answers of legality about groups so far.
    pub legality: Legality,
    /// The target that decisions were made for.
    pub target: Target,
    /// Nodes that the search for a segmentation looked at; 0 where the user chose it.
    pub search_steps: usize,
}

/// A compiled fusion without machine code: a cut and its kernels.
#[derive(Clone, Debug)]
pub struct Plan {
    pub cut: Cut,
    /// The kernels of each segment; none if it runs in another way.
    pub lowered: Vec<LoweredSegment>,
    /// Ranges of segment numbers that cover all segments. One launch runs a range of several, because they are alike and
    /// independent; most ranges have one.
    pub batches: Vec<Range<usize>>,
}

impl Plan {
    /// The segments that one launch runs, of which this is one.
    pub fn batch_of(&self, segment: usize) -> Range<usize> {
        let found = self.batches.iter().find(|batch| batch.contains(&segment));
        found.expect("batches cover all segments").clone()
    }
}

impl Deref for Plan {
    type Target = Cut;

    fn deref(&self) -> &Cut {
        &self.cut
    }
}

/// One segment.
#[derive(Clone, Debug)]
pub struct SegmentPlan {
    /// As the user calls it, or `seg0`, `seg1`, …
    pub name: String,
    /// The name of its kernel: `seg0`, `seg1`, …
    pub kernel: String,
    /// Its inputs, outputs and nodes.
    pub view: Fusion,
    /// The device and the stream that the user asked for.
    pub at: DeviceStream,
    pub decision: Decision,
}

impl SegmentPlan {
    /// The group that its kernels are made of, if it has any.
    pub fn group<'a>(&'a self, graph: &'a Graph) -> Option<Group<'a>> {
        let SegmentPlan { kernel, view, decision: Decision::Kernels(kernels), .. } = self else {
            return None;
        };
        let Kernels { witness, schedule, layouts, stores, general, .. } = &**kernels;
        Some(Group { graph, view, witness, schedule, layouts, stores, general: *general, name: kernel })
    }
}

/// How a segment runs.
#[derive(Clone, Debug)]
pub enum Decision {
    /// As kernels, made of this.
    Kernels(Box<Kernels>),
    /// By a library.
    External(ExternalCall),
    /// By the evaluator, because no kernel can compute it yet.
    Evaluate {
        reason: String,
        /// The value that prevents a kernel.
        val: Val,
    },
}

/// The facts that a segment's kernels are made from.
#[derive(Clone, Debug)]
pub struct Kernels {
    pub witness: Witness,
    pub schedule: Schedule,
    /// The layouts of its inputs.
    pub layouts: Vec<LayoutClass>,
    /// The layouts of the values that it stores.
    pub stores: Vec<LayoutClass>,
    /// Whether known sizes are kernel arguments, so that like segments of other sizes have equal kernels.
    pub general: bool,
    /// How often the inputs are read from main memory.
    pub input_sweeps: u32,
}

/// A choice of the user that cannot be planned.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    /// The segmentation.
    #[error("the segmentation does not fit the definition: {0}")]
    Segmentation(#[from] SegmentationError),
    /// A schedule.
    #[error("the schedule of {segment} does not fit it: {error}")]
    Schedule {
        segment: String,
        error: ScheduleError,
        /// The value of the definition that it is about, if it is about one.
        val: Option<Val>,
    },
    /// A schedule whose blocks need more scratch than the device has.
    #[error("the schedule of {segment} needs {bytes} bytes of scratch in a block; the device has {most}")]
    Scratch {
        /// The segment.
        segment: String,
        /// The bytes of scratch of a block.
        bytes: u64,
        /// The limit.
        most: u64,
    },
    /// Groups of the definition.
    #[error(transparent)]
    Group(#[from] GroupError),
    /// More memory than the user allows.
    #[error("no segments have a peak memory within {limit} bytes: the lowest peak found is {lowest} bytes")]
    Memory {
        /// The limit in bytes.
        limit: u64,
        /// The lowest peak that was found.
        lowest: u64,
    },
    /// The same, of a segmentation that the user chose.
    #[error(
        "the segments that are given have a peak memory of {peak} bytes, and {limit} are allowed: other segments may need less"
    )]
    MemoryOfGiven {
        /// The limit in bytes.
        limit: u64,
        /// The peak of the segmentation.
        peak: u64,
    },
    /// The caller stopped the planning.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// A schedule for a segment that the plan does not have.
    #[error("there is no segment {asked}; there are {there}")]
    NoSegment {
        /// The one asked for.
        asked: SegmentId,
        /// How many there are.
        there: usize,
    },
    /// A schedule for a segment that the evaluator or a library runs.
    #[error("there is a schedule for segment {0}, which has no kernel")]
    NoKernel(SegmentId),
    /// A schedule for a segment that becomes several kernels.
    #[error(
        "there is a schedule for segment {segment}, which becomes {kernels} kernels: a schedule is for one kernel, so cut \
         the segment by hand"
    )]
    Parts {
        /// The segment.
        segment: SegmentId,
        /// How many of its parts become kernels.
        kernels: usize,
    },
}

impl PlanError {
    /// The same error with a description of the value that it is about.
    pub fn in_words(self, words: impl Fn(Val) -> String) -> PlanError {
        match self {
            PlanError::Group(error) => PlanError::Group(error.in_words(words)),
            PlanError::Segmentation(error) => PlanError::Segmentation(error.in_words(words)),
            PlanError::Schedule { segment, error, val } => {
                let error = error.with_words(val.map(words));
                PlanError::Schedule { segment, error, val }
            }
            error => error,
        }
    }

    /// Whether it is about a schedule of the user.
    pub fn is_of_schedule(&self) -> bool {
        use PlanError::{NoKernel, NoSegment, Parts, Schedule, Scratch};
        matches!(self, NoSegment { .. } | NoKernel(_) | Parts { .. } | Schedule { .. } | Scratch { .. })
    }
}

impl Plan {
    /// Has the evaluator run these segments, for a reason.
    pub fn leave_to_evaluator(&mut self, segments: Range<usize>, reason: &str) {
        for number in segments {
            let segment = &mut self.cut.segments[number];
            let val = segment.view.outputs()[0].val;
            segment.decision = Decision::Evaluate { reason: reason.to_owned(), val };
            self.lowered[number] = LoweredSegment::default();
        }
    }

    /// Seconds that the cost model expects for each segment at these sizes, by term. The segments of a batch share a launch.
    pub fn costs(&self, hints: &Hints) -> Vec<Seconds> {
        let amounts = Amounts::new(&self.graph, hints, &self.target);
        let mut costs: Vec<Seconds> =
            self.segments.iter().map(|segment| self.cost(segment, &amounts)).collect();
        for batch in &self.batches {
            costs[batch.clone()].iter_mut().for_each(|cost| cost.launch /= batch.len() as f64);
        }
        costs
    }

    /// Seconds that the cost model expects for all segments together.
    pub fn seconds(&self, hints: &Hints) -> f64 {
        // An empty sum of floats is -0.
        self.costs(hints).iter().fold(0.0, |sum, cost| sum + cost.total())
    }
}

impl Cut {
    /// Seconds that the cost model expects for a segment that is launched by itself.
    fn cost(&self, segment: &SegmentPlan, amounts: &Amounts<'_>) -> Seconds {
        Seconds::with(amounts, &segment.view, &self.legality.of(&self.graph, &segment.view))
    }

    /// For each output the value of which it is a copy, made once segments have run, as no two outputs share memory: an input
    /// that it does not view, or an earlier output.
    pub fn copies(&self) -> impl Iterator<Item = Option<Val>> {
        let mut made: FxHashSet<Val> = FxHashSet::default();
        self.fusion.outputs().iter().zip(&self.views).map(move |(output, view)| {
            let val = view.as_ref().map_or(output.val, |view| view.source);
            let is_input = self.fusion.is_input(val);
            let is_copy = if is_input { view.is_none() } else { !made.insert(val) };
            is_copy.then_some(val)
        })
    }

    /// Whether two segments could be one, given the number of segments that read a value (`readers`): the answer that the
    /// search got, if it asked.
    pub fn as_one(&self, pair: [&Fusion; 2], readers: impl Fn(Val) -> usize) -> LegalityAnswer {
        let joined = Joined::of(&self.graph, &self.computed, pair, readers);
        self.legality.of(&self.graph, &joined.view)
    }

    /// The built-in fold that a pass recognized in a fold of the definition by a lambda, if it did.
    pub fn recognized(&self, node: Node) -> Option<Monoid> {
        let has_run = self.steps.iter().any(|step| step.pass == "recognize");
        has_run.then(|| built_in(&self.graph, node)).flatten()
    }

    /// The value that is kept for a value of the definition, if there is one: what it became, the source of that before an
    /// expansion or permutation, or a permutation of it.
    pub fn kept(&self, val: Val) -> Option<Val> {
        let became = self.map.get(val)?;
        let kept = self.segmentation.kept();
        let own = [became, in_memory(&self.graph, val, became)].into_iter().find(|val| kept.contains(val));
        own.or_else(|| kept.iter().copied().filter(|&other| self.graph.permuted(other) == Some(became)).min())
    }
}
