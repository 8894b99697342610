//! Accumulators that are promoted to values: set once, before their initial value is read. They need no variable, only a
//! name for the value that is set. f64 sums whose lanes are in f32 are promoted, and readers that need f32 take the lanes'
//! f32.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use kernel::{Accumulator, Kernel, Stmt, Value};

/// The text of a value, and the value that it is a widened copy of.
#[derive(Clone, Debug)]
pub(super) struct Widened {
    pub(super) code: String,
    pub(super) narrow: Option<Value>,
}

/// What is known so far about a kernel's accumulators and widened values.
#[derive(Debug)]
pub(super) struct Promoted {
    sets: BTreeMap<Accumulator, usize>,
    /// The texts of promoted accumulators; `None` before they are set.
    names: BTreeMap<Accumulator, Option<Widened>>,
    /// For a widened value, the narrow one.
    narrow: SecondaryMap<Value, Option<Value>>,
}

impl Promoted {
    pub(super) fn new(kernel: &Kernel) -> Promoted {
        let mut sets = BTreeMap::new();
        count_sets(&kernel.body, &mut sets);
        Promoted { sets, names: BTreeMap::new(), narrow: SecondaryMap::new() }
    }

    /// Notes an accumulator that is opened before the rest of its body; returns whether it is promoted.
    pub(super) fn opens(&mut self, accumulator: Accumulator, rest: &[Stmt]) -> bool {
        let first = rest.iter().find(|statement| mentions(statement, accumulator));
        let is_promoted = self.sets.get(&accumulator) == Some(&1) && matches!(first, Some(Stmt::Set { .. }));
        if is_promoted {
            self.names.insert(accumulator, None);
        }
        is_promoted
    }

    /// Whether an accumulator is promoted.
    pub(super) fn is_promoted(&self, accumulator: Accumulator) -> bool {
        self.names.contains_key(&accumulator)
    }

    /// Notes the value that a promoted accumulator is set to.
    pub(super) fn sets(&mut self, accumulator: Accumulator, value: Value, code: String) {
        self.names.insert(accumulator, Some(Widened { code, narrow: self.narrow[value] }));
    }

    /// The text of a value that reads a promoted accumulator.
    pub(super) fn reads(&mut self, value: Value, accumulator: Accumulator) -> Option<String> {
        let Widened { code, narrow } = self.names.get(&accumulator).cloned().flatten()?;
        self.narrow[value] = narrow;
        Some(code)
    }

    /// Notes that a named value is widened.
    pub(super) fn widens(&mut self, wide: Value, narrow: Value) {
        self.narrow[wide] = Some(narrow);
    }

    /// The narrow value of a widened one, if there is one.
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
