//! The leg of the check that runs CUDA C++ under the emulator.
//!
//! Programs of which a segment has no kernel are left out: the emulator runs kernels and nothing else. So are those of very
//! many kernels, each of which a C++ compiler takes.

use compiler::{Decision, Plan, SegmentPlan, plan};
use emulator::{Emulator, EmulatorOptions, Order};
use ferrofuse::{ArrayView, Definition, LayoutClass};

use super::chosen::Chosen;
use super::covered::Covered;
use super::failure::{Failure, Kind};
use super::{Check, Meant};
use crate::emulated_plan::EmulatedPlan;

const NAME: &str = "emulated CUDA";

/// The most kernels of a program that is run.
const MOST_KERNELS: usize = 16;

/// How many kernels a plan has, if each of its segments is made of them.
fn kernels(plan: &Plan) -> Option<usize> {
    let of = |segment: &SegmentPlan| match &segment.decision {
        Decision::Kernels(kernels) => Some(kernels.lowered.kernels.len()),
        Decision::Evaluate { .. } | Decision::External(_) => None,
    };
    plan.segments.iter().map(of).sum()
}

impl Check {
    /// The kernels of a plan for GPUs, threads in this order.
    pub(super) fn emulate(&self, chosen: &Chosen, order: Order) -> Result<Covered, Failure> {
        let mut covered = Covered::default();
        let Definition { graph, fusion, .. } = &self.definition;
        let layouts = vec![LayoutClass::Dense; fusion.inputs().len()];
        let plan = plan(graph, fusion, &layouts, &chosen.device.target(), &chosen.hints, &chosen.plan)
            .map_err(|error| Failure::new(Kind::Error, format!("{NAME}: {error}")))?;
        if kernels(&plan).is_none_or(|kernels| kernels > MOST_KERNELS) {
            return Ok(covered);
        }
        let wrong = |error: String| Failure::new(Kind::Error, format!("{NAME}: {error}"));
        let emulator = Emulator::new(EmulatorOptions::default()).map_err(|error| wrong(error.to_string()))?;
        let emulated = EmulatedPlan::new(&plan, &emulator).map_err(wrong)?;
        let views: Vec<ArrayView<'_>> = self.views();
        let ran = emulated.run(&views, order);
        let expected = match &self.expected {
            Meant::Outputs(expected) => expected,
            Meant::Fault(fault) => return fault.check_words(NAME, ran.map(drop)).map(|()| covered),
        };
        for (number, (output, expected)) in ran.map_err(wrong)?.iter().zip(expected).enumerate() {
            covered.compare(NAME, number, expected, &output.view())?;
        }
        covered.emulated = emulated.kernels();
        covered.kernels = covered.emulated;
        Ok(covered)
    }
}
