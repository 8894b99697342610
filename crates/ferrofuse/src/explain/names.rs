//! The user's names of the values of a plan, found backward through what the passes made of the definition's values.

use compiler::Plan;
use ir::define::Definition;
use ir::graph::Val;
use rustc_hash::FxHashMap;

pub(super) struct Names {
    names: FxHashMap<Val, String>,
}

impl Names {
    /// The first name that the user gave to any value that became this one.
    pub fn new(definition: &Definition, plan: &Plan) -> Names {
        let mut names = FxHashMap::default();
        let record = &definition.record;
        for &entry in record.statements().iter().flat_map(|statement| &statement.results) {
            let data = record.entry(entry);
            if let (Some(name), Some(val)) = (&data.name, plan.map.get(data.val)) {
                names.entry(val).or_insert_with(|| name.clone());
            }
        }
        Names { names }
    }

    /// The user's name of a value, or else the graph's.
    pub fn of(&self, val: Val) -> String {
        self.names.get(&val).cloned().unwrap_or_else(|| val.to_string())
    }
}
