//! The loop programs. They verify, and their text reads back.

use kernel::{parse, verify};

use super::{Case, Outcome, Stage, emitted, planned};

pub(super) struct Kernels;

impl Stage for Kernels {
    fn name(&self) -> &'static str {
        "kernel"
    }

    fn run(&self, case: &Case) -> Outcome {
        programs(case).into()
    }
}

fn programs(case: &Case) -> Result<String, String> {
    let (_, plan) = planned(case)?;
    for lowered in plan.lowered.iter().flat_map(|segment| &segment.kernels) {
        let text = lowered.kernel.to_string();
        verify(&lowered.kernel).map_err(|violations| format!("{violations}\n{text}"))?;
        let again = parse(&text).map_err(|error| format!("{error}\n{text}"))?;
        if again.to_string() != text {
            return Err(format!("the kernel prints otherwise when read back:\n{again}"));
        }
    }
    emitted(case, ferrofuse::Stage::Kernel)
}
