//! Checks many random programs in parallel: the loop of the test, and one case of `ferrofuse fuzz`.
//!
//! Takes a range of seeds, returns what they covered and those that fail, in order of their seeds.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::differential::{Check, Choice, Covered, Failure};
use crate::random::{Program, generate};
use crate::reduce::Failing;

/// Random choices for each program, besides the compiler's own. Compiling takes most of a case's time, and another program
/// finds more than another choice for the same one.
const RANDOM: u64 = 1;

/// The results.
#[derive(Debug, Default)]
pub struct Found {
    /// The programs that fail, by seed.
    pub failing: BTreeMap<u64, Failing>,
    /// The counts of the others.
    pub covered: Covered,
}

/// Checks the programs of these seeds.
pub fn fuzz(seeds: Range<u64>) -> Found {
    let found: Mutex<Found> = Mutex::default();
    let next = AtomicU64::new(seeds.start);
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return;
            }
            let program = generate(seed);
            let checked = check_all(&program, &choices(seed));
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            match checked {
                Ok(covered) => found.covered.add(&covered),
                Err((choice, failure)) => {
                    found.failing.insert(seed, Failing { program, cuts: Vec::new(), choice, failure });
                }
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZeroUsize::get) {
            scope.spawn(work);
        }
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Checks a program with each of these choices in order.
///
/// # Errors
/// The first choice that fails, and how.
pub fn check_all(program: &Program, choices: &[Choice]) -> Result<Covered, (Choice, Failure)> {
    let mut covered = Covered::default();
    let first = choices.first().copied().unwrap_or(Choice::Default);
    let check = Check::of(program).map_err(|failure| (first, failure))?;
    for &choice in choices {
        covered.add(&check.choose(choice).map_err(|failure| (choice, failure))?);
    }
    Ok(covered)
}

/// The choices to check the program of a seed with on a GPU.
pub fn choices_on_gpu(seed: u64) -> Vec<Choice> {
    vec![Choice::Gpu(seed)]
}

/// The choices to check the program of a seed with: the compiler's, then random ones.
pub fn choices(seed: u64) -> Vec<Choice> {
    let random = (0..RANDOM).map(|number| Choice::Random(seed.wrapping_mul(RANDOM).wrapping_add(number)));
    std::iter::once(Choice::Default).chain(random).collect()
}
