//! Blocks: how many elements a fold of f32 takes before it continues in f64, so that its rounding errors do not grow with
//! its length.
//!
//! ```text
//! acc a0: f64 = 0                     totals, of each lane
//! for x1_block in 0 .. n / 256
//!   acc a1: f32 = 0                   a block, of 16 elements a lane
//!   for x1 lanes                      within it
//!     set a1 = a1 + element
//!   for lane in 0 .. 16 lanes         no lane waits for another
//!     set a0 = a0 + a1
//! reduce a0
//! ```
//!
//! The length of a block follows from the kernel's lanes and from sizes alone. Where lanes have few iterations, a block
//! takes several iterations of the loop around theirs. Variances have many states, so their lanes are combined after each
//! block, which is longer, and all lanes share one total. Folds in arrays add a block to the totals after a fixed number of
//! rows; jammed rows are added to each other first. Where a scan runs in the same loop, and where elements come one by one,
//! totals take them directly.

use index::Expr;
use kernel::{LoopKind, Scratch, Value};
use ops::Totals;

use super::{Arrays, FoldEmitter, OpenFold, Temps};
use crate::loops::{LoopOrder, Strip, Walk};
use scheduler::schedule::Schedule;
use space::Axis;

/// How many elements a lane adds up in f32 where it continues in f64 by itself: few, as their rounding errors add up, yet
/// enough that the work after each block takes no time.
const BLOCK: i64 = 16;

/// The same where the work after a block takes longer: lanes are combined, or arrays walked.
const LONG_BLOCK: i64 = 64;

/// The fewest jammed rows that are added to each other first. An array then takes half as many of their sums as it takes of
/// rows that come one by one.
const MIN_COLLECTED: u32 = 8;

impl FoldEmitter<'_> {
    /// The strips that a block takes of the loops of a nest, and how many serial loops are around it.
    pub fn strips_of(&mut self, folds: &[usize], loops: &LoopOrder) -> (usize, Vec<Strip>) {
        let all = loops.outer.len();
        if loops.scanned.is_some() {
            return (all, Vec::new());
        }
        let sums = |this: &Self, axis: Axis| folds.iter().any(|&fold| this.sums_in_blocks(fold, axis));
        let of_lanes =
            |&fold: &usize| self.adds_in_lanes(fold) && self.states(fold).totals() == Totals::OfBlocks;
        let trip_count = if folds.iter().any(of_lanes) { BLOCK } else { LONG_BLOCK };
        let lane = loops.lane.filter(|&lane| loops.cross.is_none() && sums(self, lane));
        let in_tiles = |&&fold: &&usize| loops.cross.is_some_and(|cross| self.sums_in_blocks(fold, cross));
        let ended: Vec<usize> = folds.iter().filter(|fold| !in_tiles(fold)).copied().collect();
        let ends = |this: &Self, axis: Axis| ended.iter().any(|&fold| this.sums_in_blocks(fold, axis));
        let place = loops.outer.iter().rposition(|&axis| ends(self, axis));
        let rows = lane.map_or(Expr::constant(trip_count), |lane| self.rows_of_block(lane, trip_count));
        let length = trip_count * i64::from(self.emitter.builder.kernel.lanes);
        let row = place.map(|place| (loops.outer[place], rows));
        let strips = row.into_iter().chain(lane.map(|lane| (lane, Expr::constant(length))));
        let strips = strips.filter(|(axis, length)| {
            let most = self.max_trip_count(*axis).zip(length.as_const());
            most.is_none_or(|(most, length)| most > length && !self.is_kept_whole(*axis, most))
        });
        (place.unwrap_or(all), strips.collect())
    }

    /// Whether lanes keep all of an axis, each a few elements more than a block: the end of a block in between would make
    /// loads wait.
    fn is_kept_whole(&self, axis: Axis, most: i64) -> bool {
        let Schedule { private, lane, lanes, .. } = *self.emitter.group.schedule;
        private && lane == Some(axis) && most <= LONG_BLOCK * i64::from(lanes)
    }

    /// The strip that a block takes of an axis that crosses the lanes within a tile, if folds in arrays take more rows than
    /// a block has; and the folds whose blocks end there.
    pub fn strip_of_tile(&self, folds: &[usize], cross: Axis) -> (Option<Strip>, Vec<usize>) {
        let ended: Vec<usize> =
            folds.iter().copied().filter(|&fold| self.sums_in_blocks(fold, cross)).collect();
        let side = self.emitter.group.schedule.tile.map_or(0, |(_, side)| side.into());
        let is_short = ended.is_empty() || side <= LONG_BLOCK;
        ((!is_short).then(|| (cross, Expr::constant(LONG_BLOCK))), ended)
    }

    /// The strip that a block takes of an axis outside the stages, around loops over others, if it is long; and the folds in
    /// arrays that take a row of it at a time, whose blocks end there.
    pub fn strip_of_rows(&self, axis: Axis, within: &[Axis]) -> (Option<Strip>, Vec<usize>) {
        let schedule = self.emitter.group.schedule;
        let innermost = |fold: usize| {
            let fold = &self.witness().folds[fold];
            !within.iter().chain(&schedule.inner).any(|&other| self.reduces(fold, other))
        };
        let is_strip = |open: &&OpenFold| {
            open.arrays().is_some() && self.sums_in_blocks(open.fold, axis) && innermost(open.fold)
        };
        let folds: Vec<usize> = self.open.iter().filter(is_strip).map(|open| open.fold).collect();
        if folds.is_empty() || schedule.is_lane_outside(axis) {
            return (None, Vec::new());
        }
        let length = folds.iter().map(|&fold| self.rows_of_array(fold)).min().unwrap_or(LONG_BLOCK);
        let is_short = self.max_trip_count(axis).is_some_and(|most| most <= length);
        ((!is_short).then(|| (axis, Expr::constant(length))), folds)
    }

    /// How often a block walks the lanes' axis: as often as each lane then has the elements of a block.
    fn rows_of_block(&mut self, lane: Axis, most: i64) -> Expr {
        let (begin, end) = self.range(lane);
        let trip_count = (end - begin).ceil_div(&Expr::constant(self.emitter.builder.kernel.lanes.into()));
        let rows = Expr::constant(most).floor_div(&Expr::max(&trip_count, &Expr::one()));
        Expr::max(&rows, &Expr::one())
    }

    /// Whether a fold that is being accumulated reduces an axis, and continues in another dtype after each block.
    pub fn sums_in_blocks(&self, fold: usize, axis: Axis) -> bool {
        let Some(open) = self.opened(fold) else { return false };
        let has_totals = open.arrays().is_none_or(|arrays| arrays.totals.is_some());
        has_totals && self.states(fold).widens() && self.reduces(&self.witness().folds[fold], axis)
    }

    /// Whether a fold may have more elements than a block, and continues in another dtype after it.
    pub(super) fn is_long(&self, fold: usize) -> bool {
        let schedule = self.emitter.group.schedule;
        let reduced = schedule.loops_of(self.witness().folds[fold].reduced.iter().copied());
        let elements =
            reduced.into_iter().try_fold(1_i64, |n, axis| n.checked_mul(self.max_trip_count(axis)?));
        self.states(fold).widens() && elements.is_none_or(|elements| elements > self.rows_of_array(fold))
    }

    /// How many jammed rows a fold in arrays adds to each other first.
    pub(super) fn rows_together(&self, fold: usize) -> u32 {
        let reduces = |axis| self.reduces(&self.witness().folds[fold], axis);
        let jam =
            self.emitter.group.schedule.jam.filter(|&(axis, rows)| rows >= MIN_COLLECTED && reduces(axis));
        jam.filter(|_| self.states(fold).totals() == Totals::OfBlocks).map_or(1, |(_, rows)| rows)
    }

    /// How many rows a block of a fold in arrays has.
    fn rows_of_array(&self, fold: usize) -> i64 {
        match self.rows_together(fold) {
            1 => LONG_BLOCK,
            rows => i64::from(rows) * LONG_BLOCK / 2,
        }
    }

    /// Whether each lane continues in f64 by itself, in registers.
    fn adds_in_lanes(&self, fold: usize) -> bool {
        let adds = match self.states(fold).totals() {
            Totals::Same => false,
            Totals::OfBlocks => true,
            // Threads of several warps would wait for each other.
            Totals::OfLanes => self.emitter.builder.kernel.warp < self.emitter.builder.kernel.lanes,
        };
        adds && self.opened(fold).is_some_and(|open| open.arrays().is_none())
    }

    /// Adds blocks to totals: those of the lanes in one loop, unless they are all there is.
    pub fn close_blocks(&mut self, block: &[Temps], is_only: bool) {
        let of_lanes = |temps: &&Temps| !is_only && !temps.in_lanes && self.adds_in_lanes(temps.fold);
        let (of_lanes, others): (Vec<&Temps>, Vec<&Temps>) = block.iter().partition(of_lanes);
        if !of_lanes.is_empty() {
            let lanes = Expr::constant(self.emitter.builder.kernel.lanes.into());
            self.emitter.open_loop("lane", Expr::zero(), lanes, LoopKind::Lanes);
            of_lanes.iter().for_each(|temps| self.add_in_lanes(temps));
            self.emitter.close_loop();
        }
        others.into_iter().for_each(|temps| self.close_temps(temps, is_only));
    }

    /// Adds the blocks of folds in arrays to their totals and begins new ones.
    pub fn end_blocks(&mut self, folds: &[usize]) {
        self.each_row(|this| {
            let row = this.row();
            let is_here = |open: &&OpenFold| {
                let shared = open.row.is_none() && this.row_of(open).is_none();
                folds.contains(&open.fold)
                    && if shared { row.unwrap_or(0) == 0 } else { this.row_of(open) == row }
            };
            let ended: Vec<OpenFold> = this.open.iter().filter(is_here).cloned().collect();
            for alike in ended.chunk_by(|a, b| a.dims() == b.dims()) {
                this.end_alike(alike);
            }
        });
    }

    /// Those over the same axes.
    fn end_alike(&mut self, ended: &[OpenFold]) {
        let Some(dims) = ended[0].dims() else { return };
        let walked: Vec<Axis> =
            dims.iter().copied().filter(|axis| !self.open_loops.vars.contains_key(axis)).collect();
        self.barrier();
        self.walk(&walked, &mut |this| {
            let at = this.dim_index(dims);
            let mut stored: Vec<(Scratch, Value)> = Vec::new();
            for open in ended {
                let Some(arrays @ Arrays { totals: Some(totals), .. }) = open.arrays() else { continue };
                stored.extend(totals.iter().copied().zip(this.total(open.fold, arrays, &at)));
                for (&block, init) in arrays.blocks.iter().zip(this.states(open.fold).identity()) {
                    stored.push((block, this.emitter.constant(init)));
                }
            }
            // Where all lanes hold the same, none may store before all have loaded.
            this.barrier();
            for (array, value) in stored {
                this.emitter.builder.store(array, at.clone(), value);
            }
        });
        self.barrier();
    }

    /// The totals of a fold in arrays with the block that is not added yet.
    pub(super) fn total(&mut self, fold: usize, arrays: &Arrays, at: &Expr) -> Vec<Value> {
        let block: Vec<Value> =
            arrays.blocks.iter().map(|&array| self.emitter.builder.load(array, at.clone())).collect();
        let Some(totals) = &arrays.totals else { return block };
        let totals: Vec<Value> =
            totals.iter().map(|&array| self.emitter.builder.load(array, at.clone())).collect();
        self.combine(fold, &totals, &block)
    }
}
