//! A copy of a rectangle whose rows become columns: squares of whole vectors, each turned in registers.
//!
//! A square of `n` vectors of `n` elements is turned by `log2 n` rounds of a perfect shuffle: each round puts vector `i`
//! and vector `i + n/2` together, element by element in turn, as vectors `2i` and `2i + 1`. The last squares of a
//! rectangle overlap those before them, so none needs a mask; a rectangle that is smaller than a square is copied element
//! by element.

use index::{Expr, Sym};
use ir::kernel::{Loop, Place, Transpose};

use super::operand::{Element, Operand, Type};
use super::{EmitError, Emitter, Lane, wide};

/// Where a loop stands, or begins, or ends.
type Turn = Operand;

impl Emitter<'_> {
    /// A `transpose` loop.
    pub(super) fn transpose(&mut self, turns: &Loop) -> Result<(), EmitError> {
        let transpose = Transpose::of(turns).expect("the kernel was verified: such loops copy rectangles");
        let element = Element::in_memory(self.kernel.values[transpose.value]);
        let side = i64::from(self.square_side(element));
        let loops = [transpose.rows, transpose.columns];
        let ranges = loops.map(|turns| [self.index(&turns.begin), self.index(&turns.end)]);
        if side == 1 {
            return self.elements(&transpose, ranges);
        }
        let [rows, columns] = ranges.map(|[begin, end]| self.w.binary("sub", end, begin));
        let least = self.w.overloaded("llvm.smin", rows, &[columns]);
        let holds_squares = self.w.compare("icmp sge", least, side);
        let (whole, small, done) = (self.w.label(), self.w.label(), self.w.label());
        self.w.branch_if(holds_squares, whole, small);
        self.w.begin(whole);
        self.squares(&transpose, element, side, ranges)?;
        self.w.branch(done);
        self.w.begin(small);
        self.elements(&transpose, ranges)?;
        self.w.branch(done);
        self.w.begin(done);
        Ok(())
    }

    /// How many elements fill a vector: half of the lanes hold f32.
    fn square_side(&self, element: Element) -> u32 {
        (self.lanes() * 16 / element.bits()).clamp(1, 32)
    }

    fn elements(&mut self, transpose: &Transpose<'_>, ranges: [[Turn; 2]; 2]) -> Result<(), EmitError> {
        let [[row, rows_end], [column, columns_end]] = ranges;
        self.counted(row, rows_end, 1, |emitter, row| {
            emitter.counted(column, columns_end, 1, |emitter, column| {
                emitter.stand_at(transpose, [row, column]);
                emitter.body(&transpose.columns.body)
            })
        })
    }

    fn squares(
        &mut self,
        transpose: &Transpose<'_>,
        element: Element,
        side: i64,
        ranges: [[Turn; 2]; 2],
    ) -> Result<(), EmitError> {
        let ty = Type { element, lanes: Some(side as u32) };
        let shuffle = self.shuffle_of(ty);
        let [last_row, last_column] = ranges.map(|[_, end]| self.w.binary("sub", end, side));
        let [[row, rows_end], [column, columns_end]] = ranges;
        self.counted(row, rows_end, side, |emitter, row| {
            let row = emitter.w.overloaded("llvm.smin", row, &[last_row]);
            emitter.counted(column, columns_end, side, |emitter, column| {
                let column = emitter.w.overloaded("llvm.smin", column, &[last_column]);
                emitter.square(transpose, ty, shuffle, [row, column]);
                Ok(())
            })
        })
    }

    /// The square whose first element is at these turns.
    fn square(
        &mut self,
        transpose: &Transpose<'_>,
        ty: Type,
        shuffle: Option<[Operand; 2]>,
        corner: [Turn; 2],
    ) {
        let count = ty.lanes.unwrap_or(1);
        let lane = Lane { variable: transpose.columns.var, count, mask: None, in_memory: None };
        let outside = self.lane.replace(lane);
        let [loaded, stored] = transpose.directions();
        self.stand_at(transpose, corner);
        let from = self.vectors_at(transpose.from, ty, stored.var);
        let place = transpose.from.0;
        let rows =
            from.into_iter().map(|address| self.load_vector(place, ty.element, address, None)).collect();
        let columns = self.turned(rows, shuffle);
        let to = self.vectors_at(transpose.to, ty, loaded.var);
        for (address, column) in to.into_iter().zip(columns) {
            self.store_vector(transpose.to.0, address, column, None);
        }
        self.lane = outside;
    }

    fn stand_at(&mut self, transpose: &Transpose<'_>, [row, column]: [Turn; 2]) {
        self.symbols.insert(transpose.rows.var, row);
        self.symbols.insert(transpose.columns.var, column);
    }

    /// The addresses of the vectors of a square, whose numbers go along a loop from where it stands.
    fn vectors_at(&mut self, (place, index): (Place, &Expr), ty: Type, along: Sym) -> Vec<Operand> {
        let (base, here) = (self.base(place), self.symbols[&along]);
        let first = self.index(index);
        let first = self.w.address(ty.element, base, first);
        let step = index.split_linear(along).map(|(step, _)| self.index(&step));
        let mut vectors = vec![first];
        for number in 1..i64::from(ty.lanes.unwrap_or(1)) {
            vectors.push(match step {
                // From one to the next: all multiples of a step would take more registers than there are.
                Some(step) => self.w.address(ty.element, vectors[vectors.len() - 1], step),
                None => {
                    let turn = self.w.binary("add", here, number);
                    self.symbols.insert(along, turn);
                    let place = self.index(index);
                    self.w.address(ty.element, base, place)
                }
            });
        }
        self.symbols.insert(along, here);
        vectors
    }

    /// What the two vectors of a perfect shuffle pick, where an instruction takes any picks.
    fn shuffle_of(&mut self, ty: Type) -> Option<[Operand; 2]> {
        let lanes = ty.lanes.unwrap_or(1);
        wide::mixes(&self.w, ty).then(|| {
            [0, lanes / 2].map(|from| {
                let pairs = (from..from + lanes / 2).flat_map(|lane| [lane, lane + lanes]);
                wide::picks(&mut self.w, ty, &pairs.collect::<Vec<u32>>())
            })
        })
    }

    /// The columns of a square of these rows.
    fn turned(&mut self, mut rows: Vec<Operand>, shuffle: Option<[Operand; 2]>) -> Vec<Operand> {
        for _ in 0..rows.len().ilog2() {
            let (low, high) = rows.split_at(rows.len() / 2);
            let shuffled = low.iter().zip(high).flat_map(|(&a, &b)| match shuffle {
                Some(picks) => picks.map(|picks| wide::mixed(&mut self.w, a, b, picks)),
                None => self.w.interleave(a, b),
            });
            rows = shuffled.collect();
        }
        rows
    }
}
