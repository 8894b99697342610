//! The process that checks: reads a request a line, answers with one line of JSON each.

use std::io::{self, BufRead, Write};
use std::panic;

use serde::{Deserialize, Serialize};
use testing::differential::{Choice, Covered, Failure};
use testing::fuzz::check_all;
use testing::random::generate;
use testing::reduce::cut;

/// What is to be checked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Request {
    /// The seed of the program.
    pub seed: u64,
    /// What was cut from it.
    pub cuts: Vec<usize>,
    /// The choices to check it with.
    pub choices: Vec<Choice>,
}

/// What came of a request.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Answer {
    /// The ops of the program; one that is called twice stands twice.
    pub ops: Vec<String>,
    /// What was checked.
    pub covered: Covered,
    /// The first choice that fails, and how.
    pub failure: Option<(Choice, Failure)>,
}

/// Answers until there are no more requests.
pub fn serve(out: &mut dyn Write) -> io::Result<()> {
    // Panics are failures that the answer tells of.
    panic::set_hook(Box::new(|_| {}));
    for line in io::stdin().lock().lines() {
        let request: Request = serde_json::from_str(&line?)?;
        let answer = serde_json::to_string(&answer(&request)).expect("an answer is plain data");
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer(request: &Request) -> Answer {
    let Some(program) = cut(generate(request.seed), &request.cuts) else { return Answer::default() };
    let checked = check_all(&program, &request.choices);
    let ops = program.ops().into_iter().map(str::to_owned).collect();
    match checked {
        Ok(covered) => Answer { ops, covered, failure: None },
        Err(failure) => Answer { ops, failure: Some(failure), ..Answer::default() },
    }
}
