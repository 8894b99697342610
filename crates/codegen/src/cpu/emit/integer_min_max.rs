//! The maximum and the minimum of half types as integers with the same order: their keys.
//!
//! The bits of a half type, with all but the sign inverted for negative ones, are ordered as signed integers, -0 below +0.
//! NaNs of one sign are beyond infinity, those of the other beyond minus infinity: a wrapping addition of their number puts
//! all at the end that wins.

use kernel::{Accumulator, Value};
use ops::DType;

use super::accumulators::AccumulatorEmitter;
use super::convert;
use super::operand::{Element, Operand, Type};
use super::writer::Writer;
use crate::cpu::analyses::integer_min_max::Keyed;

impl AccumulatorEmitter<'_> {
    /// The representation of an accumulator's elements.
    pub(super) fn element_held(&self, accumulator: Accumulator) -> Element {
        let keyed = self.analyses.integer_min_max.keyed(accumulator).is_some();
        if keyed { Element::I16 } else { Element::of(self.kernel.accumulators[accumulator]) }
    }

    /// The initial contents of an accumulator: the key of its constant if it holds keys.
    pub(super) fn opened_with(&mut self, accumulator: Accumulator, init: Value) -> Operand {
        let init = self.value(init);
        let Some(keyed) = self.analyses.integer_min_max.keyed(accumulator) else { return init };
        let half = convert::cast(&mut self.w, init, DType::F32, keyed.dtype);
        key(&mut self.w, half, keyed)
    }

    /// The new contents of a keyed accumulator that is set to a value; `None` for others.
    pub(super) fn won(&mut self, accumulator: Accumulator, value: Value) -> Option<Operand> {
        let keyed = self.analyses.integer_min_max.keyed(accumulator)?;
        let given = self.value(self.analyses.integer_min_max.given(value));
        let key = key(&mut self.w, given, keyed);
        let contents = self.get(accumulator);
        Some(winner(&mut self.w, contents, key, keyed))
    }

    /// The value of all lanes' keys, as f32; `None` for accumulators that hold none.
    pub(super) fn reduce_integer_min_max(&mut self, accumulator: Accumulator) -> Option<Operand> {
        let keyed = self.analyses.integer_min_max.keyed(accumulator)?;
        let mut keys = self.get(accumulator);
        let mut lanes = self.lanes();
        while lanes > 1 {
            lanes /= 2;
            let (low, high) = (self.w.slice(keys, 0, lanes), self.w.slice(keys, lanes, lanes));
            keys = winner(&mut self.w, low, high, keyed);
        }
        let key = self.w.extract(keys, 0);
        let half = value(&mut self.w, key, keyed);
        let wide = convert::cast(&mut self.w, half, keyed.dtype, DType::F32);
        // Any NaN would do, but it must be the same everywhere.
        let nan = self.w.compare("fcmp uno", wide, wide);
        Some(self.w.select(nan, Operand::float(f64::NAN, Type::scalar(Element::F32)), wide))
    }
}

fn winner(w: &mut Writer<'_>, a: Operand, b: Operand, keyed: Keyed) -> Operand {
    w.overloaded(if keyed.max { "llvm.smax" } else { "llvm.smin" }, a, &[b])
}

/// How many NaNs of one sign a half type has, with the sign that moves them to the end that wins.
fn flipped(keyed: Keyed) -> i64 {
    let nans = if keyed.dtype == DType::BF16 { 0x7f } else { 0x3ff };
    if keyed.max { -nans } else { nans }
}

/// The key of the bits of a half type.
fn key(w: &mut Writer<'_>, bits: Operand, keyed: Keyed) -> Operand {
    let ordered = invert_negative(w, bits);
    w.binary("add", ordered, flipped(keyed))
}

/// The bits that have this key.
fn value(w: &mut Writer<'_>, key: Operand, keyed: Keyed) -> Operand {
    let ordered = w.binary("sub", key, flipped(keyed));
    invert_negative(w, ordered)
}

/// All bits but the sign inverted, if that is set.
fn invert_negative(w: &mut Writer<'_>, bits: Operand) -> Operand {
    let negative = w.binary("ashr", bits, 15);
    let inverted = w.binary("and", negative, 0x7fff);
    w.binary("xor", bits, inverted)
}
