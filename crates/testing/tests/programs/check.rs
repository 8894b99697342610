//! The check against the evaluator detects results beyond their bounds.

use ferrofuse::check::{Comparison, against, expected};
use ferrofuse::{Array, CompileOptions, Stream, compile, read};
use ferrofuse_testing::inputs::draw;
use ir::array::Element;
use reference::evaluate::Serial;

const SOFTMAX: &str = "
def softmax(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.softmax(x, dim=1))

inputs = [torch.randn((5, 33))]
";

/// The outputs of softmax, with the element at this position changed by `factor` times the allowed error.
fn worst(place: usize, factor: f64) -> Comparison {
    let file = read(SOFTMAX).unwrap();
    let spec = &file.inputs.as_ref().unwrap()[0];
    let input = draw(spec, 3, 0).unwrap();
    let expected =
        expected(&file.definition, &[input.view()], Stream::default(), &Serial, usize::MAX).unwrap();
    let executable = compile(file.definition, CompileOptions::default()).unwrap();
    let output = &executable.run(&[input.view()]).unwrap()[0];
    let mut elements = output.to_array().unwrap().as_slice::<f32>().to_vec();
    let value = expected.outputs[0].value.view().scalar(place).as_f64();
    let bound = expected.outputs[0].bound.as_ref().map_or(0.0, |bound| {
        let mut bounds = [0.0];
        bound.view().read::<f32, f64>(place, &mut bounds, f64::from);
        bounds[0]
    });
    let allowed = bound + ops::DType::F32.ulp(value);
    elements[place] = f32::from_real(value + factor * allowed);
    let moved = Array::from_slice(&[5, 33], &elements).unwrap();
    against(&expected, [moved.view()], &Serial).unwrap().remove(0)
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
