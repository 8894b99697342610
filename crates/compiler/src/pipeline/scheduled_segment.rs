//! A definition that is one segment of another, with the user's schedule: the form of it that the schedule fits.
//!
//! Takes the request for its plan; returns the plan of the first form that the schedule fits. Passes that make another form
//! of a segment number its axes and values anew, and a schedule names these.

use ir::graph::Fusion;
use segmenter::{Engine, Segmentation};

use super::{CUTTING, Compilation};
use crate::plan::{PlanError, PlanOptions, PlanRequest, SegmentId};

/// `make` of the compilation after its cut. The forms of a scheduled segment are, in this order: that which is explained
/// when the definition stands by itself, if it is one segment; that which runs as a segment by the compiler's choice; and
/// that in which no pass depends on costs.
///
/// # Errors
/// Those of the plan; for a schedule that fits no form, that of the last.
pub(super) fn in_fitting_form<T>(
    request: PlanRequest<'_>,
    make: impl Fn(Compilation<'_>) -> Result<T, PlanError>,
) -> Result<T, PlanError> {
    let hints = request.hints.clone().with_implied(request.fusion.facts());
    let (options, request) = (request.options, PlanRequest { hints: &hints, ..request });
    let made = |request| make(Compilation::new(request)?.through(CUTTING)?);
    if !options.is_segment || options.schedules.is_empty() {
        return made(request);
    }
    let alone = PlanOptions { is_segment: false, ..options.clone() };
    let cut = Compilation::new(PlanRequest { options: &alone, ..request })?.through(CUTTING);
    let by_itself = cut.and_then(|cut| cut.require_one()).and_then(&make);
    if fits(&by_itself) {
        return by_itself;
    }
    let as_segment = made(request);
    if fits(&as_segment) {
        return as_segment;
    }
    let segmentation = Segmentation::whole(request.fusion);
    made(PlanRequest { options: &PlanOptions { segmentation, ..options.clone() }, ..request })
}

/// Whether a schedule fits; another error holds for all forms.
fn fits<T>(made: &Result<T, PlanError>) -> bool {
    !matches!(made, Err(error) if error.is_of_schedule())
}

impl Compilation<'_> {
    /// Rejects a cut into several segments: a schedule for one of them is none for all.
    fn require_one(self) -> Result<Self, PlanError> {
        match self.segments.len() {
            1 => Ok(self),
            _ => Err(PlanError::NoKernel(SegmentId::Number(0))),
        }
    }

    /// Gives the schedule of a definition that is a segment to the only part of it that becomes a kernel.
    ///
    /// # Errors
    /// When several parts become kernels.
    pub(super) fn place_schedule(&mut self, parts: &[Fusion]) -> Result<(), PlanError> {
        let [(scheduled, _)] = &mut self.chosen_schedules[..] else { return Ok(()) };
        if !self.request.options.is_segment {
            return Ok(());
        }
        let is_kernel =
            |part: &Fusion| matches!(&*self.legality.of(&self.graph, part), Ok(Engine::Kernel(_)));
        let mut kernels = (0..parts.len()).filter(|&number| is_kernel(&parts[number]));
        match (kernels.next(), kernels.count()) {
            (Some(only), 0) => *scheduled = SegmentId::Number(only),
            (Some(_), others) => {
                return Err(PlanError::Parts { segment: scheduled.clone(), kernels: 1 + others });
            }
            (None, _) => {}
        }
        Ok(())
    }
}
