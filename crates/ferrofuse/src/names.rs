//! Names of the values of a plan, traced back through the passes to the definition's values.
//!
//! A value has the user's name. A value that the user did not name, because it is an argument of another call, or whose name
//! another had before, has the printer's name; one inside a composite has that of the definition's graph. A value that the
//! passes finally expand or permute has the name of the result.

use compiler::Cut;
use compiler::passes::in_memory;
use ir::definition::{Action, Definition, Entry, Record};
use ir::graph::{Output, Val};
use rustc_hash::{FxHashMap, FxHashSet};

/// The names of the values of a plan.
pub(crate) struct ValueNames {
    names: FxHashMap<Val, String>,
}

impl ValueNames {
    /// The first name of any value that became this one; that of an output with an explicit order, or one that the user
    /// gave, comes before others.
    pub fn new(definition: &Definition, cut: &Cut) -> ValueNames {
        let own = names_in(definition);
        let written = written(&definition.record);
        // A copy with an explicit order is not the value that it copies.
        let is_ordered = |output: &&Output| {
            let is_computed = cut.map.get(output.val).is_some_and(|val| !cut.fusion.is_input(val));
            is_computed && !output.order.is_empty()
        };
        let outputs = definition.fusion.outputs().iter().filter(is_ordered);
        let ordered: FxHashSet<Val> = outputs.map(|output| output.val).collect();
        let is_given = |(val, user, _): &Written| user.is_some() && user.as_ref() == own.get(val);
        let mut named: Vec<&Written> = written.iter().collect();
        named.sort_by_key(|written| (!ordered.contains(&written.0), !is_given(written)));
        let mut names = FxHashMap::default();
        for (val, ..) in &named {
            if let (Some(name), Some(became)) = (own.get(val), cut.map.get(*val)) {
                names.entry(became).or_insert_with(|| name.clone());
            }
        }
        let mut inside: Vec<(Val, Val)> = cut.map.iter().collect();
        inside.sort_unstable();
        for (val, became) in inside {
            names.entry(became).or_insert_with(|| val.to_string());
        }
        for (val, ..) in named {
            let stored = cut.map.get(*val).map(|became| in_memory(&cut.graph, *val, became));
            if let (Some(name), Some(val)) = (own.get(val), stored) {
                names.entry(val).or_insert_with(|| name.clone());
            }
        }
        for val in cut.segmentation.kept() {
            let source = cut.graph.permuted(val).and_then(|source| names.get(&source).cloned());
            if let Some(name) = source {
                names.entry(val).or_insert(name);
            }
        }
        ValueNames { names }
    }

    /// The name of a value.
    pub fn of(&self, val: Val) -> String {
        self.names.get(&val).cloned().unwrap_or_else(|| val.to_string())
    }
}

/// The name by which [`value_named`] finds a value.
pub fn value_name(definition: &Definition, val: Val) -> String {
    names_in(definition).remove(&val).unwrap_or_else(|| val.to_string())
}

/// The name of a result of a statement by which [`value_named`] finds its value: of several results that are one value each
/// has its own.
pub fn result_name(definition: &Definition, result: Entry) -> String {
    let record = &definition.record;
    let results = record.statements().iter().flat_map(|statement| &statement.results);
    let named = results.zip(written(record)).find(|(entry, _)| **entry == result);
    let own = named.and_then(|(_, (val, user, printed))| {
        let finds = |name: &String| value_named(definition, name) == Some(val);
        user.into_iter().chain([printed]).find(finds)
    });
    own.unwrap_or_else(|| value_name(definition, record.entry(result).val))
}

/// A name by which [`value_named`] finds each value that a definition writes: the user's, unless another value had it
/// before, otherwise the printed one. If both are taken, the value has its graph name, which is not among these.
pub(crate) fn names_in(definition: &Definition) -> FxHashMap<Val, String> {
    let written = written(&definition.record);
    let mut by_name: FxHashMap<&str, Val> = FxHashMap::default();
    for (val, user, _) in &written {
        if let Some(user) = user {
            by_name.entry(user).or_insert(*val);
        }
    }
    for (val, _, printed) in &written {
        by_name.entry(printed).or_insert(*val);
    }
    let mut names = FxHashMap::default();
    for (val, user, printed) in &written {
        let mut own = user.iter().chain([printed]).filter(|name| by_name[name.as_str()] == *val);
        if let Some(name) = own.next() {
            names.entry(*val).or_insert_with(|| name.clone());
        }
    }
    names
}

/// The names that the printer gives the values of these names in explanations and segmentations.
pub fn printed_names(definition: &Definition, names: Vec<String>) -> Vec<String> {
    let written = written(&definition.record);
    let (mut by_user, mut by_printer, mut printed) =
        (FxHashMap::default(), FxHashMap::default(), FxHashMap::default());
    for (val, user, name) in &written {
        if let Some(user) = user {
            by_user.entry(user.as_str()).or_insert(*val);
        }
        by_printer.entry(name.as_str()).or_insert(*val);
        printed.entry(*val).or_insert(name);
    }
    let of = |name: String| {
        let val = by_user.get(name.as_str()).or_else(|| by_printer.get(name.as_str()));
        val.map_or(name, |val| printed[val].clone())
    };
    names.into_iter().map(of).collect()
}

/// The value with this name in explanations and segmentations.
pub fn value_named(definition: &Definition, name: &str) -> Option<Val> {
    let written = written(&definition.record);
    let by_user = written.iter().find(|(_, user, _)| user.as_deref() == Some(name));
    let called = by_user.or_else(|| written.iter().find(|(_, _, printed)| printed == name));
    called.map(|(val, ..)| *val).or_else(|| {
        let mut values = definition.graph.nodes().flat_map(|(node, _)| definition.graph.results(node));
        values.find(|value| value.to_string() == name)
    })
}

/// A name for each output, all different: the value's, with a number if it is returned again.
pub fn output_names(definition: &Definition) -> Vec<String> {
    let record = &definition.record;
    let mut printed_of = FxHashMap::default();
    for (val, _, printed) in written(record) {
        printed_of.entry(val).or_insert(printed);
    }
    let mut names = Different::default();
    for statement in record.statements() {
        let Action::Output { value, alias } = &statement.action else { continue };
        // A value written to an input is its new contents.
        let data = record.entry(alias.unwrap_or(*value));
        let printed = || printed_of.get(&data.val).cloned().unwrap_or_else(|| data.val.to_string());
        names.add(data.name.clone().unwrap_or_else(printed));
    }
    names.in_order
}

/// Names that are all different, in the order in which they were given.
#[derive(Default)]
struct Different {
    in_order: Vec<String>,
    taken: FxHashSet<String>,
    /// How often each was asked for.
    asked: FxHashMap<String, usize>,
}

impl Different {
    /// Adds a name; if it is taken, followed by the first number that makes it a new one.
    fn add(&mut self, own: String) {
        let asked = self.asked.entry(own.clone()).or_insert(0);
        let numbers = *asked..;
        let numbered = |number| if number == 0 { own.clone() } else { format!("{own}_{number}") };
        let name = numbers.map(numbered).find(|name| !self.taken.contains(name)).expect("numbers do not end");
        *asked += 1;
        self.taken.insert(name.clone());
        self.in_order.push(name);
    }
}

/// A result of a statement: value, the user's name, the name in print (`tv0`, `c0`, counted apart).
type Written = (Val, Option<String>, String);

/// The results of the statements in order.
fn written(record: &Record) -> Vec<Written> {
    let mut counts = [0_u32, 0];
    let results = record.statements().iter().flat_map(|statement| &statement.results);
    let name = |&entry| {
        let data = record.entry(entry);
        let (prefix, count) = if data.is_scalar { ("c", &mut counts[1]) } else { ("tv", &mut counts[0]) };
        *count += 1;
        (data.val, data.name.clone(), format!("{prefix}{}", *count - 1))
    };
    results.map(name).collect()
}
