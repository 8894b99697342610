//! Loops around blocks of long folds; `fold::blocks` says how long the blocks are.

use kernel::LoopKind;

use super::Nest;
use crate::fold::Temps;
use crate::loops::{LoopOrder, Walk};
use space::Axis;

/// What is emitted within a block: it gets the remaining serial loops, and the accumulators for the block's elements.
type WithinBlock<'b, 'a> = &'b mut dyn FnMut(&mut Nest<'a>, &[Axis], &[Temps]);

impl<'a> Nest<'a> {
    /// Walks the serial loops of a nest for these folds in blocks. `body` gets those within a block, and the accumulators
    /// for the block's elements.
    pub fn in_blocks(&mut self, folds: &[usize], loops: &LoopOrder, body: WithinBlock<'_, 'a>) {
        let (place, strips) = self.strips_of(folds, loops);
        let is_walked = loops.lane.is_some() || !loops.outer.is_empty();
        let collects = is_walked && loops.scanned.is_none() && loops.cross.is_none();
        let (around, within) = loops.outer.split_at(place);
        self.each_subrange(around, LoopKind::Serial, &mut |nest| {
            nest.each_strip(&strips, &mut |nest| {
                let mut block = Vec::new();
                if collects {
                    nest.each_row(|nest| {
                        folds.iter().for_each(|&fold| nest.open_block_temps(fold, &mut block));
                    });
                }
                body(nest, within, &block);
                let is_only = strips.is_empty() && around.is_empty();
                nest.close_blocks(&block, is_only);
                let ended = |&fold: &usize| strips.iter().any(|(axis, _)| nest.sums_in_blocks(fold, *axis));
                let ended: Vec<usize> = folds.iter().copied().filter(ended).collect();
                nest.end_blocks(&ended);
            });
        });
    }

    /// Walks an axis that crosses the lanes within a tile, in strips where folds need them.
    pub fn rows_of_tile(&mut self, folds: &[usize], cross: Axis, body: &mut dyn FnMut(&mut Self)) {
        let (strip, ended) = self.strip_of_tile(folds, cross);
        self.each_strip(strip.as_slice(), &mut |nest| {
            nest.open_axis(cross, LoopKind::Serial);
            body(nest);
            nest.close_axis(cross);
            nest.end_blocks(&ended);
        });
    }

    /// Walks an axis outside the stages, around loops over others, in strips where folds need them.
    pub fn rows_in_blocks(&mut self, axis: Axis, within: &[Axis], body: &mut dyn FnMut(&mut Self)) {
        let (strip, ended) = self.strip_of_rows(axis, within);
        self.each_strip(strip.as_slice(), &mut |nest| {
            body(nest);
            nest.end_blocks(&ended);
        });
    }
}
