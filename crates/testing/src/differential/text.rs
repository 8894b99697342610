//! The text of a definition: what is printed reads back as an equal graph and prints the same again.

use ferrofuse::Definition;
use frontend::define::AsWritten;
use frontend::text::{NameStyle, parse, print, print_as_written, print_view};
use ir::graph::dump;

use super::failure::{Failure, Kind};

pub(super) fn check(definition: &Definition) -> Result<(), Failure> {
    check_outlined(definition)?;
    let graph = dump(&definition.graph, &definition.fusion);
    for names in [NameStyle::Long, NameStyle::Short] {
        let printed = print(definition, names);
        let again = match parse(&printed) {
            Ok(file) => file.definition,
            Err(error) => return Err(Failure::new(Kind::Text, format!("{error}\n{printed}"))),
        };
        let read = dump(&again.graph, &again.fusion);
        if read != graph {
            return Err(Failure::new(Kind::Text, format!("another graph:\n{read}\n{graph}\n{printed}")));
        }
        let reprinted = print(&again, names);
        if reprinted != printed {
            return Err(Failure::new(Kind::Text, format!("prints otherwise:\n{reprinted}\n{printed}")));
        }
    }
    Ok(())
}

/// Checks that the definition's view, outlined and printed op by op and with composites as written, prints the same when it
/// is read back.
fn check_outlined(definition: &Definition) -> Result<(), Failure> {
    let Definition { graph, fusion, record, tasks, .. } = definition;
    let written = AsWritten { record, tasks, passed: None };
    let texts = [
        print_view(graph, fusion, record, NameStyle::Long),
        print_as_written(graph, fusion, written, NameStyle::Long),
    ];
    for outlined in texts {
        let outlined = outlined.map_err(|error| Failure::new(Kind::Text, format!("outlining: {error}")))?;
        let again = match parse(&outlined) {
            Ok(file) => print(&file.definition, NameStyle::Long),
            Err(error) => return Err(Failure::new(Kind::Text, format!("outlined: {error}\n{outlined}"))),
        };
        if again != outlined {
            let message = format!("outlined, prints otherwise:\n{again}\n{outlined}");
            return Err(Failure::new(Kind::Text, message));
        }
    }
    Ok(())
}
