//! The remainder of floats, exact: the dividend less the nearest multiple of the divisor, plus the divisor if that is below
//! zero.
//!
//! Of f32 in double precision, where a multiple below 2^29 is exact; of f64 by a fused multiply-add, where the nearest multiple
//! may be the one beside it. Larger quotients send the whole vector to the C library, as do doubles on machines without
//! that instruction.

use super::super::operand::{Element, Operand};
use super::super::writer::Writer;
use super::double;

/// Quotients from here on are not computed inline.
const MAX_QUOTIENT: f32 = 536_870_912.0;

/// x less the multiple of y next to it towards zero, with the sign of x; `function` is that of the C library.
pub(in super::super) fn remainder(
    w: &mut Writer<'_>,
    function: &'static str,
    x: Operand,
    y: Operand,
) -> Operand {
    let is_double = x.ty.element == Element::F64;
    if is_double && !w.isa.fma {
        return w.call_lanes(function, &[x, y]);
    }
    let [dividend, divisor] = [x, y].map(|operand| {
        let magnitude = w.abs(operand);
        if is_double { magnitude } else { w.convert("fpext", magnitude, Element::F64) }
    });
    let quotient = w.div(dividend, divisor);
    let is_large = w.compare("fcmp oge", quotient, MAX_QUOTIENT);
    w.unless_any(is_large, function, &[x, y], |w| {
        let n = double::nearest(w, quotient).float;
        let negated = w.unary("fneg", n);
        let rest = w.mul_add(negated, divisor, dividend);
        let above = w.add(rest, divisor);
        let is_below = w.compare("fcmp olt", rest, 0.0);
        let rest = w.select(is_below, above, rest);
        // The dividend itself, also where the divisor is infinite.
        let is_small = w.compare("fcmp olt", quotient, 0.5);
        let rest = w.select(is_small, dividend, rest);
        let rest = if is_double { rest } else { w.convert("fptrunc", rest, Element::F32) };
        w.copysign(rest, x)
    })
}
