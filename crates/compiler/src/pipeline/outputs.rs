//! The state of the fusion after all passes: which outputs are views, what segments make, which groups are left.

use ir::graph::{Fusion, Graph};
use ir::layout::LayoutClass;

use super::segments::behind;
use super::{Compilation, Optimized};
use crate::outputs::{View, computed, ordered, views};
use crate::passes::Rewritten;
use crate::plan::{PlanError, PlanRequest};
use segmenter::{Constraints, Segmentation, SegmentationError};

/// The stage.
pub(super) fn outputs(compilation: &mut Compilation<'_>) -> Result<(), PlanError> {
    let PlanRequest { tasks, .. } = compilation.request;
    let Compilation { graph, written, steps, rewritten, legality, .. } = &*compilation;
    let mut optimized = Optimized::behind(graph, written, rewritten, &compilation.request);
    let maps = steps.iter().map(|step| (step.pass, &step.map));
    let patterns = optimized.tasks.add_patterns_after(tasks, graph, maps);
    let legal = optimized.constraints.require_legal(graph, &optimized.computed, legality);
    legal.map_err(|error| error.of_written(&optimized.map))?;
    (compilation.patterns, compilation.optimized) = (patterns, optimized);
    Ok(())
}

/// Checks a user's segmentation against the fusion before passes.
pub(super) fn check_chosen(
    graph: &Graph,
    fusion: &Fusion,
    layouts: &[LayoutClass],
    chosen: &Segmentation,
) -> Result<(), SegmentationError> {
    chosen.check_segments()?;
    chosen.check_values(graph, fusion)?;
    chosen.check(graph, &to_make(graph, fusion, layouts, chosen))
}

/// The fusion before passes without the views among its outputs: what a segmentation must make.
pub(super) fn to_make(
    graph: &Graph,
    fusion: &Fusion,
    layouts: &[LayoutClass],
    chosen: &Segmentation,
) -> Fusion {
    let fusion = ordered(graph, fusion);
    computed(graph, &fusion, &viewed(graph, &fusion, layouts, chosen))
}

impl Optimized {
    /// The result of steps on a fusion.
    pub(super) fn behind(
        graph: &Graph,
        written: &Fusion,
        rewritten: &Rewritten,
        &PlanRequest { layouts, tasks, options, .. }: &PlanRequest<'_>,
    ) -> Optimized {
        let (fusion, map) = (ordered(graph, &rewritten.fusion), rewritten.map.clone());
        let chosen = options.segmentation.as_ref().map(|chosen| behind(chosen, graph, &fusion, &map));
        let views = viewed(graph, &fusion, layouts, chosen.as_ref().unwrap_or(&Segmentation::default()));
        let computed = computed(graph, &fusion, &views);
        let (tasks, dropped) = tasks.groups_after(graph, written, &fusion, &map);
        let constraints = Constraints::new(graph, &computed, &tasks);
        Optimized { fusion, map, chosen, views, computed, tasks, dropped, constraints }
    }
}

/// The views among the outputs that a segmentation does not make.
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
