//! The process that checks: reads one request a line, answers each with one line of JSON.

use std::io::{self, BufRead, Write};
use std::panic;

use serde::{Deserialize, Serialize};
use testing::differential::{Choice, Covered, Failure};
use testing::fuzz::check_all;
use testing::random::generate;
use testing::reduce::cut;

/// A case to check.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Request {
    /// The seed of the program.
    pub seed: u64,
    /// The steps that were cut from it.
    pub cuts: Vec<usize>,
    /// The choices to check it with.
    pub choices: Vec<Choice>,
}

/// The result of a request.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Answer {
    /// The ops of the program; one that is called twice is listed twice.
    pub ops: Vec<String>,
    /// The counts of the check.
    pub covered: Covered,
    /// The first choice that fails, and how.
    pub failure: Option<(Choice, Failure)>,
}

/// Answers until there are no more requests.
pub fn serve(out: &mut dyn Write) -> io::Result<()> {
    // The answer reports panics as failures.
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
