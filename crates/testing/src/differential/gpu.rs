//! The part of the check that runs CUDA C++, on the emulator in place of a GPU.
//!
//! Programs of very many kernels are skipped, because a C++ compiler compiles each kernel.

use compiler::{Plan, PlanRequest, plan};
use emulator::Order;
use ferrofuse::{ArrayView, Definition, ExecutorKind, LayoutClass, Stream};
use ir::array::Array;

use super::chosen::Chosen;
use super::covered::Covered;
use super::failure::{Failure, Kind};
use super::{Check, Meant};
use crate::stand_in::in_order;

/// The most kernels of a program that is run.
const MOST_KERNELS: usize = 16;

/// How many kernels a plan has.
fn kernels(plan: &Plan) -> usize {
    plan.lowered.iter().map(|segment| segment.kernels.len()).sum()
}

impl Check {
    /// Runs the kernels of a plan for GPUs on dense inputs, with threads in this order.
    pub(super) fn run_on_gpu(&self, chosen: &Chosen, order: Order) -> Result<Covered, Failure> {
        let mut covered = Covered::default();
        let Definition { graph, fusion, tasks, .. } = &self.definition;
        let layouts = vec![LayoutClass::Dense; fusion.inputs().len()];
        let wrong = |error: String| Failure::new(Kind::Error, format!("cuda: {error}"));
        let plan = plan(PlanRequest {
            graph,
            fusion,
            tasks,
            layouts: &layouts,
            target: &chosen.device.target(),
            hints: &chosen.hints,
            options: &chosen.plan,
        })
        .map_err(|error| wrong(error.to_string()))?;
        if kernels(&plan) > MOST_KERNELS {
            return Ok(covered);
        }
        let dense: Vec<Array> = self.dense().map_err(|error| wrong(error.to_string()))?;
        let views: Vec<ArrayView<'_>> = dense.iter().map(Array::view).collect();
        let Some(executable) = self.compiled_for(ExecutorKind::CUDA, chosen, Default::default(), &views)?
        else {
            return Ok(covered);
        };
        executable.generator().set_state(Stream::default());
        let ran = in_order(order, || executable.run(&views));
        let expected = match &self.expected {
            Meant::Outputs(expected) => expected,
            Meant::Fault(fault) => return fault.check("cuda", ran.map(drop)).map(|()| covered),
        };
        for (number, (output, expected)) in
            ran.map_err(|error| wrong(error.to_string()))?.iter().zip(expected).enumerate()
        {
            covered.compare("cuda", number, expected, &output.view())?;
        }
        let report = &executable.latest().expect("compiled").report;
        covered.emulated = report.segments.iter().map(|segment| segment.kernels.len()).sum();
        covered.kernels = covered.emulated;
        Ok(covered)
    }
}
