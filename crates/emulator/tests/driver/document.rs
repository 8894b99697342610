//! The tables of `docs/internals/stand-in.md` list the functions of the library.

use crate::machine::Machine;

const DOCUMENT: &str = include_str!("../../../../docs/internals/stand-in.md");

/// The names of the rows below a heading.
fn rows(heading: &str) -> Vec<&'static str> {
    let table = DOCUMENT.split(heading).nth(1).expect("the table");
    let lines = table.lines().skip_while(|line| !line.starts_with("| `"));
    let rows = lines.take_while(|line| line.starts_with("| `"));
    rows.map(|row| row.split('`').nth(1).expect("a name")).collect()
}

#[test]
fn settings_and_counts_are_those_of_the_document() {
    let machine = Machine::new();
    let (settings, counts) = (rows("| setting |"), rows("| count |"));
    assert_eq!([settings.len(), counts.len()], [12, 14]);
    for setting in settings {
        machine.set(setting, 1);
    }
    for count in counts {
        assert_ne!(machine.get(count), u64::MAX, "{count}");
    }
    assert_eq!(machine.get("no such thing"), u64::MAX);
}
