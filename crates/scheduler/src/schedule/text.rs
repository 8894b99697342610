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
use rustc_hash::FxHashMap;
use thiserror::Error;

use super::Schedule;

/// The choices that may have several lines; any other has one.
const REPEATED: [&str; 7] = ["fuse", "block", "row", "inner", "combine", "partition", "persist"];

/// A syntax error in the text of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ScheduleParseError {
    /// A line that is no choice of a schedule.
    #[error("line {line}: expected {expected}, found `{found}`")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What was expected.
        expected: String,
        /// What was found.
        found: String,
    },
    /// A choice that an earlier line makes.
    #[error("line {line}: `{choice}` is chosen in line {earlier} already")]
    Repeated {
        /// The line, from 1.
        line: usize,
        /// The first word of both lines.
        choice: String,
        /// The line that comes first.
        earlier: usize,
    },
    /// No line `schedule lanes N`.
    #[error("a schedule has a line `schedule lanes N`, and this text has none")]
    NoLanes,
    /// No line at all.
    #[error("the text is empty: a schedule has at least a line `schedule lanes N`")]
    Empty,
}

/// A schedule from its text. Empty lines and what follows a `#` are skipped.
///
/// # Errors
/// The first line that is not of the form above, or that chooses again what an earlier one chose.
pub fn parse(text: &str) -> Result<Schedule, ScheduleParseError> {
    let mut schedule = Schedule::empty();
    let mut lines: FxHashMap<&str, usize> = FxHashMap::default();
    for (line, text) in TextLines::new(text) {
        let words: Vec<&str> = text.rest().split_whitespace().collect();
        let found = || text.rest().to_owned();
        let wrong = |expected| ScheduleParseError::Line { line, expected, found: found() };
        schedule.read_line(&words).map_err(wrong)?;
        let choice = words[0];
        let earlier = lines.insert(choice, line).filter(|_| !REPEATED.contains(&choice));
        if let Some(earlier) = earlier {
            return Err(ScheduleParseError::Repeated { line, choice: choice.to_owned(), earlier });
        }
    }
    match lines.contains_key("schedule") {
        true => Ok(schedule),
        false if lines.is_empty() => Err(ScheduleParseError::Empty),
        false => Err(ScheduleParseError::NoLanes),
    }
}
