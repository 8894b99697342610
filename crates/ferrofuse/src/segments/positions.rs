//! The numbers of values as definitions print them with short names; index maps consist of them.
//!
//! A value inside a composite, which no line of the definition makes, gets a number after those of all lines if it passes
//! between segments.

use std::collections::BTreeMap;

use frontend::define::Outlined;
use frontend::text::numbers;
use ir::definition::{Action, Definition, Entry};
use ir::graph::{Graph, Val};
use rustc_hash::FxHashMap;

/// The source of the copies at the end of a segment, or the first of them that is given to the segment.
pub(super) fn before_boundary(graph: &Graph, mut val: Val, is_given: impl Fn(Val) -> bool) -> Val {
    while !is_given(val) && graph.op(val).is_boundary() {
        val = graph.operands(val)[0];
    }
    val
}

/// The numbers of the values of a definition.
pub(super) struct Positions<'d> {
    definition: &'d Definition,
    of: FxHashMap<Val, usize>,
}

impl<'d> Positions<'d> {
    /// The numbers of a definition's values and of further values of its graph, inside composites.
    pub fn new(definition: &'d Definition, further: impl IntoIterator<Item = Val>) -> Positions<'d> {
        let numbered = numbers(definition);
        let mut of = FxHashMap::default();
        for (&entry, &number) in &numbered {
            of.entry(definition.record.entry(entry).val).or_insert(number);
        }
        let mut next = count(definition);
        for val in further {
            of.entry(before_boundary(&definition.graph, val, |_| false)).or_insert_with(|| {
                next += 1;
                next - 1
            });
        }
        Positions { definition, of }
    }

    /// The number of a value.
    pub fn get(&self, val: Val) -> Option<usize> {
        self.of.get(&before_boundary(&self.definition.graph, val, |_| false)).copied()
    }

    /// From the numbers of a segment's values to those of the definition. `outputs` are the values that the segment makes.
    pub fn index_map(&self, outlined: &Outlined, outputs: &[Val]) -> BTreeMap<usize, usize> {
        let (segment, inner) = (&outlined.definition, numbers(&outlined.definition));
        let mut olds: FxHashMap<Val, usize> = FxHashMap::default();
        for (old, new) in outlined.map.iter() {
            if let Some(number) = self.get(old) {
                olds.entry(new).or_insert(number);
            }
        }
        let number =
            |(entry, &inner): (&Entry, &usize)| Some((inner, *olds.get(&segment.record.entry(*entry).val)?));
        let mut map: BTreeMap<usize, usize> = inner.iter().filter_map(number).collect();
        let made = given_back(segment).zip(outputs);
        map.extend(made.filter_map(|(entry, &val)| Some((inner[&entry], self.get(val)?))));
        map
    }
}

/// How many numbers a definition has, including those of constants that print as separate lines.
pub fn count(definition: &Definition) -> usize {
    numbers(definition).values().max().map_or(0, |last| last + 1)
}

/// The values that a definition returns, in order.
fn given_back(definition: &Definition) -> impl Iterator<Item = Entry> {
    definition.record.statements().iter().filter_map(|statement| match statement.action {
        Action::Output { value, .. } => Some(value),
        _ => None,
    })
}
