//! Whether lanes load rows while they process earlier ones: a ring of rows, of which each lane has its elements. Two rows
//! fit its registers; more are fetched to memory.

use std::fmt;

use index::integer;

use super::{Draws, Knob, Read, Schedule, ScheduleError, Witness, reject};

/// The rows that lanes hold at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ring {
    /// The one that is folded and the next, in registers.
    Loaded,
    /// This many rows, which asynchronous copies bring to scratch.
    Fetched(u32),
}

/// The most rows that are fetched.
const MAX_ROWS: u32 = 8;

const _: () = assert!(MAX_ROWS == 8, "messages say so");

pub(super) const KNOB: Knob = Knob { forms: &["ring 2", "ring 3 fetch"], print, read, check, draw };

fn print(schedule: &Schedule, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match schedule.ring {
        None => Ok(()),
        Some(Ring::Loaded) => writeln!(f, "ring 2"),
        Some(Ring::Fetched(rows)) => writeln!(f, "ring {rows} fetch"),
    }
}

fn read(schedule: &mut Schedule, words: &[&str]) -> Read {
    let ring = match words {
        ["ring", "2"] => Some(Ring::Loaded),
        ["ring", _] => return Err("a ring of 2 rows, or more with `fetch`"),
        ["ring", rows, "fetch"] => {
            let rows = integer(rows).filter(|rows| (2..=MAX_ROWS).contains(rows));
            Some(Ring::Fetched(rows.ok_or("2 to 8 rows that are fetched")?))
        }
        _ => None,
    };
    schedule.ring = ring.or(schedule.ring);
    Ok(ring.is_some())
}

/// Rows must be divided among blocks and not partitioned, so that each block has one: the first is loaded unconditionally.
fn check(schedule: &Schedule, _: &Witness) -> Result<(), ScheduleError> {
    if schedule.ring.is_none() {
        return Ok(());
    }
    let row = schedule.outer().last().copied();
    let reasons = [
        (!schedule.private, "lanes have nothing for themselves"),
        (row.is_none_or(|row| schedule.chunk(row).is_none()), "no rows are divided among blocks"),
        (row.is_some_and(|row| schedule.partition.contains(&row)), "rows are partitioned"),
    ];
    reject(&reasons, |reason| format!("a row cannot be loaded while lanes are at the one before: {reason}"))
}

fn draw(schedule: &mut Schedule, witness: &Witness, draws: &mut Draws) {
    let ring = if draws.percent(50) { Ring::Loaded } else { Ring::Fetched(2 + draws.below(3) as u32) };
    schedule.ring = draws.percent(50).then_some(ring);
    if check(schedule, witness).is_err() {
        schedule.ring = None;
    }
}
