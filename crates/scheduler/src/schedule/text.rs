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

use std::fmt;

use index::{Lines, integer};
use ir::graph::{Node, Val};
use thiserror::Error;

use super::{Prefetch, Schedule};
use crate::space::Axis;

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let warps = self.warp.map(|warp| format!(" warps {warp}")).unwrap_or_default();
        writeln!(f, "schedule lanes {}{warps}", self.lanes)?;
        for run in &self.fused {
            let names: Vec<String> = run.iter().map(|axis| axis.to_string()).collect();
            writeln!(f, "fuse {}", names.join(" "))?;
        }
        for (axis, chunk) in &self.blocks {
            writeln!(f, "block {axis} by {chunk}")?;
        }
        for axis in &self.rows {
            writeln!(f, "row {axis}")?;
        }
        for axis in &self.inner {
            writeln!(f, "inner {axis}")?;
        }
        match self.lane {
            Some(axis) if self.lanes_outside => writeln!(f, "lane {axis} outside")?,
            Some(axis) => writeln!(f, "lane {axis}")?,
            None => {}
        }
        if self.width > 1 {
            writeln!(f, "width {}", self.width)?;
        }
        if let Some((axis, rows)) = self.jam {
            writeln!(f, "jam {axis} by {rows}")?;
        }
        if let Some(Prefetch { axis, distance, l2 }) = self.prefetch {
            writeln!(f, "prefetch {axis} by {distance}{}", if l2 { " L2" } else { "" })?;
        }
        if let Some((axis, side)) = self.tile {
            let pad = if self.pad == 0 { String::new() } else { format!(" pad {}", self.pad) };
            writeln!(f, "tile {axis} by {side}{pad}")?;
        }
        if let Some(results) = self.combine {
            writeln!(f, "combine by {results}")?;
        }
        self.partition.iter().try_for_each(|axis| writeln!(f, "partition {axis}"))?;
        self.persistent.iter().try_for_each(|val| writeln!(f, "persist {val}"))?;
        if self.private { writeln!(f, "private") } else { Ok(()) }
    }
}

/// What is wrong with the text of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: expected {expected}, found `{found}`")]
pub struct ScheduleParseError {
    /// The line, from 1.
    pub line: usize,
    /// What would have been right.
    pub expected: &'static str,
    /// What stands there.
    pub found: String,
}

/// A schedule from its text. Empty lines and what follows a `#` are skipped.
///
/// # Errors
/// The first line that is not of the form above.
pub fn parse(text: &str) -> Result<Schedule, ScheduleParseError> {
    let mut schedule = Schedule { lanes: 0, ..Schedule::empty() };
    for (line, text) in Lines::new(text) {
        let words: Vec<&str> = text.rest().split_whitespace().collect();
        let wrong = |expected| ScheduleParseError { line, expected, found: text.rest().to_owned() };
        read_line(&words, &mut schedule).map_err(wrong)?;
    }
    if schedule.lanes == 0 {
        let expected = "a line `schedule lanes N`";
        return Err(ScheduleParseError { line: text.lines().count() + 1, expected, found: String::new() });
    }
    Ok(schedule)
}

fn read_line(words: &[&str], schedule: &mut Schedule) -> Result<(), &'static str> {
    match words {
        ["schedule", "lanes", lanes, warps @ ..] if matches!(warps, [] | ["warps", _]) => {
            schedule.lanes = integer(lanes).ok_or("a number of lanes")?;
            let warp = warps.get(1).map(|warp| integer(warp).ok_or("the lanes of a warp"));
            schedule.warp = warp.transpose()?;
        }
        ["fuse", axes @ ..] if axes.len() > 1 => {
            schedule.fused.push(axes.iter().map(|axis| read_axis(axis)).collect::<Result<_, _>>()?);
        }
        ["block", axis, "by", chunk] => {
            schedule.blocks.push((read_axis(axis)?, integer(chunk).ok_or("a chunk size")?));
        }
        ["row", axis] => schedule.rows.push(read_axis(axis)?),
        ["partition", axis] => schedule.partition.push(read_axis(axis)?),
        ["inner", axis] => schedule.inner.push(read_axis(axis)?),
        ["jam", axis, "by", rows] => {
            schedule.jam = Some((read_axis(axis)?, integer(rows).ok_or("a number of rows")?));
        }
        ["prefetch", axis, "by", distance, l2 @ ..] if matches!(l2, [] | ["L2"]) => {
            let distance = integer(distance).ok_or("a distance")?;
            schedule.prefetch = Some(Prefetch { axis: read_axis(axis)?, distance, l2: !l2.is_empty() });
        }
        ["tile", axis, "by", side, pad @ ..] if matches!(pad, [] | ["pad", _]) => {
            schedule.tile = Some((read_axis(axis)?, integer(side).ok_or("a side")?));
            schedule.pad = pad.get(1).map_or(Some(0), |pad| integer(pad)).ok_or("elements between rows")?;
        }
        ["width", width] => schedule.width = integer(width).ok_or("a number of neighbours")?,
        ["combine", "by", results] => {
            schedule.combine = Some(integer(results).ok_or("a number of results")?);
        }
        ["private"] => schedule.private = true,
        ["persist", val] => schedule.persistent.push(read_val(val)?),
        ["lane", axis] => schedule.lane = Some(read_axis(axis)?),
        ["lane", axis, "outside"] => {
            schedule.lane = Some(read_axis(axis)?);
            schedule.lanes_outside = true;
        }
        _ => {
            return Err(
                "`schedule lanes N [warps N]`, `fuse X Y`, `block X by N`, `row X`, `inner X`, `lane X [outside]`, `width N`, `jam X by N`, `prefetch X by N [L2]`, `tile X by N [pad N]`, `combine by N`, `partition X`, `persist N` or `private`",
            );
        }
    }
    Ok(())
}

fn read_val(word: &str) -> Result<Val, &'static str> {
    let number = word.strip_prefix('n').and_then(integer::<u32>);
    let node = number.filter(|&number| number < u32::MAX).map(Node::from_u32);
    node.map(Val::from).ok_or("a value such as n7")
}

fn read_axis(word: &str) -> Result<Axis, &'static str> {
    let number = word.strip_prefix('x').and_then(integer::<u32>);
    // The largest number is how an absent entity is written.
    number.filter(|&number| number < u32::MAX).map(Axis::from_u32).ok_or("an axis such as x0")
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
                ["block x0 by N", "jam x0 by N", "tile x0 by N", "ahead x0 by N", "row xN", "carry nN"]
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
            "carry 7",
        ] {
            let text = format!("schedule lanes 8\n{line} !\n");
            assert_eq!(parse(&text).expect_err(line).line, 2);
        }
        assert_eq!(parse("row x0\n").expect_err("no lanes").line, 2);
        assert_eq!(parse("schedule lanes 8\n# row\n\nrow x0\n").expect("fits").rows.len(), 1);
    }
}
