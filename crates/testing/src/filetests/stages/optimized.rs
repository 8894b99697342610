//! The result of graph passes on a definition.

use super::{Case, Outcome, Stage, emitted};

pub(super) struct Optimized;

impl Stage for Optimized {
    fn name(&self) -> &'static str {
        "optimized"
    }

    fn run(&self, case: &Case) -> Outcome {
        emitted(case, ferrofuse::Stage::Optimized).into()
    }
}
