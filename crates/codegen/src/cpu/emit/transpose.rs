//! A transposing copy of a rectangle: tiles of whole vectors, each transposed in registers.
//!
//! A tile of `n` vectors of `n` elements is transposed by `log2 n` rounds of a perfect shuffle: each round puts vector `i`
//! and vector `i + n/2` together, element by element in turn, as vectors `2i` and `2i + 1`. The last tiles of a
//! rectangle overlap those before them, so none needs a mask; a rectangle that is smaller than a tile has smaller ones, and
//! one that is smaller than all is copied element by element.

use index::{Expr, Sym};
use kernel::{Loop, Place, Transpose};

use super::operand::{Element, Operand, Type};
use super::scope::Lane;
use super::{EmitError, Emitter, avx512};

/// The side of the smallest tiles, in elements: fewer are not worth their code.
const MIN_TILE: i64 = 8;

/// The current iteration of a loop, its begin, or its end.
type Iteration = Operand;

impl Emitter<'_> {
    /// A `transpose` loop.
    pub(super) fn transpose(&mut self, for_loop: &Loop) -> Result<(), EmitError> {
        let transpose = Transpose::of(for_loop).expect("the kernel was verified: such loops copy rectangles");
        let element = Element::in_memory(self.kernel.values[transpose.value]);
        let side = i64::from(self.tile_side(element));
        let halved = std::iter::successors(Some(side), |side| Some(side / 2));
        let sides = halved.take_while(|&length| length >= MIN_TILE.min(side.max(2)));
        let loops = [transpose.rows, transpose.columns];
        let ranges = loops.map(|for_loop| [self.index(&for_loop.begin), self.index(&for_loop.end)]);
        let [rows, columns] = ranges.map(|[begin, end]| self.w.binary("sub", end, begin));
        let min = self.w.overloaded("llvm.smin", rows, &[columns]);
        let done = self.w.label();
        for side in sides {
            let holds_tiles = self.w.compare("icmp sge", min, side);
            let (whole, small) = (self.w.label(), self.w.label());
            self.w.branch_if(holds_tiles, whole, small);
            self.w.begin(whole);
            self.tiles(&transpose, element, side, ranges)?;
            self.w.branch(done);
            self.w.begin(small);
        }
        self.elements(&transpose, ranges)?;
        self.w.branch(done);
        self.w.begin(done);
        Ok(())
    }

    /// How many elements fill a vector: half of the lanes hold f32.
    fn tile_side(&self, element: Element) -> u32 {
        (self.lanes() * 16 / element.bits()).clamp(1, 32)
    }

    fn elements(&mut self, transpose: &Transpose<'_>, ranges: [[Iteration; 2]; 2]) -> Result<(), EmitError> {
        let [[row, rows_end], [column, columns_end]] = ranges;
        self.counted(row, rows_end, 1, |emitter, row| {
            emitter.counted(column, columns_end, 1, |emitter, column| {
                emitter.stand_at(transpose, [row, column]);
                emitter.body(&transpose.columns.body)
            })
        })
    }

    fn tiles(
        &mut self,
        transpose: &Transpose<'_>,
        element: Element,
        side: i64,
        ranges: [[Iteration; 2]; 2],
    ) -> Result<(), EmitError> {
        let ty = Type { element, lanes: Some(side as u32) };
        let shuffle = self.shuffle_of(ty);
        let [last_row, last_column] = ranges.map(|[_, end]| self.w.binary("sub", end, side));
        let [[row, rows_end], [column, columns_end]] = ranges;
        self.counted(row, rows_end, side, |emitter, row| {
            let row = emitter.w.overloaded("llvm.smin", row, &[last_row]);
            emitter.counted(column, columns_end, side, |emitter, column| {
                let column = emitter.w.overloaded("llvm.smin", column, &[last_column]);
                emitter.tile(transpose, ty, shuffle, [row, column]);
                Ok(())
            })
        })
    }

    /// The tile whose first element is at these iterations.
    fn tile(
        &mut self,
        transpose: &Transpose<'_>,
        ty: Type,
        shuffle: Option<[Operand; 2]>,
        corner: [Iteration; 2],
    ) {
        let count = ty.lanes.unwrap_or(1);
        let lane = Lane::all(transpose.columns.var, count, true);
        let outside = self.lane.replace(lane);
        let [loaded, stored] = transpose.directions();
        self.stand_at(transpose, corner);
        let from = self.vectors_at(transpose.from, ty, stored.var);
        let place = transpose.from.0;
        let rows =
            from.into_iter().map(|address| self.load_vector(place, ty.element, address, None)).collect();
        let columns = self.transposed(rows, shuffle);
        let to = self.vectors_at(transpose.to, ty, loaded.var);
        for (address, column) in to.into_iter().zip(columns) {
            self.store_vector(transpose.to.0, address, column, None);
        }
        self.lane = outside;
    }

    fn stand_at(&mut self, transpose: &Transpose<'_>, [row, column]: [Iteration; 2]) {
        self.symbols.insert(transpose.rows.var, row);
        self.symbols.insert(transpose.columns.var, column);
    }

    /// The addresses of the vectors of a tile, numbered along a loop from its current iteration.
    fn vectors_at(&mut self, (place, index): (Place, &Expr), ty: Type, along: Sym) -> Vec<Operand> {
        let (base, here) = (self.base(place), self.symbols[&along]);
        let first = self.index(index);
        let first = self.w.address(ty.element, base, first);
        let step = index.split_linear(along).map(|(step, _)| self.index(&step));
        let mut vectors = vec![first];
        for number in 1..i64::from(ty.lanes.unwrap_or(1)) {
            vectors.push(match step {
                // From one to the next: all multiples of a step would take too many registers.
                Some(step) => self.w.address(ty.element, vectors[vectors.len() - 1], step),
                None => {
                    let iteration = self.w.binary("add", here, number);
                    self.symbols.insert(along, iteration);
                    let place = self.index(index);
                    self.w.address(ty.element, base, place)
                }
            });
        }
        self.symbols.insert(along, here);
        vectors
    }

    /// The picks of the two vectors of a perfect shuffle, if an instruction takes any picks.
    fn shuffle_of(&mut self, ty: Type) -> Option<[Operand; 2]> {
        let lanes = ty.lanes.unwrap_or(1);
        avx512::mixes(&self.w, ty).then(|| {
            [0, lanes / 2].map(|from| {
                let pairs = (from..from + lanes / 2).flat_map(|lane| [lane, lane + lanes]);
                avx512::picks(&mut self.w, ty, &pairs.collect::<Vec<u32>>())
            })
        })
    }

    /// The columns of a tile of these rows.
    fn transposed(&mut self, mut rows: Vec<Operand>, shuffle: Option<[Operand; 2]>) -> Vec<Operand> {
        for _ in 0..rows.len().ilog2() {
            let (low, high) = rows.split_at(rows.len() / 2);
            let shuffled = low.iter().zip(high).flat_map(|(&a, &b)| match shuffle {
                Some(picks) => picks.map(|picks| avx512::mixed(&mut self.w, a, b, picks)),
                None => self.w.interleave(a, b),
            });
            rows = shuffled.collect();
        }
        rows
    }
}
