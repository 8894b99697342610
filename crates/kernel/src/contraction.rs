//! FMA contraction in folds: a step of a sum takes the factors of its addend and rounds once, in one instruction.
//!
//! Only in folds, whose order of additions, and so whose roundings, are unspecified: all other values have the exact bits of
//! their ops. A product goes into the steps if they are its only uses. Their number does not matter: a value that jammed
//! rows share is used by each of them, and a row must have the same bits there as by itself.

use std::collections::BTreeMap;

use ops::{DType, ScalarOp};

use super::{Kernel, Place, Stmt, Value};

/// The steps of folds that take a product.
#[derive(Clone, Debug, Default)]
pub struct Contractions {
    steps: BTreeMap<Value, ContractedStep>,
}

/// The sum of the previous value and `±a * b`.
#[derive(Clone, Copy, Debug)]
pub struct ContractedStep {
    pub before: Value,
    pub factors: [Value; 2],
    /// The product, which is no longer computed by itself.
    pub product: Value,
    pub negated: bool,
}

impl Contractions {
    /// The steps of a kernel.
    pub fn of(kernel: &Kernel) -> Contractions {
        Search::of(kernel).found
    }

    /// The steps of a kernel whose product is used only there, and unnegated.
    pub fn of_lone_products(kernel: &Kernel) -> Contractions {
        let Search { uses, found, .. } = Search::of(kernel);
        let is_lone = |step: &ContractedStep| !step.negated && uses.get(&step.product) == Some(&1);
        Contractions { steps: found.steps.into_iter().filter(|(_, step)| is_lone(step)).collect() }
    }

    /// Whether a value is the product of such a step.
    pub fn takes(&self, value: Value) -> bool {
        self.steps.values().any(|step| step.product == value)
    }

    /// The step that computes a value, if it is one.
    pub fn step(&self, value: Value) -> Option<ContractedStep> {
        self.steps.get(&value).copied()
    }
}

/// The scalar ops of a body, by their results.
type Applied<'k> = BTreeMap<Value, (ScalarOp, &'k [Value])>;

struct Search<'k> {
    kernel: &'k Kernel,
    /// How often values are used, anywhere.
    uses: BTreeMap<Value, usize>,
    found: Contractions,
}

impl<'k> Search<'k> {
    fn of(kernel: &'k Kernel) -> Search<'k> {
        let mut search = Search { kernel, uses: BTreeMap::new(), found: Contractions::default() };
        search.count(&kernel.body);
        search.body(&kernel.body);
        search
    }

    fn count(&mut self, body: &[Stmt]) {
        for statement in body {
            statement.used().iter().for_each(|value| *self.uses.entry(*value).or_default() += 1);
            if let Stmt::For(for_loop) = statement {
                self.count(&for_loop.body);
            }
        }
    }

    fn body(&mut self, body: &'k [Stmt]) {
        let mut applied = Applied::new();
        let (mut gotten, mut loaded) = (BTreeMap::new(), Vec::new());
        // For each step the previous sum and the addend.
        let mut steps = BTreeMap::new();
        for statement in body {
            match statement {
                Stmt::For(for_loop) => self.body(&for_loop.body),
                Stmt::Apply { value, op, args } if self.is_real(*value) => {
                    applied.insert(*value, (*op, args.as_slice()));
                }
                Stmt::Get { value, accumulator } => {
                    gotten.insert(*accumulator, *value);
                }
                Stmt::Set { value, accumulator } => {
                    let first = gotten.get(accumulator);
                    let chain = first.and_then(|&first| chain(&applied, first, *value));
                    steps.extend(chain.into_iter().flatten());
                }
                Stmt::Load { value, place: Place::Scratch(scratch), index, guard: None } => {
                    loaded.push((*scratch, index, *value));
                }
                Stmt::Store { value, place: Place::Scratch(scratch), index, guard: None } => {
                    let first = loaded.iter().rfind(|(place, at, _)| place == scratch && *at == index);
                    let chain = first.and_then(|&(_, _, first)| chain(&applied, first, *value));
                    steps.extend(chain.into_iter().flatten());
                }
                _ => {}
            }
        }
        self.take(&applied, &steps);
    }

    /// Gives steps the products that only they use, perhaps through a negation.
    fn take(&mut self, applied: &Applied<'_>, steps: &BTreeMap<Value, (Value, Value)>) {
        let mut added: BTreeMap<Value, usize> = BTreeMap::new();
        steps.values().for_each(|(_, what)| *added.entry(*what).or_default() += 1);
        let only_added = |value: Value, added: &BTreeMap<Value, usize>| {
            added.get(&value).is_some_and(|steps| self.uses.get(&value) == Some(steps))
        };
        let negations: BTreeMap<Value, Value> = applied
            .iter()
            .filter(|(value, (op, _))| *op == ScalarOp::Neg && only_added(**value, &added))
            .map(|(&value, (_, args))| (value, args[0]))
            .collect();
        negations.values().for_each(|negated| *added.entry(*negated).or_default() += 1);
        for (&step, &(before, what)) in steps {
            let product = negations.get(&what).copied().unwrap_or(what);
            if let Some(&(ScalarOp::Mul, &[a, b])) = applied.get(&product)
                && only_added(product, &added)
            {
                let negated = product != what;
                self.found.steps.insert(step, ContractedStep { before, factors: [a, b], product, negated });
            }
        }
    }

    fn is_real(&self, value: Value) -> bool {
        matches!(self.kernel.values[value], DType::F32 | DType::F64)
    }
}

/// The additions that lead from the initial sum to the final one, each with the previous sum and the addend, which comes
/// second, as in folds.
fn chain(applied: &Applied<'_>, first: Value, last: Value) -> Option<Vec<(Value, (Value, Value))>> {
    let mut steps = Vec::new();
    let mut at = last;
    while at != first {
        let &(ScalarOp::Add, &[before, what]) = applied.get(&at)? else { return None };
        steps.push((at, (before, what)));
        at = before;
    }
    Some(steps)
}
