//! Wrong inputs and too little memory: each error says what was wrong, and whose fault it is.

use std::sync::Arc;

use ferrofuse::{
    Argument, Array, ArrayView, Blame, CallOptions, CompileOptions, CpuTarget, DType, Error, Executor,
    ExecutorKind, Machine, MachineOptions, compile, define,
};

use crate::definitions::{BIAS_SCALE, SILU_MUL, SUM_ROWS};
use crate::executors::executable;
use crate::gpu::{EXECUTORS, options};
use crate::tensors::{inputs, random, views};

fn rejected(result: Result<ferrofuse::Outputs, Error>) -> (String, Blame) {
    let error = result.expect_err("is rejected");
    (error.to_string(), error.blame())
}

#[test]
fn wrong_inputs_are_named() {
    let executable = executable(&BIAS_SCALE, ExecutorKind::Compiled);
    let (x, b, k) = (random(DType::F32, &[4, 6], 1), random(DType::F32, &[6], 2), random(DType::F64, &[], 3));
    let run = |inputs: &[&Array]| {
        let views: Vec<ArrayView<'_>> = inputs.iter().map(|input| input.view()).collect();
        rejected(executable.run(&views))
    };
    let user = |text: &str| (text.to_owned(), Blame::User);
    assert_eq!(run(&[&x, &b]), user("expected 3 inputs, got 2"));
    let half = random(DType::F16, &[6], 2);
    assert_eq!(run(&[&x, &half, &k]), user("input 1 (b): expected dtype f32, got f16"));
    assert_eq!(run(&[&b, &b, &k]), user("input 0 (x): expected 2 axes, got 1"));
    let long = random(DType::F32, &[7], 2);
    let because = "i1 = 6 is the size of axis 1 of input 0 (x); `add` on line 7 needs it";
    assert_eq!(
        run(&[&x, &long, &k]),
        user(&format!("input 1 (b), axis 0: expected size 6 ({because}), got 7"))
    );
}

#[test]
fn declared_sizes_are_checked() {
    let text = "
def f(fd):
    x = fd.define_tensor(shape=[8, -1], contiguity=[True, True], dtype=DataType.Float)
    fd.add_output(fd.ops.neg(x))
";
    let executable = compile(define(text).expect("defines"), CompileOptions::default()).expect("compiles");
    let wrong = random(DType::F32, &[7, 2], 1);
    let (text, blame) = rejected(executable.run(&[wrong.view()]));
    assert_eq!(text, "input 0 (x), axis 0: expected size 8 (as declared), got 7");
    assert_eq!(blame, Blame::User);
}

#[test]
fn too_little_memory_is_said_before_anything_runs() {
    let machine = Machine::new(MachineOptions { memory_limit: Some(1 << 20), ..MachineOptions::default() });
    let options = CompileOptions { machine: Arc::new(machine), ..CompileOptions::default() };
    let executable = compile(define(SILU_MUL.text).expect("defines"), options).expect("compiles");
    let arrays = inputs(&SILU_MUL, executable.definition(), 1 << 10, 1 << 10);
    let (text, blame) = rejected(executable.run(&views(&arrays)));
    assert_eq!(text, format!("no memory: {} bytes are needed, {} are there", 2 << 20, 1 << 20));
    assert_eq!(blame, Blame::Machine);
    let small = inputs(&SILU_MUL, executable.definition(), 10, 10);
    assert!(executable.run(&views(&small)).is_ok());
    // Memory of the caller's is there already.
    let mut arrays = arrays;
    let mut arguments: Vec<Argument<'_>> = arrays.iter_mut().map(|array| array.view_mut().into()).collect();
    let mut out = Array::zeros(DType::BF16, &[1 << 10, 1 << 10]).expect("memory");
    let destinations: &mut [Argument<'_>] = &mut [out.view_mut().into()];
    executable.run_into(&CallOptions::default(), &mut arguments, destinations).expect("there is memory");
}

#[test]
fn sizes_beyond_the_machine_are_an_error() {
    let executable = executable(&SUM_ROWS, ExecutorKind::Compiled);
    let one = [0_u8; 4];
    let huge = ArrayView::new(&one, 0, DType::F32, &[1 << 62, 1 << 62], &[0, 0]).expect("one element");
    let (text, blame) = rejected(executable.run(&[huge]));
    assert!(text.ends_with("has more bytes than can be counted"), "{text}");
    assert_eq!(blame, Blame::Machine);
}

#[test]
fn code_that_the_machine_cannot_run_is_not_made() {
    let target = if cfg!(target_arch = "aarch64") { CpuTarget::X86_64 } else { CpuTarget::Aarch64 };
    let options = CompileOptions { executor: Executor::Compiled, target, ..CompileOptions::default() };
    let error = compile(define(SILU_MUL.text).expect("defines"), options).expect_err("is rejected");
    assert_eq!(error.to_string(), format!("this machine cannot run code for {target}"));
    assert_eq!(error.blame(), Blame::User);
}

#[test]
fn sizes_that_do_not_agree_are_rejected_alike() {
    let text = "
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    y = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    fd.add_output(fd.ops.matmul(x, y))
";
    for executor in EXECUTORS {
        let options = options(executor);
        let executable = compile(define(text).expect("defines"), options).expect("compiles");
        let (x, y) = (random(DType::F32, &[3, 1], 1), random(DType::F32, &[2, 4], 2));
        let (text, blame) = rejected(executable.run(&[x.view(), y.view()]));
        let because = "i1 = 1 is the size of axis 1 of input 0 (x); `matmul` on line 5 needs it";
        assert_eq!(text, format!("input 1 (y), axis 0: expected size 1 ({because}), got 2"));
        assert_eq!(blame, Blame::User);
    }
}

/// The index in `x` is a quotient by its size, which is zero.
#[test]
fn nothing_is_found_in_a_reshape_of_nothing() {
    let text = "
def f(fd):
    x = fd.define_tensor(shape=[1, -1], contiguity=True)
    index = fd.ops.iota(length=3)
    rows = fd.ops.reshape(fd.ops.index_select(x, index=index, dim=0), new_shape=[-1])
    fd.add_output(fd.ops.gather(rows, index=index, dim=0))
";
    for executor in EXECUTORS {
        let options = options(executor);
        let executable = compile(define(text).expect("defines"), options).expect("compiles");
        let (text, blame) = rejected(executable.run(&[random(DType::F32, &[1, 0], 1).view()]));
        assert_eq!(text, "line 6: `gather`: axis 0 is empty, so no index is in range");
        assert_eq!(blame, Blame::User);
    }
}

#[test]
fn no_size_may_be_negative() {
    let text = "
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Float)
    fd.add_output(fd.ops.sum(fd.ops.pad(x, pad_widths=[-2, -4]), dims=[0]))
";
    for executor in EXECUTORS {
        let options = options(executor);
        let executable = compile(define(text).expect("defines"), options).expect("compiles");
        let (long, short) = (random(DType::F32, &[6], 1), random(DType::F32, &[5], 1));
        assert!(executable.run(&[long.view()]).is_ok());
        let (text, blame) = rejected(executable.run(&[short.view()]));
        let values =
            "i0 - 6 is -1, where i0 = 5 is the size of axis 0 of input 0 (x); `pad` on line 4 needs it";
        assert_eq!(text, format!("the sizes must satisfy i0 - 6 >= 0, but {values}"));
        assert_eq!(blame, Blame::User);
    }
}
