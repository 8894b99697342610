//! Instructions of AVX-512 that have no short form in plain IR: scaling by powers of two, minimum and maximum that respect
//! NaN and the signs of zeros, and any mixture of the elements of two vectors.
//!
//! They work on 512 bits; longer vectors are taken in pieces.

use super::operand::{Element, Operand, Term, Type};
use super::writer::Writer;

/// Rounds in the thread's rounding mode, which is to nearest.
const CURRENT_ROUNDING: i64 = 4;

/// Whether the instructions here apply to values of this type.
pub(super) fn applies(w: &Writer<'_>, ty: Type) -> bool {
    let wide = |lanes: u32| lanes * ty.element.bits() >= 512 && lanes.is_power_of_two();
    w.isa.avx512 && matches!(ty.element, Element::F32 | Element::F64) && ty.lanes.is_some_and(wide)
}

/// `x` minus the next integer below; 0 for infinities. For f32.
pub(super) fn fraction(w: &mut Writer<'_>, x: Operand) -> Operand {
    // Round down, without an inexact exception.
    const DOWNWARDS: i64 = 0b1001;
    in_pieces(w, x, x, &|w, x, _| {
        let down = Operand::integer(DOWNWARDS, Type::scalar(Element::I32));
        let args = [x, down, Operand::float(0.0, x.ty), all_lanes(x.ty), rounding()];
        w.intrinsic("llvm.x86.avx512.mask.reduce.ps.512", &[], x.ty, &args)
    })
}

/// One over `x`, within 2^-14 of itself; of zeros and infinities exactly. For f32.
pub(super) fn reciprocal_half(w: &mut Writer<'_>, x: Operand) -> Operand {
    in_pieces(w, x, x, &|w, x, _| {
        let args = [x, Operand::float(0.0, x.ty), all_lanes(x.ty)];
        w.intrinsic("llvm.x86.avx512.rcp14.ps.512", &[], x.ty, &args)
    })
}

/// `x * 2^n` for the integer n next below, correctly rounded, infinite or subnormal as it must be; zero for n below `min`,
/// without the microcode that takes hundreds of cycles for results that underflow.
pub(super) fn scale(w: &mut Writer<'_>, x: Operand, n: Operand, min: f64) -> Operand {
    in_pieces(w, x, n, &|w, x, n| {
        let counts = w.compare("fcmp uge", n, Term::Float(min));
        let mask = mask_type(x.ty);
        let counts = w.instruction(mask, format_args!("bitcast {} to {mask}", counts.typed()));
        let args = [x, n, Operand::float(0.0, x.ty), counts, rounding()];
        let name = if x.ty.element == Element::F64 { "pd" } else { "ps" };
        w.intrinsic(&format!("llvm.x86.avx512.mask.scalef.{name}.512"), &[], x.ty, &args)
    })
}

/// Whether f32 values of this type are rounded to bf16 by an instruction.
pub(super) fn rounds_bf16(w: &Writer<'_>, ty: Type) -> bool {
    w.isa.bf16_conversions && ty.element == Element::F32 && applies(w, ty)
}

/// Whether the bf16 instruction gives any element another result than integer rounding: it takes subnormals for zero, and
/// keeps the bits of a NaN.
pub(super) fn any_rounds_otherwise(w: &mut Writer<'_>, x: Operand) -> Operand {
    const QUIET_NAN: i64 = 0x01;
    const SUBNORMAL: i64 = 0x20;
    const SIGNALLING_NAN: i64 = 0x80;
    let register = 512 / Element::F32.bits();
    let class = Operand::integer(QUIET_NAN | SUBNORMAL | SIGNALLING_NAN, Type::scalar(Element::I32));
    let pieces = (0..x.ty.lanes.unwrap_or(1)).step_by(register as usize).map(|from| {
        let piece = if x.ty.lanes == Some(register) { x } else { w.slice(x, from, register) };
        w.intrinsic("llvm.x86.avx512.fpclass.ps.512", &[], piece.ty.with(Element::I1), &[piece, class])
    });
    let pieces: Vec<Operand> = pieces.collect();
    let found = pieces.into_iter().reduce(|a, b| w.binary("or", a, b)).expect("vectors have elements");
    w.any(found)
}

/// f32 as the bits of bf16, rounded to nearest even; subnormals as zero.
pub(super) fn narrow_bf16(w: &mut Writer<'_>, x: Operand) -> Operand {
    let lanes = x.ty.lanes.unwrap_or(1);
    let half = lanes / 2;
    let rounded = x.ty.with(Element::BF16);
    let rounded = match lanes * Element::F32.bits() {
        512 => w.intrinsic("llvm.x86.avx512bf16.cvtneps2bf16.512", &[], rounded, &[x]),
        1024 => {
            let (low, high) = (w.slice(x, 0, half), w.slice(x, half, half));
            w.intrinsic("llvm.x86.avx512bf16.cvtne2ps2bf16.512", &[], rounded, &[high, low])
        }
        _ => {
            let (low, high) = (w.slice(x, 0, half), w.slice(x, half, half));
            let (low, high) = (narrow_bf16(w, low), narrow_bf16(w, high));
            return w.concatenate(low, high);
        }
    };
    w.convert("bitcast", rounded, Element::I16)
}

/// The intrinsic `llvm.maximum` or `llvm.minimum`: a range instruction, with NaN inserted where either operand is NaN. Its
/// latency in a fold is half that of LLVM's code for the intrinsic.
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

/// Whether two vectors of this type are mixed by one instruction.
pub(super) fn mixes(w: &Writer<'_>, ty: Type) -> bool {
    let bits = ty.element.bits();
    w.isa.avx512 && bits >= 16 && ty.lanes.is_some_and(|lanes| lanes * bits == 512)
}

/// The numbers, through both vectors of this type, of the elements that [`mixed`] picks. They are hidden from libLLVM: for
/// known picks it searches other instructions with the same effect, which takes three times as long as everything else.
pub(super) fn picks(w: &mut Writer<'_>, ty: Type, numbers: &[u32]) -> Operand {
    let element = match ty.element.bits() {
        16 => Element::I16,
        32 => Element::I32,
        _ => Element::I64,
    };
    let ty = ty.with(element);
    let numbers: Vec<String> = numbers.iter().map(|number| format!("{element} {number}")).collect();
    w.instruction(ty, format_args!("call {ty} asm \"\", \"=v,0\"({ty} <{}>)", numbers.join(", ")))
}

/// The picked elements of two vectors.
pub(super) fn mixed(w: &mut Writer<'_>, a: Operand, b: Operand, picks: Operand) -> Operand {
    let name = match a.ty.element {
        Element::F32 => "ps",
        Element::F64 => "pd",
        Element::I32 => "d",
        Element::I64 => "q",
        _ => "hi",
    };
    w.intrinsic(&format!("llvm.x86.avx512.vpermi2var.{name}.512"), &[], a.ty, &[a, picks, b])
}

/// Applies a 512-bit instruction to vectors of any power of two of that.
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
    Operand::integer(-1, mask_type(ty))
}

/// A bit for each lane of a vector of 512 bits.
fn mask_type(ty: Type) -> Type {
    Type::scalar(if ty.element == Element::F64 { Element::I8 } else { Element::I16 })
}

fn rounding() -> Operand {
    Operand::integer(CURRENT_ROUNDING, Type::scalar(Element::I32))
}
