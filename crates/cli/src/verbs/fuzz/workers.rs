//! Processes that check, kept busy: each gets the next seed, and reduces failing programs.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::time::{Duration, Instant};
use std::{io, panic, thread};

use testing::differential::{Choice, Kind};
use testing::random::{Program, generate};
use testing::reduce::{Failing, reduce, report};

use super::device::FuzzDevice;
use super::process::Checker;
use super::worker::{Answer, Request};
use crate::failure::Failure;

/// How much longer than requested a case may take that has begun.
const GRACE: Duration = Duration::from_secs(10);
/// The time for reducing a failing program.
const REDUCTION: Duration = Duration::from_secs(240);

/// A seed checked.
pub struct Checked {
    pub seed: u64,
    /// The result.
    pub answer: Answer,
    /// The definition file with comments, if it fails.
    pub report: Option<String>,
}

/// Checks the programs of these seeds until the deadline. Calls `told` for each.
pub fn check(
    seeds: Range<u64>,
    deadline: Option<Instant>,
    jobs: Option<usize>,
    device: FuzzDevice,
    told: &mut dyn FnMut(Checked) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let jobs = jobs.or_else(|| thread::available_parallelism().ok().map(usize::from)).unwrap_or(1);
    let next = AtomicU64::new(seeds.start);
    let seed = || {
        let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let seed = next.fetch_add(1, Ordering::Relaxed);
        (!late && seed < seeds.end).then_some(seed)
    };
    thread::scope(|scope| {
        let (sender, received) = mpsc::channel();
        for _ in 0..jobs.max(1) {
            let (sender, seed) = (sender.clone(), &seed);
            scope.spawn(move || {
                let checker = Checker::new(device, deadline.map(|deadline| deadline + GRACE));
                if let Err(error) = keep_at_work(checker, seed, device, &sender) {
                    // The receiver is gone only if the others have already failed.
                    let _ = sender.send(Err(error));
                }
            });
        }
        drop(sender);
        received.into_iter().try_for_each(|checked| told(checked?))
    })
}

/// Sends seeds to a process. A seed that it does not answer before the end is left out.
fn keep_at_work(
    mut checker: Checker,
    next: &dyn Fn() -> Option<u64>,
    device: FuzzDevice,
    told: &Sender<io::Result<Checked>>,
) -> io::Result<()> {
    while let Some(seed) = next() {
        let request = Request { seed, cuts: Vec::new(), choices: device.choices(seed) };
        let Some(mut answer) = checker.ask(&request)? else { break };
        let mut report = None;
        if let Some((choice, failure)) = answer.failure.take() {
            // A panic while the program is defined also happened in the process, and cannot be reduced.
            report = Some(match panic::catch_unwind(|| generate(seed)) {
                Err(_) => format!("# seed {seed}: defining its program panics\n"),
                Ok(program) => {
                    answer.ops = program.ops().into_iter().map(str::to_owned).collect();
                    let failing = Failing { program, cuts: Vec::new(), choice, failure: failure.clone() };
                    made_small(&failing, seed, device, &mut checker)
                }
            });
            answer.failure = Some((choice, failure));
        }
        if told.send(Ok(Checked { seed, answer, report })).is_err() {
            break;
        }
    }
    Ok(())
}

/// The report of the smallest program that fails like this one. Each is checked in the process, as it may crash like the
/// original.
fn made_small(failing: &Failing, seed: u64, device: FuzzDevice, checker: &mut Checker) -> String {
    let end = Instant::now() + REDUCTION;
    let mut judge = |_: &Program, cuts: &[usize], choices: &[Choice]| {
        choices.iter().find_map(|&choice| {
            let in_time = !checker.is_over() && Instant::now() < end;
            let request = Request { seed, cuts: cuts.to_vec(), choices: vec![choice] };
            in_time.then(|| checker.ask(&request).ok().flatten()).flatten()?.failure
        })
    };
    let mut failing = failing.clone();
    if matches!(failing.failure.kind, Kind::Crash | Kind::Late) {
        // The process ended before it could report which choice it was.
        let found = judge(&failing.program, &[], &device.choices(seed));
        (failing.choice, failing.failure) = found.unwrap_or((failing.choice, failing.failure));
    }
    report(&reduce(failing, &mut judge), seed)
}
