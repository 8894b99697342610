//! The text of a schedule: one line a choice, in the order the loops stand.
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
//! combine by 32
//! partition x4
//! persist n7
//! private
//! ```
//! `lane x3 outside` puts the loop over lanes around the stages. Values have the names of the graph
//! (`emit --stage graph`).

use index::TextLines;
use thiserror::Error;

use super::Schedule;

/// What is wrong with the text of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: expected {expected}, found `{found}`")]
pub struct ScheduleParseError {
    /// The line, from 1.
    pub line: usize,
    /// What would have been right.
    pub expected: String,
    /// What stands there.
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

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn numbers_are_spelled_as_python_spells_them() {
        for number in
            ["0777", "00", "1__0", "1_0", "1_", "+8", "-8", "0x8", "8.0", "1e1", "", "99999999999999999999"]
        {
            for line in
                ["block x0 by N", "jam x0 by N", "tile x0 by N", "prefetch x0 by N", "row xN", "persist nN"]
            {
                let line = line.replace('N', number);
                let error = parse(&format!("schedule lanes 8\n{line}\n")).expect_err(&line);
                assert_eq!((error.line, error.found), (2, line.trim().to_owned()));
            }
            parse(&format!("schedule lanes {number}")).expect_err(number);
        }
    }

    #[test]
    fn lines_that_say_too_much_or_too_little_are_rejected() {
        for line in [
            "",
            "fuse x0",
            "block x0",
            "block x0 by",
            "row",
            "row x0 x1",
            "lane x0 inside",
            "prefetch x0 by 8 near",
            "persist 7",
        ] {
            let text = format!("schedule lanes 8\n{line} !\n");
            assert_eq!(parse(&text).expect_err(line).line, 2);
        }
        assert_eq!(parse("row x0\n").expect_err("no lanes").line, 2);
        assert_eq!(parse("schedule lanes 8\n# row\n\nrow x0\n").expect("fits").rows.len(), 1);
        for mixed in ["persist n1 narrow\npersist n2", "persist n1\npersist n2 narrow"] {
            assert_eq!(parse(&format!("schedule lanes 8\n{mixed}\n")).expect_err(mixed).line, 3);
        }
    }
}
