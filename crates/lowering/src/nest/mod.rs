//! The main kernel of a segment: loops over blocks and outer axes, and within them one stage after the other.
//!
//! `stage` (the loop nests of a stage) · `blocks` (loops around blocks of long folds) · `scan` (states that run along a loop).

mod blocks;
mod scan;
mod stage;

use kernel::LoopKind;

use crate::emitter::{Emitter, KernelLanes};
use crate::fold::{FoldEmitter, OpenFold};
use crate::layer::layer;
use crate::loops::Walk;
use crate::{Group, Lowered};
use scheduler::legal::{Fold, When};
use scheduler::schedule::Schedule;
use space::Axis;

/// A main kernel under construction.
struct Nest<'a> {
    folds: FoldEmitter<'a>,
}

layer!(Nest, folds: FoldEmitter);

/// The main kernel of a group. It leaves terminal folds that cross blocks to a combine step.
pub(super) fn main_kernel(group: &Group<'_>) -> Lowered {
    let Schedule { lanes, warp, teams, cluster, .. } = *group.schedule;
    let lanes = KernelLanes { lanes, warp: warp.unwrap_or(lanes), teams, cluster };
    let mut nest = Nest { folds: FoldEmitter::new(Emitter::new(group, &group.kernel_name(None), &lanes)) };
    nest.divide_blocks();
    let mut outer = group.schedule.outer();
    outer.extend(group.schedule.lane.filter(|_| group.schedule.lanes_outside));
    nest.outer_loops(&outer, 0);
    nest.finish()
}

impl Nest<'_> {
    fn outer_loops(&mut self, outer: &[Axis], depth: usize) {
        self.open_terminal_folds(outer, depth);
        match outer.get(depth) {
            Some(&axis) => self.rows_in_blocks(axis, &outer[depth + 1..], &mut |nest| {
                nest.outer_loop(axis, &mut |nest| nest.outer_loops(outer, depth + 1));
            }),
            None => (0..self.witness().stage_count).for_each(|stage| self.stage(stage)),
        }
        self.close_terminal_folds(depth);
    }

    /// The loops over an axis outside the stages around what `body` emits: jammed, or one subrange after the other.
    fn outer_loop(&mut self, axis: Axis, body: &mut dyn FnMut(&mut Self)) {
        let body = &mut |nest: &mut Self| {
            body(nest);
            // The loop may have run no iteration, so what it kept may not exist afterwards.
            nest.forget_persistent();
        };
        let is_over_lanes = self.emitter.group.schedule.is_lane_outside(axis);
        match self.rows_of(axis) {
            1 if is_over_lanes => self.each_subrange(&[axis], LoopKind::Lanes, body),
            1 => self.each_subrange(&[axis], LoopKind::Serial, body),
            rows => self.jammed(axis, rows, body),
        }
    }

    /// Opens the terminal folds whose first reduced axis is walked by the next loop.
    fn open_terminal_folds(&mut self, outer: &[Axis], depth: usize) {
        let witness = self.witness();
        let first =
            |fold: &Fold| outer.iter().position(|&axis| self.reduces(fold, axis)).unwrap_or(outer.len());
        let folds =
            witness.folds.iter().enumerate().filter(|(_, fold)| fold.terminal && first(fold) == depth);
        let folds: Vec<usize> = folds.map(|(number, _)| number).collect();
        self.open_folds(&folds, Some(depth));
    }

    /// Closes the terminal folds opened at this depth and makes the stores that waited for them.
    fn close_terminal_folds(&mut self, depth: usize) {
        let witness = self.witness();
        let here = |open: &OpenFold| open.depth == Some(depth);
        let closing: Vec<OpenFold> = self.open.iter().filter(|open| here(open)).cloned().collect();
        self.open.retain(|open| !closing.iter().any(|closed| closed.fold == open.fold));
        self.close_folds(&closing);
        for (number, store) in witness.stores.iter().enumerate() {
            let When::After(folds) = &store.when else { continue };
            if closing.iter().any(|open| open.fold == folds[0]) && !self.emitter.group.crosses(folds[0]) {
                let axes = self.closed_loops(store.domain());
                self.each_row(|nest| nest.walk(&axes, &mut |nest| nest.store(number)));
            }
        }
    }
}
