//! The process that checks: reads a seed a line, answers with one line of JSON each.

use std::io::{self, BufRead, Write};
use std::panic;

use serde::{Deserialize, Serialize};
use testing::fuzz::check_all;
use testing::random::generate;
use testing::reduce::{reduce, report};

/// What came of a seed.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Answer {
    /// The ops of its program; one that is called twice stands twice.
    pub ops: Vec<String>,
    /// Kernels that were run.
    pub kernels: usize,
    /// Elements that were compared.
    pub elements: usize,
    /// Elements that anything matches.
    pub unbounded: usize,
    /// The largest error over its bound.
    pub worst_ratio: f64,
    /// How it fails, if it does.
    pub failure: Option<CaseFailure>,
}

/// How a case fails.
#[derive(Debug, Serialize, Deserialize)]
pub struct CaseFailure {
    /// In a sentence.
    pub what: String,
    /// The definition file, with comments.
    pub report: String,
}

/// Answers until there are no more seeds.
pub fn serve(out: &mut dyn Write) -> io::Result<()> {
    // Panics are failures that the answer tells of.
    panic::set_hook(Box::new(|_| {}));
    for line in io::stdin().lock().lines() {
        let Ok(seed) = line?.trim().parse::<u64>() else { continue };
        let answer = serde_json::to_string(&answer(seed)).expect("an answer is plain data");
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer(seed: u64) -> Answer {
    let program = generate(seed);
    let ops = program.ops().into_iter().map(str::to_owned).collect();
    match check_all(&program, seed) {
        Ok(covered) => Answer {
            ops,
            kernels: covered.kernels,
            elements: covered.elements,
            unbounded: covered.unbounded,
            worst_ratio: covered.worst_ratio,
            failure: None,
        },
        Err(failing) => {
            let what = failing.failure.to_string();
            let report = report(&reduce(*failing), seed);
            Answer { ops, failure: Some(CaseFailure { what, report }), ..Answer::default() }
        }
    }
}
