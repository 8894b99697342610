//! Memory of the process over many calls; alone in its process, as other tests' memory would count.

use std::fs;

use ferrofuse::{Array, CompileOptions, DType, Scalar, compile, define};

const SOFTMAX: &str = "def softmax(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.softmax(x, dim=1))
";

/// Ten million if the test is built for release.
const CALLS: usize = if cfg!(debug_assertions) { 100_000 } else { 10_000_000 };

/// Kibibytes of memory that the process holds.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a line for resident memory");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
}

/// Sizes change from call to call; memory may not grow after the first tenth of the calls.
#[test]
fn memory_is_flat_over_many_calls() {
    let executable = compile(define(SOFTMAX).expect("defines"), CompileOptions::default()).expect("compiles");
    let array = |number: usize| {
        Array::full(Scalar::one(DType::F32), &[2 + number * 7 % 13, 2 + number * 5 % 31]).expect("small")
    };
    let arrays: Vec<Array> = (0..64).map(array).collect();
    let mut before = 0;
    for call in 0..CALLS {
        let array = &arrays[call % arrays.len()];
        let outputs = executable.run(&[array.view()]).expect("runs");
        assert_eq!(outputs[0].sizes(), array.sizes());
        if call == CALLS / 10 {
            before = resident();
        }
    }
    let grown = resident().saturating_sub(before);
    println!("{CALLS} calls, {} variants, {grown} KiB more", executable.variants());
    assert!(grown < 16 << 10, "{grown} KiB more after {CALLS} calls");
}
