//! Runs of axes that one loop walks.

use std::fmt;

use super::{Axis, Draws, Knob, Read, Schedule, ScheduleError, Witness, check_known, ensure, read_axis};

pub(super) const KNOB: Knob = Knob { forms: &["fuse X Y"], print, read, check, draw };

fn print(schedule: &Schedule, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    schedule.fused.iter().try_for_each(|run| {
        let names: Vec<String> = run.iter().map(|axis| axis.to_string()).collect();
        writeln!(f, "fuse {}", names.join(" "))
    })
}

fn read(schedule: &mut Schedule, words: &[&str]) -> Read {
    let ["fuse", axes @ ..] = words else { return Ok(false) };
    if axes.len() < 2 {
        return Ok(false);
    }
    schedule.fused.push(axes.iter().map(|axis| read_axis(axis)).collect::<Result<_, _>>()?);
    Ok(true)
}

fn check(schedule: &Schedule, witness: &Witness) -> Result<(), ScheduleError> {
    let all = || schedule.fused.iter().flatten();
    all().try_for_each(|&axis| check_known(witness, axis))?;
    for pair in schedule.fused.iter().flat_map(|run| run.windows(2)) {
        let (a, b) = (pair[0], pair[1]);
        let is_twice = a == b || all().filter(|axis| **axis == a).count() > 1;
        ensure(!is_twice && witness.alike(a, b), || {
            format!(
                "axes {a} and {b} cannot be walked by one loop: a fold or the workers treat them differently"
            )
        })?;
    }
    Ok(())
}

fn draw(schedule: &mut Schedule, witness: &Witness, draws: &mut Draws) {
    if draws.percent(50) {
        return;
    }
    let mut axes = witness.order.clone();
    if draws.percent(30) {
        draws.shuffle(&mut axes);
    }
    let mut runs: Vec<Vec<Axis>> = Vec::new();
    for axis in axes {
        match runs.last_mut() {
            Some(run) if witness.alike(run[run.len() - 1], axis) && draws.percent(70) => run.push(axis),
            _ => runs.push(vec![axis]),
        }
    }
    runs.retain(|run| run.len() > 1);
    schedule.fused = runs;
}
