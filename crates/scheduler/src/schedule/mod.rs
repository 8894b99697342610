//! A schedule: the few choices that make one loop tree of a witness. A printable value apart from meaning: any
//! schedule that fits its witness gives the same answer.
//!
//! The loops of a block, from the outside in: the block's axes (in chunks), the row axes, then for each stage the
//! inner axes; where a stage scans, the scanned axis is walked last. One axis is mapped to the lanes: an inner one,
//! or, where the group has inner folds and the axis is free in them, one around all stages.

mod check;
mod choose;
mod cpu;
mod divide;
mod fuse;
mod gpu;
mod partition;
mod persist;
mod text;
mod workload;

use index::Expr;
use ir::graph::Val;

use crate::legal::Witness;
use crate::space::Axis;

pub use check::ScheduleError;
pub use choose::choose;
pub use text::{ScheduleParseError, parse};
pub use workload::Workload;

/// The longest side of a tile: one of half-precision values fits the fastest cache, one of the largest elements the next.
const LONGEST_SIDE: u32 = 128;

/// The choices for one segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Lanes of a block, a power of two.
    pub lanes: u32,
    /// Neighbouring lanes that folds combine first; all of them without a number.
    pub warp: Option<u32>,
    /// Runs of axes that one loop walks, outermost first; the loop goes by the name of the last.
    pub fused: Vec<Vec<Axis>>,
    /// Axes divided among blocks, outermost first, each in chunks of so many indices.
    pub blocks: Vec<(Axis, u64)>,
    /// Worker axes walked one index at a time within a block, after the block's own.
    pub rows: Vec<Axis>,
    /// Axes walked within each stage, outermost first.
    pub inner: Vec<Axis>,
    /// The axis mapped to the lanes; the last inner axis of a loop nest that lacks it.
    pub lane: Option<Axis>,
    /// Neighbouring indices of that axis that a lane takes at a time.
    pub width: u32,
    /// Whether the loop over lanes stands around the stages instead of within each.
    pub lanes_outside: bool,
    /// The innermost axis outside the stages, if so many of its indices are walked together within them.
    pub jam: Option<(Axis, u32)>,
    /// What the first stage will read is prefetched at this distance.
    pub prefetch: Option<Prefetch>,
    /// An inner axis that is walked in tiles of this side, together with the lanes': what lies along it is transposed in
    /// scratch.
    pub tile: Option<(Axis, u32)>,
    /// Elements between the rows of a tile in scratch, so that lanes along a column are in different banks of memory.
    pub pad: u32,
    /// Results that a block of a combine step has, and its lanes; without a number as many as ever.
    pub combine: Option<u32>,
    /// Axes whose loops are cut where cats and pads change course.
    pub partition: Vec<Axis>,
    /// Values that are kept in scratch from the stage that computes them to later ones.
    pub persistent: Vec<Val>,
    /// Whether each lane keeps what it computes of these values for itself, and what it folds other axes into along its own.
    pub private: bool,
}

/// The distance at which what the first stage reads is prefetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefetch {
    /// The innermost axis outside the stages, where a later stage fetches, or that of the lanes, where the first does itself.
    pub axis: Axis,
    /// How many of its indices.
    pub distance: u32,
    /// Whether it goes to L2 only, because more is read until then than L1 holds.
    pub l2: bool,
}

impl Schedule {
    /// Each axis a loop of its own: those that workers may divide in rows, all others within the stages; one lane.
    pub fn plain(witness: &Witness) -> Schedule {
        let (rows, inner) = witness.order.iter().partition(|axis| witness.workers.contains(axis));
        Schedule { rows, inner, ..Schedule::empty() }
    }

    /// No loop at all, one lane: what a schedule is built up from.
    fn empty() -> Schedule {
        Schedule {
            lanes: 1,
            warp: None,
            fused: Vec::new(),
            blocks: Vec::new(),
            rows: Vec::new(),
            inner: Vec::new(),
            lane: None,
            width: 1,
            lanes_outside: false,
            jam: None,
            prefetch: None,
            tile: None,
            pad: 0,
            combine: None,
            partition: Vec::new(),
            persistent: Vec::new(),
            private: false,
        }
    }

    /// The chunk of an axis that blocks divide.
    pub fn chunk(&self, axis: Axis) -> Option<u64> {
        self.blocks.iter().find(|(block, _)| *block == axis).map(|(_, chunk)| *chunk)
    }

    /// The axis by whose name the loop that walks an axis goes.
    pub fn loop_of(&self, axis: Axis) -> Axis {
        self.fused.iter().find(|run| run.contains(&axis)).and_then(|run| run.last()).copied().unwrap_or(axis)
    }

    /// The loops that walk these axes, each once, in order.
    pub fn loops_of(&self, axes: impl IntoIterator<Item = Axis>) -> Vec<Axis> {
        let mut loops = Vec::new();
        for axis in axes {
            let walked = self.loop_of(axis);
            if !loops.contains(&walked) {
                loops.push(walked);
            }
        }
        loops
    }

    /// The axes that a loop walks, outermost first.
    pub fn run(&self, walked: Axis) -> Vec<Axis> {
        let run = self.fused.iter().find(|run| run.last() == Some(&walked));
        run.cloned().unwrap_or_else(|| vec![walked])
    }

    /// The number of iterations of a loop.
    pub fn extent(&self, witness: &Witness, walked: Axis) -> Expr {
        self.run(walked).iter().fold(Expr::one(), |n, &axis| n * witness.space.size(axis).clone())
    }

    /// Axes walked outside the stages, outermost first: the blocks' own and the rows, less the lane axis.
    pub fn outer(&self) -> Vec<Axis> {
        let blocks = self.blocks.iter().map(|(axis, _)| *axis);
        blocks
            .filter(|axis| !self.inner.contains(axis) && !self.is_lane_outside(*axis))
            .chain(self.rows.iter().copied())
            .collect()
    }

    /// Whether an axis is mapped to the lanes around the stages.
    pub fn is_lane_outside(&self, axis: Axis) -> bool {
        self.lanes_outside && self.lane == Some(axis)
    }
}
