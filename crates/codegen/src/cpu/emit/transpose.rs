//! A square of scratch turned in place: blocks of whole vectors, each turned in registers.
//!
//! A block of `n` vectors of `n` elements is turned by `log2 n` rounds of a perfect shuffle: each round puts vector `i`
//! and vector `i + n/2` together, element by element in turn, as vectors `2i` and `2i + 1`.

use ir::kernel::Scratch;

use super::operand::{Element, Operand, Type};
use super::{EmitError, Emitter, wide};

impl Emitter<'_> {
    /// Two blocks that lie across the diagonal change places, each turned; one on the diagonal does so with itself.
    pub(super) fn transpose(&mut self, scratch: Scratch, side: u32) -> Result<(), EmitError> {
        let element = Element::in_memory(self.kernel.scratch[scratch].dtype);
        let (base, index) = (self.scratch[&scratch], Type::scalar(Element::I64));
        let block = self.block_side(element).min(side);
        let [zero, end] = [0, side].map(|place| Operand::integer(i64::from(place), index));
        let ty = Type { element, lanes: Some(block) };
        let shuffle = self.shuffle_of(ty);
        self.counted(zero, end, i64::from(block), |emitter, row| {
            emitter.counted(row, end, i64::from(block), |emitter, column| {
                let above = emitter.rows_of(base, ty, side, row, column);
                let below = emitter.rows_of(base, ty, side, column, row);
                let [upper, lower] = [&above, &below].map(|rows| emitter.turned(ty, rows, shuffle));
                emitter.put_rows(&below, &upper);
                emitter.put_rows(&above, &lower);
                Ok(())
            })
        })
    }

    /// How many elements fill a vector: half of the lanes hold f32.
    fn block_side(&self, element: Element) -> u32 {
        (self.lanes() * 16 / element.bits()).clamp(1, 32)
    }

    /// The addresses of the rows of the block that begins at a row and a column.
    fn rows_of(&mut self, base: Operand, ty: Type, side: u32, row: Operand, column: Operand) -> Vec<Operand> {
        let start = self.w.binary("mul", row, i64::from(side));
        let start = self.w.binary("add", start, column);
        let first = self.w.address(ty.element, base, start);
        let offsets = (0..ty.lanes.unwrap_or(1)).map(|row| i64::from(row * side));
        offsets
            .map(|offset| {
                let offset = Operand::integer(offset, Type::scalar(Element::I64));
                self.w.address(ty.element, first, offset)
            })
            .collect()
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

    /// The block at these addresses, turned.
    fn turned(&mut self, ty: Type, rows: &[Operand], shuffle: Option<[Operand; 2]>) -> Vec<Operand> {
        let align = ty.element.bits() / 8;
        let mut rows: Vec<Operand> = rows
            .iter()
            .map(|row| self.w.instruction(ty, format_args!("load {ty}, {}, align {align}", row.typed())))
            .collect();
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

    fn put_rows(&mut self, addresses: &[Operand], rows: &[Operand]) {
        for (address, row) in addresses.iter().zip(rows) {
            let align = row.ty.element.bits() / 8;
            self.w.effect(format_args!("store {}, {}, align {align}", row.typed(), address.typed()));
        }
    }
}
