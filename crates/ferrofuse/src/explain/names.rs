//! Names of the values of a plan, found backward through what the passes made of the definition's values.
//!
//! A value has the user's name; one that the user did not name, because it is an argument of another call, has the name
//! that the printer gives it; one inside a composite has the graph's.

use std::collections::BTreeSet;

use compiler::Plan;
use ir::define::{Definition, Record};
use ir::graph::Val;
use rustc_hash::FxHashMap;

pub(super) struct Names {
    names: FxHashMap<Val, String>,
}

impl Names {
    /// The first name that any value has that became this one.
    pub fn new(definition: &Definition, plan: &Plan) -> Names {
        let written = written(&definition.record);
        let users: BTreeSet<&str> = written.iter().filter_map(|(_, user, _)| user.as_deref()).collect();
        let mut names = FxHashMap::default();
        for (val, user, _) in &written {
            if let (Some(name), Some(val)) = (user, plan.map.get(*val)) {
                names.entry(val).or_insert_with(|| name.clone());
            }
        }
        for (val, _, printed) in &written {
            if let Some(val) = plan.map.get(*val).filter(|_| !users.contains(printed.as_str())) {
                names.entry(val).or_insert_with(|| printed.clone());
            }
        }
        Names { names }
    }

    /// The name of a value.
    pub fn of(&self, val: Val) -> String {
        self.names.get(&val).cloned().unwrap_or_else(|| val.to_string())
    }
}

/// The results of the statements in order: value, the user's name, the name in print (`tv0`, `c0`, counted apart).
fn written(record: &Record) -> Vec<(Val, Option<String>, String)> {
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
