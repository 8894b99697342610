//! Loops around what a layer above emits: each function opens loops, calls `body` in them and closes them.

use index::Expr;
use kernel::LoopKind;

use super::LoopEmitter;
use space::Axis;

/// An axis, and the length of its strips.
pub(crate) type Strip = (Axis, Expr);

/// A layer that emits code in loops.
pub(crate) trait Walk<'a>: AsMut<LoopEmitter<'a>> + Sized {
    /// Loops over these axes, the last mapped to the lanes, around what `body` emits.
    fn walk(&mut self, axes: &[Axis], body: &mut dyn FnMut(&mut Self)) {
        let loops = self.as_mut();
        let mut axes = axes.to_vec();
        if let Some(place) = axes.iter().position(|axis| Some(*axis) == loops.emitter.group.schedule.lane) {
            let lane = axes.remove(place);
            axes.push(lane);
        }
        for (place, &axis) in axes.iter().enumerate() {
            let lanes = place + 1 == axes.len() && !loops.emitter.builder.in_lanes();
            loops.open_axis(axis, if lanes { LoopKind::Lanes } else { LoopKind::Serial });
        }
        body(self);
        axes.iter().rev().for_each(|&axis| self.as_mut().close_axis(axis));
    }

    /// Walks strips of axes one after the other; `body` is emitted within all of them.
    fn each_strip(&mut self, strips: &[Strip], body: &mut dyn FnMut(&mut Self)) {
        let [strip, within @ ..] = strips else { return body(self) };
        let outside = self.as_mut().open_strip(strip);
        self.each_strip(within, body);
        self.as_mut().close_strip(strip, outside);
    }

    /// Walks axes, each in its subranges; `body` is emitted within each of them.
    fn each_subrange(&mut self, axes: &[Axis], kind: LoopKind, body: &mut dyn FnMut(&mut Self)) {
        let [axis, within @ ..] = axes else { return body(self) };
        let subranges = self.as_mut().subranges_of(*axis);
        for number in 0..subranges.len() {
            self.as_mut().open_subrange(*axis, kind, &subranges, number);
            self.each_subrange(within, kind, body);
            self.as_mut().close_subrange(*axis);
        }
    }

    /// Emits something for each of the jammed rows, or once.
    fn each_row(&mut self, mut body: impl FnMut(&mut Self)) {
        for row in 0..self.as_mut().rows() {
            self.at_row(Some(row), &mut body);
        }
    }

    /// Emits something for each index of the unrolled axis, if it is one of these, or once.
    fn each_unrolled(&mut self, axes: &[Axis], body: &mut dyn FnMut(&mut Self)) {
        let Some((axis, indices)) = self.as_mut().unrolled(axes) else { return body(self) };
        for index in 0..indices {
            self.as_mut().open_loops.at.insert(axis, Expr::constant(index));
            body(self);
        }
        self.as_mut().open_loops.at.remove(&axis);
    }

    /// Emits something for one of the jammed rows.
    fn at_row(&mut self, row: Option<u32>, body: impl FnOnce(&mut Self)) {
        self.as_mut().set_row(row.unwrap_or(0));
        body(self);
        self.as_mut().set_row(0);
    }

    /// Walks the subranges of an axis, each several indices at a time, and the remainder one at a time; `body` is emitted
    /// within all these loops.
    fn jammed(&mut self, axis: Axis, rows: u32, mut body: impl FnMut(&mut Self)) {
        let subranges = self.as_mut().subranges_of(axis);
        for number in 0..subranges.len() {
            let remainder = self.as_mut().open_jam(axis, rows, &subranges, number);
            body(self);
            self.as_mut().close_jam(axis);
            self.as_mut().open_remainder(axis, &remainder, number);
            body(self);
            self.as_mut().close_subrange(axis);
        }
    }
}

impl<'a, T: AsMut<LoopEmitter<'a>>> Walk<'a> for T {}
