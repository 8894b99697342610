//! The maximum and the minimum of half types, folded as integers, as they are in memory, so that nothing is
//! widened and a register holds twice as many.
//!
//! The bits of a half type, negative ones inverted but for the sign, are in order as signed integers, -0 below +0. NaN of
//! one sign lies beyond infinity, of the other beyond its opposite: going round by as many as there are of them puts all
//! at the end that wins. This file finds the accumulators whose every use allows it, and computes their keys.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::SecondaryMap;
use ir::kernel::{Accumulator, Kernel, Stmt, Value, per_lane};
use ops::{DType, Monoid, ScalarOp};

use super::operand::{Element, Operand, Type};
use super::writer::Writer;
use super::{Emitter, convert};

/// The accumulators that hold keys, and what is not computed for them.
#[derive(Default)]
pub(super) struct IntegerMinMax {
    keyed: BTreeMap<Accumulator, Keyed>,
    /// Of values that such accumulators are set to, the value of the half type that each is compared with.
    given: BTreeMap<Value, Value>,
    /// What these accumulators hold and are set to, as values of f32.
    idle: BTreeSet<Value>,
}

/// What keys stand for.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Keyed {
    dtype: DType,
    /// Whether the largest wins, or the smallest.
    max: bool,
}

impl IntegerMinMax {
    pub(super) fn of(kernel: &Kernel) -> IntegerMinMax {
        let mut survey = Survey::default();
        survey.body(&kernel.body);
        let per_lane = per_lane(kernel);
        let mut keys = IntegerMinMax::default();
        for (&accumulator, mentions) in &survey.mentions {
            if per_lane[accumulator] && kernel.accumulators[accumulator] == DType::F32 {
                survey.find(kernel, accumulator, mentions, &mut keys);
            }
        }
        keys
    }

    /// Whether a value is not computed.
    pub(super) fn is_idle(&self, value: Value) -> bool {
        self.idle.contains(&value)
    }
}

/// What the statements of a kernel say of its values and accumulators.
#[derive(Default)]
struct Survey<'k> {
    definitions: SecondaryMap<Value, Option<&'k Stmt>>,
    uses: SecondaryMap<Value, u32>,
    mentions: BTreeMap<Accumulator, Vec<&'k Stmt>>,
}

impl<'k> Survey<'k> {
    fn body(&mut self, body: &'k [Stmt]) {
        for statement in body {
            statement.defined().iter().for_each(|&value| self.definitions[value] = Some(statement));
            statement.used().iter().for_each(|&value| self.uses[value] += 1);
            match statement {
                Stmt::Open { accumulator, .. }
                | Stmt::Set { accumulator, .. }
                | Stmt::Get { accumulator, .. } => {
                    self.mentions.entry(*accumulator).or_default().push(statement);
                }
                Stmt::Reduce { accumulators, .. } => {
                    for accumulator in accumulators {
                        self.mentions.entry(*accumulator).or_default().push(statement);
                    }
                }
                Stmt::For(for_loop) => self.body(&for_loop.body),
                _ => {}
            }
        }
    }

    /// Takes an accumulator that begins with a number of a half type, is compared with widened ones of that alone, always
    /// for the largest or always for the smallest, and is reduced in the end.
    fn find(&self, kernel: &Kernel, accumulator: Accumulator, mentions: &[&Stmt], keys: &mut IntegerMinMax) {
        let sets = mentions.iter().filter_map(|mention| match mention {
            Stmt::Set { value, .. } => Some(self.comparison(kernel, accumulator, *value)),
            _ => None,
        });
        let Some(sets) = sets.collect::<Option<Vec<Comparison>>>() else { return };
        let Some(keyed) = sets.first().map(|first| first.keyed) else { return };
        let monoid = if keyed.max { Monoid::Max } else { Monoid::Min };
        let fit = mentions.iter().all(|mention| match mention {
            Stmt::Open { init, .. } => self.is_held(*init, keyed.dtype),
            Stmt::Get { value, .. } => sets.iter().any(|set| set.contents == *value),
            Stmt::Reduce { monoid: by, .. } => *by == monoid,
            _ => true,
        });
        if fit && sets.iter().all(|set| set.keyed == keyed) {
            keys.keyed.insert(accumulator, keyed);
            for set in sets {
                keys.given.insert(set.value, set.with);
                keys.idle.extend(set.idle);
            }
        }
    }

    /// The comparison that gives a value, of what the accumulator holds and what a half type held.
    fn comparison(&self, kernel: &Kernel, accumulator: Accumulator, value: Value) -> Option<Comparison> {
        let Stmt::Apply { op: op @ (ScalarOp::Maximum | ScalarOp::Minimum), args, .. } =
            self.definitions[value]?
        else {
            return None;
        };
        let held = |value: &Value| matches!(self.definitions[*value], Some(Stmt::Get { accumulator: of, .. }) if *of == accumulator);
        let place = args.iter().position(held)?;
        let contents = args[place];
        let widened = *args.get(1 - place)?;
        let Stmt::Cast { arg: with, .. } = self.definitions[widened]? else { return None };
        let dtype = kernel.values[*with];
        let alone = self.uses[value] == 1 && self.uses[contents] == 1;
        let keyed = Keyed { dtype, max: *op == ScalarOp::Maximum };
        let fits = alone && matches!(dtype, DType::BF16 | DType::F16);
        let idle = [value, contents, widened].into_iter().filter(|&value| self.uses[value] == 1).collect();
        fits.then_some(Comparison { value, contents, with: *with, idle, keyed })
    }

    /// Whether a value is a constant that a half type holds.
    fn is_held(&self, value: Value, dtype: DType) -> bool {
        matches!(self.definitions[value], Some(Stmt::Const { constant, .. })
            if constant.cast(dtype).cast(DType::F32) == *constant)
    }
}

/// A comparison of an accumulator's contents with what was widened.
struct Comparison {
    value: Value,
    contents: Value,
    with: Value,
    /// What nobody else needs.
    idle: Vec<Value>,
    keyed: Keyed,
}

impl Emitter<'_> {
    /// What an accumulator's elements are held as.
    pub(super) fn element_held(&self, accumulator: Accumulator) -> Element {
        let keyed = self.integer_min_max.keyed.contains_key(&accumulator);
        if keyed { Element::I16 } else { Element::of(self.kernel.accumulators[accumulator]) }
    }

    /// What an accumulator is opened with: the key of its constant if it holds keys.
    pub(super) fn opened_with(&mut self, accumulator: Accumulator, init: Value) -> Operand {
        let init = self.value(init);
        let Some(&keyed) = self.integer_min_max.keyed.get(&accumulator) else { return init };
        let half = convert::cast(&mut self.w, init, DType::F32, keyed.dtype);
        key(&mut self.w, half, keyed)
    }

    /// What a keyed accumulator becomes when it is set to a value; `None` for others.
    pub(super) fn won(&mut self, accumulator: Accumulator, value: Value) -> Option<Operand> {
        let keyed = *self.integer_min_max.keyed.get(&accumulator)?;
        let given = self.value(self.integer_min_max.given[&value]);
        let key = key(&mut self.w, given, keyed);
        let contents = self.get(accumulator);
        Some(winner(&mut self.w, contents, key, keyed))
    }

    /// The value of all lanes' keys, as f32; `None` for accumulators that hold none.
    pub(super) fn reduce_integer_min_max(&mut self, accumulator: Accumulator) -> Option<Operand> {
        let keyed = *self.integer_min_max.keyed.get(&accumulator)?;
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
        // Of NaN any would do, but the same everywhere.
        let nan = self.w.compare("fcmp uno", wide, wide);
        Some(self.w.select(nan, Operand::float(f64::NAN, Type::scalar(Element::F32)), wide))
    }
}

fn winner(w: &mut Writer<'_>, a: Operand, b: Operand, keyed: Keyed) -> Operand {
    w.overloaded(if keyed.max { "llvm.smax" } else { "llvm.smin" }, a, &[b])
}

/// How many NaN of one sign a half type has, with the sign that moves them to the end that wins.
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

/// All bits but the sign inverted, where that is set.
fn invert_negative(w: &mut Writer<'_>, bits: Operand) -> Operand {
    let negative = w.binary("ashr", bits, 15);
    let inverted = w.binary("and", negative, 0x7fff);
    w.binary("xor", bits, inverted)
}
