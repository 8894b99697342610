//! A failing program made small: outputs, calls, sizes and oddities of inputs are dropped as long as it fails in the same
//! way.
//!
//! Takes a program with the choices it fails with, gives a smaller one and its report. Greedy, with a budget of checks.

mod candidates;
mod report;

use crate::differential::{Choice, Failure, Kind, check};
use crate::random::Program;

pub use report::report;

/// How many programs are tried at most.
const BUDGET: usize = 200;
/// Choices that are tried for each program: another program has other choices of the same seed.
const CHOICES: u64 = 6;

/// A failing program.
#[derive(Clone, Debug)]
pub struct Failing {
    /// The program.
    pub program: Program,
    /// Choices with which it fails.
    pub choice: Choice,
    /// How it fails.
    pub failure: Failure,
}

/// A smaller program that fails in the same way.
pub fn reduce(failing: Failing) -> Failing {
    let kind = failing.failure.kind;
    let mut best = again(&failing.program, Choice::Default, kind).unwrap_or(failing);
    let mut left = BUDGET;
    loop {
        let smaller = candidates::candidates(&best.program).into_iter().find_map(|program| {
            left = left.checked_sub(1)?;
            fails(&program, best.choice, kind)
        });
        match smaller {
            Some(smaller) => best = smaller,
            None => return best,
        }
    }
}

/// The program as a failing one, if it fails in this way with choices like these.
fn fails(program: &Program, choice: Choice, kind: Kind) -> Option<Failing> {
    let choices = match choice {
        Choice::Default => vec![choice],
        Choice::Random(_) => std::iter::once(choice).chain((0..CHOICES).map(Choice::Random)).collect(),
    };
    choices.into_iter().find_map(|choice| again(program, choice, kind))
}

fn again(program: &Program, choice: Choice, kind: Kind) -> Option<Failing> {
    let failure = check(program, choice).err().filter(|failure| failure.kind == kind)?;
    Some(Failing { program: program.clone(), choice, failure })
}
