//! CUDA C++.

use super::{Case, Outcome, Stage, emitted};

pub(super) struct Cuda;

impl Stage for Cuda {
    fn name(&self) -> &'static str {
        "cuda"
    }

    fn run(&self, case: &Case) -> Outcome {
        emitted(case, ferrofuse::Stage::Cuda).into()
    }
}
