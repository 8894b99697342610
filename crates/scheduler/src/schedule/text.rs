//! The text of a schedule: one line for each choice, in the order of the table of knobs.
//!
//! ```text
//! schedule lanes 16 warps 4
//! fuse x2 x3
//! block x0 by 1
//! row x1
//! inner x3
//! lane x3
//! width 8
//! jam x1 by 4
//! prefetch x1 by 1 L2
//! tile x1 by 32 pad 1
//! unroll x4
//! combine by 32 teams 4
//! partition x4
//! persist n7 narrow
//! private
//! ring 3 fetch
//! teams 8
//! cluster 8
//! ```
//! `lane x3 outside` puts the loop over lanes around the stages. Values have the names of the graph
//! (`emit --stage graph`).

use index::TextLines;
use thiserror::Error;

use super::Schedule;

/// A syntax error in the text of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: expected {expected}, found `{found}`")]
pub struct ScheduleParseError {
    /// The line, from 1.
    pub line: usize,
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub found: String,
}

/// A schedule from its text. Empty lines and what follows a `#` are skipped.
///
/// # Errors
/// The first line that is not of the form above.
pub fn parse(text: &str) -> Result<Schedule, ScheduleParseError> {
    let mut schedule = Schedule { lanes: 0, ..Schedule::empty() };
    for (line, text) in TextLines::new(text) {
        let words: Vec<&str> = text.rest().split_whitespace().collect();
        let wrong = |expected| ScheduleParseError { line, expected, found: text.rest().to_owned() };
        schedule.read_line(&words).map_err(wrong)?;
    }
    if schedule.lanes == 0 {
        let expected = "a line `schedule lanes N`".to_owned();
        return Err(ScheduleParseError { line: text.lines().count() + 1, expected, found: String::new() });
    }
    Ok(schedule)
}
