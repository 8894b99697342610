//! Results against the evaluator's: the check behind `ferrofuse run --check` and Python's `validate`.

use compiler::passes::{PassContext, approximate};
use cpu::pool::until_interrupted;
use ir::array::ArrayView;
use ir::definition::Definition;
use ir::graph::Stream;
use ir::interrupt::Interrupt;
pub use reference::evaluate::Comparison;
use reference::evaluate::{EvaluateError, EvaluateOptions, Evaluation, ParallelFor, compare, evaluate};
use runtime::{Error, Machine};
use rustc_hash::FxHashSet;

/// The outputs of a call against the evaluator's, which runs on a machine until it is interrupted.
///
/// # Errors
/// As [`evaluate`] and [`against`], and [`Error::Interrupted`].
pub fn checked<'o>(
    definition: &Definition,
    inputs: &[ArrayView<'_>],
    stream: Stream,
    outputs: impl IntoIterator<Item = ArrayView<'o>>,
    machine: &Machine,
    interrupt: &Interrupt,
) -> Result<Vec<Comparison>, Error> {
    let compared = until_interrupted(|| {
        let workers = machine.workers(interrupt);
        let meant = expected(definition, inputs, stream, &workers, machine.memory_limit())?;
        against(&meant, outputs, &workers)
    })??;
    interrupt.check()?;
    Ok(compared)
}

/// The evaluator's results for a definition on these inputs, with random numbers from this position on, and error bounds.
///
/// # Errors
/// As [`evaluate`].
pub fn expected(
    definition: &Definition,
    inputs: &[ArrayView<'_>],
    stream: Stream,
    workers: &dyn ParallelFor,
    max_bytes: usize,
) -> Result<Evaluation, EvaluateError> {
    let sizes = stream.symbols(&definition.graph).collect();
    meaning(definition, inputs, &EvaluateOptions { workers, bounds: true, max_bytes, sizes })
}

/// The evaluator on the view that is compiled, including cheaper forms of ops: they have the same meaning within wider
/// bounds.
///
/// # Errors
/// As [`evaluate`].
pub fn meaning(
    definition: &Definition,
    inputs: &[ArrayView<'_>],
    options: &EvaluateOptions<'_>,
) -> Result<Evaluation, EvaluateError> {
    let (mut graph, view) = definition.graph.fork(&definition.fusion);
    let context = PassContext { fusion: &view, expanded: &[], kept: &FxHashSet::default() };
    let (view, map) = approximate(&mut graph, &context);
    evaluate(&graph, &view, inputs, options).map_err(|error| match error {
        EvaluateError::Index { val, at } => {
            let val = map.iter().find(|&(_, new)| new == val).map_or(val, |(old, _)| old);
            EvaluateError::Index { val, at }
        }
        error => error,
    })
}

/// One comparison per output.
///
/// # Errors
/// [`Error::Outputs`] for too few or too many, [`Error::Output`] for one of another dtype or other sizes.
pub fn against<'o>(
    expected: &Evaluation,
    outputs: impl IntoIterator<Item = ArrayView<'o>>,
    workers: &dyn ParallelFor,
) -> Result<Vec<Comparison>, Error> {
    let outputs: Vec<ArrayView<'o>> = outputs.into_iter().collect();
    if outputs.len() != expected.outputs.len() {
        return Err(Error::Outputs { expected: expected.outputs.len(), given: outputs.len() });
    }
    let pairs = expected.outputs.iter().zip(outputs).enumerate();
    let compared = pairs.map(|(place, (expected, output))| {
        compare(expected, &output, workers)
            .map_err(|error| Error::Output { place, problem: error.to_string() })
    });
    compared.collect()
}
