//! Long definitions on threads with small stacks: all recursion over them has a separate stack, or there is none.

use std::fmt::Write as _;
use std::thread;

use ferrofuse::{
    Array, CodeTarget, CompileOptions, DType, EmitOptions, Executor, NameStyle, Scalar, Stage, compile,
    define, emit, explain, plan,
};

const STACK: usize = 256 << 10;

fn on_small_stack(work: impl FnOnce() + Send + 'static) {
    thread::Builder::new().stack_size(STACK).spawn(work).expect("a thread").join().expect("no panic");
}

/// A chain of `ops` calls, each on the result of the one before.
fn chain(ops: usize, op: &str) -> String {
    let mut text =
        "def f(fd):\n    t0 = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)\n"
            .to_owned();
    for number in 1..=ops {
        let arg = format!("t{}", number - 1);
        writeln!(text, "    t{number} = fd.ops.{}", op.replace('$', &arg)).expect("memory");
    }
    writeln!(text, "    fd.add_output(t{ops})").expect("memory");
    text
}

fn explained_and_emitted(text: &str) {
    let definition = define(text).map_err(|error| error.message).expect("defines");
    let options = CompileOptions::default();
    let planned = plan(&definition, &options).expect("plans");
    let explanation = explain(&definition, &planned, &options.hints).expect("its own plan");
    assert!(!explanation.to_string().is_empty());
    let llvm = options.machine.llvm();
    let options = EmitOptions {
        target: CodeTarget::CUDA,
        segment: None,
        names: NameStyle::default(),
        llvm: llvm.as_ref(),
    };
    for stage in
        [Stage::Definition, Stage::Graph, Stage::Segments, Stage::Schedule, Stage::Kernel, Stage::CUDA]
    {
        assert!(!emit(stage, &definition, &planned, &options).expect("emits").is_empty());
    }
}

fn runs(text: &str, executor: Executor) {
    let options = CompileOptions { executor, ..CompileOptions::default() };
    let executable =
        compile(define(text).map_err(|error| error.message).expect("defines"), options).expect("compiles");
    let input = Array::full(Scalar::one(DType::F32), &[3]).expect("memory");
    assert_eq!(executable.run(&[input.view()]).expect("runs")[0].sizes(), [3]);
}

/// One chain for each kind of recursion: ops whose operands are pulled, index maps, index maps with predicates.
const LINKS: [&str; 4] = ["sin($)", "add($, 1.5)", "cumsum($, 0)", "pad($, [1, -1])"];

#[test]
fn long_chains_are_explained_and_emitted() {
    on_small_stack(|| LINKS.iter().for_each(|op| explained_and_emitted(&chain(1000, op))));
}

#[test]
fn long_chains_run_on_the_evaluator() {
    on_small_stack(|| runs(&chain(10_000, "sin($)"), Executor::Evaluator));
}

#[test]
fn long_chains_run_on_the_interpreter() {
    on_small_stack(|| runs(&chain(1000, "add($, 1.5)"), Executor::Interpreter));
}

#[test]
fn long_chains_are_compiled() {
    on_small_stack(|| runs(&chain(1000, "add($, 1.5)"), Executor::Compiled));
}
