//! The example files at small, odd and empty sizes: compiled code gives what the evaluator gives.

use std::fs;
use std::path::Path;

use ferrofuse::{Array, ArrayView, CompileOptions, Definition, compile, define};
use ir::graph::evaluate::{EvaluateOptions, compare, evaluate};
use ir::index::Expr;

use crate::tensors::{random, views};

/// All example files by name.
fn examples() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut files: Vec<(String, String)> = fs::read_dir(folder)
        .expect("examples")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "py"))
        .map(|path| (path.display().to_string(), fs::read_to_string(&path).expect("text")))
        .collect();
    files.sort();
    files
}

/// Inputs whose symbolic sizes are taken from `sizes` in turn, as far as the definition leaves them free.
fn inputs(definition: &Definition, sizes: &[i64]) -> Vec<Array> {
    let facts = definition.fusion.facts();
    let free = |sym: ir::index::Sym| Some(sizes[sym.as_u32() as usize % sizes.len()]);
    let size = |size: &Expr| facts.normalize(size).eval(&free).expect("a size") as usize;
    let tensor = |(seed, val): (usize, &ir::graph::Val)| {
        let shape: Vec<usize> = definition.graph.shape(*val).iter().map(size).collect();
        random(definition.graph.dtype(*val), &shape, seed as u64)
    };
    definition.fusion.inputs().iter().enumerate().map(tensor).collect()
}

#[test]
fn examples_agree_with_the_evaluator() {
    for (name, text) in examples() {
        let definition = define(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let executable = compile(definition, CompileOptions::default()).expect("compiles");
        for sizes in [&[2, 3, 5, 4][..], &[1, 17, 3], &[3, 1, 1023], &[17, 33], &[0, 5, 2], &[4, 0]] {
            let arrays = inputs(executable.definition(), sizes);
            agree(&format!("{name} at {sizes:?}"), &executable, &views(&arrays));
        }
    }
}

fn agree(name: &str, executable: &ferrofuse::Executable, inputs: &[ArrayView<'_>]) {
    let definition = executable.definition();
    let expected = evaluate(&definition.graph, &definition.fusion, inputs, &EvaluateOptions::default());
    let expected = expected.unwrap_or_else(|error| panic!("{name}: {error}")).outputs;
    let outputs = executable.run(inputs).unwrap_or_else(|error| panic!("{name}: {error}"));
    for (number, (output, expected)) in outputs.iter().zip(&expected).enumerate() {
        let found = compare(expected, &output.view()).expect("same type");
        assert!(found.matches(), "{name}, output {number}: {found:?}");
    }
}
