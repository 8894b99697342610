//! A language of the C family, such as CUDA C++.

use super::{Case, Outcome, Stage, emitted};

/// A language, by the stage that prints it.
pub(super) struct C(pub ferrofuse::Stage);

impl Stage for C {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn run(&self, case: &Case) -> Outcome {
        emitted(case, self.0).into()
    }
}
