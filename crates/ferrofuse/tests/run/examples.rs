//! The example files at small, odd and empty sizes: compiled code gives the evaluator's results.

use std::fs;
use std::path::Path;

use ferrofuse::{Array, ArrayView, CompileOptions, Definition, Executor, compile, define};
use index::Expr;
use reference::evaluate::{EvaluateError, EvaluateOptions, Serial, compare, evaluate};

use crate::tensors::{Strange, StrangeArray, random, views};

/// All example files by name.
pub fn examples() -> Vec<(String, String)> {
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

/// Inputs whose symbolic sizes are taken from `sizes` cyclically, as far as the definition leaves them free.
pub fn inputs(definition: &Definition, sizes: &[i64]) -> Vec<Array> {
    let facts = definition.fusion.facts();
    let free = |sym: index::Sym| Some(sizes[sym.as_u32() as usize % sizes.len()]);
    let size = |size: &Expr| facts.normalize(size).eval(&free).expect("a size") as usize;
    let tensor = |(seed, val): (usize, &ir::graph::Val)| {
        let shape: Vec<usize> = definition.graph.shape(*val).iter().map(size).collect();
        random(definition.graph.dtype(*val), &shape, seed as u64)
    };
    definition.fusion.inputs().iter().enumerate().map(tensor).collect()
}

#[test]
fn examples_read_strides_of_any_kind() {
    for (name, text) in examples() {
        let executable =
            compile(define(&text).expect("defines"), CompileOptions::default()).expect("compiles");
        for strange in Strange::ALL {
            let dense = inputs(executable.definition(), &[2, 3, 5, 4]);
            let make = |dense: &Array| StrangeArray::new(strange, dense.dtype(), dense.sizes(), 5);
            let arrays: Vec<StrangeArray> = dense.iter().map(make).collect();
            let views: Vec<ArrayView<'_>> = arrays.iter().map(StrangeArray::view).collect();
            agree(&format!("{name}, {strange:?}"), &executable, &views);
        }
    }
}

#[test]
fn examples_are_interpreted_without_a_fault() {
    for (name, text) in examples() {
        let options = CompileOptions { executor: Executor::Interpreter, ..CompileOptions::default() };
        let executable = compile(define(&text).expect("defines"), options).expect("compiles");
        for sizes in [&[2, 3, 5, 4][..], &[3, 1, 70], &[1, 0, 2]] {
            let arrays = inputs(executable.definition(), sizes);
            agree(&format!("{name} at {sizes:?}"), &executable, &views(&arrays));
        }
    }
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

pub fn agree(name: &str, executable: &ferrofuse::Executable, inputs: &[ArrayView<'_>]) {
    let definition = executable.definition();
    let expected = evaluate(&definition.graph, &definition.fusion, inputs, &EvaluateOptions::default());
    executable.generator().seed(0);
    let expected = match expected {
        // Drawn numbers are seldom valid indices, and drawn sizes seldom match; both executors report that.
        Err(EvaluateError::Index { .. } | EvaluateError::Input(_)) => {
            executable.run(inputs).expect_err(name);
            return;
        }
        expected => expected.unwrap_or_else(|error| panic!("{name}: {error}")).outputs,
    };
    let outputs = executable.run(inputs).unwrap_or_else(|error| panic!("{name}: {error}"));
    for (number, (output, expected)) in outputs.iter().zip(&expected).enumerate() {
        let found = compare(expected, &output.view(), &Serial).expect("same type");
        assert!(found.matches(), "{name}, output {number}: {found:?}");
    }
}
