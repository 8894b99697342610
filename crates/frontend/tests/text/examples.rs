//! Every example reads, prints, reads back the same, and outlines.

use std::path::Path;

use ferrofuse_frontend::define::AsWritten;
use ferrofuse_frontend::text::{NameStyle, parse, print, print_as_written, print_view};
use ir::definition::Definition;
use ir::graph::dump;

/// Asserts that composites that the outputs need are in an outlined definition as written, unless they draw random numbers
/// of the call: an outlined definition draws others.
fn require_composites(definition: &Definition) {
    let Definition { graph, fusion, record, tasks, .. } = definition;
    let written = AsWritten { record, tasks, passed: None };
    let text = print_as_written(graph, fusion, written, NameStyle::Long).expect("it has words");
    let again = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")).definition;
    let composites = |definition: &Definition| {
        let tasks = definition.tasks.patterns().map(|(_, data)| data.name.clone());
        let mut names: Vec<String> = tasks.filter(|name| name != "dropout").collect();
        names.sort_unstable();
        names
    };
    assert_eq!(composites(&again), composites(definition), "{text}");
}

#[test]
fn examples_read_and_print() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).expect("the examples are there") {
        let path = entry.expect("a readable folder").path();
        if path.extension().is_none_or(|extension| extension != "py") {
            continue;
        }
        let source = std::fs::read_to_string(&path).expect("a readable file");
        let file = parse(&source).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(file.inputs.is_some(), "{} says no inputs", path.display());
        let definition = file.definition;
        let graph = dump(&definition.graph, &definition.fusion);
        for names in [NameStyle::Long, NameStyle::Short] {
            let printed = print(&definition, names);
            let again = parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}")).definition;
            assert_eq!(dump(&again.graph, &again.fusion), graph, "{printed}");
            assert_eq!(print(&again, names), printed);
        }
        let outlined = print_view(&definition.graph, &definition.fusion, &definition.record, NameStyle::Long)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let again = parse(&outlined).unwrap_or_else(|error| panic!("{error}\n{outlined}")).definition;
        assert_eq!(print(&again, NameStyle::Long), outlined);
        require_composites(&definition);
        seen += 1;
    }
    assert!(seen >= 10, "{seen} examples");
}
