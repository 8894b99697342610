//! Random programs, segmentations and schedules: every executor gives the evaluator's results, within its bounds.

use std::panic;

use ferrofuse_testing::fuzz::fuzz;
use ferrofuse_testing::reduce::{judge, reduce, report};

/// The number of programs; `make test` checks more in separate processes, by `ferrofuse fuzz`.
const COUNT: u64 = 30;

#[test]
fn executors_agree_with_the_evaluator() {
    // A panic is a failure like any other, reported at the end.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let found = fuzz(0..COUNT);
    let first = found.failing.iter().next().map(|(&seed, failing)| {
        report(&reduce(failing.clone(), &mut |program, _, choices| judge(program, choices)), seed)
    });
    panic::set_hook(hook);
    if let Some(first) = first {
        let all: Vec<String> =
            found.failing.iter().map(|(seed, failing)| format!("{seed}: {}", failing.failure)).collect();
        panic!("{} programs fail:\n{}\n\n{first}", all.len(), all.join("\n"));
    }
    assert!(found.covered.unbounded * 4 < found.covered.elements, "{:?}", found.covered);
}
