//! Instructions of AVX-512 that have no short form in plain IR: scaling by powers of two, and minimum and maximum that
//! heed NaN and the signs of zeros.
//!
//! They work on 512 bits; longer vectors are taken in pieces.

use super::operand::{Element, Operand, Type};
use super::writer::Writer;

/// Lets an instruction round as the thread is set to, which is to nearest.
const CURRENT_ROUNDING: i64 = 4;

/// Whether the instructions here apply to values of this type.
pub(super) fn applies(w: &Writer<'_>, ty: Type) -> bool {
    let wide = |lanes: u32| lanes * ty.element.bits() >= 512 && lanes.is_power_of_two();
    w.isa.avx512 && matches!(ty.element, Element::F32 | Element::F64) && ty.lanes.is_some_and(wide)
}

/// `x * 2^n` for whole n, correctly rounded, infinite or subnormal as it must be. For f32.
pub(super) fn scale(w: &mut Writer<'_>, x: Operand, n: Operand) -> Operand {
    in_pieces(w, x, n, &|w, x, n| {
        let args = [x, n, Operand::float(0.0, x.ty), all_lanes(x.ty), rounding()];
        w.intrinsic("llvm.x86.avx512.mask.scalef.ps.512", &[], x.ty, &args)
    })
}

/// The intrinsic `llvm.maximum` or `llvm.minimum`: a range instruction, and NaN put in where either operand is. A fold
/// waits for half as long between two turns as with what LLVM makes of the intrinsic.
pub(super) fn extremum(w: &mut Writer<'_>, a: Operand, b: Operand, largest: bool) -> Operand {
    // The sign of the result is that of the operand taken.
    let selector = if largest { 0b0101 } else { 0b0100 };
    let chosen = in_pieces(w, a, b, &|w, a, b| {
        let name = if a.ty.element == Element::F64 { "pd" } else { "ps" };
        let selector = Operand::integer(selector, Type::scalar(Element::I32));
        let args = [a, b, selector, Operand::float(0.0, a.ty), all_lanes(a.ty), rounding()];
        w.intrinsic(&format!("llvm.x86.avx512.mask.range.{name}.512"), &[], a.ty, &args)
    });
    let unordered = w.compare("fcmp uno", a, b);
    w.select(unordered, Operand::float(f64::NAN, a.ty), chosen)
}

/// Applies an instruction of 512 bits to vectors of any power of two of that.
fn in_pieces(
    w: &mut Writer<'_>,
    a: Operand,
    b: Operand,
    instruction: &dyn Fn(&mut Writer<'_>, Operand, Operand) -> Operand,
) -> Operand {
    let lanes = a.ty.lanes.unwrap_or(1);
    if lanes * a.ty.element.bits() <= 512 {
        return instruction(w, a, b);
    }
    let [low, high] = [0, lanes / 2].map(|from| {
        let (a, b) = (w.slice(a, from, lanes / 2), w.slice(b, from, lanes / 2));
        in_pieces(w, a, b, instruction)
    });
    w.concatenate(low, high)
}

/// The mask operand that holds everywhere, a bit per lane.
fn all_lanes(ty: Type) -> Operand {
    let element = if ty.element == Element::F64 { Element::I8 } else { Element::I16 };
    Operand::integer(-1, Type::scalar(element))
}

fn rounding() -> Operand {
    Operand::integer(CURRENT_ROUNDING, Type::scalar(Element::I32))
}
