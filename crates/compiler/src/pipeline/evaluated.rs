//! The evaluator's stage: one segment makes all outputs that are no views of inputs.

use ir::graph::{DeviceStream, Fusion};

use lowering::LoweredSegment;

use super::Compilation;
use crate::outputs::placements;
use crate::plan::{Decision, PlanError, SegmentPlan};
use segmenter::Segmentation;

/// The stage.
pub(super) fn evaluated(compilation: &mut Compilation<'_>) -> Result<(), PlanError> {
    let Compilation { graph, optimized, .. } = &*compilation;
    let (fusion, computed) = (&optimized.fusion, &optimized.computed);
    let placements = placements(graph, computed, &[]);
    if let Some(segmentation) = Segmentation::whole(computed) {
        let made = &segmentation.segments[0];
        let (val, outputs) = (made[0], made.iter().map(|&val| val.into()).collect());
        let view = Fusion::new(graph, fusion.inputs().to_vec(), outputs, fusion.facts().clone())
            .expect("the fusion without its copies is closed");
        let decision = Decision::Evaluate { reason: compilation.reason.clone(), val };
        let (name, at) = ("whole".to_owned(), DeviceStream::default());
        let kernel = name.clone();
        compilation.add(SegmentPlan { name, kernel, view, at, decision });
        compilation.lowered = vec![LoweredSegment::default()];
        compilation.batches = std::iter::once(0..1).collect();
        compilation.segmentation = segmentation;
    }
    compilation.placements = placements;
    Ok(())
}
