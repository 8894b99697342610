//! Many random programs checked, side by side: the loop behind the test and the hunt, and one case of `ferrofuse fuzz`.
//!
//! Takes a range of seeds, gives what they covered and those that fail, in order of their seeds.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::differential::{Check, Choice, Covered};
use crate::random::{Program, generate};
use crate::reduce::Failing;

/// Random choices for each program, besides the compiler's own.
const CHOICES: u64 = 2;

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// The programs that fail, by seed.
    pub failing: BTreeMap<u64, Failing>,
    /// What the others covered.
    pub covered: Covered,
    /// How often each op stood in a program.
    pub ops: BTreeMap<&'static str, usize>,
}

/// Checks the programs of these seeds. `told` hears of each seed before it is checked.
pub fn fuzz(seeds: Range<u64>, told: &(dyn Fn(u64) + Sync)) -> Found {
    let found: Mutex<Found> = Mutex::default();
    let next = AtomicU64::new(seeds.start);
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return;
            }
            told(seed);
            let program = generate(seed);
            let checked = check_all(&program, seed);
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            program.ops().iter().for_each(|op| *found.ops.entry(op).or_default() += 1);
            match checked {
                Ok(covered) => found.covered.add(&covered),
                Err(failing) => {
                    found.failing.insert(seed, *failing);
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

/// A program with the compiler's choices, then with random ones of its seed.
///
/// # Errors
/// The first choices that fail, and how.
pub fn check_all(program: &Program, seed: u64) -> Result<Covered, Box<Failing>> {
    let mut covered = Covered::default();
    let failing = |choice, failure| Box::new(Failing { program: program.clone(), choice, failure });
    let check = Check::of(program).map_err(|failure| failing(Choice::Default, failure))?;
    for choice in choices(seed) {
        covered.add(&check.choose(choice).map_err(|failure| failing(choice, failure))?);
    }
    Ok(covered)
}

/// The choices that are tried for the program of a seed.
pub fn choices(seed: u64) -> impl Iterator<Item = Choice> {
    let random =
        (0..CHOICES).map(move |number| Choice::Random(seed.wrapping_mul(CHOICES).wrapping_add(number)));
    std::iter::once(Choice::Default).chain(random)
}
