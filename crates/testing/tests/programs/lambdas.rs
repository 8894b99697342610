//! Folds by lambdas of the user give the results of the equivalent built-in folds: Welford's moments, the index of the
//! largest element, log-sum-exp, online softmax, a product. `bench/lambdas` has both forms, and times them. Moments are
//! recognized as the built-in fold, for any elements and spelling.

use std::fs;
use std::path::Path;

use ferrofuse::check::{against, expected};
use ferrofuse::{
    Array, ArrayView, CompileOptions, Definition, Hints, Stream, compile, define, explain, plan, read,
};
use ferrofuse_testing::inputs::draw;
use reference::evaluate::{Evaluated, Evaluation, Serial};

/// A definition with the evaluator's results on the inputs of its file; the compiled definition gives the same.
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

/// An element and the allowed error of a compiled one.
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

/// Chan's combine in several spellings: an update of the mean, weighted means, guards of empty runs, a count that is an
/// integer, Welford's product of two deviations.
const SPELLINGS: [&str; 5] = [
    "m + (mean - m) * (count / fd.ops.maximum(n + count, 1.0)),
     s + squares + (mean - m) * (mean - m) * (n * count / fd.ops.maximum(n + count, 1.0)),
     n + count",
    "(n * m + count * mean) / fd.ops.maximum(n + count, 1.0),
     squares + s + n * count * (m - mean) * (m - mean) / fd.ops.maximum(n + count, 1.0),
     count + n",
    "fd.ops.where(count == 0.0, m, fd.ops.where(n == 0.0, mean, mean - (mean - m) * n / (n + count))),
     fd.ops.where(n > 0.0, fd.ops.where(count > 0.0, s + squares + (mean - m) * ((mean - m) * (n * count / (n + count))), s),
                  squares),
     n + count",
    "m + (mean - m) * (fd.ops.cast(count, dtype=DataType.Float) / fd.ops.cast(n + count, dtype=DataType.Float)),
     s + squares + (mean - m) * (mean - m) * (fd.ops.cast(n, dtype=DataType.Float) *
        fd.ops.cast(count, dtype=DataType.Float) / fd.ops.cast(n + count, dtype=DataType.Float)),
     n + count",
    "m + (mean - m) * (count / fd.ops.maximum(n + count, 1.0)),
     s + (squares + (mean - m) * (mean - (m + (mean - m) * (count / fd.ops.maximum(n + count, 1.0)))) * count),
     n + count",
];

/// A fold by a spelling; the fourth counts in integers.
fn moments_by(spelling: &str) -> Definition {
    let [dtype, one, zero] =
        if spelling == SPELLINGS[3] { ["Int", "1", "0"] } else { ["Float", "1.0", "0.0"] };
    let text = format!(
        "def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    rows, columns = fd.ops.shape(x)
    ones = fd.ops.full(shape=[rows, columns], fill_value={one}, dtype=DataType.{dtype})
    zeros = fd.ops.full(shape=[rows, columns], fill_value=0.0, dtype=DataType.Float)
    mean, squares, count = fd.ops.fold(
        [x, zeros, ones], lambda m, s, n, mean, squares, count: [{spelling}], init=[0.0, 0.0, {zero}], dims=[1])
    fd.add_output(mean)
    fd.add_output(squares)
    fd.add_output(count)
"
    );
    define(&text).unwrap_or_else(|error| panic!("{error:?} of {text}"))
}

/// The explanation of a lambda in the plan of a definition.
fn explained(definition: &Definition) -> String {
    let plan = plan(definition, &CompileOptions::default()).unwrap();
    let table = explain(definition, &plan, &Hints::default()).unwrap().to_string();
    table.lines().find(|line| line.starts_with("lambda of fold")).expect("a lambda").to_owned()
}

#[test]
fn moments_are_the_built_in_fold_however_they_are_spelled() {
    for spelling in SPELLINGS {
        let line = explained(&moments_by(spelling));
        assert!(
            line.ends_with("; `recognize` takes the fold `welford`: the lambda combines these moments"),
            "{line}"
        );
    }
    let wrong = moments_by(&SPELLINGS[0].replace("m + (mean - m)", "m - (mean - m)"));
    assert!(!explained(&wrong).contains("recognize"));
    let of_several = fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/lambdas/welford/lambda.py"),
    );
    let of_several = of_several.unwrap().replace("fill_value=1.0", "fill_value=2.0");
    assert!(!explained(&read(&of_several).unwrap().definition).contains("recognize"));
}

#[test]
fn moments_are_within_bounds_whatever_the_elements() {
    let ordinary = |number: usize| ((number * 37) % 101) as f32 / 16.0 - 3.0;
    let rows: [&dyn Fn(usize) -> f32; 7] = [
        &ordinary,
        &|number| 1e6 + ordinary(number),
        &|_| 0.1,
        &|number| if number == 5 { f32::INFINITY } else { ordinary(number) },
        &|number| if number % 9 == 8 { f32::NEG_INFINITY } else { ordinary(number) },
        &|number| if number == 0 { f32::NAN } else { ordinary(number) },
        &|number| if number % 2 == 0 { 3e38 } else { -1e38 },
    ];
    for spelling in SPELLINGS {
        let definition = moments_by(spelling);
        let executable = compile(definition.clone(), CompileOptions::default()).unwrap();
        for columns in [0, 1, 2, 7, 100, 3000] {
            let elements: Vec<f32> = rows.iter().flat_map(|row| (0..columns).map(row)).collect();
            let x = Array::from_slice(&[rows.len(), columns], &elements).unwrap();
            let meant = expected(&definition, &[x.view()], Stream::default(), &Serial, usize::MAX).unwrap();
            let outputs = executable.run(&[x.view()]).unwrap();
            let compared = against(&meant, outputs.iter().map(|output| output.view()), &Serial).unwrap();
            for (output, comparison) in compared.iter().enumerate() {
                assert!(
                    comparison.matches(),
                    "{spelling}: {columns} columns, output {output}: {comparison:?}"
                );
            }
            for row in 0..3 {
                let bound = |output: &Evaluated| {
                    output.bound.as_ref().map_or(0.0, |bound| bound.view().scalar(row).as_f64())
                };
                let bounds: Vec<f64> = meant.outputs.iter().map(bound).collect();
                let is_loose = |(bound, most): (&f64, f64)| *bound > most;
                let loose = bounds.iter().zip([[1.0, f64::MAX, 1.0][row], f64::MAX, 0.01]).any(is_loose);
                assert!(
                    !(1..=100).contains(&columns) || !loose,
                    "row {row} of {columns} columns may be off by {bounds:?}"
                );
            }
        }
    }
}
