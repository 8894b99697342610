//! What a `transpose` loop copies: takes the loop, gives the parts of the copy.

use index::{Expr, Sym};

use super::program::{Loop, Place, Stmt, Value};

/// A rectangle of elements copied between a buffer and a scratch array. The source is contiguous along one of the two loops,
/// the destination along the other.
#[derive(Clone, Copy, Debug)]
pub struct Transpose<'k> {
    /// The loop itself.
    pub rows: &'k Loop,
    /// The loop over lanes that is its body.
    pub columns: &'k Loop,
    /// The copied element.
    pub value: Value,
    /// The source of elements.
    pub from: (Place, &'k Expr),
    /// The destination of elements.
    pub to: (Place, &'k Expr),
}

impl<'k> Transpose<'k> {
    /// The copy of a loop of any kind; `None` if the body does anything else.
    pub fn of(rows: &'k Loop) -> Option<Transpose<'k>> {
        let [Stmt::For(columns)] = &rows.body[..] else { return None };
        let [Stmt::Load { value, place: from, index: load, guard: None }, store] = &columns.body[..] else {
            return None;
        };
        let Stmt::Store { value: stored, place: to, index: store, guard: None } = store else { return None };
        let transpose = Transpose { rows, columns, value: *value, from: (*from, load), to: (*to, store) };
        let transposes =
            transpose.is_rectangle() && transpose.changes_direction() && transpose.leaves_memory();
        (columns.kind.is_over_lanes() && columns.width == 1 && stored == value && transposes)
            .then_some(transpose)
    }

    /// The loops along which the source and the destination are contiguous.
    pub fn directions(&self) -> [&'k Loop; 2] {
        if self.transposes(self.columns, self.rows) {
            [self.columns, self.rows]
        } else {
            [self.rows, self.columns]
        }
    }

    fn changes_direction(&self) -> bool {
        self.transposes(self.columns, self.rows) || self.transposes(self.rows, self.columns)
    }

    /// Whether the source is contiguous along one loop and the destination along the other.
    fn transposes(&self, from: &Loop, to: &Loop) -> bool {
        is_unit(self.from.1, from.var) && is_unit(self.to.1, to.var)
    }

    fn is_rectangle(&self) -> bool {
        ![&self.columns.begin, &self.columns.end].into_iter().any(|bound| bound.mentions(self.rows.var))
    }

    /// Whether one of the places is scratch: then copying an element twice is harmless.
    fn leaves_memory(&self) -> bool {
        matches!(
            (self.from.0, self.to.0),
            (Place::Buffer(_), Place::Scratch(_)) | (Place::Scratch(_), Place::Buffer(_))
        )
    }
}

/// Whether neighbours along a loop are neighbours in memory.
fn is_unit(index: &Expr, var: Sym) -> bool {
    index.split_linear(var).is_some_and(|(step, _)| step.is_one())
}
