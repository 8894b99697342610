//! The loops of a segment's main kernel: blocks, outer axes, and within them the stages one after the other.

use index::Expr;
use ir::kernel::LoopKind;

use super::address::{delinearize, row_major, whole};
use super::emitter::Emitter;
use super::fold::{Folds, OpenFold};
use super::knobs::Knobs;
use super::open_loops::OpenLoops;
use super::{Group, Lowered};
use crate::legal::{Fold, When, Witness};
use crate::space::{Atoms, Axis};

/// A main kernel under construction: its loops, what is folded in them, and what knobs of the schedule keep.
pub(super) struct Nest<'a> {
    pub emitter: Emitter<'a>,
    pub open_loops: OpenLoops,
    pub folds: Folds,
    pub knobs: Knobs,
    /// The stage that is emitted now.
    pub level: u32,
}

/// The main kernel of a group, which leaves the terminal folds that cross blocks to a combine step.
pub(super) fn main_kernel(group: &Group<'_>) -> Lowered {
    let mut nest = Nest::new(Emitter::new(group, group.name));
    nest.divide_blocks();
    let mut outer = group.schedule.outer();
    outer.extend(group.schedule.lane.filter(|_| group.schedule.lanes_outside));
    nest.outer_loops(&outer, 0);
    nest.emitter.finish()
}

impl<'a> Nest<'a> {
    /// No loops yet.
    pub fn new(emitter: Emitter<'a>) -> Nest<'a> {
        let (open_loops, folds, knobs) = Default::default();
        Nest { emitter, open_loops, folds, knobs, level: 0 }
    }

    /// What was proved of the group, and lowering relies on.
    pub fn witness(&self) -> &'a Witness {
        self.emitter.group.witness
    }

    /// Numbers the chunks of each divided axis from the block's number.
    fn divide_blocks(&mut self) {
        let group = self.emitter.group;
        let mut rest = Expr::sym(self.emitter.builder.kernel.block);
        let mut blocks = Expr::one();
        for (place, (axis, chunk)) in group.schedule.blocks.iter().enumerate().rev() {
            let size = self.emitter.size(&group.schedule.extent(group.witness, *axis));
            let chunk = Expr::constant(*chunk as i64);
            let count = size.ceil_div(&chunk);
            let number = if place == 0 { rest.clone() } else { rest.modulo(&count) };
            rest = rest.floor_div(&count);
            let begin = number.clone() * chunk.clone();
            let end = begin.clone() + chunk.clone();
            let end = if chunk.is_one() { end } else { Expr::min(&end, &size) };
            self.open_loops.chunks.insert(*axis, (begin, end, number));
            blocks = blocks * count;
        }
        self.emitter.builder.kernel.blocks = blocks;
    }

    /// Opens the loop of an axis over the part of it that is walked now.
    pub fn open_axis(&mut self, axis: Axis, kind: LoopKind) {
        let (begin, end) = self.range(axis);
        let width = self.width_of(axis, kind);
        let var = self.emitter.open_wide_loop(&axis.to_string(), begin, end, kind, width);
        let group = self.emitter.group;
        let extent = self.emitter.size(&group.schedule.extent(group.witness, axis));
        self.open_loops.walks(axis, var, &(Expr::zero(), extent));
    }

    /// The neighbours that a lane takes at a time in the loop of an axis.
    pub fn width_of(&self, axis: Axis, kind: LoopKind) -> u32 {
        let schedule = self.emitter.group.schedule;
        if kind == LoopKind::Lanes && schedule.lane == Some(axis) { schedule.width } else { 1 }
    }

    /// The part of an axis that is walked now: a strip or that of a square, the chunk of a block of the grid, or all of it.
    pub fn range(&mut self, axis: Axis) -> (Expr, Expr) {
        if let Some(part) = self.open_loops.part(axis) {
            return part.clone();
        }
        match self.open_loops.chunks.get(&axis) {
            Some((begin, end, _)) => (begin.clone(), end.clone()),
            None => {
                let group = self.emitter.group;
                (Expr::zero(), self.emitter.size(&group.schedule.extent(group.witness, axis)))
            }
        }
    }

    /// Closes the loop over an axis and forgets what its variable implied.
    pub fn close_axis(&mut self, axis: Axis) {
        self.emitter.close_loop();
        self.open_loops.forget(axis);
    }

    /// The index of something with these axes in the loops that are open.
    pub fn index_of(&mut self, axes: &[Atoms]) -> Vec<Expr> {
        axes.iter().map(|atoms| self.index_along(atoms)).collect()
    }

    /// The index along an axis of these atoms: zero without one, else their row-major combination.
    fn index_along(&mut self, atoms: &[Axis]) -> Expr {
        let group = self.emitter.group;
        let index: Vec<Expr> = atoms.iter().map(|&atom| self.index(atom)).collect();
        if let [single] = &index[..] {
            return single.clone();
        }
        let sizes: Vec<Expr> =
            atoms.iter().map(|&atom| self.emitter.size(group.witness.space.size(atom))).collect();
        whole(&row_major(&index, &sizes))
    }

    /// Whether this is the index of something with these axes where the loops stand.
    pub fn stands_at(&mut self, axes: &[Atoms], index: &[Expr]) -> bool {
        let schedule = self.emitter.group.schedule;
        let is_walked = |axis: &Axis| {
            self.open_loops.at.contains_key(axis)
                || self.open_loops.vars.contains_key(&schedule.loop_of(*axis))
        };
        axes.iter().flatten().all(is_walked) && index == self.index_of(axes)
    }

    /// The index along one axis: its loop's variable, or its part of it where the loop walks several axes.
    fn index(&mut self, axis: Axis) -> Expr {
        if let Some(index) = self.open_loops.at.get(&axis) {
            return index.clone();
        }
        let group = self.emitter.group;
        let walked = group.schedule.loop_of(axis);
        let var = self.iteration(walked);
        let run = group.schedule.run(walked);
        if run.len() == 1 {
            return var;
        }
        let sizes: Vec<Expr> =
            run.iter().map(|&axis| self.emitter.size(group.witness.space.size(axis))).collect();
        let place =
            run.iter().position(|&own| own == axis).expect("a run holds the axes that its loop walks");
        delinearize(&var, &sizes).swap_remove(place)
    }

    /// The loops over these axes that are not open.
    pub fn closed_loops(&self, axes: impl IntoIterator<Item = Axis>) -> Vec<Axis> {
        let mut loops = self.emitter.group.schedule.loops_of(axes);
        loops.retain(|axis| !self.open_loops.vars.contains_key(axis));
        loops
    }

    /// Whether a fold reduces what a loop walks.
    pub fn reduces(&self, fold: &Fold, walked: Axis) -> bool {
        fold.reduced.iter().any(|&axis| self.emitter.group.schedule.loop_of(axis) == walked)
    }

    fn outer_loops(&mut self, outer: &[Axis], depth: usize) {
        self.open_terminal_folds(outer, depth);
        match outer.get(depth) {
            Some(&axis) => self.rows_in_blocks(axis, &outer[depth + 1..], &mut |nest| {
                nest.outer_loop(axis, &mut |nest| nest.outer_loops(outer, depth + 1));
            }),
            None => (0..self.witness().levels).for_each(|level| self.stage(level)),
        }
        self.close_terminal_folds(depth);
    }

    /// Opens the terminal folds whose first reduced axis is walked by the next loop.
    fn open_terminal_folds(&mut self, outer: &[Axis], depth: usize) {
        let witness = self.witness();
        let first =
            |fold: &Fold| outer.iter().position(|&axis| self.reduces(fold, axis)).unwrap_or(outer.len());
        let folds =
            witness.folds.iter().enumerate().filter(|(_, fold)| fold.terminal && first(fold) == depth);
        let folds: Vec<usize> = folds.map(|(number, _)| number).collect();
        self.open_folds(&folds, depth);
    }

    /// Closes the terminal folds opened at this depth and makes the stores that waited for them.
    fn close_terminal_folds(&mut self, depth: usize) {
        let here = |open: &OpenFold| open.depth == depth && self.witness().folds[open.fold].terminal;
        let closing: Vec<OpenFold> = self.folds.open.iter().filter(|open| here(open)).cloned().collect();
        self.folds.open.retain(|open| !closing.iter().any(|closed| closed.fold == open.fold));
        self.close_folds(&closing);
        let witness = self.witness();
        for (number, store) in witness.stores.iter().enumerate() {
            let When::After(folds) = &store.when else { continue };
            if closing.iter().any(|open| open.fold == folds[0]) && !self.emitter.group.crosses(folds[0]) {
                let axes = self.closed_loops(store.domain());
                self.each_row(|nest| nest.walk(&axes, &mut |nest: &mut Nest<'a>| nest.store(number)));
            }
        }
    }

    /// Loops over these axes, the last mapped to the lanes, around what `body` emits.
    pub fn walk(&mut self, axes: &[Axis], body: &mut dyn FnMut(&mut Nest<'a>)) {
        let mut axes = axes.to_vec();
        if let Some(place) = axes.iter().position(|axis| Some(*axis) == self.emitter.group.schedule.lane) {
            let lane = axes.remove(place);
            axes.push(lane);
        }
        for (place, &axis) in axes.iter().enumerate() {
            let lanes = place + 1 == axes.len() && !self.emitter.builder.in_lanes();
            self.open_axis(axis, if lanes { LoopKind::Lanes } else { LoopKind::Serial });
        }
        body(self);
        axes.iter().rev().for_each(|&axis| self.close_axis(axis));
    }
}
