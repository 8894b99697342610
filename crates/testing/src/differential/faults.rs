//! Programs that end in an error, because an index is out of range or sizes do not match: every executor must report the
//! evaluator's error.
//!
//! The evaluator checks every index. Compiled code checks those that some output depends on, so if a program drops elements
//! again, it only must not end in any other error.

use ferrofuse::{ArrayView, CompileOptions, Definition, Error, Executor, compile};
use ir::graph::{InputSignature, TensorOp};

use super::failure::{Failure, Kind};

/// An error that is expected.
pub(super) struct ExpectedFault {
    said: String,
    /// Whether the program may not need the element at fault.
    drops_elements: bool,
}

impl ExpectedFault {
    /// The evaluator's error about a program with an index out of range.
    pub fn new(definition: &Definition, views: &[ArrayView<'_>]) -> Result<ExpectedFault, Failure> {
        let options = CompileOptions { executor: Executor::Evaluator, ..CompileOptions::default() };
        let rejected = |error: Error| Failure::new(Kind::Rejected, format!("the evaluator: {error}"));
        match compile(definition.clone(), options).map_err(rejected)?.run(views) {
            Err(error @ Error::Index { .. }) => {
                let drops_elements = drops_elements(definition, views);
                Ok(ExpectedFault { said: error.to_string(), drops_elements })
            }
            // Sizes that the definition rejects.
            Err(error @ Error::Input(_)) => {
                Ok(ExpectedFault { said: error.to_string(), drops_elements: false })
            }
            Err(error) => Err(rejected(error)),
            Ok(_) => {
                Err(Failure::new(Kind::Error, "the evaluator finds an index out of range only now and then"))
            }
        }
    }

    /// Whether an executor may end like this.
    pub fn check(&self, executor: &str, ended: Result<(), Error>) -> Result<(), Failure> {
        let wrong = match ended {
            Err(error) if error.to_string() == self.said => return Ok(()),
            Err(Error::Index { .. }) if self.drops_elements => return Ok(()),
            Ok(()) if self.drops_elements => return Ok(()),
            Ok(()) => "no error".to_owned(),
            Err(error) => error.to_string(),
        };
        Err(self.unlike(executor, &wrong))
    }

    fn unlike(&self, executor: &str, wrong: &str) -> Failure {
        let said = &self.said;
        Failure::new(Kind::Error, format!("{executor}: expected the error `{said}`, got: {wrong}"))
    }
}

/// Whether there are slices, pads that may crop, gathers of which one may drop elements of another, or empty tensors.
fn drops_elements(definition: &Definition, views: &[ArrayView<'_>]) -> bool {
    let (graph, fusion) = (&definition.graph, &definition.fusion);
    let nodes = || fusion.order().iter().map(|&node| graph.node(node));
    let drops = nodes().any(|data| matches!(data.op, TensorOp::Slice { .. } | TensorOp::Pad { .. }));
    let gathers = nodes().filter(|data| matches!(data.op, TensorOp::Gather(_))).count();
    let Ok(sizes) = InputSignature::new(graph, fusion, |_| None).bind(views, &[]) else { return true };
    let is_empty = |size| sizes.value(size).map_or(true, |size| size == 0);
    drops || gathers > 1 || nodes().any(|data| data.results[0].shape.iter().any(is_empty))
}
