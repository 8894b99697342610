//! Whether a schedule fits a witness.
//!
//! Takes the two; gives nothing, or the first choice of the schedule that the segment cannot be lowered by, and why. Whether
//! a choice pays is not asked here.

use ir::graph::Val;
use ir::kernel::MAX_WIDTH;
use thiserror::Error;

use super::{LONGEST_SIDE, Prefetch, Schedule};
use crate::legal::{Fold, Witness};
use crate::space::Axis;

/// The largest chunk: indices that are computed with it stay far below 2^63.
const LARGEST_CHUNK: u64 = 1 << 52;

/// The most rows that are walked together: the code grows with them.
const MOST_ROWS: u32 = 16;

/// Why a schedule does not fit a witness.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ScheduleError {
    /// The lanes are not a power of two from 1 to 1024.
    #[error("lanes must be a power of two from 1 to 1024, not {0}")]
    Lanes(u32),
    /// Warps that do not divide the lanes.
    #[error("warps must have a power of two of lanes, at most all {lanes}, not {warp}")]
    Warp {
        /// The lanes of a warp.
        warp: u32,
        /// The lanes of a block.
        lanes: u32,
    },
    /// An axis that the space does not have.
    #[error("the segment has no axis {0}")]
    Unknown(Axis),
    /// An axis that is missing or named twice among block, rows and inner.
    #[error("axis {0} must stand in exactly one of block, rows and inner")]
    Place(Axis),
    /// An axis named as a loop though another loop walks it, or none does.
    #[error("axis {0} has no loop of its own")]
    NoLoop(Axis),
    /// An axis that workers may not divide.
    #[error(
        "axis {0} is scanned, or reduced by a fold whose result the segment needs, so blocks and rows cannot divide it"
    )]
    Divided(Axis),
    /// Axes that one loop cannot walk.
    #[error("axes {0} and {1} cannot be walked by one loop: a fold or the workers treat them differently")]
    Fused(Axis, Axis),
    /// A chunk of no index, or of more than any tensor has.
    #[error("axis {axis} has chunks of size {chunk}, which must be from 1 to {LARGEST_CHUNK}")]
    Chunk { axis: Axis, chunk: u64 },
    /// A value that cannot be kept between stages.
    #[error("{val} cannot persist from stage to stage: {reason}")]
    Persistent { val: Val, reason: &'static str },
    /// Values that lanes cannot keep for themselves.
    #[error("lanes cannot keep values and sums along their axis for themselves: {0}")]
    Private(&'static str),
    /// An axis of which several indices cannot be walked together.
    #[error("axis {axis} cannot be walked {rows} at a time: {reason}")]
    Jam {
        axis: Axis,
        /// How many at a time.
        rows: u32,
        reason: &'static str,
    },
    /// An axis along which nothing can be prefetched.
    #[error("what lies along axis {axis} cannot be prefetched: {reason}")]
    Prefetch { axis: Axis, reason: &'static str },
    /// An axis that cannot be cut at its breakpoints.
    #[error("axis {axis} cannot be partitioned: {reason}")]
    Partition { axis: Axis, reason: &'static str },
    /// An axis that cannot be walked in tiles.
    #[error("axis {axis} cannot be walked in tiles of {side}: {reason}")]
    Tile {
        axis: Axis,
        /// The side of a tile.
        side: u32,
        reason: &'static str,
    },
    /// A number of neighbours that lanes cannot take at a time.
    #[error("lanes cannot take {width} neighbours at a time: {reason}")]
    Width {
        /// How many.
        width: u32,
        /// Why not.
        reason: &'static str,
    },
    /// A lane axis that cannot be mapped to lanes where the schedule wants it.
    #[error("axis {axis} cannot be mapped to the lanes: {reason}")]
    Lane { axis: Axis, reason: &'static str },
}

impl Schedule {
    /// Whether the schedule fits a witness.
    ///
    /// # Errors
    /// The first axis that is out of place, and why.
    pub fn check(&self, witness: &Witness) -> Result<(), ScheduleError> {
        if !self.lanes.is_power_of_two() || self.lanes > 1024 {
            return Err(ScheduleError::Lanes(self.lanes));
        }
        if let Some(warp) = self.warp.filter(|warp| !warp.is_power_of_two() || *warp > self.lanes) {
            return Err(ScheduleError::Warp { warp, lanes: self.lanes });
        }
        if let Some(lanes) = self.combine.filter(|lanes| !lanes.is_power_of_two() || *lanes > 1024) {
            return Err(ScheduleError::Lanes(lanes));
        }
        let count = witness.space.axes().count();
        let listed = self
            .rows
            .iter()
            .chain(&self.inner)
            .chain(&self.partition)
            .chain(self.fused.iter().flatten())
            .copied();
        let named = self.blocks.iter().map(|(axis, _)| *axis).chain(listed);
        if let Some(unknown) = named
            .chain(self.lane)
            .chain(self.prefetch.map(|prefetch| prefetch.axis))
            .chain(self.tile.into_iter().chain(self.jam).map(|(axis, _)| axis))
            .find(|axis| axis.as_u32() as usize >= count)
        {
            return Err(ScheduleError::Unknown(unknown));
        }
        self.check_fused(witness)?;
        self.check_places(witness)?;
        self.check_persistent(witness)?;
        self.check_private(witness)?;
        self.check_lane(witness)?;
        self.check_width(witness)?;
        self.check_tile()?;
        self.check_jam(witness)?;
        self.check_prefetch(witness)?;
        self.check_partition(witness)
    }

    fn check_fused(&self, witness: &Witness) -> Result<(), ScheduleError> {
        for run in &self.fused {
            for pair in run.windows(2) {
                let (a, b) = (pair[0], pair[1]);
                let twice = self.fused.iter().flatten().filter(|axis| **axis == a).count() > 1;
                if twice || a == b || !witness.alike(a, b) {
                    return Err(ScheduleError::Fused(a, b));
                }
            }
        }
        Ok(())
    }

    fn check_persistent(&self, witness: &Witness) -> Result<(), ScheduleError> {
        for (place, &val) in self.persistent.iter().enumerate() {
            let reject = |reason| Err(ScheduleError::Persistent { val, reason });
            if self.lanes_outside {
                return reject("the loop over lanes stands around the stages");
            }
            if val.result != 0 || witness.stage_of(val.node).is_none() || witness.fold_of(val.node).is_some()
            {
                return reject("no stage of the segment computes it");
            }
            if self.persistent[..place].contains(&val) {
                return reject("it persists already");
            }
        }
        Ok(())
    }

    /// Whether each lane walks the same elements in all stages.
    fn check_private(&self, witness: &Witness) -> Result<(), ScheduleError> {
        let reject = |reason| Err(ScheduleError::Private(reason));
        match self.lane {
            _ if !self.private => Ok(()),
            None => reject("no axis is mapped to them"),
            _ if witness.scanned.is_some() => reject("the segment scans"),
            Some(lane) if self.inner != [lane] => reject("stages walk other axes, too"),
            Some(lane) if self.partition.contains(&lane) => reject("their axis is partitioned"),
            _ if self.tile.is_some() || self.jam.is_some() => {
                reject("tiles or several rows are walked together")
            }
            Some(_) => Ok(()),
        }
    }

    fn check_places(&self, witness: &Witness) -> Result<(), ScheduleError> {
        let loops = self.loops_of(witness.order.iter().copied());
        let blocks = self.blocks.iter().map(|(axis, _)| axis);
        let mut named = blocks
            .chain(&self.rows)
            .chain(&self.inner)
            .chain(&self.lane)
            .chain(self.tile.as_ref().map(|(axis, _)| axis));
        if let Some(&axis) = named.find(|axis| !loops.contains(axis)) {
            return Err(ScheduleError::NoLoop(axis));
        }
        if let Some(&(axis, chunk)) =
            self.blocks.iter().find(|(_, chunk)| !(1..=LARGEST_CHUNK).contains(chunk))
        {
            return Err(ScheduleError::Chunk { axis, chunk });
        }
        for axis in loops {
            let in_blocks = self.blocks.iter().filter(|(block, _)| *block == axis).count();
            let in_rows = self.rows.iter().filter(|row| **row == axis).count();
            let in_inner = self.inner.iter().filter(|inner| **inner == axis).count();
            let lane_outside = usize::from(self.is_lane_outside(axis));
            // Axes of the lanes and of tiles may stand in two places: blocks cut them into chunks, a stage walks a chunk.
            let in_stages = self.lane == Some(axis) || self.tile.is_some_and(|(cross, _)| cross == axis);
            let is_chunked = in_stages && in_blocks == 1 && in_inner + lane_outside == 1;
            if in_blocks + in_rows + in_inner + lane_outside != 1 && !is_chunked {
                return Err(ScheduleError::Place(axis));
            }
            if (in_blocks + in_rows + lane_outside > 0) && !witness.workers.contains(&axis) {
                return Err(ScheduleError::Divided(axis));
            }
        }
        Ok(())
    }

    fn check_jam(&self, witness: &Witness) -> Result<(), ScheduleError> {
        let Some((axis, rows)) = self.jam else { return Ok(()) };
        let reject = |reason| Err(ScheduleError::Jam { axis, rows, reason });
        if !(2..=MOST_ROWS).contains(&rows) {
            return reject("at least 2 and at most 16 can be jammed");
        }
        if self.lanes_outside || self.outer().last() != Some(&axis) {
            return reject("it is not the innermost axis outside the stages");
        }
        if witness.scanned.is_some() {
            return reject("the segment scans");
        }
        Ok(())
    }

    fn check_prefetch(&self, witness: &Witness) -> Result<(), ScheduleError> {
        let Some(Prefetch { axis, distance, .. }) = self.prefetch else { return Ok(()) };
        let reject = |reason| Err(ScheduleError::Prefetch { axis, reason });
        if distance == 0 {
            return reject("the distance must be at least 1");
        }
        if self.lanes_outside {
            return reject("the loop over lanes stands around the stages");
        }
        if self.lane == Some(axis) {
            return if self.tile.is_some() { reject("it is walked in tiles") } else { Ok(()) };
        }
        if self.outer().last() != Some(&axis) {
            return reject("it is neither the innermost axis outside the stages nor that of the lanes");
        }
        if witness.levels < 2 {
            return reject("there is one stage only");
        }
        Ok(())
    }

    fn check_partition(&self, witness: &Witness) -> Result<(), ScheduleError> {
        for (place, &axis) in self.partition.iter().enumerate() {
            let reject = |reason| Err(ScheduleError::Partition { axis, reason });
            if self.run(axis).len() > 1 || self.loop_of(axis) != axis {
                return reject("its loop walks other axes, too");
            }
            if self.partition[..place].contains(&axis) {
                return reject("it is partitioned already");
            }
            let in_tiles = self.tile.is_some_and(|(cross, _)| cross == axis || self.lane == Some(axis));
            if in_tiles || self.jam.is_some_and(|(jammed, _)| jammed == axis) {
                return reject("it is walked in tiles, or several indices at a time");
            }
            if witness.scanned == Some(axis) {
                return reject("it is scanned");
            }
        }
        Ok(())
    }

    fn check_width(&self, witness: &Witness) -> Result<(), ScheduleError> {
        let width = self.width;
        let reject = |reason| Err(ScheduleError::Width { width, reason });
        if !width.is_power_of_two() || width > MAX_WIDTH {
            return reject("it must be a power of two from 1 to 16");
        }
        if width == 1 {
            return Ok(());
        }
        if self.lane.is_none() || self.lanes_outside {
            return reject("no axis is mapped to the lanes within the stages");
        }
        if self.tile.is_some() {
            return reject("tiles are walked one element at a time");
        }
        if witness.scanned.is_some() {
            return reject("the segment scans");
        }
        Ok(())
    }

    fn check_tile(&self) -> Result<(), ScheduleError> {
        let Some((axis, side)) = self.tile else { return Ok(()) };
        let reject = |reason| Err(ScheduleError::Tile { axis, side, reason });
        if !side.is_power_of_two() || side > LONGEST_SIDE {
            return reject("the side must be a power of two from 1 to 128");
        }
        if self.pad > side {
            return reject("there are at most as many elements between rows as in them");
        }
        if self.lane.is_none() || self.lanes_outside {
            return reject("no axis is mapped to the lanes within the stages");
        }
        if !self.inner.contains(&axis) || self.lane == Some(axis) {
            return reject("it is not an inner axis besides that of the lanes");
        }
        Ok(())
    }

    fn check_lane(&self, witness: &Witness) -> Result<(), ScheduleError> {
        let Some(axis) = self.lane else { return Ok(()) };
        let reject = |reason| Err(ScheduleError::Lane { axis, reason });
        if !self.lanes_outside {
            let last = self.inner.last() == Some(&axis);
            return if last { Ok(()) } else { reject("it is not the last inner axis") };
        }
        // Its results would lie in an array that the lanes share.
        let keeps = |fold: &Fold| fold.kept_axes().any(|kept| self.inner.contains(&self.loop_of(kept)));
        if witness.folds.iter().any(keeps) {
            return reject("a fold keeps an axis that is walked within the stages");
        }
        let crosses =
            |fold: &Fold| fold.terminal && fold.reduced.iter().any(|&own| self.loop_of(own) == axis);
        if witness.folds.iter().any(crosses) {
            return reject("a fold that leaves the kernel reduces it");
        }
        Ok(())
    }
}
