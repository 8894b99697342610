//! Casts between dtypes, rounding to nearest even, each with one rounding only.
//!
//! Halves are held as their bits. They widen to f32 exactly and are rounded from f32 in integers, except where the
//! machine converts f16 itself: the bf16 instruction of x86 would flush subnormals. From f64 the way leads over an f32
//! rounded to odd, which keeps the second rounding honest (Boldo and Melquiond, Emulation of FMA and correctly rounded
//! sums: proved algorithms using rounding to odd, 2008).

use ir::DType;

use super::operand::{Element, Operand};
use super::writer::Writer;

/// The value of dtype `from` as one of dtype `to`, as [`ir::Scalar::cast`] defines it.
pub(super) fn cast(w: &mut Writer<'_>, x: Operand, from: DType, to: DType) -> Operand {
    use DType::{Bool, F16, F32, F64, I32, I64};
    match (from, to) {
        _ if from == to => x,
        _ if from.is_storage_only() => {
            let wide = widen(w, x, from);
            cast(w, wide, F32, to)
        }
        (F64, _) if to.is_storage_only() => {
            let odd = round_to_odd(w, x);
            narrow(w, odd, to)
        }
        (_, _) if to.is_storage_only() => {
            let single = cast(w, x, from, F32);
            narrow(w, single, to)
        }
        (F32 | F64, Bool) => w.compare("fcmp une", x, 0.0),
        (_, Bool) => w.compare("icmp ne", x, 0),
        (F32, F64) => w.convert("fpext", x, Element::F64),
        (F64, F32) => w.convert("fptrunc", x, Element::F32),
        (F32 | F64, _) => saturate(w, x, Element::of(to)),
        (Bool, F32 | F64) => w.convert("uitofp", x, Element::of(to)),
        (_, F32 | F64) => w.convert("sitofp", x, Element::of(to)),
        (Bool, _) => w.convert("zext", x, Element::of(to)),
        (I32, I64) => w.convert("sext", x, Element::I64),
        (I64, I32) => w.convert("trunc", x, Element::I32),
        (_, F16 | DType::BF16) | (F16 | DType::BF16, _) | (I32, I32) | (I64, I64) => x,
    }
}

/// A float as an integer: truncated, saturated, NaN as 0.
fn saturate(w: &mut Writer<'_>, x: Operand, to: Element) -> Operand {
    let ty = x.ty.with(to);
    w.intrinsic("llvm.fptosi.sat", &[ty, x.ty], ty, &[x])
}

/// A half as f32, exactly.
fn widen(w: &mut Writer<'_>, x: Operand, from: DType) -> Operand {
    if from == DType::F16 {
        return widen_f16(w, x);
    }
    let bits = w.convert("zext", x, Element::I32);
    let bits = w.binary("shl", bits, 16);
    w.convert("bitcast", bits, Element::F32)
}

/// The exponent and significand, moved to their places in an f32, are the value times 2^-112, subnormals included.
fn widen_f16(w: &mut Writer<'_>, x: Operand) -> Operand {
    if w.isa.f16_conversions {
        let half = w.convert("bitcast", x, Element::F16);
        return w.convert("fpext", half, Element::F32);
    }
    let bits = w.convert("zext", x, Element::I32);
    let magnitude = w.binary("and", bits, 0x7fff);
    let moved = w.binary("shl", magnitude, 13);
    let scaled = w.convert("bitcast", moved, Element::F32);
    let scaled = w.binary("fmul", scaled, power_of_two(112));
    let finite = w.convert("bitcast", scaled, Element::I32);
    let special = w.binary("or", moved, 0x7f80_0000);
    let is_special = w.compare("icmp uge", magnitude, 0x7c00);
    let magnitude = w.select(is_special, special, finite);
    let sign = w.binary("and", bits, 0x8000);
    let sign = w.binary("shl", sign, 16);
    let bits = w.binary("or", magnitude, sign);
    w.convert("bitcast", bits, Element::F32)
}

/// An f32 as a half, rounded to nearest even.
fn narrow(w: &mut Writer<'_>, x: Operand, to: DType) -> Operand {
    if to == DType::BF16 {
        return narrow_bf16(w, x);
    }
    if w.isa.f16_conversions {
        let half = w.convert("fptrunc", x, Element::F16);
        return w.convert("bitcast", half, Element::I16);
    }
    narrow_f16(w, x)
}

/// Adding just under half a unit, and the last bit that stays, makes the truncation round to nearest even.
fn round_off(w: &mut Writer<'_>, bits: Operand, dropped: i64) -> Operand {
    let kept = w.binary("lshr", bits, dropped);
    let last = w.binary("and", kept, 1);
    let half = w.binary("add", bits, (1 << (dropped - 1)) - 1);
    let rounded = w.binary("add", half, last);
    w.binary("lshr", rounded, dropped)
}

fn narrow_bf16(w: &mut Writer<'_>, x: Operand) -> Operand {
    let bits = w.convert("bitcast", x, Element::I32);
    let rounded = round_off(w, bits, 16);
    let nan = w.compare("fcmp uno", x, x);
    // Rounding could carry a NaN into infinity; every NaN becomes the one that constants have.
    let bits = w.select(nan, Operand::integer(0x7fc0, bits.ty), rounded);
    w.convert("trunc", bits, Element::I16)
}

fn narrow_f16(w: &mut Writer<'_>, x: Operand) -> Operand {
    let bits = w.convert("bitcast", x, Element::I32);
    let magnitude = w.binary("and", bits, 0x7fff_ffff);
    // The exponent's bias is smaller by 112. From 65520 on this gives infinity, from 2^16 on more than that.
    let rebiased = w.binary("sub", magnitude, 112 << 23);
    let normal = round_off(w, rebiased, 13);
    let normal = w.overloaded("llvm.umin", normal, &[Operand::integer(0x7c00, normal.ty)]);
    // Below 2^-14 the sum with 0.5 is rounded to a multiple of 2^-24, the smallest f16.
    let small = w.convert("bitcast", magnitude, Element::F32);
    let small = w.binary("fadd", small, 0.5);
    let small = w.convert("bitcast", small, Element::I32);
    let small = w.binary("sub", small, i64::from(0.5_f32.to_bits()));
    let is_small = w.compare("icmp ult", magnitude, 113 << 23);
    let is_nan = w.compare("icmp ugt", magnitude, 0x7f80_0000);
    let rounded = w.select(is_small, small, normal);
    let rounded = w.select(is_nan, Operand::integer(0x7e00, bits.ty), rounded);
    let sign = w.binary("lshr", bits, 16);
    let sign = w.binary("and", sign, 0x8000);
    let rounded = w.binary("or", rounded, sign);
    w.convert("trunc", rounded, Element::I16)
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

fn power_of_two(exponent: i32) -> f32 {
    2.0_f32.powi(exponent)
}
