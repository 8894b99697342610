//! Lanes whose elements are two to four apart, or in reverse order: whole vectors are loaded, and shuffled in order; stores
//! that fill memory in turn are interleaved and stored as whole vectors. No memory beside the elements is accessed.

use index::Expr;
use kernel::Place;

use super::indices::Lanewise;
use super::memory::MemoryEmitter;
use super::operand::{Element, Operand, Type};

impl MemoryEmitter<'_> {
    /// Whether all lanes have an iteration, so that accesses need no mask.
    pub(super) fn has_all_lanes(&self) -> bool {
        self.lane.is_some_and(|lane| lane.mask.is_none()) && self.lanes() >= MIN_LANES
    }

    /// Every `stride`-th element from the first. There are `stride` vectors; the last of them ends with the last element, so
    /// that nothing after it is read.
    pub(super) fn load_strided(
        &mut self,
        element: Element,
        base: Operand,
        first: Operand,
        stride: u32,
    ) -> Operand {
        let (ty, lanes) = (self.vector(element), self.lanes());
        let start = self.w.address(element, base, first);
        let last = stride - 1;
        let begin =
            |vector: u32| if vector == last { stride * (lanes - 1) + 1 - lanes } else { vector * lanes };
        let vectors: Vec<Operand> = (0..stride)
            .map(|vector| {
                let begin = Operand::integer(i64::from(begin(vector)), Type::scalar(Element::I64));
                let address = self.w.address(element, start, begin);
                let align = element.bits() / 8;
                self.w.instruction(ty, format_args!("load {ty}, {}, align {align}", address.typed()))
            })
            .collect();
        let pick = |lane: u32| {
            let vector = stride * lane / lanes;
            (vector as usize, stride * lane - begin(vector))
        };
        let picks: Vec<(usize, u32)> = (0..lanes).map(pick).collect();
        self.w.gathered(&vectors, &picks)
    }

    /// The elements from the first downwards: a whole vector, in reverse order.
    pub(super) fn load_reversed(&mut self, element: Element, base: Operand, first: Operand) -> Operand {
        let ty = self.vector(element);
        let last = self.last_of_reversed(element, base, first);
        let align = element.bits() / 8;
        let loaded = self.w.instruction(ty, format_args!("load {ty}, {}, align {align}", last.typed()));
        self.w.reversed(loaded)
    }

    /// The address of the last lane's element, if elements lie downwards from the first: the lowest address.
    pub(super) fn last_of_reversed(&mut self, element: Element, base: Operand, first: Operand) -> Operand {
        let others = i64::from(self.lanes()) - 1;
        let last = self.w.binary("sub", first, others);
        self.w.address(element, base, last)
    }

    /// Stores the values of a group of stores in turn, if this store belongs to one: at the last of them, where all values
    /// are known.
    pub(super) fn store_interleaved(&mut self, place: Place, index: &Expr) -> bool {
        if !self.has_all_lanes() {
            return false;
        }
        let Some(group) = self.analyses.interleaved.group(place, index).cloned() else { return false };
        if group.last != *index {
            return true;
        }
        let Lanewise::Strided(first, _) = self.lanewise(&group.first) else {
            unreachable!("the analysis takes strides along the lanes alone");
        };
        let base = self.base(place);
        let values: Vec<Operand> = group
            .values
            .iter()
            .map(|&value| {
                let value = self.as_in_memory(value);
                self.splat(value)
            })
            .collect();
        let address = self.w.address(values[0].ty.element, base, first);
        let value = self.w.interleaved(&values);
        self.store_unmasked(place, address, value);
        true
    }
}

/// The fewest lanes that are worth a shuffle.
const MIN_LANES: u32 = 4;
