//! Several rows at a time: the innermost loop outside the stages is unrolled, and its copies run within the same loops
//! of each stage (unroll and jam).
//!
//! ```text
//! for x0_jam in 0 .. n / 4          four rows
//!   for x1 lanes                    a stage, once for all of them
//!     load w0[x1]                   a fold that the rows share: loaded once
//!     row 0, row 1, row 2, row 3    each with folds of its own, in this order
//!     store w0[x1]                  and stored once
//! for x0 in n / 4 * 4 .. n          the rows that are left, one at a time
//! ```
//!
//! A partitioned axis has these loops for each of its subranges.
//!
//! Values that the rows share, such as weights and their conversions, are computed once, as all equal statements are. A fold
//! takes the rows in the same order as one at a time, so the bits are the same.

use index::Expr;
use kernel::LoopKind;

use super::LoopEmitter;
use super::open::Subrange;
use space::Axis;

/// The rows that are walked together now.
pub(super) struct Jam {
    axis: Axis,
    /// The index of the first of them.
    first: Expr,
    rows: u32,
    /// The row that is emitted now.
    row: u32,
}

impl LoopEmitter<'_> {
    /// The index along the axis that a loop walks.
    pub(super) fn iteration(&self, walked: Axis) -> Expr {
        match &self.jam {
            Some(jam) if jam.axis == walked => jam.first.clone() + Expr::constant(i64::from(jam.row)),
            _ => Expr::sym(self.open_loops.vars[&walked]),
        }
    }

    /// How many rows are walked together now.
    pub(super) fn rows(&self) -> u32 {
        self.jam.as_ref().map_or(1, |jam| jam.rows)
    }

    /// The row that is emitted now, where several are walked together.
    pub fn row(&self) -> Option<u32> {
        self.jam.as_ref().map(|jam| jam.row)
    }

    pub(super) fn set_row(&mut self, row: u32) {
        if let Some(jam) = &mut self.jam {
            jam.row = row;
        }
    }

    /// The row at which the loops index an array over these axes; `None` where all rows share one element.
    pub fn row_along(&self, dims: &[Axis]) -> Option<u32> {
        self.jam.as_ref().filter(|jam| dims.contains(&jam.axis)).map(|jam| jam.row)
    }

    /// How many indices along an axis outside the stages are walked together.
    pub fn rows_of(&self, axis: Axis) -> u32 {
        self.emitter.group.schedule.jam.filter(|(jammed, _)| *jammed == axis).map_or(1, |(_, rows)| rows)
    }

    /// Opens the loop that walks `rows` indices of a subrange at a time; returns what it leaves.
    pub(super) fn open_jam(&mut self, axis: Axis, rows: u32, all: &[Subrange], number: usize) -> Subrange {
        let (begin, end) = match all {
            [_] => self.range(axis),
            _ => {
                let (begin, end) = self.common(axis, &all[number]);
                let end = Expr::max(&begin, &end);
                (begin, end)
            }
        };
        let step = Expr::constant(i64::from(rows));
        let whole = (end.clone() - begin.clone()).floor_div(&step);
        let name = format!("{axis}_jam");
        let var = self.emitter.open_loop(&name, Expr::zero(), whole.clone(), LoopKind::Serial);
        self.open_loops.walks(axis, var, &(Expr::zero(), whole.clone()));
        let first = begin.clone() + Expr::sym(var) * step.clone();
        if all.len() > 1 {
            self.open_loops.are_within(&first, rows, &all[number]);
        }
        self.subranges.insert(axis, number);
        self.jam = Some(Jam { axis, first, rows, row: 0 });
        (begin + whole * step, end)
    }

    /// Closes it.
    pub(super) fn close_jam(&mut self, axis: Axis) {
        self.jam = None;
        self.close_subrange(axis);
    }

    /// Opens the loop over the indices that are left of a subrange, one at a time.
    pub(super) fn open_remainder(&mut self, axis: Axis, remainder: &Subrange, number: usize) {
        let (begin, end) = remainder.clone();
        let var = self.emitter.open_loop(&axis.to_string(), begin, end, LoopKind::Remainder);
        self.open_loops.walks(axis, var, remainder);
        self.subranges.insert(axis, number);
    }
}
