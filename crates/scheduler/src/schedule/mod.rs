//! A schedule: the few choices that make one loop tree of a witness. A printable value apart from meaning: any
//! schedule that fits its witness gives the same answer.
//!
//! The loops of a block, from the outside in: the block's axes (in chunks), the row axes, then for each stage the
//! inner axes; where a stage scans, the scanned axis is walked last. One axis is mapped to the lanes: an inner one,
//! or, where the group has inner folds and the axis is free in them, one around all stages.

mod choose;
mod contiguous;
mod cpu;
mod crossing;
mod divide;
mod fuse;
mod gpu;
mod knobs;
mod partition;
mod persist;
mod text;
mod workload;

use index::Expr;

use crate::legal::Witness;
use space::Axis;

pub use choose::choose;
pub use knobs::{Prefetch, Ring, Schedule, ScheduleError};
pub(crate) use persist::narrow_value;
pub use text::{ScheduleParseError, parse};
pub use workload::Workload;

impl Schedule {
    /// Each axis a loop of its own: those that workers may divide in rows, all others within the stages; one lane.
    pub fn plain(witness: &Witness) -> Schedule {
        let (rows, inner) = witness.order.iter().partition(|axis| witness.workers.contains(axis));
        Schedule { rows, inner, ..Schedule::empty() }
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
