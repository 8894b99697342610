//! Results against the evaluator's: the check behind `ferrofuse run --check`.

use compiler::passes::approximate;
use ferrofuse::{ArrayView, Definition, Stream};
use ir::array::ArrayError;
use ir::graph::evaluate::{Comparison, EvaluateError, EvaluateOptions, Evaluation, compare, evaluate};

/// What the evaluator says of a definition on these inputs, with random numbers from this place on, error bounds included.
///
/// # Errors
/// As [`evaluate`].
pub fn expected(
    definition: &Definition,
    inputs: &[ArrayView<'_>],
    stream: Stream,
    threads: usize,
    max_bytes: usize,
) -> Result<Evaluation, EvaluateError> {
    let sizes = stream.symbols(&definition.graph).collect();
    meaning(definition, inputs, &EvaluateOptions { threads, bounds: true, max_bytes, sizes })
}

/// The evaluator on the view that is compiled, as far as cheaper forms of ops go: they mean the same, within wider bounds.
///
/// # Errors
/// As [`evaluate`].
pub fn meaning(
    definition: &Definition,
    inputs: &[ArrayView<'_>],
    options: &EvaluateOptions,
) -> Result<Evaluation, EvaluateError> {
    let (mut graph, view) = definition.graph.fork(&definition.fusion);
    let (view, map) = approximate(&mut graph, &view);
    evaluate(&graph, &view, inputs, options).map_err(|error| match error {
        EvaluateError::Index { val, axis, size, index } => {
            let val = map.iter().find(|&(_, new)| new == val).map_or(val, |(old, _)| old);
            EvaluateError::Index { val, axis, size, index }
        }
        error => error,
    })
}

/// One comparison per output.
///
/// # Errors
/// When an output differs in dtype or sizes.
pub fn against<'o>(
    expected: &Evaluation,
    outputs: impl IntoIterator<Item = ArrayView<'o>>,
) -> Result<Vec<Comparison>, ArrayError> {
    expected.outputs.iter().zip(outputs).map(|(expected, output)| compare(expected, &output)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrofuse::{Array, CompileOptions, compile, read};
    use ir::array::Element;

    use crate::inputs::draw;

    const SOFTMAX: &str = "
def softmax(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.softmax(x, dim=1))

inputs = [torch.randn((5, 33))]
";

    /// The outputs of softmax, with the element at this place moved by `factor` times what the check allows.
    fn worst(place: usize, factor: f64) -> Comparison {
        let file = read(SOFTMAX).unwrap();
        let spec = &file.inputs.as_ref().unwrap()[0];
        let input = draw(spec, 3, 0).unwrap();
        let expected = expected(&file.definition, &[input.view()], Stream::default(), 1, usize::MAX).unwrap();
        let executable = compile(file.definition, CompileOptions::default()).unwrap();
        let output = &executable.run(&[input.view()]).unwrap()[0];
        let mut elements = output.to_array().unwrap().as_slice::<f32>().to_vec();
        let value = expected.outputs[0].value.view().scalar(place).as_f64();
        let bound = expected.outputs[0].bound.as_ref().map_or(0.0, |bound| {
            let mut bounds = [0.0];
            bound.view().read::<f32, f64>(place, &mut bounds, f64::from);
            bounds[0]
        });
        let allowed = bound + ir::DType::F32.ulp(value);
        elements[place] = f32::from_real(value + factor * allowed);
        let moved = Array::from_slice(&[5, 33], &elements).unwrap();
        against(&expected, [moved.view()]).unwrap().remove(0)
    }

    #[test]
    fn an_error_of_twice_the_bound_is_caught() {
        for place in [0, 77, 164] {
            assert!(worst(place, 0.0).matches());
            assert!(worst(place, 0.5).matches());
            let caught = worst(place, 2.0);
            assert!(!caught.matches() && caught.mismatches == 1, "{caught:?}");
            assert_eq!(caught.at, [place / 33, place % 33]);
        }
    }
}
