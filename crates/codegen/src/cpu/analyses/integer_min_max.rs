//! The maximum and the minimum of half types, folded as integers, in their representation in memory, so that nothing is
//! widened and a register holds twice as many. Finds the accumulators whose uses all allow that.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::SecondaryMap;
use kernel::{Accumulator, Kernel, Stmt, Value, per_lane};
use ops::{DType, Monoid, ScalarOp};

/// The accumulators that hold keys, and the values that are not computed for them.
#[derive(Default)]
pub(crate) struct IntegerMinMax {
    keyed: BTreeMap<Accumulator, Keyed>,
    /// For values that such accumulators are set to, the half-precision value that each is compared with.
    given: BTreeMap<Value, Value>,
    /// The contents of these accumulators, and the values that they are set to, as f32.
    idle: BTreeSet<Value>,
}

/// The meaning of keys.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Keyed {
    pub dtype: DType,
    /// Whether the largest wins, or the smallest.
    pub max: bool,
}

impl IntegerMinMax {
    /// Those of a kernel.
    pub(crate) fn of(kernel: &Kernel) -> IntegerMinMax {
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

    /// The meaning of an accumulator's elements, if they are keys.
    pub(crate) fn keyed(&self, accumulator: Accumulator) -> Option<Keyed> {
        self.keyed.get(&accumulator).copied()
    }

    /// The value of a half type that a keyed accumulator is compared with when it is set to this.
    pub(crate) fn given(&self, value: Value) -> Value {
        self.given[&value]
    }

    /// Whether a value is not computed.
    pub(crate) fn is_idle(&self, value: Value) -> bool {
        self.idle.contains(&value)
    }
}

/// The uses of a kernel's values and accumulators.
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

    /// Adds an accumulator that begins with a number of a half type, is compared only with widened numbers of that type,
    /// always for the largest or always for the smallest, and is finally reduced.
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

    /// The comparison that gives a value, of an accumulator's contents with a widened half-precision value.
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

    /// Whether a value is a constant that a half type represents.
    fn is_held(&self, value: Value, dtype: DType) -> bool {
        matches!(self.definitions[value], Some(Stmt::Const { constant, .. })
            if constant.cast(dtype).cast(DType::F32) == *constant)
    }
}

/// A comparison of an accumulator's contents with a widened value.
struct Comparison {
    value: Value,
    contents: Value,
    with: Value,
    /// Values without other uses.
    idle: Vec<Value>,
    keyed: Keyed,
}

#[cfg(test)]
mod tests {
    use kernel::parse;

    use super::*;

    fn found(op: &str, monoid: &str, also: &str) -> IntegerMinMax {
        let text = format!(
            "kernel row(n) lanes 4 {{
  symbols n, block, x
  blocks block in 0 .. 1
  read b0: bf16 x
  write b1: f32 y
  v0: f32 = const -inf
  acc a0: f32 = v0
  for x in 0 .. n lanes {{
    v1: bf16 = load b0[x]
    v2: f32 = cast v1
    v3: f32 = get a0
    v4: f32 = {op} v3, v2
    set a0 = v4
    {also}
  }}
  v5: f32 = reduce {monoid} a0
}}"
        );
        IntegerMinMax::of(&parse(&text).expect("it is a kernel"))
    }

    #[test]
    fn folds_of_half_types_are_keyed() {
        let accumulator = Accumulator::from_u32(0);
        let value = Value::from_u32;
        let largest = found("maximum", "max", "");
        let keyed = largest.keyed(accumulator).expect("all uses allow it");
        assert_eq!((keyed.dtype, keyed.max, largest.given(value(4))), (DType::BF16, true, value(1)));
        assert!([2, 3, 4].iter().all(|&idle| largest.is_idle(value(idle))));
        let stored = found("maximum", "max", "store b1[x] = v2");
        assert!(!stored.is_idle(value(2)) && stored.is_idle(value(3)), "what is widened is stored");
        assert!(found("minimum", "max", "").keyed(accumulator).is_none());
        assert!(found("maximum", "max", "store b1[x] = v4").keyed(accumulator).is_none());
    }
}
