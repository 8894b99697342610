//! Values that persist in scratch from the stage that computes them to later ones.

use std::fmt;

use ir::graph::{Node, Val};

use super::{Draws, Knob, Read, Schedule, ScheduleError, Witness, read_val, reject};

pub(super) const KNOB: Knob = Knob { forms: &["persist N [narrow]"], print, read, check, draw };

fn print(schedule: &Schedule, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let narrow = if schedule.narrow { " narrow" } else { "" };
    schedule.persistent.iter().try_for_each(|val| writeln!(f, "persist {val}{narrow}"))
}

fn read(schedule: &mut Schedule, words: &[&str]) -> Read {
    let ["persist", val, narrow @ ..] = words else { return Ok(false) };
    // All values of a schedule are kept in one way.
    let is_first = schedule.persistent.is_empty();
    if !matches!(narrow, [] | ["narrow"]) || !(is_first || schedule.narrow != narrow.is_empty()) {
        return Ok(false);
    }
    schedule.persistent.push(read_val(val)?);
    schedule.narrow = !narrow.is_empty();
    Ok(true)
}

fn check(schedule: &Schedule, witness: &Witness) -> Result<(), ScheduleError> {
    schedule.persistent.iter().enumerate().try_for_each(|(place, &val)| {
        let is_computed =
            val.result == 0 && witness.stage_of(val.node).is_some() && witness.fold_of(val.node).is_none();
        let reasons = [
            (schedule.lanes_outside, "the loop over lanes stands around the stages"),
            (schedule.unroll.is_some(), "an axis is unrolled within the loop over lanes"),
            (!is_computed, "no stage of the segment computes it"),
            (schedule.persistent[..place].contains(&val), "it persists already"),
        ];
        let fits = reject(&reasons, |reason| format!("cannot persist from stage to stage: {reason}"));
        fits.map_err(|error| ScheduleError { val: Some(val), ..error })
    })
}

/// A few of the values that some stage computes.
fn draw(schedule: &mut Schedule, witness: &Witness, draws: &mut Draws) {
    if schedule.lanes_outside || schedule.unroll.is_some() || draws.percent(40) {
        return;
    }
    let mut nodes: Vec<Node> = witness.staged().filter(|&node| witness.fold_of(node).is_none()).collect();
    draws.shuffle(&mut nodes);
    nodes.truncate(draws.below(4));
    schedule.persistent = nodes.into_iter().map(Val::from).collect();
    schedule.narrow = !schedule.persistent.is_empty() && draws.percent(30);
}
