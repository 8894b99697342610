//! Calls that are interrupted: they end with an error, and everything shared stays usable.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cpu::pool::until_interrupted;
use ferrofuse::check::{against, checked, expected};
use ferrofuse::{
    Argument, Array, ArrayView, CallOptions, CompileOptions, DType, Error, Executable, Executor, Interrupt,
    Machine, MachineOptions, Scalar, Stream, compile, define, plan,
};
use reference::evaluate::Serial;

use crate::segments::cut;
use crate::tensors::{random, views};

const KERNELS: &str = "def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    y = fd.ops.sub(x, fd.ops.sum(x, dims=[1], keepdim=True))
    fd.add_output(fd.ops.exp(fd.ops.sub(y, fd.ops.max(y, dims=[0], keepdim=True))))
";

const LIBRARIES: &str = "def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    y = fd.ops.matmul(x, fd.ops.permute(x, [1, 0]))
    fd.add_output(fd.ops.argsort(y, 1))
";

const IN_PLACE: &str = "def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.add(x, 1.0), x)
";

/// An interrupt at the poll of this number, and a counter of polls.
fn at(poll: usize) -> (Interrupt, Arc<AtomicUsize>) {
    let polls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&polls);
    (Interrupt::when(move || counted.fetch_add(1, Ordering::Relaxed) >= poll), polls)
}

fn bytes(executable: &Executable, options: &CallOptions, inputs: &[Array]) -> Result<Vec<u8>, Error> {
    let outputs = executable.run_with(options, &views(inputs))?;
    Ok(outputs[0].to_array().expect("memory").as_bytes().to_vec())
}

fn executable(text: &str, executor: Executor) -> Executable {
    let options = CompileOptions { executor, ..CompileOptions::default() };
    compile(define(text).expect("defines"), options).expect("compiles")
}

const SCAN: &str = "def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.cumsum(x, 1))
";

/// Interrupts a call at its first poll, its second, and so on, until one completes.
fn interrupted_everywhere(text: &str, executor: Executor) {
    let executable = executable(text, executor);
    let inputs = [random(DType::F32, &[500, 400], 1)];
    let expected = bytes(&executable, &CallOptions::default(), &inputs).expect("runs");
    for poll in 0..10_000 {
        let options = CallOptions { interrupt: at(poll).0, ..CallOptions::default() };
        match bytes(&executable, &options, &inputs) {
            Err(Error::Interrupted(_)) => {}
            ran => {
                assert_eq!(ran.expect("runs"), expected);
                assert!(poll > 2, "it looks at interrupts");
                return assert_eq!(
                    bytes(&executable, &CallOptions::default(), &inputs).expect("runs"),
                    expected
                );
            }
        }
    }
    panic!("polls without end");
}

#[test]
fn calls_of_kernels_are_interrupted() {
    interrupted_everywhere(KERNELS, Executor::Compiled);
}

/// One block scans all of it. The calling thread polls meanwhile, and drops partial results.
#[test]
fn scans_of_one_line_are_interrupted() {
    let executable = executable(SCAN, Executor::Compiled);
    let inputs = [random(DType::F32, &[1, 1 << 25], 1)];
    let expected = bytes(&executable, &CallOptions::default(), &inputs).expect("runs");
    let (never, polls) = at(usize::MAX);
    let options = CallOptions { interrupt: never, ..CallOptions::default() };
    assert_eq!(bytes(&executable, &options, &inputs).expect("runs"), expected);
    assert!(polls.load(Ordering::Relaxed) > 1, "it asks meanwhile");
    for poll in 0..2 {
        let options = CallOptions { interrupt: at(poll).0, ..CallOptions::default() };
        assert!(matches!(bytes(&executable, &options, &inputs), Err(Error::Interrupted(_))), "poll {poll}");
    }
    assert_eq!(bytes(&executable, &CallOptions::default(), &inputs).expect("runs"), expected);
}

#[test]
fn external_ops_are_interrupted() {
    interrupted_everywhere(LIBRARIES, Executor::Compiled);
}

/// All of it is one step: the evaluator polls between its pieces.
#[test]
fn calls_on_the_evaluator_are_interrupted() {
    let executable = executable(KERNELS, Executor::Evaluator);
    let inputs = [random(DType::F32, &[500, 400], 1)];
    let steps = executable.latest().expect("compiled").steps.steps.len();
    for poll in [0, 1, steps + 2, 2 * steps + 2] {
        let options = CallOptions { interrupt: at(poll).0, ..CallOptions::default() };
        assert!(matches!(bytes(&executable, &options, &inputs), Err(Error::Interrupted(_))), "poll {poll}");
    }
    bytes(&executable, &CallOptions::default(), &inputs).expect("runs");
}

#[test]
fn checks_are_interrupted() {
    let executable = executable(KERNELS, Executor::Compiled);
    let inputs = [random(DType::F32, &[500, 400], 1)];
    let outputs = executable.run(&views(&inputs)).expect("runs");
    let compared = |interrupt: &Interrupt| {
        let viewed = outputs.iter().map(|output| output.view());
        checked(
            executable.definition(),
            &views(&inputs),
            Stream::default(),
            viewed,
            &Machine::shared(),
            interrupt,
        )
    };
    for poll in [0, 1, 5] {
        assert!(matches!(compared(&at(poll).0), Err(Error::Interrupted(_))));
    }
    assert!(compared(&Interrupt::default()).expect("evaluates")[0].matches());
}

#[test]
fn comparisons_are_interrupted() {
    let executable = executable(KERNELS, Executor::Compiled);
    let inputs = [random(DType::F32, &[500, 400], 1)];
    let outputs = executable.run(&views(&inputs)).expect("runs");
    let (machine, definition) = (Machine::shared(), executable.definition());
    let meant =
        expected(definition, &views(&inputs), Stream::default(), &Serial, usize::MAX).expect("memory");
    let compared = |interrupt: &Interrupt| {
        let viewed = outputs.iter().map(|output| output.view());
        until_interrupted(|| {
            against(&meant, viewed, &machine.workers(interrupt)).expect("one dtype and sizes")
        })
    };
    // On a busy machine workers may compare everything before the waiting thread has polled once.
    let is_interrupted = (0..10).any(|_| compared(&at(0).0).is_err());
    assert!(is_interrupted, "interrupted at the first piece");
    assert!(compared(&Interrupt::default()).expect("compares")[0].matches());
}

#[test]
fn a_compilation_is_interrupted_and_the_next_call_compiles() {
    let executable = Executable::by_size(define(KERNELS).expect("defines"), CompileOptions::default());
    let inputs = [random(DType::F32, &[50, 40], 1)];
    let options = CallOptions { interrupt: at(0).0, ..CallOptions::default() };
    for _ in 0..3 {
        assert!(matches!(bytes(&executable, &options, &inputs), Err(Error::Interrupted(_))));
        assert!(executable.latest().is_none());
    }
    bytes(&executable, &CallOptions::default(), &inputs).expect("runs");
    assert!(executable.latest().is_some());
}

#[test]
fn plans_are_interrupted() {
    let mut options = CompileOptions::default();
    options.plan.interrupt = at(0).0;
    let error = plan(&define(KERNELS).expect("defines"), &options).expect_err("interrupted");
    assert_eq!(error.to_string(), "interrupted");
}

/// After an interrupt each element of an in-place output is either old or new.
#[test]
fn an_interrupted_call_in_place_leaves_each_element_old_or_new() {
    let executable =
        compile(define(IN_PLACE).expect("defines"), CompileOptions::default()).expect("compiles");
    for poll in 0..8 {
        let mut array = Array::full(Scalar::from_f64(DType::F32, 1.0), &[4000, 500]).expect("memory");
        let options = CallOptions { interrupt: at(poll).0, ..CallOptions::default() };
        let arguments: &mut [Argument<'_>] = &mut [array.view_mut().into()];
        let ran = executable.run_in_place_with(&options, arguments).map(drop);
        assert!(ran.is_ok() || ran.is_err_and(|error| error.may_have_written()));
        let elements =
            array.as_bytes().chunks_exact(4).map(|bytes| f32::from_ne_bytes(bytes.try_into().expect("4")));
        assert!(elements.into_iter().all(|element| element == 1.0 || element == 2.0));
    }
}

/// Outputs are copied at the end: to other memory, and to an input.
#[test]
fn calls_of_segments_are_interrupted_while_they_copy() {
    const RETURNED: &str = "def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.add(x, 1.0))
";
    for text in [RETURNED, IN_PLACE] {
        let definition = define(text).expect("defines");
        let segments = cut(&definition, None).expect("plans");
        let chain = Executable::from_segments(definition, &segments, CompileOptions::default());
        let chain = chain.expect("segments");
        for poll in 0.. {
            let mut array = Array::full(Scalar::from_f64(DType::F32, 1.0), &[4000, 500]).expect("memory");
            let mut out = Array::zeros(DType::F32, &[4000, 500]).expect("memory");
            let options = CallOptions { interrupt: at(poll).0, ..CallOptions::default() };
            let arguments: &mut [Argument<'_>] = &mut [array.view_mut().into()];
            let destinations: &mut [Argument<'_>] = &mut [out.view_mut().into()];
            let given = if text == IN_PLACE { &mut [] } else { destinations };
            match chain.run_into(&options, arguments, given) {
                Err(error) => assert!(error.may_have_written(), "{error}"),
                Ok(()) => {
                    assert!(poll > 0, "it looks at interrupts");
                    break;
                }
            }
        }
    }
}

/// There are as many polls as parts of the work, whatever runs it: only the calling thread polls.
#[test]
fn interrupts_are_asked_on_the_thread_that_waits() {
    let caller = std::thread::current().id();
    let interrupt = Interrupt::when(move || {
        assert_eq!(std::thread::current().id(), caller);
        false
    });
    let options = CallOptions { interrupt, ..CallOptions::default() };
    for text in [KERNELS, LIBRARIES] {
        let executable = Executable::by_size(define(text).expect("defines"), CompileOptions::default());
        bytes(&executable, &options, &[random(DType::F32, &[300, 300], 1)]).expect("runs");
    }
}

/// Calls that are one long piece of work, with the sizes of their input: a line that is sorted, searched, scattered to,
/// scanned or folded, sums of many products, a copy. On one thread.
const LONG_PIECES: [(Executor, &str, [usize; 2]); 11] = [
    (Executor::Compiled, "fd.ops.argsort(x, 1)", [1, 3 << 19]),
    (Executor::Compiled, "fd.ops.topk(x, 9, 1)[0]", [1, 3 << 19]),
    (Executor::Compiled, "fd.ops.scatter(x, fd.ops.cast(x * 0.0, DataType.Int), x, dim=1)", [1, 1 << 19]),
    (Executor::Compiled, "fd.ops.matmul(x, fd.ops.permute(x, [1, 0]))", [2, 1 << 14]),
    (
        Executor::Compiled,
        "fd.ops.matmul(fd.ops.cast(x, DataType.Double), fd.ops.permute(fd.ops.cast(x, DataType.Double), [1, 0]))",
        [2, 1 << 18],
    ),
    (Executor::Evaluator, "fd.ops.argsort(x, 1)", [1, 1 << 16]),
    (Executor::Evaluator, "fd.ops.cumsum(x, 1)", [1, 1 << 18]),
    (Executor::Evaluator, "fd.ops.fold(x, lambda a, b: a + b, init=0.0, dims=[1])", [1, 1 << 18]),
    (Executor::Evaluator, "fd.ops.scan(x, lambda a, b: a * b, init=1.0, dim=1)", [1, 1 << 18]),
    (Executor::Evaluator, "fd.ops.scatter(x, fd.ops.cast(x * 0.0, DataType.Int), x, dim=1)", [1, 1 << 18]),
    (Executor::Evaluator, "fd.ops.matmul(x, fd.ops.permute(x, [1, 0]))", [2, 1 << 13]),
];

fn on_one_thread(text: &str, executor: Executor) -> Executable {
    let machine = MachineOptions { threads: NonZeroUsize::new(1), ..MachineOptions::default() };
    let options =
        CompileOptions { executor, machine: Arc::new(Machine::new(machine)), ..CompileOptions::default() };
    compile(define(text).expect("defines"), options).expect("compiles")
}

/// A call polls more often than it has steps and pieces, and ends at a poll within one.
fn looks_within(executable: &Executable, inputs: &[ArrayView<'_>], pieces: usize) {
    let bytes = |interrupt: Interrupt| -> Result<Vec<u8>, Error> {
        let outputs = executable.run_with(&CallOptions { interrupt, ..CallOptions::default() }, inputs)?;
        Ok(outputs[0].to_array().expect("memory").as_bytes().to_vec())
    };
    let (never, polls) = at(usize::MAX);
    let expected = bytes(never).expect("runs");
    let polls = polls.load(Ordering::Relaxed);
    assert!(polls > pieces, "{polls} looks");
    assert!(matches!(bytes(at(polls / 2).0), Err(Error::Interrupted(_))));
    assert_eq!(bytes(Interrupt::default()).expect("runs"), expected);
}

#[test]
fn long_pieces_are_interrupted() {
    for (executor, op, sizes) in LONG_PIECES {
        let text = format!(
            "def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output({op})
"
        );
        let array = random(DType::F32, &sizes, 1);
        eprintln!("{op}");
        looks_within(&on_one_thread(&text, executor), &[array.view()], 25);
    }
}

/// An input whose address is between two elements is copied before anything runs.
#[test]
fn copies_of_inputs_are_interrupted() {
    let executable = on_one_thread(IN_PLACE, Executor::Compiled);
    let bytes = vec![0_u8; (4 << 20) + 1];
    let start = if bytes.as_ptr().addr().is_multiple_of(4) { 1 } else { 0 };
    let input = ArrayView::new(&bytes, start, DType::F32, &[1 << 10, 1 << 10], &[1 << 10, 1]).expect("fits");
    looks_within(&executable, &[input], 15);
}
