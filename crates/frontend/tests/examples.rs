//! Every example reads, prints, reads back the same, and outlines.

use std::path::Path;

use ferrofuse_frontend::text::{NameStyle, parse, print, print_view};
use ir::graph::dump;

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
        seen += 1;
    }
    assert!(seen >= 10, "{seen} examples");
}
