//! Folds by lambdas of the user give what the built-in forms of the same give: Welford's moments, the place of the largest
//! element, log-sum-exp, online softmax, a product. `bench/lambdas` has both forms, and times them.

use std::fs;
use std::path::Path;

use ferrofuse::check::{against, expected};
use ferrofuse::{ArrayView, CompileOptions, Definition, Stream, compile, read};
use ferrofuse_testing::inputs::draw;
use reference::evaluate::{Evaluated, Evaluation, Serial};

/// A definition with what the evaluator says of it on the inputs of its file; the compiled definition says the same.
fn meaning(path: &Path) -> Evaluation {
    let file = read(&fs::read_to_string(path).unwrap()).unwrap();
    let specs = file.inputs.as_ref().unwrap().iter().enumerate();
    let drawn: Vec<_> = specs.map(|(place, spec)| draw(spec, 5, place).unwrap()).collect();
    let inputs: Vec<ArrayView<'_>> = drawn.iter().map(|input| input.view()).collect();
    let definition: Definition = file.definition;
    let meant = expected(&definition, &inputs, Stream::default(), &Serial, usize::MAX).unwrap();
    let executable = compile(definition, CompileOptions::default()).unwrap();
    let outputs = executable.run(&inputs).unwrap();
    for comparison in against(&meant, outputs.iter().map(|output| output.view()), &Serial).unwrap() {
        assert!(comparison.matches(), "{}: {comparison:?}", path.display());
    }
    meant
}

/// An element and how far a compiled one may be from it.
fn element(evaluated: &Evaluated, place: usize) -> (f64, f64) {
    let value = evaluated.value.view().scalar(place).as_f64();
    let bound = evaluated.bound.as_ref().map_or(0.0, |bound| bound.view().scalar(place).as_f64());
    (value, bound)
}

#[test]
fn folds_by_lambdas_give_what_the_built_in_ones_give() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/lambdas");
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if !path.join("lambda.py").exists() {
            continue;
        }
        let [builtin, lambda] = ["builtin.py", "lambda.py"].map(|form| meaning(&path.join(form)));
        assert_eq!(builtin.outputs.len(), lambda.outputs.len());
        for (one, other) in builtin.outputs.iter().zip(&lambda.outputs) {
            let dtype = one.value.view().dtype();
            for place in 0..one.value.view().numel() {
                let ((a, near_a), (b, near_b)) = (element(one, place), element(other, place));
                let ulp = if dtype.is_float() { dtype.ulp(a) } else { 0.0 };
                assert!(
                    (a - b).abs() <= near_a + near_b + ulp,
                    "{}, element {place}: {a} and {b}",
                    path.display()
                );
            }
        }
        seen += 1;
    }
    assert_eq!(seen, 6);
}
