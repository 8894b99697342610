//! The numbers that results have in print, found without printing.

use std::collections::BTreeMap;

use ir::definition::{Action, Definition, Entry, Statement};

use super::arguments::Call;

/// The number that each result of a definition has in print with [`super::NameStyle::Short`].
pub fn numbers(definition: &Definition) -> BTreeMap<Entry, usize> {
    let Definition { record, graph, .. } = definition;
    let own_lines = |statement: &Statement| match &statement.action {
        Action::Call { op, arguments } => Call { record, graph, op, arguments }.count_own_lines(),
        Action::Input(_) | Action::Output { .. } => 0,
    };
    let mut numbers = BTreeMap::new();
    let mut next = 0;
    for statement in record.statements() {
        next += own_lines(statement);
        for &entry in &statement.results {
            numbers.insert(entry, next);
            next += 1;
        }
    }
    numbers
}
