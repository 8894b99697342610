//! The first lanes' elements of 16 bits, below AVX-512. No instruction masks single ones, and libLLVM would branch for each
//! lane: they are accessed in pairs, and the last one alone if their number is odd.

use kernel::Place;

use super::memory::MemoryEmitter;
use super::operand::{Element, Operand, Type};

/// Bytes of an element, to which it is aligned.
const ALIGNMENT: i64 = 2;

impl MemoryEmitter<'_> {
    /// How many lanes access elements of this type here, if these are accessed in pairs: neighbours, without a guard.
    pub(super) fn lanes_in_pairs(&self, place: Place, element: Element) -> Option<Operand> {
        let lane = self.lane?;
        let is_meant = !self.w.isa.avx512 && element.bits() == 16 && lane.count >= 2;
        lane.left.filter(|_| is_meant && !self.holds_lanes(place))
    }

    /// The elements of the first `left` lanes; zeros for the others.
    pub(super) fn load_pairs(&mut self, element: Element, address: Operand, left: Operand) -> Operand {
        let (lanes, scalar) = (self.lanes(), Type::scalar(element));
        let (pairs, mask) = self.pairs(left);
        let nothing = Operand::integer(0, pairs);
        let args = [address, Operand::integer(ALIGNMENT, Type::scalar(Element::I32)), mask, nothing];
        let loaded = self.w.intrinsic("llvm.masked.load", &[pairs, address.ty], pairs, &args);
        let loaded = self.w.reinterpret(loaded, element);
        let (is_odd, last) = self.odd(left);
        let zero = self.w.zeros(scalar);
        let from = self.at_lane(element, address, last);
        let from = self.w.select(is_odd, from, zero);
        let single =
            self.w.instruction(scalar, format_args!("load {scalar}, {}, align {ALIGNMENT}", from.typed()));
        let lane = self.w.select(is_odd, last, -1);
        let is_last = self.w.compare("icmp eq", Operand::iota(Element::I32, lanes), lane);
        let single = self.w.splat(single, lanes);
        self.w.select(is_last, single, loaded)
    }

    /// Stores the elements of the first `left` lanes.
    pub(super) fn store_pairs(&mut self, address: Operand, value: Operand, left: Operand) {
        let element = value.ty.element;
        let (pairs, mask) = self.pairs(left);
        let both = self.w.reinterpret(value, Element::I32);
        let args = [both, address, Operand::integer(ALIGNMENT, Type::scalar(Element::I32)), mask];
        self.w.intrinsic_effect("llvm.masked.store", &[pairs, address.ty], &args);
        let (is_odd, last) = self.odd(left);
        let to = self.at_lane(element, address, last);
        self.w.only_if(is_odd, |w| {
            let text = format!("extractelement {}, {}", value.typed(), last.typed());
            let single = w.instruction(Type::scalar(element), text);
            w.effect(format_args!("store {}, {}, align {ALIGNMENT}", single.typed(), to.typed()));
        });
    }

    /// The type of the pairs of all lanes, and which of them the first `left` lanes fill.
    fn pairs(&mut self, left: Operand) -> (Type, Operand) {
        let count = self.lanes() / 2;
        let pairs = Type { element: Element::I32, lanes: Some(count) };
        let second = self.w.binary("shl", Operand::iota(Element::I32, count), 1);
        let second = self.w.binary("or", second, 1);
        (pairs, self.w.compare("icmp slt", second, left))
    }

    /// Whether the number of lanes is odd, and the last of them.
    fn odd(&mut self, left: Operand) -> (Operand, Operand) {
        let odd = self.w.binary("and", left, 1);
        (self.w.compare("icmp ne", odd, 0), self.w.binary("sub", left, 1))
    }

    fn at_lane(&mut self, element: Element, address: Operand, lane: Operand) -> Operand {
        let lane = self.w.convert("sext", lane, Element::I64);
        self.w.address(element, address, lane)
    }
}
