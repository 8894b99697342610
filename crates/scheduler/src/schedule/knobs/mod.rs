//! The knobs of a schedule on one page: their fields and, in the order of its lines, the table of them. Each knob is a
//! file with the lines that it prints and reads, when it fits a witness, and how it is drawn at random.
//!
//! `schedule::choose` sets the defaults, `lower` makes the loops.

mod cluster;
mod combine;
mod fuse;
mod jam;
mod lane;
mod lanes;
mod loops;
mod partition;
mod persist;
mod prefetch;
mod private;
mod ring;
mod teams;
mod tile;
mod unroll;
mod width;

use std::fmt::{self, Display};

use index::integer;
use ir::graph::{Node, Val};
use ops::draws::Draws;
use thiserror::Error;

use crate::legal::Witness;
use space::Axis;
use target::{Processor, Target};

pub(super) use partition::may_partition;
pub use prefetch::Prefetch;
pub use ring::Ring;
pub(super) use unroll::may_unroll;

/// The choices for one segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Lanes of a block, a power of two.
    pub lanes: u32,
    /// Neighbouring lanes that folds combine first; all lanes if there is no number.
    pub warp: Option<u32>,
    /// Blocks that run side by side as one block of the GPU, each by a team of its threads.
    pub teams: u32,
    /// Blocks of a GPU that the lanes are spread over.
    pub cluster: u32,
    /// Runs of axes that one loop walks, outermost first; the loop goes by the name of the last.
    pub fused: Vec<Vec<Axis>>,
    /// Axes divided among blocks, outermost first, each with the indices of a chunk.
    pub blocks: Vec<(Axis, u64)>,
    /// Worker axes walked one index at a time within a block, after the block's own.
    pub rows: Vec<Axis>,
    /// Axes walked within each stage, outermost first.
    pub inner: Vec<Axis>,
    /// The axis mapped to the lanes; the last inner axis of a loop nest that lacks it.
    pub lane: Option<Axis>,
    /// Whether the loop over lanes stands around the stages instead of within each.
    pub lanes_outside: bool,
    /// Neighbouring indices of that axis that a lane takes at a time.
    pub width: u32,
    /// The innermost axis outside the stages, and how many of its indices are walked together within them.
    pub jam: Option<(Axis, u32)>,
    /// What the first stage will read is prefetched at this distance.
    pub prefetch: Option<Prefetch>,
    /// An inner axis that is walked in tiles of this side, together with the lanes': what lies along it is transposed
    /// in scratch.
    pub tile: Option<(Axis, u32)>,
    /// An inner axis of few indices: the body is written once for each, within the loop over lanes.
    pub unroll: Option<Axis>,
    /// Padding between the rows of a tile in scratch, in elements, so that lanes along a column use different memory banks.
    pub pad: u32,
    /// Results of a block of each combine step, and the teams of as many lanes that share the chunks of each result. The
    /// last entry applies to all later steps; without entries the defaults apply.
    pub combine: Vec<(u32, u32)>,
    /// Axes whose loops are cut at the breakpoints of cats and pads.
    pub partition: Vec<Axis>,
    /// Values that are kept in scratch from the stage that computes them to later ones.
    pub persistent: Vec<Val>,
    /// Whether persistent values that widen an input are kept in the input's dtype.
    pub narrow: bool,
    /// Whether each lane keeps its own elements of these values, and of the sums along its axis that it folds other axes
    /// into.
    pub private: bool,
    /// Whether each lane loads its part of later rows while it processes earlier ones.
    pub ring: Option<Ring>,
}

impl Schedule {
    /// No loop at all, one lane: the start of every schedule.
    pub(super) fn empty() -> Schedule {
        Schedule { lanes: 1, teams: 1, cluster: 1, width: 1, ..Schedule::default() }
    }
}

/// All knobs, in the order of the lines of a schedule, which is also the order in which they are drawn: a draw reads only
/// knobs drawn before it, and may move their loops. A check may read any knob.
const KNOBS: [Knob; 16] = [
    lanes::KNOB,
    fuse::KNOB,
    loops::KNOB,
    lane::KNOB,
    width::KNOB,
    jam::KNOB,
    prefetch::KNOB,
    tile::KNOB,
    unroll::KNOB,
    combine::KNOB,
    partition::KNOB,
    persist::KNOB,
    private::KNOB,
    ring::KNOB,
    teams::KNOB,
    cluster::KNOB,
];

/// A choice of a schedule.
struct Knob {
    /// The forms of its lines.
    forms: &'static [&'static str],
    /// Writes its lines: none where nothing is chosen.
    print: fn(&Schedule, &mut fmt::Formatter<'_>) -> fmt::Result,
    /// Reads the words of a line.
    read: fn(&mut Schedule, &[&str]) -> Read,
    /// Whether it fits a witness, regardless of whether it pays.
    check: fn(&Schedule, &Witness) -> Result<(), ScheduleError>,
    /// Draws it at random, such that it usually fits.
    draw: fn(&mut Schedule, &Witness, &mut Draws),
}

/// Whether a line belongs to a knob, or what was expected instead.
type Read = Result<bool, &'static str>;

/// The first choice of a schedule that does not fit a witness, and why.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct ScheduleError {
    /// The value that it is about, which the message begins with.
    val: Option<Val>,
    /// The user's words for the value, if known.
    words: Option<String>,
    message: String,
}

impl Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.val, &self.words) {
            (Some(val), Some(words)) => write!(f, "{val}, which is {words}, {}", self.message),
            (Some(val), None) => write!(f, "{val} {}", self.message),
            (None, _) => f.write_str(&self.message),
        }
    }
}

impl ScheduleError {
    fn new(message: String) -> ScheduleError {
        ScheduleError { val: None, words: None, message }
    }

    /// The value that it is about, if it is about one.
    pub fn val(&self) -> Option<Val> {
        self.val
    }

    /// The same error with the user's words for that value.
    pub fn with_words(self, words: Option<String>) -> ScheduleError {
        ScheduleError { words, ..self }
    }
}

impl Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        KNOBS.iter().try_for_each(|knob| (knob.print)(self, f))
    }
}

impl Schedule {
    /// Whether the schedule fits a witness.
    ///
    /// # Errors
    /// The first axis that is out of place, and why.
    pub fn check(&self, witness: &Witness) -> Result<(), ScheduleError> {
        KNOBS.iter().try_for_each(|knob| (knob.check)(self, witness))
    }

    /// Whether the schedule fits a machine, which limits the blocks that run side by side. On CPUs a cluster is a block.
    ///
    /// # Errors
    /// What the machine lacks.
    pub fn check_on(&self, target: &Target) -> Result<(), ScheduleError> {
        let Processor::Gpu(gpu) = &target.processor else { return Ok(()) };
        ensure(self.cluster <= gpu.max_cluster, || {
            format!("a cluster of the GPU has {} blocks at most, not {}", gpu.max_cluster, self.cluster)
        })
    }

    /// A random schedule, which may not fit.
    pub fn draw(witness: &Witness, draws: &mut Draws) -> Schedule {
        let mut schedule = Schedule::empty();
        KNOBS.iter().for_each(|knob| (knob.draw)(&mut schedule, witness, draws));
        schedule
    }

    /// Reads a line; returns what was expected if it is malformed.
    pub(super) fn read_line(&mut self, words: &[&str]) -> Result<(), String> {
        for knob in KNOBS {
            if (knob.read)(self, words)? {
                return Ok(());
            }
        }
        let forms: Vec<String> =
            KNOBS.iter().flat_map(|knob| knob.forms).map(|form| format!("`{form}`")).collect();
        let (last, others) = forms.split_last().expect("there are knobs");
        Err(format!("{} or {last}", others.join(", ")))
    }
}

/// An axis of a line.
fn read_axis(word: &str) -> Result<Axis, &'static str> {
    entity(word, "x").map(Axis::from_u32).ok_or("an axis such as x0")
}

/// A value of a line.
fn read_val(word: &str) -> Result<Val, &'static str> {
    entity(word, "n").map(|number| Node::from_u32(number).into()).ok_or("a value such as n7")
}

/// The number of an entity. The largest stands for an absent one.
fn entity(word: &str, prefix: &str) -> Option<u32> {
    word.strip_prefix(prefix).and_then(integer::<u32>).filter(|&number| number < u32::MAX)
}

/// Writes a line for each item of a list.
fn print_each<T: Display>(f: &mut fmt::Formatter<'_>, keyword: &str, items: &[T]) -> fmt::Result {
    items.iter().try_for_each(|item| writeln!(f, "{keyword} {item}"))
}

/// An error unless something holds.
fn ensure(holds: bool, say: impl FnOnce() -> String) -> Result<(), ScheduleError> {
    if holds { Ok(()) } else { Err(ScheduleError::new(say())) }
}

/// An error with the reason of the first condition that holds, if any does.
fn reject(reasons: &[(bool, &str)], say: impl FnOnce(&str) -> String) -> Result<(), ScheduleError> {
    let found = reasons.iter().find(|(holds, _)| *holds);
    found.map_or(Ok(()), |(_, reason)| Err(ScheduleError::new(say(reason))))
}

/// An error unless the segment has an axis.
fn check_known(witness: &Witness, axis: Axis) -> Result<(), ScheduleError> {
    let is_known = witness.space.axes().any(|known| known == axis);
    ensure(is_known, || format!("the segment has no axis {axis}"))
}

/// An error unless there is a loop that goes by the name of an axis.
fn check_loop(schedule: &Schedule, witness: &Witness, axis: Axis) -> Result<(), ScheduleError> {
    check_known(witness, axis)?;
    let is_loop = schedule.loops_of(witness.order.iter().copied()).contains(&axis);
    ensure(is_loop, || format!("axis {axis} has no loop of its own"))
}
