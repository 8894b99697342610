//! What similar segments share: they are made adjacent, take one schedule if they only map elements, and run in one launch
//! if they are independent.

use ir::graph::{Fusion, Node, Val};
use ir::layout::{LayoutClass, SegmentLayouts};
use lowering::LoweredSegment;
use rustc_hash::FxHashMap;
use target::limits::MAX_JOINED_STATEMENTS;

use super::Compilation;
use super::schedules::LaidOutClass;
use crate::batch::{self, Member, Shared, Structures};
use crate::outputs::placements;
use crate::plan::{PlanError, PlanRequest, SegmentPlan};
use segmenter::{Engine, Segmentation, Structure};

/// The stage.
pub(super) fn batches(compilation: &mut Compilation<'_>) -> Result<(), PlanError> {
    let segments = compilation.segments.iter().zip(&compilation.lowered);
    let members: Vec<Member<'_>> = segments.map(as_member).collect();
    let bytes = |val: Val| compilation.bytes(val);
    let limit = compilation.request.options.peak_memory;
    compilation.batches = batch::batches(&members, &compilation.optimized.fusion, bytes, limit);
    Ok(())
}

/// A segment as batches see it.
fn as_member<'a>(segment: (&'a SegmentPlan, &'a LoweredSegment)) -> Member<'a> {
    let (SegmentPlan { view, at, .. }, LoweredSegment { kernels, .. }) = segment;
    Member { view, at, kernels }
}

impl Compilation<'_> {
    /// Bytes of a value at the expected sizes.
    pub(super) fn bytes(&self, val: Val) -> u64 {
        self.request.hints.bytes(self.graph.ty(val))
    }

    /// Decides which outputs are not row-major, which distinguishes segments.
    pub(super) fn place(&mut self) {
        self.placements = placements(&self.graph, &self.optimized.computed, self.request.layouts);
        let given = self.written.inputs().iter().copied().zip(self.request.layouts.iter().cloned());
        let placed =
            self.placements.iter().map(|(&val, placement)| (val, placement.layout(self.request.layouts)));
        self.outer = given.chain(placed).collect();
    }

    /// The layouts of the values that a segment reads, and of those that it makes.
    pub(super) fn layouts_of(&self, view: &Fusion) -> [Vec<LayoutClass>; 2] {
        let layout = |val: Val| self.outer.get(&val).cloned().unwrap_or(LayoutClass::Dense);
        let inputs = view.inputs().iter().map(|&val| layout(val)).collect();
        [inputs, view.outputs().iter().map(|output| layout(output.val)).collect()]
    }

    /// The structure that this segment shares with similar ones.
    pub(super) fn structure(&self, view: &Fusion) -> Structure {
        let [inputs, stores] = &self.layouts_of(view);
        Structure::of(&self.graph, view).laid_out(SegmentLayouts { inputs, stores })
    }

    /// The structures of segments, found once for each class.
    fn structures(&self, views: &[Fusion]) -> Structures {
        let mut known: FxHashMap<LaidOutClass, Structure> = FxHashMap::default();
        let mut structure =
            |view: &Fusion| *known.entry(self.class_of(view)).or_insert_with(|| self.structure(view));
        Structures::new(views.iter().map(&mut structure))
    }

    /// A segmentation in which each part of a long segment of many similar ones is a segment, if one launch runs these.
    pub(super) fn apart(&self, mut segmentation: Segmentation) -> Segmentation {
        let views = segmentation.views(&self.graph, &self.optimized.computed);
        let made = std::mem::take(&mut segmentation.segments).into_iter().zip(&views);
        let apart = made.flat_map(|(made, view)| self.parts_of(view).unwrap_or_else(|| vec![made]));
        segmentation.segments = apart.collect();
        segmentation
    }

    /// The parts of a segment of long code that one launch can run, if it consists of such.
    fn parts_of(&self, view: &Fusion) -> Option<Vec<Vec<Val>>> {
        let Compilation { graph, optimized, .. } = self;
        let is_long = matches!(&*self.legality.of(graph, view),
            Ok(Engine::Kernel(witness)) if witness.statements > MAX_JOINED_STATEMENTS);
        if !is_long || !batch::only_maps(graph, view) {
            return None;
        }
        let parts = batch::parts(graph, &optimized.fusion, view);
        let segmentation = Segmentation::new(parts);
        let views = segmentation.views(graph, &optimized.computed);
        let first = self.structure(views.first()?);
        let nodes: Vec<&[Node]> = views.iter().map(Fusion::order).collect();
        let may_be = views.len() > 1
            && views.iter().all(|view| self.structure(view) == first)
            && optimized.constraints.allow(&nodes, &[view.order()]);
        may_be.then_some(segmentation.segments)
    }

    /// A segmentation in an order in which similar segments are adjacent.
    pub(super) fn gathered(&self, segmentation: &Segmentation) -> Segmentation {
        let Compilation { graph, optimized, request: PlanRequest { options, .. }, .. } = self;
        let views = segmentation.views(graph, &optimized.computed);
        let bytes = |val: Val| self.bytes(val);
        let order = self.structures(&views).gathered(
            graph,
            &views,
            &optimized.fusion,
            self.request.hints,
            bytes,
            options.peak_memory,
        );
        segmentation.permuted(&order)
    }

    /// The schedules that segments share.
    pub(super) fn shared(&self, views: &[Fusion]) -> FxHashMap<Structure, Shared> {
        let choose = |number: usize| match &*self.legality.of(&self.graph, &views[number]) {
            Ok(Engine::Kernel(witness)) => Some(self.schedule(&views[number], witness)),
            Ok(Engine::External(_)) | Err(_) => None,
        };
        self.structures(views).shared(&self.graph, views, self.request.hints, choose)
    }
}
