//! Loops: which are open, where in them code is emitted now, and scratch arrays over their axes.
//!
//! `open` (the state of the open loops) · `walk` (loops around what a layer above emits) · `order` (of the loops of a nest)
//! · `jam` (several rows at a time) · `subranges` (loops from breakpoint to breakpoint) · `scratch` (arrays over axes).

mod jam;
mod open;
mod order;
mod scratch;
mod subranges;
mod walk;

pub(super) use open::Known;
pub(super) use order::LoopOrder;
pub(super) use walk::{Strip, Walk};

use index::Expr;
use kernel::LoopKind;
use rustc_hash::FxHashMap;

use crate::Lowered;
use crate::address::{delinearize, row_major};
use crate::emitter::Emitter;
use jam::Jam;
use open::{OpenLoops, Subrange};
use scheduler::legal::{Fold, Witness};
use space::{Atoms, Axis};

/// Something of one of the jammed rows, or of the only row.
pub(super) type OfRow<T> = (T, Option<u32>);

/// Opens and closes loops over axes, and knows their current indices.
pub(super) struct LoopEmitter<'a> {
    pub emitter: Emitter<'a>,
    pub open_loops: OpenLoops,
    /// The rows that are walked together now.
    jam: Option<Jam>,
    /// The subrange of each partitioned axis that its loop walks, by number.
    subranges: FxHashMap<Axis, usize>,
    /// The breakpoints of the partitioned axes that were walked so far.
    breakpoints: FxHashMap<Axis, Vec<Expr>>,
}

impl<'a> AsMut<LoopEmitter<'a>> for LoopEmitter<'a> {
    fn as_mut(&mut self) -> &mut LoopEmitter<'a> {
        self
    }
}

impl<'a> LoopEmitter<'a> {
    /// No loops yet.
    pub fn new(emitter: Emitter<'a>) -> LoopEmitter<'a> {
        let (open_loops, jam, subranges, breakpoints) = Default::default();
        LoopEmitter { emitter, open_loops, jam, subranges, breakpoints }
    }

    /// The finished kernel.
    pub fn finish(self) -> Lowered {
        self.emitter.finish()
    }

    /// What legality proved about the group, and lowering relies on.
    pub fn witness(&self) -> &'a Witness {
        self.emitter.group.witness
    }

    /// Numbers the chunks of each divided axis from the block's number.
    pub fn divide_blocks(&mut self) {
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
    fn width_of(&self, axis: Axis, kind: LoopKind) -> u32 {
        let schedule = self.emitter.group.schedule;
        if kind == LoopKind::Lanes && schedule.lane == Some(axis) { schedule.width } else { 1 }
    }

    /// The part of an axis that is walked now: a strip, that of a tile, the chunk of a block of the grid, or all of it.
    pub fn range(&mut self, axis: Axis) -> Subrange {
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

    /// Opens the loop over strips of an axis; returns the part of it that was walked before.
    fn open_strip(&mut self, (axis, length): &Strip) -> Option<Subrange> {
        let (begin, end) = self.range(*axis);
        let count = (end.clone() - begin.clone()).ceil_div(length);
        let var = self.emitter.open_loop(&format!("{axis}_block"), Expr::zero(), count, LoopKind::Serial);
        let from = begin + Expr::sym(var) * length.clone();
        let until = from.clone() + Expr::min(length, &(end - from.clone()));
        self.open_loops.enter(*axis, (from, until))
    }

    /// Closes it.
    fn close_strip(&mut self, (axis, _): &Strip, outside: Option<Subrange>) {
        self.open_loops.leave(*axis, outside);
        self.emitter.close_loop();
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
        self.emitter.recombined(&row_major(&index, &sizes))
    }

    /// Whether this is the current index of something with these axes.
    pub fn stands_at(&mut self, axes: &[Atoms], index: &[Expr]) -> bool {
        let schedule = self.emitter.group.schedule;
        let is_walked = |axis: &Axis| {
            self.open_loops.at.contains_key(axis)
                || self.open_loops.vars.contains_key(&schedule.loop_of(*axis))
        };
        axes.iter().flatten().all(is_walked) && index == self.index_of(axes)
    }

    /// The index along one axis: its loop's variable, or a part of that if the loop walks several axes.
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

    /// The axis that is unrolled, if it is one of these, and how many indices it has.
    fn unrolled(&self, axes: &[Axis]) -> Option<(Axis, i64)> {
        let axis = self.emitter.group.schedule.unroll.filter(|axis| axes.contains(axis))?;
        Some((axis, self.witness().space.size(axis).as_const()?))
    }

    /// The loops over these axes that are not open.
    pub fn closed_loops(&self, axes: impl IntoIterator<Item = Axis>) -> Vec<Axis> {
        let mut loops = self.emitter.group.schedule.loops_of(axes);
        loops.retain(|axis| !self.open_loops.vars.contains_key(axis));
        loops
    }

    /// Whether a fold reduces an axis of a loop.
    pub fn reduces(&self, fold: &Fold, walked: Axis) -> bool {
        fold.reduced.iter().any(|&axis| self.emitter.group.schedule.loop_of(axis) == walked)
    }

    /// The most iterations that the loop of an axis makes in a block of the grid, whatever the sizes.
    pub fn max_trip_count(&self, axis: Axis) -> Option<i64> {
        let group = self.emitter.group;
        let extent = group.schedule.extent(group.witness, axis);
        let most = group.view.facts().bounds(&extent).hi().and_then(|most| i64::try_from(most).ok());
        let chunk = group.schedule.chunk(axis).and_then(|chunk| i64::try_from(chunk).ok());
        most.into_iter().chain(chunk).min()
    }
}
