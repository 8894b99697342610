//! Accumulators that are promoted to values: set once, before anyone reads what they were opened with. They are no variable, but
//! a name for what is set. Sums in f64 whose lanes are in f32 are such, and what reads them as f32 takes the f32 that lanes made.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use kernel::{Accumulator, Kernel, Stmt, Value};

/// A text that stands for a value, and the value that it is a widened copy of.
#[derive(Clone, Debug)]
pub(super) struct Widened {
    pub(super) code: String,
    pub(super) narrow: Option<Value>,
}

/// What is known of a kernel's accumulators and of what lanes made, so far.
#[derive(Debug)]
pub(super) struct Promoted {
    sets: BTreeMap<Accumulator, usize>,
    /// What stands for accumulators that are no variables; nothing before they are set.
    names: BTreeMap<Accumulator, Option<Widened>>,
    /// For a value, the narrow one that it is.
    narrow: SecondaryMap<Value, Option<Value>>,
}

impl Promoted {
    pub(super) fn new(kernel: &Kernel) -> Promoted {
        let mut sets = BTreeMap::new();
        count_sets(&kernel.body, &mut sets);
        Promoted { sets, names: BTreeMap::new(), narrow: SecondaryMap::new() }
    }

    /// Takes note of an accumulator that is opened before the rest of its body, and says whether it is no variable.
    pub(super) fn opens(&mut self, accumulator: Accumulator, rest: &[Stmt]) -> bool {
        let first = rest.iter().find(|statement| mentions(statement, accumulator));
        let is_promoted = self.sets.get(&accumulator) == Some(&1) && matches!(first, Some(Stmt::Set { .. }));
        if is_promoted {
            self.names.insert(accumulator, None);
        }
        is_promoted
    }

    /// Whether an accumulator is no variable.
    pub(super) fn is_promoted(&self, accumulator: Accumulator) -> bool {
        self.names.contains_key(&accumulator)
    }

    /// Takes note of what an accumulator that is no variable is set to.
    pub(super) fn sets(&mut self, accumulator: Accumulator, value: Value, code: String) {
        self.names.insert(accumulator, Some(Widened { code, narrow: self.narrow[value] }));
    }

    /// What stands for a value that reads an accumulator, where that is no variable.
    pub(super) fn reads(&mut self, value: Value, accumulator: Accumulator) -> Option<String> {
        let Widened { code, narrow } = self.names.get(&accumulator).cloned().flatten()?;
        self.narrow[value] = narrow;
        Some(code)
    }

    /// Takes note of a value that has a name and is made wider.
    pub(super) fn widens(&mut self, wide: Value, narrow: Value) {
        self.narrow[wide] = Some(narrow);
    }

    /// The value that a wide one was before, if there is one.
    pub(super) fn narrow(&self, wide: Value) -> Option<Value> {
        self.narrow[wide]
    }
}

fn count_sets(body: &[Stmt], sets: &mut BTreeMap<Accumulator, usize>) {
    for statement in body {
        match statement {
            Stmt::Set { accumulator, .. } => *sets.entry(*accumulator).or_default() += 1,
            Stmt::For(inner) => count_sets(&inner.body, sets),
            _ => {}
        }
    }
}

fn mentions(statement: &Stmt, wanted: Accumulator) -> bool {
    match statement {
        Stmt::Get { accumulator, .. } | Stmt::Set { accumulator, .. } => *accumulator == wanted,
        Stmt::Reduce { accumulators, .. } => accumulators.contains(&wanted),
        Stmt::For(inner) => inner.body.iter().any(|statement| mentions(statement, wanted)),
        _ => false,
    }
}
