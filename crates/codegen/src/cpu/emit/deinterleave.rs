//! Vectors of loops whose lanes are deinterleaved: conversions between memory order and lane order.

use kernel::Place;

use super::memory::MemoryEmitter;
use super::operand::{Element, Operand};
use super::writer::Writer;

impl MemoryEmitter<'_> {
    /// Whether elements of this type have another order at a place than the lanes here.
    pub(super) fn is_shuffled(&self, place: Place, element: Element) -> bool {
        let in_order = matches!(place, Place::Scratch(scratch) if self.analyses.deinterleaved.holds(scratch));
        self.w.deinterleaved && element != Element::I16 && !in_order
    }
}

/// A vector in memory order, deinterleaved.
pub(super) fn from_memory(w: &mut Writer<'_>, x: Operand) -> Operand {
    let half = w.isa.group() / 2;
    in_groups(w, x, &|lane| if lane < half { 2 * lane } else { 2 * (lane - half) + 1 })
}

/// A deinterleaved vector in memory order.
pub(super) fn to_memory(w: &mut Writer<'_>, x: Operand) -> Operand {
    let half = w.isa.group() / 2;
    in_groups(w, x, &|lane| lane / 2 + if lane.is_multiple_of(2) { 0 } else { half })
}

/// The numbers of elements from a group's first, in deinterleaved order.
pub(super) fn numbers(w: &mut Writer<'_>, lanes: u32) -> Operand {
    let iota = Operand::iota(Element::I32, lanes);
    from_memory(w, iota)
}

fn in_groups(w: &mut Writer<'_>, x: Operand, pick: &dyn Fn(u32) -> u32) -> Operand {
    let group = w.isa.group();
    let lanes = 0..x.ty.lanes.unwrap_or(1);
    w.picked(x, lanes.map(|lane| lane / group * group + pick(lane % group)))
}

/// bf16 in memory order as deinterleaved f32.
pub(super) fn widen(w: &mut Writer<'_>, x: Operand) -> Operand {
    let lanes = x.ty.lanes.unwrap_or(1);
    let half = w.isa.group() / 2;
    let words = w.reinterpret(x, Element::I32);
    let even = w.binary("shl", words, 16);
    let odd = w.binary("and", words, HIGH);
    let groups = (0..lanes / 2).step_by(half as usize).map(|from| {
        let (even, odd) = (w.slice(even, from, half), w.slice(odd, from, half));
        w.concatenate(even, odd)
    });
    let groups: Vec<Operand> = groups.collect();
    let all = w.joined(groups);
    w.convert("bitcast", all, Element::F32)
}

/// f32 bits whose upper half is a bf16, as bf16: deinterleaved order becomes memory order.
pub(super) fn upper_halves(w: &mut Writer<'_>, bits: Operand) -> Operand {
    let half = w.isa.group() / 2;
    let groups = (0..bits.ty.lanes.unwrap_or(1)).step_by(2 * half as usize).map(|from| {
        let (even, odd) = (w.slice(bits, from, half), w.slice(bits, from + half, half));
        let even = w.binary("lshr", even, 16);
        let odd = w.binary("and", odd, HIGH);
        w.binary("or", even, odd)
    });
    let groups: Vec<Operand> = groups.collect();
    let words = w.joined(groups);
    w.reinterpret(words, Element::I16)
}

/// The upper half of a word.
const HIGH: i64 = 0xffff_0000_u32 as i32 as i64;
