//! The next row, fetched while this one is worked on: what the first stage reads is asked for in the next one that walks
//! the same axes, an index further along the axis outside the stages. Memory then moves while stages compute from the caches.
//!
//! ```text
//! for x0
//!   for x1 lanes                    the first stage
//!     load b0[x0*n + x1]
//!   for x1 lanes                    a later stage
//!     prefetch b0[(x0 + 1)*n + x1]
//! ```
//!
//! Behind the last row this asks for memory that may not be there, which a prefetch may. Takes no decisions: whether rows
//! are fetched ahead is the schedule's.

use ir::index::{Expr, Sym};
use ir::kernel::Buffer;

use super::nest::Nest;
use crate::space::Axis;

/// An element of each row that the first stage reads.
pub(super) struct Read {
    buffer: Buffer,
    position: Expr,
    /// The loops within the stage that the position speaks of, and which piece of the axis each walks.
    loops: Vec<(Axis, Sym, usize)>,
}

impl Nest<'_> {
    /// The variable of the loop over rows, if the next row is fetched ahead.
    fn row_ahead(&self) -> Option<Sym> {
        self.vars.get(&self.emitter.group.schedule.ahead?).copied()
    }

    /// Notes what is read where the loops stand, if the lanes of the first stage do so in each row anew.
    pub fn note_read(&mut self, buffer: Buffer, position: &Expr) {
        let Some(row) = self.row_ahead().filter(|_| self.level == 0 && self.emitter.in_lanes()) else {
            return;
        };
        let lane = self.emitter.group.schedule.lane.and_then(|axis| self.vars.get(&axis));
        let of_lanes = lane.is_some_and(|&lane| position.mentions(lane));
        let is_new = !self.reads.iter().any(|read| read.buffer == buffer && read.position == *position);
        if of_lanes && position.mentions(row) && self.is_of_loops(position) && is_new {
            let within = self.vars.iter().filter(|(_, var)| **var != row && position.mentions(**var));
            let loops = within.map(|(&axis, &var)| (axis, var, self.piece_of(axis))).collect();
            self.reads.push(Read { buffer, position: position.clone(), loops });
        }
    }

    /// Whether a position speaks of loops and sizes only, and not of data.
    fn is_of_loops(&self, position: &Expr) -> bool {
        let kernel = &self.emitter.kernel;
        let known = |sym: &Sym| {
            *sym == kernel.block || kernel.arguments.contains(sym) || self.vars.values().any(|var| var == sym)
        };
        position.symbols().iter().all(known)
    }

    /// In a later stage: asks for what the first one will read of the next row where the loops stand now.
    pub fn fetch_ahead(&mut self) {
        let Some(row) = self.row_ahead() else { return };
        if self.level == 0 || !self.emitter.in_lanes() {
            return;
        }
        for read in std::mem::take(&mut self.reads) {
            if let Some(index) = self.next_row(&read, row) {
                self.emitter.prefetch(read.buffer, index, false);
            } else {
                self.reads.push(read);
            }
        }
    }

    /// The position of a read in the next row, if all the loops that it speaks of are open, each in the same piece of its axis.
    fn next_row(&self, read: &Read, row: Sym) -> Option<Expr> {
        let now =
            |axis, piece| (self.piece_of(axis) == piece).then(|| self.vars.get(&axis).copied()).flatten();
        let moved = read.loops.iter().map(|&(axis, var, piece)| Some((var, now(axis, piece)?)));
        let moved: Vec<(Sym, Sym)> = moved.collect::<Option<_>>()?;
        Some(read.position.substitute(&|sym| {
            let now = moved.iter().find(|(old, _)| *old == sym).map(|(_, now)| Expr::sym(*now));
            if sym == row { Some(Expr::sym(row) + Expr::one()) } else { now }
        }))
    }
}
