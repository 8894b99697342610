//! The graph that a definition builds.

use super::{Case, Outcome, Stage, emitted};

pub(super) struct Graph;

impl Stage for Graph {
    fn name(&self) -> &'static str {
        "graph"
    }

    fn run(&self, case: &Case) -> Outcome {
        emitted(case, ferrofuse::Stage::Graph).into()
    }
}
