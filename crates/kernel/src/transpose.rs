//! What a `transpose` loop copies: takes the loop, gives the parts of the copy.

use index::{Expr, Sym};

use super::program::{Loop, Place, Stmt, Value};

/// A rectangle of elements on its way between a buffer and a scratch array. Neighbours along one of the two loops are
/// neighbours where they come from, neighbours along the other where they go to.
#[derive(Clone, Copy, Debug)]
pub struct Transpose<'k> {
    /// The loop itself.
    pub rows: &'k Loop,
    /// The loop over lanes that is its body.
    pub columns: &'k Loop,
    /// An element on its way.
    pub value: Value,
    /// Where elements come from.
    pub from: (Place, &'k Expr),
    /// Where they go to.
    pub to: (Place, &'k Expr),
}

impl<'k> Transpose<'k> {
    /// The copy of a loop, whatever its kind; `None` where the body does anything else.
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

    /// The loops along which elements are neighbours where they come from, and where they go to.
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

    /// Whether elements come from where neighbours along one loop are neighbours and go to where those along another are.
    fn transposes(&self, from: &Loop, to: &Loop) -> bool {
        is_unit(self.from.1, from.var) && is_unit(self.to.1, to.var)
    }

    fn is_rectangle(&self) -> bool {
        ![&self.columns.begin, &self.columns.end].into_iter().any(|bound| bound.mentions(self.rows.var))
    }

    /// Whether one of the places is scratch: then it does no harm to copy an element twice.
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
