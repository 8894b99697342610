//! Lowering: the kernels of each segment that runs by some.

use scheduler::lower::{LoweredSegment, lower};

use super::Compilation;
use crate::plan::{PlanError, SegmentPlan};

/// The stage.
pub(super) fn kernels(compilation: &mut Compilation<'_>) -> Result<(), PlanError> {
    let lowered = |segment: &SegmentPlan| {
        compilation.options.interrupt.check()?;
        Ok(compilation.lower(segment))
    };
    compilation.lowered = compilation.segments.iter().map(lowered).collect::<Result<_, PlanError>>()?;
    Ok(())
}

impl Compilation<'_> {
    fn lower(&self, segment: &SegmentPlan) -> LoweredSegment {
        let lowered = segment.group(&self.graph).map(|group| lower(&group));
        lowered.map_or_else(LoweredSegment::default, |lowered| {
            lowered.expect("the stage before checked the schedule")
        })
    }
}
