//! A schedule: the few choices that fix one loop tree for a witness. A printable value that does not affect results: any
//! schedule that fits its witness gives the same answer.
//!
//! The loops of a block, outermost first: the block's axes (in chunks), the row axes, then for each stage the inner axes,
//! with a scanned axis last. One axis is mapped to the lanes: an inner one, or, if the group has inner folds that do not
//! reduce it, one around all stages.

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

use crate::legal::{Fold, Witness};
use space::Axis;

pub use choose::choose;
pub use knobs::{Prefetch, Ring, Schedule, ScheduleError};
pub use persist::narrow_value;
pub use text::{ScheduleParseError, parse};
pub use workload::Workload;

impl Schedule {
    /// Each axis in its own loop: those that workers may divide in rows, all others within the stages; one lane.
    pub fn plain(witness: &Witness) -> Schedule {
        let (rows, inner) = witness.order.iter().partition(|axis| witness.workers.contains(axis));
        Schedule { rows, inner, ..Schedule::empty() }
    }

    /// The chunk of an axis that blocks divide.
    pub fn chunk(&self, axis: Axis) -> Option<u64> {
        self.blocks.iter().find(|(block, _)| *block == axis).map(|(_, chunk)| *chunk)
    }

    /// The axis that names the loop that walks this axis.
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

    /// Axes walked outside the stages, outermost first: the blocks' and the rows', without the lane axis.
    pub fn outer(&self) -> Vec<Axis> {
        let blocks = self.blocks.iter().map(|(axis, _)| *axis);
        blocks
            .filter(|axis| !self.inner.contains(axis) && !self.is_lane_outside(*axis))
            .chain(self.rows.iter().copied())
            .collect()
    }

    /// Whether the result of a fold has an axis that is walked within the stages.
    pub fn keeps_in_stages(&self, fold: &Fold) -> bool {
        fold.kept_axes().any(|axis| self.inner.contains(&self.loop_of(axis)))
    }

    /// Whether an axis is mapped to the lanes around the stages.
    pub fn is_lane_outside(&self, axis: Axis) -> bool {
        self.lanes_outside && self.lane == Some(axis)
    }
}
