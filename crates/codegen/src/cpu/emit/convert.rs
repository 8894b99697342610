//! Casts between dtypes, rounding to nearest even, each with one rounding only.
//!
//! Storage types are held as their bits. Floats among them widen to f32 exactly and are rounded from f32 in integers, except
//! where the machine converts f16 itself, and bf16, whose instruction on x86 flushes subnormals: vectors that contain one
//! are rounded in integers, and so is the remainder. f64 is first rounded to odd in f32, which makes the second rounding
//! correct (Boldo and Melquiond, Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd,
//! 2008).

use std::cmp::Ordering;

use ops::small_float::SmallFloat;
use ops::{DType, Scalar};

use super::operand::{Element, Operand};
use super::writer::Writer;
use super::{avx512, deinterleave};

/// The bits of an f32's infinity, which are those of its exponent.
const INFINITY: i64 = 0x7f80_0000;

/// The value of dtype `from` as one of dtype `to`, as [`ops::Scalar::cast`] defines it.
pub(super) fn cast(w: &mut Writer<'_>, x: Operand, from: DType, to: DType) -> Operand {
    use DType::{Bool, F32, F64};
    match (from, to) {
        _ if from == to => x,
        _ if from.is_complex() || to.is_complex() => {
            unreachable!("kernels hold the parts of complex numbers")
        }
        _ if from.is_narrow_float() => {
            let wide = widen(w, x, from);
            cast(w, wide, F32, to)
        }
        (F64, _) if to.is_narrow_float() => {
            let odd = round_to_odd(w, x);
            narrow(w, odd, to)
        }
        (_, _) if to.is_narrow_float() => {
            let single = cast(w, x, from, F32);
            narrow(w, single, to)
        }
        (F32 | F64, _) if to.is_narrow_int() => {
            let whole = cast(w, x, from, to.compute());
            resize(w, whole, to.compute(), to)
        }
        (F32 | F64, Bool) => w.compare("fcmp une", x, 0.0),
        (_, Bool) => w.compare("icmp ne", x, 0),
        (F32, F64) => w.convert("fpext", x, Element::F64),
        (F64, F32) => w.convert("fptrunc", x, Element::F32),
        (F32 | F64, _) if x.ty.lanes.is_some() && !w.isa.saturating_conversions => saturate_lanes(w, x, to),
        (F32 | F64, _) => saturate(w, x, to),
        (_, F32 | F64) if !from.is_signed_int() => w.convert("uitofp", x, Element::of(to)),
        (_, F32 | F64) => w.convert("sitofp", x, Element::of(to)),
        _ => resize(w, x, from, to),
    }
}

/// The same for a value whose NaNs may have no bits in the lower half of an f32.
pub(super) fn cast_of(
    w: &mut Writer<'_>,
    x: Operand,
    [from, to]: [DType; 2],
    has_short_nans: bool,
) -> Operand {
    if has_short_nans && (from, to) == (DType::F32, DType::BF16) && !avx512::rounds_bf16(w, x.ty) {
        let bits = w.convert("bitcast", x, Element::I32);
        let rounded = rounded_in_place(w, bits, 16);
        return upper_half(w, rounded);
    }
    cast(w, x, from, to)
}

/// An integer or a bool as an integer: its low bits, or sign-extended.
fn resize(w: &mut Writer<'_>, x: Operand, from: DType, to: DType) -> Operand {
    match from.bits().cmp(&to.bits()) {
        Ordering::Less if from.is_signed_int() => w.convert("sext", x, Element::of(to)),
        Ordering::Less => w.convert("zext", x, Element::of(to)),
        Ordering::Equal => x,
        Ordering::Greater => w.convert("trunc", x, Element::of(to)),
    }
}

/// A float as an integer: truncated, saturated, NaN as 0.
fn saturate(w: &mut Writer<'_>, x: Operand, to: DType) -> Operand {
    let intrinsic = if to.is_signed_int() { "llvm.fptosi.sat" } else { "llvm.fptoui.sat" };
    let ty = x.ty.with(Element::of(to));
    w.intrinsic(intrinsic, &[ty, x.ty], ty, &[x])
}

/// The same by comparisons, where libLLVM would convert each lane separately. Out of range the instruction gives poison,
/// which no selection takes.
fn saturate_lanes(w: &mut Writer<'_>, x: Operand, to: DType) -> Operand {
    let opcode = if to.is_signed_int() { "fptosi" } else { "fptoui" };
    let (lowest, highest) = (Scalar::lowest(to).as_i64(), Scalar::highest(to).as_i64());
    let (min, beyond) = match to.is_signed_int() {
        true => (lowest as f32, -(lowest as f32)),
        false => (0.0, (to.bits() as f32).exp2()),
    };
    let whole = w.convert(opcode, x, Element::of(to));
    let is_above = w.compare("fcmp oge", x, beyond);
    let whole = w.select(is_above, Operand::integer(highest, whole.ty), whole);
    let is_below = w.compare("fcmp olt", x, min);
    let whole = w.select(is_below, Operand::integer(lowest, whole.ty), whole);
    let is_nan = w.compare("fcmp uno", x, x);
    w.select(is_nan, Operand::integer(0, whole.ty), whole)
}

/// A storage type as f32, exactly.
fn widen(w: &mut Writer<'_>, x: Operand, from: DType) -> Operand {
    match from.small_float() {
        Some(SmallFloat::F16) if w.isa.f16_conversions => {
            let half = w.convert("bitcast", x, Element::F16);
            w.convert("fpext", half, Element::F32)
        }
        Some(format) => widen_small(w, x, &format),
        None if from == DType::F8E8M0 => widen_power(w, x),
        None if w.deinterleaved && x.ty.lanes.is_some() => deinterleave::widen(w, x),
        None => {
            let bits = w.convert("zext", x, Element::I32);
            let bits = w.binary("shl", bits, 16);
            w.convert("bitcast", bits, Element::F32)
        }
    }
}

/// The exponent and significand, moved to their places in an f32, are the value over a power of two, subnormals included.
fn widen_small(w: &mut Writer<'_>, x: Operand, format: &SmallFloat) -> Operand {
    let bits = w.convert("zext", x, Element::I32);
    let magnitude = w.binary("and", bits, i64::from(format.magnitude()));
    let moved = w.binary("shl", magnitude, i64::from(format.dropped));
    let scaled = w.convert("bitcast", moved, Element::F32);
    let scaled = w.binary("fmul", scaled, format.scale());
    let finite = w.convert("bitcast", scaled, Element::I32);
    let special = w.binary("or", moved, INFINITY);
    let is_special = w.compare("icmp uge", magnitude, i64::from(format.special));
    let magnitude = w.select(is_special, special, finite);
    let sign = w.binary("and", bits, 1 << (format.bits - 1));
    let sign = w.binary("shl", sign, i64::from(32 - format.bits));
    let bits = w.binary("or", magnitude, sign);
    w.convert("bitcast", bits, Element::F32)
}

/// An e8m0 is the exponent of an f32, except for its smallest, which is subnormal there, and its largest, which is NaN.
fn widen_power(w: &mut Writer<'_>, x: Operand) -> Operand {
    let exponent = w.convert("zext", x, Element::I32);
    let bits = w.binary("shl", exponent, 23);
    let min = w.compare("icmp eq", exponent, 0);
    let bits = w.select(min, 0x0040_0000, bits);
    let nan = w.compare("icmp eq", exponent, 0xff);
    let bits = w.select(nan, 0x7fc0_0000, bits);
    w.convert("bitcast", bits, Element::F32)
}

/// An f32 as a storage type, rounded to nearest even.
fn narrow(w: &mut Writer<'_>, x: Operand, to: DType) -> Operand {
    match to.small_float() {
        Some(SmallFloat::F16) if w.isa.f16_conversions => {
            let half = w.convert("fptrunc", x, Element::F16);
            w.convert("bitcast", half, Element::I16)
        }
        Some(format) => narrow_small(w, x, &format, Element::of(to)),
        None if to == DType::F8E8M0 => narrow_power(w, x),
        None if avx512::rounds_bf16(w, x.ty) && !w.runs_seldom => {
            let otherwise = avx512::any_rounds_otherwise(w, x);
            w.either(
                otherwise,
                |w| w.by_pieces(x, w.isa.group(), Element::I16, narrow_bf16),
                |w| {
                    let rounded = avx512::narrow_bf16(w, x);
                    if w.deinterleaved { deinterleave::to_memory(w, rounded) } else { rounded }
                },
            )
        }
        None => narrow_bf16(w, x),
    }
}

/// Adding just under half a unit, and the last bit that stays, makes the truncation round to nearest even.
fn round_off(w: &mut Writer<'_>, bits: Operand, dropped: i64) -> Operand {
    let rounded = rounded_in_place(w, bits, dropped);
    w.binary("lshr", rounded, dropped)
}

/// The same with the dropped bits still below, with any contents.
fn rounded_in_place(w: &mut Writer<'_>, bits: Operand, dropped: i64) -> Operand {
    let kept = w.binary("lshr", bits, dropped);
    let last = w.binary("and", kept, 1);
    let half = w.binary("add", bits, (1 << (dropped - 1)) - 1);
    w.binary("add", half, last)
}

fn narrow_bf16(w: &mut Writer<'_>, x: Operand) -> Operand {
    let bits = w.convert("bitcast", x, Element::I32);
    let rounded = rounded_in_place(w, bits, 16);
    let nan = w.compare("fcmp uno", x, x);
    // Rounding could carry a NaN into infinity; every NaN becomes the NaN of constants.
    let bits = w.select(nan, Operand::integer(0x7fc0_0000, bits.ty), rounded);
    upper_half(w, bits)
}

/// The upper half of 32 bits.
fn upper_half(w: &mut Writer<'_>, bits: Operand) -> Operand {
    if w.deinterleaved && bits.ty.lanes.is_some() {
        return deinterleave::upper_halves(w, bits);
    }
    let bits = w.binary("lshr", bits, 16);
    w.convert("trunc", bits, Element::I16)
}

fn narrow_small(w: &mut Writer<'_>, x: Operand, format: &SmallFloat, element: Element) -> Operand {
    let bits = w.convert("bitcast", x, Element::I32);
    let magnitude = w.binary("and", bits, 0x7fff_ffff);
    // With a smaller exponent bias, values that are too large give at least the first magnitude that is no number.
    let rebiased = w.binary("sub", magnitude, i64::from(format.rebias) << 23);
    let normal = round_off(w, rebiased, i64::from(format.dropped));
    let overflow = Operand::integer(format.overflow.into(), normal.ty);
    let normal = w.overloaded("llvm.umin", normal, &[overflow]);
    // Below the normal numbers the sum with the aligner is rounded to a multiple of the smallest number.
    let small = w.convert("bitcast", magnitude, Element::F32);
    let small = w.binary("fadd", small, format.aligner());
    let small = w.convert("bitcast", small, Element::I32);
    let small = w.binary("sub", small, i64::from(format.aligner().to_bits()));
    let is_small = w.compare("icmp ult", magnitude, i64::from(format.min_normal()));
    let rounded = w.select(is_small, small, normal);
    let sign = w.binary("lshr", bits, i64::from(32 - format.bits));
    let sign = w.binary("and", sign, 1 << (format.bits - 1));
    let rounded = w.binary("or", rounded, sign);
    let is_nan = w.compare("icmp ugt", magnitude, i64::from(format.last_number()));
    let rounded = w.select(is_nan, i64::from(format.nan), rounded);
    w.convert("trunc", rounded, element)
}

/// The nearest power of two, halfway cases to the larger one; in a subnormal f32 the only exact one is 2^-127.
fn narrow_power(w: &mut Writer<'_>, x: Operand) -> Operand {
    let bits = w.convert("bitcast", x, Element::I32);
    let magnitude = w.binary("and", bits, 0x7fff_ffff);
    let exponent = w.binary("lshr", magnitude, 23);
    let significand = w.binary("and", bits, 0x007f_ffff);
    let subnormal = w.compare("icmp eq", exponent, 0);
    let subnormal = w.convert("zext", subnormal, Element::I32);
    let half = w.binary("add", subnormal, 0x0040_0000);
    let up = w.compare("icmp uge", significand, half);
    let up = w.convert("zext", up, Element::I32);
    let rounded = w.binary("add", exponent, up);
    let nan = Operand::integer(0xff, rounded.ty);
    let rounded = w.overloaded("llvm.umin", rounded, &[nan]);
    w.convert("trunc", rounded, Element::I8)
}

/// An f64 as an f32, towards zero, with the last bit set if that lost anything.
fn round_to_odd(w: &mut Writer<'_>, x: Operand) -> Operand {
    let nearest = w.convert("fptrunc", x, Element::F32);
    let back = w.convert("fpext", nearest, Element::F64);
    let (reached, given) = (w.overloaded("llvm.fabs", back, &[]), w.overloaded("llvm.fabs", x, &[]));
    let bits = w.convert("bitcast", nearest, Element::I32);
    let above = w.compare("fcmp ogt", reached, given);
    let back_off = w.convert("sext", above, Element::I32);
    let towards_zero = w.binary("add", bits, back_off);
    let inexact = w.compare("fcmp one", back, x);
    let sticky = w.convert("zext", inexact, Element::I32);
    let odd = w.binary("or", towards_zero, sticky);
    w.convert("bitcast", odd, Element::F32)
}
