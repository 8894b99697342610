//! Prefetches: what the first stage reads is prefetched some indices earlier along one axis.
//!
//! Along the axis outside the stages this happens in the next stage that walks the same axes. Memory then moves while stages
//! compute from the caches.
//!
//! ```text
//! for x0
//!   for x1 lanes                    the first stage
//!     load b0[x0*n + x1]
//!   for x1 lanes                    a later stage
//!     prefetch b0[(x0 + 1)*n + x1]
//!     store b1[x0*n + x1]
//! ```
//!
//! Along the axis of the lanes it happens where the element is read: `load b0[x0*n + x1]`, `prefetch b0[x0*n + x1 + 512]`.
//! At the end of a row that is the beginning of the next, if rows are contiguous.
//!
//! Either way the prefetch precedes the stores of the iteration: after non-temporal stores Zen 4 ignored it in some code
//! layouts (`docs/internals/performance.md`).
//!
//! After the last row it may address memory that does not exist, as a prefetch may. Decides nothing: the schedule says what
//! is prefetched.

use index::{Expr, Sym};
use kernel::Buffer;

use super::AccessEmitter;
use crate::address::is_unit;
use scheduler::schedule::Prefetch;
use space::Axis;

/// An element that the first stage reads for each index of the axis along which it is prefetched.
struct Read {
    buffer: Buffer,
    position: Expr,
    /// The loops within the stage that the position depends on, and which subrange of the axis each walks.
    loops: Vec<(Axis, Sym, usize)>,
}

/// What the first stage of a row has read, to be prefetched.
#[derive(Default)]
pub(super) struct Reads {
    reads: Vec<Read>,
    /// The stage that is emitted now.
    stage: u32,
}

impl AccessEmitter<'_> {
    /// Loads from here on are those of a stage.
    pub fn enter_stage(&mut self, stage: u32) {
        self.reads.stage = stage;
        if stage == 0 {
            self.reads.reads.clear();
        }
    }

    /// The variable of the loop along which the schedule prefetches, at the current lanes, and the distance.
    fn prefetched(&self) -> Option<(Sym, Prefetch)> {
        let prefetch = self.emitter.group.schedule.prefetch.filter(|_| self.emitter.builder.in_lanes())?;
        Some((*self.open_loops.vars.get(&prefetch.axis)?, prefetch))
    }

    /// Whether that is the loop over the lanes.
    fn is_along_lanes(&self, prefetch: Prefetch) -> bool {
        self.emitter.group.schedule.lane == Some(prefetch.axis)
    }

    /// Notes a read at the indices of the open loops, if the lanes of the first stage make it anew for each index.
    pub(super) fn note_read(&mut self, buffer: Buffer, position: &Expr) {
        let Some((var, prefetch)) = self.prefetched().filter(|_| self.reads.stage == 0) else { return };
        let is_new =
            !self.reads.reads.iter().any(|read| read.buffer == buffer && self.is_beside(read, position));
        let along_lanes = self.is_along_lanes(prefetch);
        let is_sequential =
            if along_lanes { self.is_sequential(position) } else { self.is_of_lanes(position) };
        if is_new && is_sequential && position.mentions(var) && self.is_of_loops(position) {
            let within =
                self.open_loops.vars.iter().filter(|(_, other)| **other != var && position.mentions(**other));
            let loops = within.map(|(&axis, &var)| (axis, var, self.subrange_of(axis))).collect();
            self.reads.reads.push(Read { buffer, position: position.clone(), loops });
        }
    }

    /// Whether an element is one that was read, or the neighbour of one in another unrolled copy.
    fn is_beside(&self, read: &Read, position: &Expr) -> bool {
        let is_unrolled = self.emitter.group.schedule.unroll.is_some();
        read.position == *position || is_unrolled && (&read.position - position).as_const().is_some()
    }

    fn is_of_lanes(&self, position: &Expr) -> bool {
        let lane = self.emitter.group.schedule.lane.and_then(|axis| self.open_loops.vars.get(&axis));
        lane.is_some_and(|&lane| position.mentions(lane))
    }

    /// Whether lanes read neighbours that no iteration of the loop around them has read before: those would be in a cache.
    fn is_sequential(&self, position: &Expr) -> bool {
        let schedule = self.emitter.group.schedule;
        let Some(lane) = schedule.lane.and_then(|axis| self.open_loops.vars.get(&axis)) else { return false };
        let around = schedule.outer().into_iter().chain(schedule.inner.iter().copied());
        let around = around.filter(|axis| Some(*axis) != schedule.lane);
        let nearest = around.rev().find_map(|axis| self.open_loops.vars.get(&axis));
        let is_next = is_unit(position, *lane) || self.is_unrolled_along(position, *lane);
        is_next && nearest.is_none_or(|&var| position.mentions(var))
    }

    /// Whether lanes are as far apart as the unrolled axis has indices.
    fn is_unrolled_along(&self, position: &Expr, lane: Sym) -> bool {
        let indices = self.emitter.group.schedule.unroll.map(|axis| self.witness().space.size(axis).clone());
        let step = position.split_linear(lane).map(|(step, _)| step);
        indices.is_some() && step == indices
    }

    /// Whether a position depends on open loops and sizes only, and not on data.
    fn is_of_loops(&self, position: &Expr) -> bool {
        let kernel = &self.emitter.builder.kernel;
        let known = |sym: &Sym| {
            *sym == kernel.block
                || kernel.arguments.contains(sym)
                || self.emitter.builder.loops().any(|open| open.var == *sym)
        };
        position.symbols().iter().all(known)
    }

    /// Prefetches what the first stage will read later: along the lanes in that stage itself, otherwise in a later one.
    pub(super) fn prefetch_reads(&mut self) {
        let Some((var, prefetch)) = self.prefetched() else { return };
        if self.is_along_lanes(prefetch) != (self.reads.stage == 0) {
            return;
        }
        for read in std::mem::take(&mut self.reads.reads) {
            if let Some(index) = self.further_on(&read, var, prefetch.distance) {
                self.emitter.builder.prefetch(read.buffer, index, prefetch.l2);
            } else {
                self.reads.reads.push(read);
            }
        }
    }

    /// The position of a later read, if all the loops that it depends on are open, strips among them, and each walks the
    /// same piece of its axis.
    fn further_on(&self, read: &Read, along: Sym, distance: u32) -> Option<Expr> {
        let now = |axis, subrange| {
            (self.subrange_of(axis) == subrange).then(|| self.open_loops.vars.get(&axis).copied()).flatten()
        };
        let moved = read.loops.iter().map(|&(axis, var, subrange)| Some((var, now(axis, subrange)?)));
        let moved: Vec<(Sym, Sym)> = moved.collect::<Option<_>>()?;
        let further = Expr::sym(along) + Expr::constant(distance.into());
        let position = read.position.substitute(&|sym| {
            let now = moved.iter().find(|(old, _)| *old == sym).map(|(_, now)| Expr::sym(*now));
            if sym == along { Some(further.clone()) } else { now }
        });
        Some(position).filter(|position| self.is_of_loops(position))
    }
}
