//! How each segment's kernel is walked. The text reads back.

use ferrofuse::{Decision, parse_schedule};

use super::{Case, Outcome, Stage, emitted, planned};

pub(super) struct Schedules;

impl Stage for Schedules {
    fn name(&self) -> &'static str {
        "schedule"
    }

    fn run(&self, case: &Case) -> Outcome {
        scheduled(case).into()
    }
}

fn scheduled(case: &Case) -> Result<String, String> {
    let (_, plan) = planned(case)?;
    for segment in &plan.segments {
        let Decision::Kernels(kernels) = &segment.decision else { continue };
        let text = kernels.schedule.to_string();
        let again = parse_schedule(&text).map_err(|error| error.to_string())?;
        if again != kernels.schedule {
            return Err(format!("the schedule of {} reads back as another one:\n{text}", segment.name));
        }
    }
    emitted(case, ferrofuse::Stage::Schedule)
}
