//! Reduction of a failing program: outputs, calls, sizes and oddities of inputs are dropped as long as it fails in the same
//! way.
//!
//! Takes a failing program and a judge of others; returns a smaller one. Greedy, with a budget of candidates. Candidates
//! have the same numbers in every process, so numbers tell a process which cut of a seed's program to judge.

mod candidates;
mod report;

use crate::differential::{Choice, Failure, check};
use crate::random::Program;

pub use report::{file, report};

/// The limit on programs that are tried.
const BUDGET: usize = 200;
/// Choices that are tried for each program: the same seed means other choices for another program.
const CHOICES: u64 = 6;

/// A failing program.
#[derive(Clone, Debug)]
pub struct Failing {
    pub program: Program,
    /// The cuts that made it from the drawn program: the number of each candidate, in order.
    pub cuts: Vec<usize>,
    /// Choices with which it fails.
    pub choice: Choice,
    pub failure: Failure,
}

/// How a program fails with any of these choices; `None` if it does not, or if the time is over. Takes the program and the
/// cuts that make it.
pub type Judge<'a> = dyn FnMut(&Program, &[usize], &[Choice]) -> Option<(Choice, Failure)> + 'a;

/// The program after these cuts; `None` if there is no such cut.
pub fn cut(program: Program, cuts: &[usize]) -> Option<Program> {
    cuts.iter().try_fold(program, |program, &cut| candidates::candidates(&program).into_iter().nth(cut))
}

/// A smaller program that fails in the same way.
pub fn reduce(mut failing: Failing, judge: &mut Judge<'_>) -> Failing {
    let kind = failing.failure.kind;
    let mut judge = |program: Program, cuts: Vec<usize>, choices: &[Choice]| {
        let found = judge(&program, &cuts, choices).filter(|(_, failure)| failure.kind == kind);
        found.map(|(choice, failure)| Failing { program, cuts, choice, failure })
    };
    if let Some(plain) = judge(failing.program.clone(), failing.cuts.clone(), &[Choice::Default]) {
        failing = plain;
    }
    let mut left = BUDGET;
    loop {
        let choices = choices_like(failing.choice);
        let candidates = candidates::candidates(&failing.program).into_iter().enumerate();
        let smaller = candidates.take(left).find_map(|(number, program)| {
            left -= 1;
            judge(program, [failing.cuts.as_slice(), &[number]].concat(), &choices)
        });
        match smaller {
            Some(smaller) => failing = smaller,
            None => return failing,
        }
    }
}

/// The choices to try for a smaller program.
fn choices_like(choice: Choice) -> Vec<Choice> {
    match choice {
        Choice::Default => vec![choice],
        Choice::Random(_) => std::iter::once(choice).chain((0..CHOICES).map(Choice::Random)).collect(),
        Choice::Gpu(_) => std::iter::once(choice).chain((0..CHOICES).map(Choice::Gpu)).collect(),
    }
}

/// The judge that checks in this process.
pub fn judge(program: &Program, choices: &[Choice]) -> Option<(Choice, Failure)> {
    choices.iter().find_map(|&choice| Some((choice, check(program, choice).err()?)))
}
