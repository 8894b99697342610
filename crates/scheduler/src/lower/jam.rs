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
//! Values that the rows share, weights and their conversions, are computed once: equal statements are. A fold takes the
//! rows in the order in which one at a time would, so the bits are the same.

use index::Expr;
use ir::kernel::LoopKind;

use super::nest::Nest;
use crate::space::Axis;

/// The rows that are walked together now.
pub(super) struct Jam {
    axis: Axis,
    /// The index of the first of them.
    first: Expr,
    rows: u32,
    /// The row that is emitted now.
    row: u32,
}

impl Nest<'_> {
    /// The index along the axis that a loop walks.
    pub fn iteration(&self, walked: Axis) -> Expr {
        match &self.knobs.jam {
            Some(jam) if jam.axis == walked => jam.first.clone() + Expr::constant(i64::from(jam.row)),
            _ => Expr::sym(self.open_loops.vars[&walked]),
        }
    }

    /// The row that is emitted now, where several are walked together.
    pub fn row(&self) -> Option<u32> {
        self.knobs.jam.as_ref().map(|jam| jam.row)
    }

    /// The row whose element of an array over these axes the loops stand at; `None` where all rows have one element.
    pub fn row_along(&self, dims: &[Axis]) -> Option<u32> {
        self.knobs.jam.as_ref().filter(|jam| dims.contains(&jam.axis)).map(|jam| jam.row)
    }

    /// Emits something for each of the rows that are walked together, or once.
    pub fn each_row(&mut self, mut body: impl FnMut(&mut Self)) {
        for row in 0..self.knobs.jam.as_ref().map_or(1, |jam| jam.rows) {
            self.at_row(Some(row), &mut body);
        }
    }

    /// Emits something for one of the rows that are walked together.
    pub fn at_row(&mut self, row: Option<u32>, body: impl FnOnce(&mut Self)) {
        self.set_row(row.unwrap_or(0));
        body(self);
        self.set_row(0);
    }

    fn set_row(&mut self, row: u32) {
        if let Some(jam) = &mut self.knobs.jam {
            jam.row = row;
        }
    }

    /// How many indices along an axis outside the stages are walked together.
    pub fn rows_of(&self, axis: Axis) -> u32 {
        self.emitter.group.schedule.jam.filter(|(jammed, _)| *jammed == axis).map_or(1, |(_, rows)| rows)
    }

    /// Walks an axis several indices at a time and what is left one at a time; `body` is emitted within both loops.
    pub fn jammed(&mut self, axis: Axis, rows: u32, mut body: impl FnMut(&mut Self)) {
        let (begin, end) = self.range(axis);
        let step = Expr::constant(i64::from(rows));
        let whole = (end.clone() - begin.clone()).floor_div(&step);
        let name = format!("{axis}_jam");
        let var = self.emitter.open_loop(&name, Expr::zero(), whole.clone(), LoopKind::Serial);
        self.open_loops.walks(axis, var, &(Expr::zero(), whole.clone()));
        let first = begin.clone() + Expr::sym(var) * step.clone();
        self.knobs.jam = Some(Jam { axis, first, rows, row: 0 });
        body(self);
        self.knobs.jam = None;
        self.close_axis(axis);
        let remainder = (begin + whole * step, end);
        let var = self.emitter.open_loop(
            &axis.to_string(),
            remainder.0.clone(),
            remainder.1.clone(),
            LoopKind::Remainder,
        );
        self.open_loops.walks(axis, var, &remainder);
        body(self);
        self.close_axis(axis);
    }
}
